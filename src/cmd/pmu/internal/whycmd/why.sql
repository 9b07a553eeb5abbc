{{- /* The script that why -sql prints; sql.go fills it in. */ -}}
-- Why are some requests slow? The analysis of all of them, where the data is.
-- Printed by why -sql: thresholds are of {{.Requests}} requests of {{comment .Files}}.
--
-- To load lines of JSON as they are into {{.D.Title}}:
--
{{- range lines .D.Load}}
--	{{.}}
{{- end}}
--
{{- if .Rows}}
-- FILE is what why -rows FILE writes: each request is a line, with what each server had of it.
--
{{- end}}
-- id is the order of lines: of requests that took as long, the first one is slower.
{{- range lines .D.Order}}
-- {{.}}
{{- end}}
--
-- To run it, in a session of its own, since its tables are temporary:
--
--	{{.D.Run}}
--
-- Only what is between the two marks is of {{.D.Title}}, on which it is tested. -engine has
-- others. For one that it does not have, define why_columns as it has to be there.

-- ==== {{.D.Title}} begins here ====

{{.D.Setup}}

CREATE TEMPORARY VIEW why_columns AS
SELECT id,
{{- if .Tasks}}
  wall_ns / 1e6 AS latency
{{- range .Events}},
  -- {{comment .Name}}
{{- if eq .Source "number"}}
  {{.Key}} AS c{{.I}}
{{- else if eq .Source "part"}}
  {{at $.D.Double "r.latency" .Key}} / 1e6 AS c{{.I}}
{{- else if eq .Source "cost"}}
  CASE WHEN {{at $.D.Double "line" .Key}} - {{at $.D.Double "r.latency" .Key}} <= floor(wall_ns / 100) THEN {{at $.D.Double "r.latency" .Key}} ELSE {{at $.D.Double "line" .Key}} END / 1e6 AS c{{.I}}
{{- else if eq .Source "ratio"}}
  {{.Value}} AS c{{.I}}
{{- else if eq .Source "region"}}
  coalesce({{sum "regions" "name" .Key (print (at $.D.Double "x" "wall_ns") " / 1e6")}}, 0) AS c{{.I}}
{{- else if eq .Source "call"}}
  coalesce({{sum "calls" "kind" .Key (print (at $.D.Double "x" "wall_ns") " / 1e6")}}, 0) AS c{{.I}}
{{- else if eq .Source "note"}}
  {{sum "notes" "key" .Key (at $.D.Number "x" "value")}} AS c{{.I}}
{{- else}}
  {{count .Key}} AS c{{.I}}
{{- end}}
{{- end}}
FROM {{.D.Record}}
-- A call of another server is an attribute of the task that makes it. A record that is there
-- twice, as from two downloads, counts once.
WHERE NOT client
  AND kind = {{text .Kind}}
{{- if .Random}}
  -- Those that were recorded only for being slow are left out, and those of whose time others
  -- are gone.
  AND NOT early AND (sampled OR NOT slow)
{{- end}}
{{- $trace := at .D.Text "line" "trace_id"}}{{$span := at .D.Text "line" "span_id"}}
  AND id IN (SELECT min(id) FROM requests GROUP BY {{$trace}}, {{$span}}, CASE WHEN {{$span}} = '0000000000000000' THEN id END)
{{- else}}
  {{at .D.Plain "line" .Latency}} AS latency
{{- range .Events}},
  -- {{comment .Name}}
  {{.Value}} AS c{{.I}}
{{- end}}
FROM requests
{{- if .Kind}}
WHERE coalesce({{at .D.Text "line" "kind"}}, {{text .NoKind}}) = {{text .Kind}}
{{- end}}
{{- end}};

-- ==== {{.D.Title}} ends here ====

-- Events. A group can cause those of a greater number, and 2 all others; 1 can neither cause
-- nor be caused, and 7 can not cause. Of different tasks of a request only 2 can be a cause, and 7 be caused. known says
-- that the event's time is known.
CREATE TEMPORARY TABLE why_events AS
{{- range $k, $e := .Events}}{{if $k}}
UNION ALL{{end}}
SELECT {{.I}}{{if not $k}} AS i{{end}}, {{text .Name}}{{if not $k}} AS event{{end}}, {{.Group}}{{if not $k}} AS grp{{end}}, {{.Of}}{{if not $k}} AS task{{end}}, {{.Known}}{{if not $k}} AS known{{end}}, {{num .Threshold}}{{if not $k}} AS threshold{{end}}, {{text .Remark}}{{if not $k}} AS remark{{end}}
{{- end}};

-- Requests: place 1 is the slowest. c1 and so on are the events.
CREATE TEMPORARY TABLE why_requests AS
SELECT row_number() OVER (ORDER BY latency DESC, id) AS place, latency
{{- range .Events}}, c{{.I}}{{end}}
FROM why_columns
WHERE latency IS NOT NULL;

