-- Why are some requests slow? The analysis of all of them, where the data is.
-- Printed by why -sql: thresholds are of 5000 requests of FILE.
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
  wall_ns / 1e6 AS latency,
  -- "C"
  (r.latency->'c_ns' #>> '{}')::double precision / 1e6 AS c1,
  -- "GC"
  (r.latency->'gc_ns' #>> '{}')::double precision / 1e6 AS c2,
  -- "chan"
  (r.latency->'chan_ns' #>> '{}')::double precision / 1e6 AS c3,
  -- "coroutine"
  (r.latency->'coroutine_ns' #>> '{}')::double precision / 1e6 AS c4,
  -- "elsewhere"
  (r.latency->'elsewhere_ns' #>> '{}')::double precision / 1e6 AS c5,
  -- "goroutines"
  goroutines AS c6,
  -- "mutex"
  (r.latency->'mutex_ns' #>> '{}')::double precision / 1e6 AS c7,
  -- "network"
  (r.latency->'network_ns' #>> '{}')::double precision / 1e6 AS c8,
  -- "other"
  (r.latency->'other_ns' #>> '{}')::double precision / 1e6 AS c9,
  -- "page-faults"
  CASE WHEN NOT uncounted AND (counts_running_ns->'page-faults' #>> '{}')::double precision = (counts_enabled_ns->'page-faults' #>> '{}')::double precision THEN (counts->'page-faults' #>> '{}')::double precision END AS c10,
  -- "preempted"
  (r.latency->'preempted_ns' #>> '{}')::double precision / 1e6 AS c11,
  -- "runnable"
  (r.latency->'runnable_ns' #>> '{}')::double precision / 1e6 AS c12,
  -- "running"
  (r.latency->'running_ns' #>> '{}')::double precision / 1e6 AS c13,
  -- "select"
  (r.latency->'select_ns' #>> '{}')::double precision / 1e6 AS c14,
  -- "sleep"
  (r.latency->'sleep_ns' #>> '{}')::double precision / 1e6 AS c15,
  -- "stop-the-world"
  (r.latency->'stop_the_world_ns' #>> '{}')::double precision / 1e6 AS c16,
  -- "sync"
  (r.latency->'sync_ns' #>> '{}')::double precision / 1e6 AS c17,
  -- "syscall"
  (r.latency->'syscall_ns' #>> '{}')::double precision / 1e6 AS c18
FROM requests, jsonb_to_record(line) AS r (kind text, client boolean, slow boolean, sampled boolean, early boolean, uncounted boolean,
  wall_ns double precision, goroutines double precision, latency jsonb,
  counts jsonb, counts_running_ns jsonb, counts_enabled_ns jsonb, regions jsonb, calls jsonb, notes jsonb)
-- A call of another server is an attribute of the task that makes it. A record that is there
-- twice, as from two downloads, counts once.
WHERE NOT client
  AND kind = 'GET /'
  -- Those that were recorded only for being slow are left out, and those of whose time others
  -- are gone.
  AND NOT early AND (sampled OR NOT slow)
  AND id IN (SELECT min(id) FROM requests GROUP BY (line->'trace_id' #>> '{}'), (line->'span_id' #>> '{}'), CASE WHEN (line->'span_id' #>> '{}') = '0000000000000000' THEN id END);

-- ==== PostgreSQL 15 ends here ====

-- Events. A group can cause those of a greater number, and 2 all others; 1 can neither cause
-- nor be caused, and 7 can not cause. Of different tasks of a request only 2 can be a cause, and 7 be caused. known says
-- that the event's time is known.
CREATE TEMPORARY TABLE why_events AS
SELECT 1 AS i, 'C' AS event, 1 AS grp, 0 AS task, 1 AS known, CAST(NULL AS double precision) AS threshold, 'always the same' AS remark
UNION ALL
SELECT 2, 'GC', 1, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 3, 'chan', 1, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 4, 'coroutine', 1, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 5, 'elsewhere', 1, 0, 1, CAST('10.004796' AS double precision), ''
UNION ALL
SELECT 6, 'goroutines', 1, 0, 0, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 7, 'mutex', 1, 0, 1, CAST('0.099968' AS double precision), ''
UNION ALL
SELECT 8, 'network', 1, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 9, 'other', 1, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 10, 'page-faults', 3, 0, 1, CAST(NULL AS double precision), 'no step'
UNION ALL
SELECT 11, 'preempted', 1, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 12, 'runnable', 1, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 13, 'running', 6, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 14, 'select', 1, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 15, 'sleep', 1, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 16, 'stop-the-world', 1, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 17, 'sync', 1, 0, 1, CAST(NULL AS double precision), 'always the same'
UNION ALL
SELECT 18, 'syscall', 1, 0, 1, CAST(NULL AS double precision), 'always the same';

-- Requests: place 1 is the slowest. c1 and so on are the events.
CREATE TEMPORARY TABLE why_requests AS
SELECT row_number() OVER (ORDER BY latency DESC, id) AS place, latency, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17, c18
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
  CASE i WHEN 1 THEN n1 WHEN 2 THEN n2 WHEN 3 THEN n3 WHEN 4 THEN n4 WHEN 5 THEN n5 WHEN 6 THEN n6 WHEN 7 THEN n7 WHEN 8 THEN n8 WHEN 9 THEN n9 WHEN 10 THEN n10 WHEN 11 THEN n11 WHEN 12 THEN n12 WHEN 13 THEN n13 WHEN 14 THEN n14 WHEN 15 THEN n15 WHEN 16 THEN n16 WHEN 17 THEN n17 WHEN 18 THEN n18 END AS n,
  CASE i WHEN 1 THEN high1 WHEN 2 THEN high2 WHEN 3 THEN high3 WHEN 4 THEN high4 WHEN 5 THEN high5 WHEN 6 THEN high6 WHEN 7 THEN high7 WHEN 8 THEN high8 WHEN 9 THEN high9 WHEN 10 THEN high10 WHEN 11 THEN high11 WHEN 12 THEN high12 WHEN 13 THEN high13 WHEN 14 THEN high14 WHEN 15 THEN high15 WHEN 16 THEN high16 WHEN 17 THEN high17 WHEN 18 THEN high18 END AS high,
  CASE i WHEN 1 THEN half1 WHEN 2 THEN half2 WHEN 3 THEN half3 WHEN 4 THEN half4 WHEN 5 THEN half5 WHEN 6 THEN half6 WHEN 7 THEN half7 WHEN 8 THEN half8 WHEN 9 THEN half9 WHEN 10 THEN half10 WHEN 11 THEN half11 WHEN 12 THEN half12 WHEN 13 THEN half13 WHEN 14 THEN half14 WHEN 15 THEN half15 WHEN 16 THEN half16 WHEN 17 THEN half17 WHEN 18 THEN half18 END AS in_half,
  CASE i WHEN 1 THEN tail1 WHEN 2 THEN tail2 WHEN 3 THEN tail3 WHEN 4 THEN tail4 WHEN 5 THEN tail5 WHEN 6 THEN tail6 WHEN 7 THEN tail7 WHEN 8 THEN tail8 WHEN 9 THEN tail9 WHEN 10 THEN tail10 WHEN 11 THEN tail11 WHEN 12 THEN tail12 WHEN 13 THEN tail13 WHEN 14 THEN tail14 WHEN 15 THEN tail15 WHEN 16 THEN tail16 WHEN 17 THEN tail17 WHEN 18 THEN tail18 END AS in_tail
FROM why_events AS e CROSS JOIN why_size AS s CROSS JOIN (
  SELECT
    count(c1) AS n1, count(CASE WHEN c1 > CAST(NULL AS double precision) THEN 1 END) AS high1, count(CASE WHEN place <= half THEN c1 END) AS half1, count(CASE WHEN place <= tail THEN c1 END) AS tail1,
    count(c2) AS n2, count(CASE WHEN c2 > CAST(NULL AS double precision) THEN 1 END) AS high2, count(CASE WHEN place <= half THEN c2 END) AS half2, count(CASE WHEN place <= tail THEN c2 END) AS tail2,
    count(c3) AS n3, count(CASE WHEN c3 > CAST(NULL AS double precision) THEN 1 END) AS high3, count(CASE WHEN place <= half THEN c3 END) AS half3, count(CASE WHEN place <= tail THEN c3 END) AS tail3,
    count(c4) AS n4, count(CASE WHEN c4 > CAST(NULL AS double precision) THEN 1 END) AS high4, count(CASE WHEN place <= half THEN c4 END) AS half4, count(CASE WHEN place <= tail THEN c4 END) AS tail4,
    count(c5) AS n5, count(CASE WHEN c5 > CAST('10.004796' AS double precision) THEN 1 END) AS high5, count(CASE WHEN place <= half THEN c5 END) AS half5, count(CASE WHEN place <= tail THEN c5 END) AS tail5,
    count(c6) AS n6, count(CASE WHEN c6 > CAST(NULL AS double precision) THEN 1 END) AS high6, count(CASE WHEN place <= half THEN c6 END) AS half6, count(CASE WHEN place <= tail THEN c6 END) AS tail6,
    count(c7) AS n7, count(CASE WHEN c7 > CAST('0.099968' AS double precision) THEN 1 END) AS high7, count(CASE WHEN place <= half THEN c7 END) AS half7, count(CASE WHEN place <= tail THEN c7 END) AS tail7,
    count(c8) AS n8, count(CASE WHEN c8 > CAST(NULL AS double precision) THEN 1 END) AS high8, count(CASE WHEN place <= half THEN c8 END) AS half8, count(CASE WHEN place <= tail THEN c8 END) AS tail8,
    count(c9) AS n9, count(CASE WHEN c9 > CAST(NULL AS double precision) THEN 1 END) AS high9, count(CASE WHEN place <= half THEN c9 END) AS half9, count(CASE WHEN place <= tail THEN c9 END) AS tail9,
    count(c10) AS n10, count(CASE WHEN c10 > CAST(NULL AS double precision) THEN 1 END) AS high10, count(CASE WHEN place <= half THEN c10 END) AS half10, count(CASE WHEN place <= tail THEN c10 END) AS tail10,
    count(c11) AS n11, count(CASE WHEN c11 > CAST(NULL AS double precision) THEN 1 END) AS high11, count(CASE WHEN place <= half THEN c11 END) AS half11, count(CASE WHEN place <= tail THEN c11 END) AS tail11,
    count(c12) AS n12, count(CASE WHEN c12 > CAST(NULL AS double precision) THEN 1 END) AS high12, count(CASE WHEN place <= half THEN c12 END) AS half12, count(CASE WHEN place <= tail THEN c12 END) AS tail12,
    count(c13) AS n13, count(CASE WHEN c13 > CAST(NULL AS double precision) THEN 1 END) AS high13, count(CASE WHEN place <= half THEN c13 END) AS half13, count(CASE WHEN place <= tail THEN c13 END) AS tail13,
    count(c14) AS n14, count(CASE WHEN c14 > CAST(NULL AS double precision) THEN 1 END) AS high14, count(CASE WHEN place <= half THEN c14 END) AS half14, count(CASE WHEN place <= tail THEN c14 END) AS tail14,
    count(c15) AS n15, count(CASE WHEN c15 > CAST(NULL AS double precision) THEN 1 END) AS high15, count(CASE WHEN place <= half THEN c15 END) AS half15, count(CASE WHEN place <= tail THEN c15 END) AS tail15,
    count(c16) AS n16, count(CASE WHEN c16 > CAST(NULL AS double precision) THEN 1 END) AS high16, count(CASE WHEN place <= half THEN c16 END) AS half16, count(CASE WHEN place <= tail THEN c16 END) AS tail16,
    count(c17) AS n17, count(CASE WHEN c17 > CAST(NULL AS double precision) THEN 1 END) AS high17, count(CASE WHEN place <= half THEN c17 END) AS half17, count(CASE WHEN place <= tail THEN c17 END) AS tail17,
    count(c18) AS n18, count(CASE WHEN c18 > CAST(NULL AS double precision) THEN 1 END) AS high18, count(CASE WHEN place <= half THEN c18 END) AS half18, count(CASE WHEN place <= tail THEN c18 END) AS tail18
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
  min(CASE WHEN random5 = 1 AND n5 < place THEN CASE WHEN n5 > 0 AND place * (low5 * CAST('1' AS double precision) / n5) > above_low5 THEN place END WHEN low5 > above_low5 THEN place END) AS low5,
  min(CASE WHEN CASE WHEN random6 = 1 THEN place ELSE n6 END > above_all6 THEN place END) AS all6,
  min(CASE WHEN random6 = 1 AND n6 < place THEN CASE WHEN n6 > 0 AND place * (low6 * CAST('1' AS double precision) / n6) > above_low6 THEN place END WHEN low6 > above_low6 THEN place END) AS low6,
  min(CASE WHEN CASE WHEN random7 = 1 THEN place ELSE n7 END > above_all7 THEN place END) AS all7,
  min(CASE WHEN random7 = 1 AND n7 < place THEN CASE WHEN n7 > 0 AND place * (low7 * CAST('1' AS double precision) / n7) > above_low7 THEN place END WHEN low7 > above_low7 THEN place END) AS low7,
  min(CASE WHEN CASE WHEN random8 = 1 THEN place ELSE n8 END > above_all8 THEN place END) AS all8,
  min(CASE WHEN random8 = 1 AND n8 < place THEN CASE WHEN n8 > 0 AND place * (low8 * CAST('1' AS double precision) / n8) > above_low8 THEN place END WHEN low8 > above_low8 THEN place END) AS low8,
  min(CASE WHEN CASE WHEN random9 = 1 THEN place ELSE n9 END > above_all9 THEN place END) AS all9,
  min(CASE WHEN random9 = 1 AND n9 < place THEN CASE WHEN n9 > 0 AND place * (low9 * CAST('1' AS double precision) / n9) > above_low9 THEN place END WHEN low9 > above_low9 THEN place END) AS low9,
  min(CASE WHEN CASE WHEN random10 = 1 THEN place ELSE n10 END > above_all10 THEN place END) AS all10,
  min(CASE WHEN random10 = 1 AND n10 < place THEN CASE WHEN n10 > 0 AND place * (low10 * CAST('1' AS double precision) / n10) > above_low10 THEN place END WHEN low10 > above_low10 THEN place END) AS low10,
  min(CASE WHEN CASE WHEN random11 = 1 THEN place ELSE n11 END > above_all11 THEN place END) AS all11,
  min(CASE WHEN random11 = 1 AND n11 < place THEN CASE WHEN n11 > 0 AND place * (low11 * CAST('1' AS double precision) / n11) > above_low11 THEN place END WHEN low11 > above_low11 THEN place END) AS low11,
  min(CASE WHEN CASE WHEN random12 = 1 THEN place ELSE n12 END > above_all12 THEN place END) AS all12,
  min(CASE WHEN random12 = 1 AND n12 < place THEN CASE WHEN n12 > 0 AND place * (low12 * CAST('1' AS double precision) / n12) > above_low12 THEN place END WHEN low12 > above_low12 THEN place END) AS low12,
  min(CASE WHEN CASE WHEN random13 = 1 THEN place ELSE n13 END > above_all13 THEN place END) AS all13,
  min(CASE WHEN random13 = 1 AND n13 < place THEN CASE WHEN n13 > 0 AND place * (low13 * CAST('1' AS double precision) / n13) > above_low13 THEN place END WHEN low13 > above_low13 THEN place END) AS low13,
  min(CASE WHEN CASE WHEN random14 = 1 THEN place ELSE n14 END > above_all14 THEN place END) AS all14,
  min(CASE WHEN random14 = 1 AND n14 < place THEN CASE WHEN n14 > 0 AND place * (low14 * CAST('1' AS double precision) / n14) > above_low14 THEN place END WHEN low14 > above_low14 THEN place END) AS low14,
  min(CASE WHEN CASE WHEN random15 = 1 THEN place ELSE n15 END > above_all15 THEN place END) AS all15,
  min(CASE WHEN random15 = 1 AND n15 < place THEN CASE WHEN n15 > 0 AND place * (low15 * CAST('1' AS double precision) / n15) > above_low15 THEN place END WHEN low15 > above_low15 THEN place END) AS low15,
  min(CASE WHEN CASE WHEN random16 = 1 THEN place ELSE n16 END > above_all16 THEN place END) AS all16,
  min(CASE WHEN random16 = 1 AND n16 < place THEN CASE WHEN n16 > 0 AND place * (low16 * CAST('1' AS double precision) / n16) > above_low16 THEN place END WHEN low16 > above_low16 THEN place END) AS low16,
  min(CASE WHEN CASE WHEN random17 = 1 THEN place ELSE n17 END > above_all17 THEN place END) AS all17,
  min(CASE WHEN random17 = 1 AND n17 < place THEN CASE WHEN n17 > 0 AND place * (low17 * CAST('1' AS double precision) / n17) > above_low17 THEN place END WHEN low17 > above_low17 THEN place END) AS low17,
  min(CASE WHEN CASE WHEN random18 = 1 THEN place ELSE n18 END > above_all18 THEN place END) AS all18,
  min(CASE WHEN random18 = 1 AND n18 < place THEN CASE WHEN n18 > 0 AND place * (low18 * CAST('1' AS double precision) / n18) > above_low18 THEN place END WHEN low18 > above_low18 THEN place END) AS low18
FROM (
  SELECT place,
    count(c1) OVER slowest AS n1, count(CASE WHEN c1 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low1,
    count(c2) OVER slowest AS n2, count(CASE WHEN c2 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low2,
    count(c3) OVER slowest AS n3, count(CASE WHEN c3 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low3,
    count(c4) OVER slowest AS n4, count(CASE WHEN c4 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low4,
    count(c5) OVER slowest AS n5, count(CASE WHEN c5 <= CAST('10.004796' AS double precision) THEN 1 END) OVER slowest AS low5,
    count(c6) OVER slowest AS n6, count(CASE WHEN c6 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low6,
    count(c7) OVER slowest AS n7, count(CASE WHEN c7 <= CAST('0.099968' AS double precision) THEN 1 END) OVER slowest AS low7,
    count(c8) OVER slowest AS n8, count(CASE WHEN c8 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low8,
    count(c9) OVER slowest AS n9, count(CASE WHEN c9 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low9,
    count(c10) OVER slowest AS n10, count(CASE WHEN c10 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low10,
    count(c11) OVER slowest AS n11, count(CASE WHEN c11 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low11,
    count(c12) OVER slowest AS n12, count(CASE WHEN c12 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low12,
    count(c13) OVER slowest AS n13, count(CASE WHEN c13 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low13,
    count(c14) OVER slowest AS n14, count(CASE WHEN c14 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low14,
    count(c15) OVER slowest AS n15, count(CASE WHEN c15 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low15,
    count(c16) OVER slowest AS n16, count(CASE WHEN c16 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low16,
    count(c17) OVER slowest AS n17, count(CASE WHEN c17 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low17,
    count(c18) OVER slowest AS n18, count(CASE WHEN c18 <= CAST(NULL AS double precision) THEN 1 END) OVER slowest AS low18
  FROM why_requests
  WINDOW slowest AS (ORDER BY place ROWS UNBOUNDED PRECEDING)) AS x
CROSS JOIN (
  SELECT
    max(CASE WHEN i = 1 THEN random END) AS random1, max(CASE WHEN i = 1 THEN above_all END) AS above_all1, max(CASE WHEN i = 1 THEN above_low END) AS above_low1,
    max(CASE WHEN i = 2 THEN random END) AS random2, max(CASE WHEN i = 2 THEN above_all END) AS above_all2, max(CASE WHEN i = 2 THEN above_low END) AS above_low2,
    max(CASE WHEN i = 3 THEN random END) AS random3, max(CASE WHEN i = 3 THEN above_all END) AS above_all3, max(CASE WHEN i = 3 THEN above_low END) AS above_low3,
    max(CASE WHEN i = 4 THEN random END) AS random4, max(CASE WHEN i = 4 THEN above_all END) AS above_all4, max(CASE WHEN i = 4 THEN above_low END) AS above_low4,
    max(CASE WHEN i = 5 THEN random END) AS random5, max(CASE WHEN i = 5 THEN above_all END) AS above_all5, max(CASE WHEN i = 5 THEN above_low END) AS above_low5,
    max(CASE WHEN i = 6 THEN random END) AS random6, max(CASE WHEN i = 6 THEN above_all END) AS above_all6, max(CASE WHEN i = 6 THEN above_low END) AS above_low6,
    max(CASE WHEN i = 7 THEN random END) AS random7, max(CASE WHEN i = 7 THEN above_all END) AS above_all7, max(CASE WHEN i = 7 THEN above_low END) AS above_low7,
    max(CASE WHEN i = 8 THEN random END) AS random8, max(CASE WHEN i = 8 THEN above_all END) AS above_all8, max(CASE WHEN i = 8 THEN above_low END) AS above_low8,
    max(CASE WHEN i = 9 THEN random END) AS random9, max(CASE WHEN i = 9 THEN above_all END) AS above_all9, max(CASE WHEN i = 9 THEN above_low END) AS above_low9,
    max(CASE WHEN i = 10 THEN random END) AS random10, max(CASE WHEN i = 10 THEN above_all END) AS above_all10, max(CASE WHEN i = 10 THEN above_low END) AS above_low10,
    max(CASE WHEN i = 11 THEN random END) AS random11, max(CASE WHEN i = 11 THEN above_all END) AS above_all11, max(CASE WHEN i = 11 THEN above_low END) AS above_low11,
    max(CASE WHEN i = 12 THEN random END) AS random12, max(CASE WHEN i = 12 THEN above_all END) AS above_all12, max(CASE WHEN i = 12 THEN above_low END) AS above_low12,
    max(CASE WHEN i = 13 THEN random END) AS random13, max(CASE WHEN i = 13 THEN above_all END) AS above_all13, max(CASE WHEN i = 13 THEN above_low END) AS above_low13,
    max(CASE WHEN i = 14 THEN random END) AS random14, max(CASE WHEN i = 14 THEN above_all END) AS above_all14, max(CASE WHEN i = 14 THEN above_low END) AS above_low14,
    max(CASE WHEN i = 15 THEN random END) AS random15, max(CASE WHEN i = 15 THEN above_all END) AS above_all15, max(CASE WHEN i = 15 THEN above_low END) AS above_low15,
    max(CASE WHEN i = 16 THEN random END) AS random16, max(CASE WHEN i = 16 THEN above_all END) AS above_all16, max(CASE WHEN i = 16 THEN above_low END) AS above_low16,
    max(CASE WHEN i = 17 THEN random END) AS random17, max(CASE WHEN i = 17 THEN above_all END) AS above_all17, max(CASE WHEN i = 17 THEN above_low END) AS above_low17,
    max(CASE WHEN i = 18 THEN random END) AS random18, max(CASE WHEN i = 18 THEN above_all END) AS above_all18, max(CASE WHEN i = 18 THEN above_low END) AS above_low18
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
    CASE e.i WHEN 1 THEN all1 WHEN 2 THEN all2 WHEN 3 THEN all3 WHEN 4 THEN all4 WHEN 5 THEN all5 WHEN 6 THEN all6 WHEN 7 THEN all7 WHEN 8 THEN all8 WHEN 9 THEN all9 WHEN 10 THEN all10 WHEN 11 THEN all11 WHEN 12 THEN all12 WHEN 13 THEN all13 WHEN 14 THEN all14 WHEN 15 THEN all15 WHEN 16 THEN all16 WHEN 17 THEN all17 WHEN 18 THEN all18 END AS all_place,
    CASE e.i WHEN 1 THEN low1 WHEN 2 THEN low2 WHEN 3 THEN low3 WHEN 4 THEN low4 WHEN 5 THEN low5 WHEN 6 THEN low6 WHEN 7 THEN low7 WHEN 8 THEN low8 WHEN 9 THEN low9 WHEN 10 THEN low10 WHEN 11 THEN low11 WHEN 12 THEN low12 WHEN 13 THEN low13 WHEN 14 THEN low14 WHEN 15 THEN low15 WHEN 16 THEN low16 WHEN 17 THEN low17 WHEN 18 THEN low18 END AS low_place
  FROM why_events AS e CROSS JOIN why_places) AS p ON p.i = w.i
LEFT JOIN why_requests AS a ON a.place = p.all_place
LEFT JOIN why_requests AS l ON l.place = p.low_place;

-- What is part of the latency has at most the impact of its own time: by which part the
-- percentile were lower if that took none.
CREATE TEMPORARY TABLE why_own AS
SELECT i, CASE WHEN latency > 0 AND remains < latency THEN (latency - greatest(remains, 0)) / latency ELSE 0 END AS own
FROM (
  SELECT i, 1 AS latency, 0 AS remains FROM why_events WHERE known = 0
  UNION ALL
  SELECT 1, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c1, 0) AS remains FROM why_requests WHERE c1 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 1) AS t
  UNION ALL
  SELECT 2, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c2, 0) AS remains FROM why_requests WHERE c2 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 2) AS t
  UNION ALL
  SELECT 3, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c3, 0) AS remains FROM why_requests WHERE c3 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 3) AS t
  UNION ALL
  SELECT 4, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c4, 0) AS remains FROM why_requests WHERE c4 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 4) AS t
  UNION ALL
  SELECT 5, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c5, 0) AS remains FROM why_requests WHERE c5 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 5) AS t
  UNION ALL
  SELECT 7, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c7, 0) AS remains FROM why_requests WHERE c7 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 7) AS t
  UNION ALL
  SELECT 8, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c8, 0) AS remains FROM why_requests WHERE c8 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 8) AS t
  UNION ALL
  SELECT 9, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c9, 0) AS remains FROM why_requests WHERE c9 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 9) AS t
  UNION ALL
  SELECT 10, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c1, 0) - coalesce(c13, 0) - coalesce(c18, 0) AS remains FROM why_requests WHERE c10 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 10) AS t
  UNION ALL
  SELECT 11, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c11, 0) AS remains FROM why_requests WHERE c11 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 11) AS t
  UNION ALL
  SELECT 12, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c12, 0) AS remains FROM why_requests WHERE c12 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 12) AS t
  UNION ALL
  SELECT 13, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c13, 0) AS remains FROM why_requests WHERE c13 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 13) AS t
  UNION ALL
  SELECT 14, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c14, 0) AS remains FROM why_requests WHERE c14 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 14) AS t
  UNION ALL
  SELECT 15, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c15, 0) AS remains FROM why_requests WHERE c15 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 15) AS t
  UNION ALL
  SELECT 16, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c16, 0) AS remains FROM why_requests WHERE c16 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 16) AS t
  UNION ALL
  SELECT 17, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c17, 0) AS remains FROM why_requests WHERE c17 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 17) AS t
  UNION ALL
  SELECT 18, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency - coalesce(c18, 0) AS remains FROM why_requests WHERE c18 IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor(CAST('0.99' AS double precision) * n), n - 1.0) AS tail FROM why_counts WHERE i = 18) AS t) AS x;

-- Rule 2: an event that is in proportion to a parent, whose number includes its own, follows
-- it. r2 is that of a line through the origin. Of several parents it is the first one.
CREATE TEMPORARY TABLE why_follows AS
SELECT i, min(k) AS k
FROM (
  SELECT 0 AS i, 0 AS k, 0 AS n, CAST('0' AS double precision) AS xy, CAST('0' AS double precision) AS xx, CAST('0' AS double precision) AS yy) AS x
WHERE n >= 10 AND xx > 0 AND yy > 0 AND xy / xx * (xy / yy) > CAST('0.99' AS double precision)
GROUP BY i;

CREATE TEMPORARY TABLE why_parents AS
SELECT 0 AS i, 0 AS k, '' AS parent;

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
SELECT place, 1 AS i FROM why_requests WHERE c1 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 2 AS i FROM why_requests WHERE c2 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 3 AS i FROM why_requests WHERE c3 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 4 AS i FROM why_requests WHERE c4 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 5 AS i FROM why_requests WHERE c5 > CAST('10.004796' AS double precision)
UNION ALL
SELECT place, 6 AS i FROM why_requests WHERE c6 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 7 AS i FROM why_requests WHERE c7 > CAST('0.099968' AS double precision)
UNION ALL
SELECT place, 8 AS i FROM why_requests WHERE c8 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 9 AS i FROM why_requests WHERE c9 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 10 AS i FROM why_requests WHERE c10 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 11 AS i FROM why_requests WHERE c11 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 12 AS i FROM why_requests WHERE c12 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 13 AS i FROM why_requests WHERE c13 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 14 AS i FROM why_requests WHERE c14 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 15 AS i FROM why_requests WHERE c15 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 16 AS i FROM why_requests WHERE c16 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 17 AS i FROM why_requests WHERE c17 > CAST(NULL AS double precision)
UNION ALL
SELECT place, 18 AS i FROM why_requests WHERE c18 > CAST(NULL AS double precision);

CREATE TEMPORARY TABLE why_partly AS
SELECT place, 1 AS i FROM why_requests WHERE c1 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 1) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 2 AS i FROM why_requests WHERE c2 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 2) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 3 AS i FROM why_requests WHERE c3 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 3) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 4 AS i FROM why_requests WHERE c4 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 4) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 5 AS i FROM why_requests WHERE c5 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 5) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 6 AS i FROM why_requests WHERE c6 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 6) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 7 AS i FROM why_requests WHERE c7 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 7) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 8 AS i FROM why_requests WHERE c8 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 8) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 9 AS i FROM why_requests WHERE c9 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 9) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 10 AS i FROM why_requests WHERE c10 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 10) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 11 AS i FROM why_requests WHERE c11 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 11) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 12 AS i FROM why_requests WHERE c12 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 12) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 13 AS i FROM why_requests WHERE c13 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 13) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 14 AS i FROM why_requests WHERE c14 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 14) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 15 AS i FROM why_requests WHERE c15 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 15) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 16 AS i FROM why_requests WHERE c16 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 16) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 17 AS i FROM why_requests WHERE c17 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 17) < (SELECT n FROM why_size)
UNION ALL
SELECT place, 18 AS i FROM why_requests WHERE c18 IS NOT NULL AND (SELECT n FROM why_counts WHERE i = 18) < (SELECT n FROM why_size);

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
