-- Why are some requests slow? The analysis of all of them, where the data is.
-- Printed by why -sql: thresholds are of 5000 requests of FILE.
--
-- To load lines of JSON as they are into DuckDB 1.5:
--
--	CREATE TABLE requests AS SELECT row_number() OVER () AS id, json AS line FROM read_ndjson_objects('FILE');
--
-- id is the order of lines: of requests that took as long, the first one is slower.
-- Of a name that an object has twice the first value counts, and the last one in the report.
--
-- To run it, in a session of its own, since its tables are temporary:
--
--	duckdb -bail -csv FILE.db <FILE.sql
--
-- Only what is between the two marks is of DuckDB 1.5, on which it is tested. -engine has
-- others. For one that it does not have, define why_columns as it has to be there.

-- ==== DuckDB 1.5 begins here ====

SET preserve_insertion_order = true;

CREATE TEMPORARY VIEW why_columns AS
SELECT id,
  wall_ns / 1e6 AS latency,
  -- "C"
  CAST(json_extract(r.latency, '/c_ns') AS DOUBLE) / 1e6 AS c1,
  -- "GC"
  CAST(json_extract(r.latency, '/gc_ns') AS DOUBLE) / 1e6 AS c2,
  -- "chan"
  CAST(json_extract(r.latency, '/chan_ns') AS DOUBLE) / 1e6 AS c3,
  -- "coroutine"
  CAST(json_extract(r.latency, '/coroutine_ns') AS DOUBLE) / 1e6 AS c4,
  -- "elsewhere"
  CAST(json_extract(r.latency, '/elsewhere_ns') AS DOUBLE) / 1e6 AS c5,
  -- "goroutines"
  goroutines AS c6,
  -- "mutex"
  CAST(json_extract(r.latency, '/mutex_ns') AS DOUBLE) / 1e6 AS c7,
  -- "network"
  CAST(json_extract(r.latency, '/network_ns') AS DOUBLE) / 1e6 AS c8,
  -- "other"
  CAST(json_extract(r.latency, '/other_ns') AS DOUBLE) / 1e6 AS c9,
  -- "page-faults"
  CASE WHEN NOT uncounted AND CAST(json_extract(counts_running_ns, '/page-faults') AS DOUBLE) = CAST(json_extract(counts_enabled_ns, '/page-faults') AS DOUBLE) THEN CAST(json_extract(counts, '/page-faults') AS DOUBLE) END AS c10,
  -- "preempted"
  CAST(json_extract(r.latency, '/preempted_ns') AS DOUBLE) / 1e6 AS c11,
  -- "runnable"
  CAST(json_extract(r.latency, '/runnable_ns') AS DOUBLE) / 1e6 AS c12,
  -- "running"
  CAST(json_extract(r.latency, '/running_ns') AS DOUBLE) / 1e6 AS c13,
  -- "select"
  CAST(json_extract(r.latency, '/select_ns') AS DOUBLE) / 1e6 AS c14,
  -- "sleep"
  CAST(json_extract(r.latency, '/sleep_ns') AS DOUBLE) / 1e6 AS c15,
  -- "stop-the-world"
  CAST(json_extract(r.latency, '/stop_the_world_ns') AS DOUBLE) / 1e6 AS c16,
  -- "sync"
  CAST(json_extract(r.latency, '/sync_ns') AS DOUBLE) / 1e6 AS c17,
  -- "syscall"
  CAST(json_extract(r.latency, '/syscall_ns') AS DOUBLE) / 1e6 AS c18
FROM (
  SELECT id, line,
    json_extract_string(line, '/kind') AS kind,
    CAST(json_extract(line, '/client') AS BOOLEAN) AS client,
    CAST(json_extract(line, '/slow') AS BOOLEAN) AS slow,
    CAST(json_extract(line, '/sampled') AS BOOLEAN) AS sampled,
    CAST(json_extract(line, '/early') AS BOOLEAN) AS early,
    CAST(json_extract(line, '/uncounted') AS BOOLEAN) AS uncounted,
    CAST(json_extract(line, '/wall_ns') AS DOUBLE) AS wall_ns,
    CAST(json_extract(line, '/goroutines') AS DOUBLE) AS goroutines,
    json_extract(line, '/latency') AS latency,
    json_extract(line, '/counts') AS counts,
    json_extract(line, '/counts_running_ns') AS counts_running_ns,
    json_extract(line, '/counts_enabled_ns') AS counts_enabled_ns,
    json_extract(line, '/regions') AS regions,
    json_extract(line, '/calls') AS calls,
    json_extract(line, '/notes') AS notes
  FROM requests) AS r
-- A call of another server is an attribute of the task that makes it. A record that is there
-- twice, as from two downloads, counts once.
WHERE NOT client
  AND kind = 'GET /'
  -- Those that were recorded only for being slow are left out, and those of whose time others
  -- are gone.
  AND NOT early AND (sampled OR NOT slow)
  AND id IN (SELECT min(id) FROM requests GROUP BY json_extract_string(line, '/trace_id'), json_extract_string(line, '/span_id'), CASE WHEN json_extract_string(line, '/span_id') = '0000000000000000' THEN id END);

-- ==== DuckDB 1.5