-- How many there are, half of them, and the tail: those from the percentile on. Of n values the
-- percentile p has the index int(p*n) of the sorted values, or that of the last one.
CREATE TEMPORARY TABLE why_size AS
SELECT n, floor(n / 2.0) AS half, n - least(floor({{num .P}} * n), n - 1.0) AS tail
FROM (SELECT count(*) AS n FROM why_requests) AS x;

-- Of each event: in how many requests it was recorded, and high, and in how many of the slower
-- half and of the tail it was recorded.
CREATE TEMPORARY TABLE why_counts AS
SELECT e.*, s.n AS all_n, s.half, s.tail,
  CASE i{{range .Events}} WHEN {{.I}} THEN n{{.I}}{{end}} END AS n,
  CASE i{{range .Events}} WHEN {{.I}} THEN high{{.I}}{{end}} END AS high,
  CASE i{{range .Events}} WHEN {{.I}} THEN half{{.I}}{{end}} END AS in_half,
  CASE i{{range .Events}} WHEN {{.I}} THEN tail{{.I}}{{end}} END AS in_tail
FROM why_events AS e CROSS JOIN why_size AS s CROSS JOIN (
  SELECT
{{- range $k, $e := .Events}}{{if $k}},{{end}}
    count(c{{.I}}) AS n{{.I}}, count(CASE WHEN c{{.I}} > {{num .Threshold}} THEN 1 END) AS high{{.I}}, count(CASE WHEN place <= half THEN c{{.I}} END) AS half{{.I}}, count(CASE WHEN place <= tail THEN c{{.I}} END) AS tail{{.I}}
{{- end}}
  FROM why_requests CROSS JOIN why_size) AS x;

-- An event may be recorded in some requests only. If these seem to be any ones, as many of the
-- slow ones as of all within four standard deviations or a quarter, what they say is taken to be
-- true of all, and else only of themselves: then the others are left out.
-- above_all is how many are above the percentile, and above_low how many of those in which
-- the event is not high are above theirs.
CREATE TEMPORARY TABLE why_walks AS
SELECT w.*,
  size - 1 - least(floor({{num .P}} * size), size - 1.0) AS above_all,
  CASE
    WHEN high = 0 THEN size - 1 - least(floor({{num .P}} * size), size - 1.0)
    WHEN n = size THEN n - high - 1 - least(floor({{num .P}} * (n - high)), n - high - 1.0)
    ELSE (1 - {{num .P}}) * size * (n - high) / n
  END AS above_low
FROM (
  SELECT c.*, CASE WHEN random = 1 THEN all_n ELSE n END AS size
  FROM (
    SELECT c.*, CASE
      WHEN abs(in_half - half * share) <= greatest(4 * sqrt(half * share * (1 - share)) + 1, half * share / 4)
       AND abs(in_tail - tail * share) <= greatest(4 * sqrt(tail * share * (1 - share)) + 1, tail * share / 4)
      THEN 1 ELSE 0 END AS random
    FROM (SELECT c.*, n * {{num 1}} / nullif(all_n, 0) AS share FROM why_counts AS c) AS c) AS c) AS w;

-- A walk goes through requests, the slowest first. all1 is the place of the percentile. low1
-- is that of the percentile which the others have without those in which the event is high:
-- where it was not recorded, it is taken to have been high as often as in those before.
CREATE TEMPORARY TABLE why_places AS
SELECT
{{- range $k, $e := .Events}}{{if $k}},{{end}}
  min(CASE WHEN CASE WHEN random{{.I}} = 1 THEN place ELSE n{{.I}} END > above_all{{.I}} THEN place END) AS all{{.I}},
  min(CASE WHEN random{{.I}} = 1 AND n{{.I}} < place THEN CASE WHEN n{{.I}} > 0 AND place * (low{{.I}} * {{num 1}} / n{{.I}}) > above_low{{.I}} THEN place END WHEN low{{.I}} > above_low{{.I}} THEN place END) AS low{{.I}}
{{- end}}
FROM (
  SELECT place
{{- range .Events}},
    count(c{{.I}}) OVER slowest AS n{{.I}}, count(CASE WHEN c{{.I}} <= {{num .Threshold}} THEN 1 END) OVER slowest AS low{{.I}}
{{- end}}
  FROM why_requests
  WINDOW slowest AS (ORDER BY place ROWS UNBOUNDED PRECEDING)) AS x
