-- Why are some requests slow? The analysis of all of them, where the data is.
-- Printed by why -sql: thresholds are of 2000 requests of FILE.
--
-- To load lines of JSON as they are into PostgreSQL 15:
--
--	CREATE TABLE requests (id bigint GENERATED ALWAYS AS IDENTITY, line jsonb);
--	\copy requests (line) FROM 'FILE' WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')
--	ANALYZE requests;
--
-- id is the order of lines: of requests that took as long, the first one is slower.
-- From a table of columns: INSERT INTO requests (line) SELECT to_jsonb(t) FROM t.
--
-- To run it, in a session of its own, since its tables are temporary:
--
--	psql -X --csv -v ON_ERROR_STOP=1 -f FILE.sql
--
-- Only what is between the two marks is of PostgreSQL 15, on which it is tested. -engine has
-- others. For one that it does not have, define why_columns as it has to be there.

-- ==== PostgreSQL 15 begins here ====

SET standard_conforming_strings = on;
SET jit = off;            -- it takes longer to compile than to run
SET work_mem = '256MB';   -- for sorting
SET client_encoding = 'UTF8';

CREATE TEMPORARY VIEW why_columns AS
SELECT id,
  CASE WHEN jsonb_typeof(line->'latency') = 'number' THEN (line->'latency')::double precision END AS latency,
  -- "\n; --"
  CASE WHEN jsonb_typeof(line->'
; --') = 'number' THEN (line->'
; --')::double precision WHEN line->'
; --' #>> '{}' ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' THEN (line->'
; --' #>> '{}')::double precision END AS c1,
  -- "a.b"
  CASE WHEN jsonb_typeof(line->'a'->'b') = 'number' THEN (line->'a'->'b')::double precision WHEN line->'a'->'b' #>> '{}' ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' THEN (line->'a'->'b' #>> '{}')::double precision END AS c2,
  -- "cycles"
  CASE WHEN jsonb_typeof(line->'cycles') = 'number' THEN (line->'cycles')::double precision WHEN line->'cycles' #>> '{}' ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' THEN (line->'cycles' #>> '{}')::double precision END AS c3,
  -- "it's \\"
  CASE WHEN jsonb_typeof(line->'it''s \') = 'number' THEN (line->'it''s \')::double precision WHEN line->'it''s \' #>> '{}' ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' THEN (line->'it''s \' #>> '{}')::double precision END AS c4,
  -- "ref-cycles"
  CASE WHEN jsonb_typeof(line->'ref-cycles') = 'number' THEN (line->'ref-cycles')::double precision WHEN line->'ref-cycles' #>> '{}' ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$' THEN (line->'ref-cycles' #>> '{}')::double precision END AS c5
FROM requests
WHERE coalesce((line->'kind' #>> '{}'), 'it''s') = 'it''s';

-- ==== PostgreSQL 15 ends here ====

-- Events. A group can cause those of a greater number, and 2 all others; 1 can neither cause
-- nor be caused, and 7 can not cause. Of different tasks of a request only 2 can be a cause, and 7 be caused. known says
-- that the event's time is known.
CREATE TEMPORARY TABLE why_events AS
SELECT 1 AS i, '
; --' AS event, 1 AS grp, 0 AS task, 0 AS known, CAST('9' AS double precision) AS threshold, '' AS remark
UNION ALL
SELECT 2, 'a.b', 1, 0, 0, CAST(NULL AS double precision), 'no step'
UNION ALL
SELECT 3, 'cycles', 6, 0, 0, CAST('10' AS double precision), ''
UNION ALL
SELECT 4, 'it''s \', 1, 0, 0, CAST('2' AS double precision), ''
UNION ALL
SELECT 5, 'ref-cycles', 6, 0, 0, CAST('15' AS double precision), '';

-- Requests: place 1 is the slowest. c1 and so on are the events.
CREATE TEMPORARY TABLE why_requests AS
SELECT row_number() OVER (ORDER BY latency DESC, id) AS place, latency, c1, c2, c3, c4, c5
FROM why_columns
WHERE latency IS NOT NULL;

-- How many there are, half of them, and the tail: those from the percentile on. Of n values the
-- percentile p has the index int(p*n) of the sorted values, or that of the last one.
CREATE TEMPORARY TABLE why_size AS
SELECT n, floor(n / 2.0) AS half, n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail
FROM (SELECT count(*) AS n FROM why_requests) AS x;

-- Of each event: in how many requests it was recorded, and high, and in how many of the slower
-- half and of the tail it was recorded.
CREATE TEMPORARY TABLE why_counts AS
SELECT e.*, s.n AS all_n, s.half, s.tail,
  CASE i WHEN 1 THEN n1 WHEN 2 THEN n2 WHEN 3 THEN n3 WHEN 4 THEN n4 WHEN 5 THEN n5 END AS n,
  CASE i WHEN 1 THEN high1 WHEN 2 THEN high2 WHEN 3 THEN high3 WHEN 4 THEN high4 WHEN 5 THEN high5 END AS high,
  CASE i WHEN 1 THEN half1 WHEN 2 THEN half2 WHEN 3 THEN half3 WHEN 4 THEN half4 WHEN 5 THEN half5 END AS in_half,
  CASE i WHEN 1 THEN tail1 WHEN 2 THEN tail2 WHEN 3 THEN tail3 WHEN 4 THEN tail4 WHEN 5 THEN tail5 END AS in_tail
FROM why_events AS e CROSS JOIN why_size AS s CROSS JOIN (
  SELECT
    count(c1) AS n1, count(CASE WHEN c1 > CAST('9' AS double precision) THEN 1 END) AS high1, count(CASE WHEN place <= half THEN c1 END) AS half1, count(CASE WHEN place <= tail THEN c1 END) AS tail1,
    count(c2) AS n2, count(CASE WHEN c2 > CAST(NULL AS double precision) THEN 1 END) AS high2, count(CASE WHEN place <= half THEN c2 END) AS half2, count(CASE WHEN place <= tail THEN c2 END) AS tail2,
    count(c3) AS n3, count(CASE WHEN c3 > CAST('10' AS double precision) THEN 1 END) AS high3, count(CASE WHEN place <= half THEN c3 END) AS half3, count(CASE WHEN place <= tail THEN c3 END) AS tail3,
    count(c4) AS n4, count(CASE WHEN c4 > CAST('2' AS double precision) THEN 1 END) AS high4, count(CASE WHEN place <= half THEN c4 END) AS half4, count(CASE WHEN place <= tail THEN c4 END) AS tail4,
    count(c5) AS n5, count(CASE WHEN c5 > CAST('15' AS double precision) THEN 1 END) AS high5, count(CASE WHEN place <= half THEN c5 END) AS half5, count(CASE WHEN place <= tail THEN c5 END) AS tail5
  FROM why_requests CROSS JOIN why_size) AS x;

-- An event may be recorded in some requests only. If these seem to be any ones, as many of the
-- slow ones as of all within four standard deviations or a quarter, what they say is taken to be
-- true of all, and else only of themselves: then the others are left out.
-- above_all is how many are above the percentile, and above_low how many of those in which
-- the event is not high are above theirs.
CREATE TEMPORARY TABLE why_walks AS
SELECT w.*,
  size - 1 - least(floor(CAST('0.99' AS double precision) * size), size - 1.0) AS above_all,
  CASE
    WHEN high = 0 THEN size - 1 - least(floor(CAST('0.99' AS double precision) * size), size - 1.0)
    WHEN n = size THEN n - high - 1 - least(floor(CAST('0.99' AS double precision) * (n - high)), n - high - 1.0)
    ELSE (1 - CAST('0.99' AS double precision)) * size * (n - high) / n
  END AS above_low
FROM (
  SELECT c.*, CASE WHEN random = 1 THEN all_n ELSE n END AS size
  FROM (
    SELECT c.*, CASE
      WHEN abs(in_half - half * share) <= greatest(4 * sqrt(half * share * (1 - share)) + 1, half * share / 4)
       AND abs(in_tail - tail * share) <= greatest(4 * sqrt(tail * share * (1 - share)) + 1, tail * share / 4)
      THEN 1 ELSE 0 END AS random
    FROM (SELECT c.*, n * CAST('1' AS double precision) / nullif(all_n, 0) AS share FROM why_counts AS c) AS c) AS c) AS w;

-- A walk goes through requests, the slowest first. all1 is the place of the percentile. low1
-- is that of the percentile which the others have without those in which the event is high:
-- where it was not recorded, it is taken to have been high as often as in those before.
CREATE TEMPORARY TABLE why_places AS
SELECT
  min(CASE WHEN CASE WHEN random1 = 1 THEN place ELSE n1 END > above_all1 THEN place END) AS all1,
  min(CASE WHEN random1 = 1 AND n1 < place THEN CASE WHEN n1 > 0 AND place * (low1 * CAST('1' AS double precision) / n1) > above_low1 THEN place END WHEN low1 > above_low1 THEN place END) AS low1,
  min(CASE WHEN CASE WHEN random2 = 1 THEN place ELSE n2 END > above_all2 THEN place END) AS all2,
  min(CASE WHEN random2 = 1 AND n2 < place THEN CASE WHEN n2 > 0 AND place * (low2 * CAST('1' AS double precision) / n2) > above_low2 THEN place END WHEN low2 > above_low2 THEN place END) AS low2,
  min(CASE WHEN CASE WHEN random3 = 1 THEN place ELSE n3 END > above_all3 THEN place END) AS all3,
  min(CASE WHEN random3 = 1 AND n3 < place THEN CASE WHEN n3 > 0 AND place * (low3 * CAST('1' AS double precision) / n3) > above_low3 THEN place END WHEN low3 > above_low3 THEN place END) AS low3,
  min(CASE WHEN CASE WHEN random4 = 1 THEN place ELSE n4 END > above_all4 THEN place END) AS all4,
  min(CASE WHEN random4 = 1 AND n4 < place THEN CASE WHEN n4 > 0 AND place * (low4 * CAST('1' AS double precision) / n4) > above_low4 THEN place END WHEN low4 > above_low4 THEN place END) AS low4,
  min(CASE WHEN CASE WHEN random5 = 1 THEN place ELSE n5 END > above_all5 THEN place END) AS all5,
  min(CASE WHEN random5 = 1 AND n5 < place THEN CASE WHEN n5 > 0 AND place * (low5 * CAST('1' AS double precision) / n5) > above_low5 THEN place END WHEN low5 > above_low5 THEN place END) AS low5
FROM (
  SELECT place,
    count(c1) OVER slowest AS n1, count(CASE WHEN c1 <= CAST('9' AS double precision) THEN 1 END) OVER slowest AS low1,
    count(c2) OVER slowest AS n2, count(CASE WHEN c2 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low2,
    count(c3) OVER slowest AS n3, count(CASE WHEN c3 <= CAST('10' AS double precision) THEN 1 END) OVER slowest AS low3,
    count(c4) OVER slowest AS n4, count(CASE WHEN c4 <= CAST('2' AS double precision) THEN 1 END) OVER slowest AS low4,
    count(c5) OVER slowest AS n5, count(CASE WHEN c5 <= CAST('15' AS double precision) THEN 1 END) OVER slowest AS low5
  FROM why_requests
  WINDOW slowest AS (ORDER BY place ROWS UNBOUNDED PRECEDING)) AS x
CROSS JOIN (
  SELECT
    max(CASE WHEN i = 1 THEN random END) AS random1, max(CASE WHEN i = 1 THEN above_all END) AS above_all1, max(CASE WHEN i = 1 THEN above_low END) AS above_low1,
    max(CASE WHEN i = 2 THEN random END) AS random2, max(CASE WHEN i = 2 THEN above_all END) AS above_all2, max(CASE WHEN i = 2 THEN above_low END) AS above_low2,
    max(CASE WHEN i = 3 THEN random END) AS random3, max(CASE WHEN i = 3 THEN above_all END) AS above_all3, max(CASE WHEN i = 3 THEN above_low END) AS above_low3,
    max(CASE WHEN i = 4 THEN random END) AS random4, max(CASE WHEN i = 4 THEN above_all END) AS above_all4, max(CASE WHEN i = 4 THEN above_low END) AS above_low4,
    max(CASE WHEN i = 5 THEN random END) AS random5, max(CASE WHEN i = 5 THEN above_all END) AS above_all5, max(CASE WHEN i = 5 THEN above_low END) AS above_low5
  FROM why_walks) AS w;

-- The impact: by which part the latency at the one place is lower than at the other.
CREATE TEMPORARY TABLE why_raw AS
SELECT w.i AS i, CASE
    WHEN w.remark <> '' OR w.n = 0 OR a.latency = 0 OR p.low_place < p.all_place THEN 0
    ELSE (a.latency - coalesce(l.latency, 0)) / a.latency
  END AS raw
FROM why_walks AS w
JOIN (
  SELECT e.i AS i,
    CASE e.i WHEN 1 THEN all1 WHEN 2 THEN all2 WHEN 3 THEN all3 WHEN 4 THEN all4 WHEN 5 THEN all5 END AS all_place,
    CASE e.i WHEN 1 THEN low1 WHEN 2 THEN low2 WHEN 3 THEN low3 WHEN 4 THEN low4 WHEN 5 THEN low5 END AS low_place
  FROM why_events AS e CROSS JOIN why_places) AS p ON p.i = w.i
LEFT JOIN why_requests AS a ON a.place = p.all_place
LEFT JOIN why_requests AS l ON l.place = p.low_place;

-- What is part of the latency has at most the impact of its own time: by which part the
-- percentile were lower if that took none.
CREATE TEMPORARY TABLE why_own AS
SELECT i, CASE WHEN latency > 0 AND remains < latency THEN (latency - greatest(remains, 0)) / latency ELSE 0 END AS own
FROM (
  SELECT i, 1 AS latency, 0 AS remains FROM why_events WHERE known = 0) AS x;

-- Rule 2: an event that is in proportion to a parent, whose number includes its own, follows
-- it. r2 is that of a line through the origin. Of several parents it is the first one.
CREATE TEMPORARY TABLE why_follows AS
SELECT i, min(k) AS k
FROM (
  SELECT 0 AS i, 0 AS k, 0 AS n, CAST('0' AS double precision) AS xy, CAST('0' AS double precision) AS xx, CAST('0' AS double precision) AS yy
  UNION ALL
  SELECT 5, 0, count(*), sum(c5 * c3), sum(c3 * c3), sum(c5 * c5) FROM why_requests WHERE c5 IS NOT NULL AND c3 IS NOT NULL) AS x
WHERE n >= 10 AND xx > 0 AND yy > 0 AND xy / xx * (xy / yy) > CAST('0.99' AS double precision)
GROUP BY i;

CREATE TEMPORARY TABLE why_parents AS
SELECT 0 AS i, 0 AS k, '' AS parent
UNION ALL
SELECT 5, 0, 'cycles';

CREATE TEMPORARY TABLE why_ruled AS
SELECT w.i AS i, w.event AS event, w.grp AS grp, w.task AS task, w.known AS known, w.n AS n, w.high AS high, w.all_n AS all_n, w.threshold AS threshold, r.raw AS raw,
  CASE WHEN w.remark <> '' THEN 0 ELSE o.own END AS own,
  CASE WHEN w.remark = '' AND f.k IS NOT NULL THEN 'in proportion to ' || p.parent ELSE w.remark END AS remark
FROM why_walks AS w
JOIN why_raw AS r ON r.i = w.i
JOIN why_own AS o ON o.i = w.i
LEFT JOIN why_follows AS f ON f.i = w.i
LEFT JOIN why_parents AS p ON p.i = f.i AND p.k = f.k;

-- In which requests events are high together: the Jaccard index of each pair, of those requests
-- in which both were recorded.
CREATE TEMPORARY TABLE why_high AS
SELECT place, 1 AS i FROM why_requests WHERE c1 > CAST('9' AS double precision)
UNION ALL
SELECT place, 2 AS i FROM why_requests WHERE c2 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 3 AS i FROM why_requests WHERE c3 > CAST('10' AS double precision)
UNION ALL
SELECT place, 4 AS i FROM why_requests WHERE c4 > CAST('2' AS double precision)
UNION ALL
SELECT place, 5 AS i FROM why_requests WHERE c5 > CAST('15' AS double precision);

CREATE TEMPORARY TABLE why_partly AS
SELECT place, 1 AS i FROM why_requests WHERE c1 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 1) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 2 AS i FROM why_requests WHERE c2 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 2) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 3 AS i FROM why_requests WHERE c3 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 3) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 4 AS i FROM why_requests WHERE c4 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 4) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 5 AS i FROM why_requests WHERE c5 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 5) < (SELECT n FROM why_size);

CREATE TEMPORARY TABLE why_pairs AS
SELECT x.a AS a, x.b AS b, x.shared * CAST('1' AS double precision) / (x.high_a + x.high_b - x.shared) AS jaccard
FROM (
  SELECT t.a AS a, t.b AS b, t.shared AS shared,
    CASE WHEN b.n = b.all_n THEN a.high ELSE coalesce(sa.high, 0) END AS high_a,
    CASE WHEN a.n = a.all_n THEN b.high ELSE coalesce(sb.high, 0) END AS high_b
  FROM (SELECT a.i AS a, b.i AS b, count(*) AS shared FROM why_high AS a JOIN why_high AS b ON b.place = a.place AND b.i <> a.i GROUP BY a.i, b.i) AS t
  JOIN why_counts AS a ON a.i = t.a
  JOIN why_counts AS b ON b.i = t.b
  -- In how many requests that recorded the one the other is high.
  LEFT JOIN (SELECT h.i AS a, p.i AS b, count(*) AS high FROM why_high AS h JOIN why_partly AS p ON p.place = h.place GROUP BY h.i, p.i) AS sa ON sa.a = t.a AND sa.b = t.b
  LEFT JOIN (SELECT h.i AS b, p.i AS a, count(*) AS high FROM why_high AS h JOIN why_partly AS p ON p.place = h.place GROUP BY h.i, p.i) AS sb ON sb.a = t.a AND sb.b = t.b) AS x;

-- Rule 1: what an event shares with one that can be its cause is that one's impact. Of several
-- causes it is the one that takes the most.
CREATE TEMPORARY TABLE why_causes AS
SELECT * FROM (
  SELECT e.i AS i, c.event AS cause, p.jaccard AS jaccard, e.raw - p.jaccard * least(c.raw, c.own) AS adjusted,
    row_number() OVER (PARTITION BY e.i ORDER BY e.raw - p.jaccard * least(c.raw, c.own), c.i) AS k
  FROM why_ruled AS e
  JOIN why_pairs AS p ON p.b = e.i
  JOIN why_ruled AS c ON c.i = p.a
  WHERE e.remark = '' AND c.remark = '' AND c.raw > 0
    AND c.grp <> e.grp AND (c.grp = 2 OR e.grp = 7 OR c.task = e.task AND (c.grp = 3 AND e.grp > 3 OR c.grp > 3 AND c.grp < e.grp AND (c.grp > 16) = (e.grp > 16)))) AS x
WHERE k = 1 AND jaccard > 0;

CREATE TEMPORARY TABLE why_impacts AS
SELECT e.i AS i, e.event AS event, e.grp AS grp, e.task AS task, e.known AS known, e.n AS n, e.high AS high, e.threshold AS threshold, e.raw AS raw, e.own AS own,
  CASE WHEN e.remark <> '' THEN 0 ELSE least(coalesce(c.adjusted, e.raw), e.own) END AS adjusted,
  CASE WHEN c.adjusted < e.raw AND e.own >= c.adjusted THEN c.cause ELSE '' END AS cause,
  CASE WHEN c.adjusted < e.raw AND e.own >= c.adjusted THEN c.jaccard ELSE 0 END AS jaccard,
  e.remark AS remark
FROM why_ruled AS e
LEFT JOIN why_causes AS c ON c.i = e.i;

-- The events, the greatest impact first. Of those that are as good as alike, that whose time is
-- known.
SELECT event, n, high, threshold, raw, own, adjusted, cause, jaccard, remark
FROM why_impacts
ORDER BY floor(100 * adjusted + 0.5) DESC, known DESC, adjusted DESC, i;

-- Events that are high together, and no rule says which one is the cause.
SELECT b.event AS one, a.event AS other, p.jaccard
FROM why_pairs AS p
JOIN why_impacts AS a ON a.i = p.a
JOIN why_impacts AS b ON b.i = p.b
WHERE b.i < a.i AND a.remark = '' AND b.remark = '' AND p.jaccard >= CAST('0.5' AS double precision)
  AND least(a.adjusted, b.adjusted) >= CAST('0.02' AS double precision)
  AND a.grp <> 7 AND b.grp <> 7
  AND NOT (a.grp <> b.grp AND (a.grp = 2 OR a.task = b.task AND (a.grp = 3 AND b.grp > 3 OR a.grp > 3 AND a.grp < b.grp AND (a.grp > 16) = (b.grp > 16))))
  AND NOT (a.grp <> b.grp AND (b.grp = 2 OR a.task = b.task AND (b.grp = 3 AND a.grp > 3 OR b.grp > 3 AND b.grp < a.grp AND (b.grp > 16) = (a.grp > 16))))
ORDER BY p.jaccard DESC, a.i, b.i;