CROSS JOIN (
  SELECT
{{- range $k, $e := .Events}}{{if $k}},{{end}}
    max(CASE WHEN i = {{.I}} THEN random END) AS random{{.I}}, max(CASE WHEN i = {{.I}} THEN above_all END) AS above_all{{.I}}, max(CASE WHEN i = {{.I}} THEN above_low END) AS above_low{{.I}}
{{- end}}
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
    CASE e.i{{range .Events}} WHEN {{.I}} THEN all{{.I}}{{end}} END AS all_place,
    CASE e.i{{range .Events}} WHEN {{.I}} THEN low{{.I}}{{end}} END AS low_place
  FROM why_events AS e CROSS JOIN why_places) AS p ON p.i = w.i
LEFT JOIN why_requests AS a ON a.place = p.all_place
LEFT JOIN why_requests AS l ON l.place = p.low_place;

-- What is part of the latency has at most the impact of its own time: by which part the
-- percentile were lower if that took none.
CREATE TEMPORARY TABLE why_own AS
SELECT i, CASE WHEN latency > 0 AND remains < latency THEN (latency - greatest(remains, 0)) / latency ELSE 0 END AS own
FROM (
  SELECT i, 1 AS latency, 0 AS remains FROM why_events WHERE known = 0
{{- range .Own}}
  UNION ALL
{{- if not .Times}}
  SELECT {{.I}}, 1, 0
{{- else}}
  SELECT {{.I}}, max(CASE WHEN k = tail THEN latency END), max(CASE WHEN l = tail THEN remains END)
  FROM (
    SELECT latency, remains, row_number() OVER (ORDER BY place) AS k, row_number() OVER (ORDER BY remains DESC) AS l
    FROM (SELECT place, latency, latency{{range .Times}} - coalesce(c{{.}}, 0){{end}} AS remains FROM why_requests WHERE c{{.I}} IS NOT NULL) AS x) AS x
  CROSS JOIN (SELECT n - least(floor({{num $.P}} * n), n - 1.0) AS tail FROM why_counts WHERE i = {{.I}}) AS t
{{- end}}
{{- end}}) AS x;

-- Rule 2: an event that is in proportion to a parent, whose number includes its own, follows
-- it. r2 is that of a line through the origin. Of several parents it is the first one.
CREATE TEMPORARY TABLE why_follows AS
SELECT i, min(k) AS k
FROM (
  SELECT 0 AS i, 0 AS k, 0 AS n, {{num 0}} AS xy, {{num 0}} AS xx, {{num 0}} AS yy
{{- range .Parents}}
  UNION ALL
  SELECT {{.I}}, {{.K}}, count(*), sum(c{{.I}} * c{{.Parent}}), sum(c{{.Parent}} * c{{.Parent}}), sum(c{{.I}} * c{{.I}}) FROM why_requests WHERE c{{.I}} IS NOT NULL AND c{{.Parent}} IS NOT NULL
{{- end}}) AS x
WHERE n >= {{.Fewest}} AND xx > 0 AND yy > 0 AND xy / xx * (xy / yy) > {{num .Proportional}}
GROUP BY i;

CREATE TEMPORARY TABLE why_parents AS
SELECT 0 AS i, 0 AS k, '' AS parent
{{- range .Parents}}
UNION ALL
SELECT {{.I}}, {{.K}}, {{text .Name}}
{{- end}};

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
{{- range $k, $e := .Events}}{{if $k}}
UNION ALL{{end}}
SELECT place, {{.I}} AS i FROM why_requests WHERE c{{.I}} > {{num .Threshold}}
{{- end}};

CREATE TEMPORARY TABLE why_partly AS
{{- range $k, $e := .Events}}{{if $k}}
UNION ALL{{end}}
SELECT place, {{.I}} AS i FROM why_requests WHERE c{{.I}} IS NOT NULL AND (SELECT n FROM why_counts WHERE i = {{.I}}) < (SELECT n FROM why_size)
{{- end}};

CREATE TEMPORARY TABLE why_pairs AS
SELECT x.a AS a, x.b AS b, x.shared * {{num 1}} / (x.high_a + x.high_b - x.shared) AS jaccard
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
WHERE b.i < a.i AND a.remark = '' AND b.remark = '' AND p.jaccard >= {{num .Together}}
  AND least(a.adjusted, b.adjusted) >= {{num .LeastImpact}}
  AND a.grp <> 7 AND b.grp <> 7
  AND NOT (a.grp <> b.grp AND (a.grp = 2 OR a.task = b.task AND (a.grp = 3 AND b.grp > 3 OR a.grp > 3 AND a.grp < b.grp AND (a.grp > 16) = (b.grp > 16))))
  AND NOT (a.grp <> b.grp AND (b.grp = 2 OR a.task = b.task AND (b.grp = 3 AND a.grp > 3 OR b.grp > 3 AND b.grp < a.grp AND (b.grp > 16) = (a.grp > 16))))
ORDER BY p.jaccard DESC, a.i, b.i;
