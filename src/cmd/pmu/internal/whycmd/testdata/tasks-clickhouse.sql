-- Why are some requests slow? The analysis of all of them, where the data is.
-- Printed by why -sql: thresholds are of 5000 requests of FILE.
--
-- To load lines of JSON as they are into ClickHouse 26.7:
--
--	CREATE TABLE requests (id UInt64, line String, CONSTRAINT json CHECK isValidJSON(line)) ENGINE = MergeTree ORDER BY id;
--	INSERT INTO requests SELECT rowNumberInAllBlocks(), line FROM file('FILE', LineAsString, 'line String') SETTINGS max_threads = 1;
--
-- id is the order of lines: of requests that took as long, the first one is slower.
-- Of a name that an object has twice the first value counts, and the last one in the report.
-- An integer that takes more than 64 bits is no JSON here. Of several servers requests is the
-- Distributed table, or a Merge table; an id then has to be one line's on all of them, such as
-- generateSnowflakeID().
--
-- To run it, in a session of its own, since its tables are temporary:
--
--	clickhouse client --format CSVWithNames --queries-file FILE.sql
--
-- Only what is between the two marks is of ClickHouse 26.7, on which it is tested. -engine has
-- others. For one that it does not have, define why_columns as it has to be there.

-- ==== ClickHouse 26.7 begins here ====

SET precise_float_parsing = 1;  -- each number is the nearest one
SET cast_keep_nullable = 1, join_use_nulls = 1, prefer_column_name_to_alias = 1;  -- as in standard SQL
SET distributed_product_mode = 'global';
SET max_query_size = 1000000000, max_ast_elements = 10000000, max_expanded_ast_elements = 10000000;

CREATE TEMPORARY VIEW why_columns AS
SELECT id,
  wall_ns / 1e6 AS latency,
  -- "C"
  JSONExtract(r.latency, 'c_ns', 'Nullable(Float64)') / 1e6 AS c1,
  -- "GC"
  JSONExtract(r.latency, 'gc_ns', 'Nullable(Float64)') / 1e6 AS c2,
  -- "chan"
  JSONExtract(r.latency, 'chan_ns', 'Nullable(Float64)') / 1e6 AS c3,
  -- "coroutine"
  JSONExtract(r.latency, 'coroutine_ns', 'Nullable(Float64)') / 1e6 AS c4,
  -- "elsewhere"
  JSONExtract(r.latency, 'elsewhere_ns', 'Nullable(Float64)') / 1e6 AS c5,
  -- "goroutines"
  goroutines AS c6,
  -- "mutex"
  JSONExtract(r.latency, 'mutex_ns', 'Nullable(Float64)') / 1e6 AS c7,
  -- "network"
  JSONExtract(r.latency, 'network_ns', 'Nullable(Float64)') / 1e6 AS c8,
  -- "other"
  JSONExtract(r.latency, 'other_ns', 'Nullable(Float64)') / 1e6 AS c9,
  -- "page-faults"
  CASE WHEN NOT uncounted AND JSONExtract(counts_running_ns, 'page-faults', 'Nullable(Float64)') = JSONExtract(counts_enabled_ns, 'page-faults', 'Nullable(Float64)') THEN JSONExtract(counts, 'page-faults', 'Nullable(Float64)') END AS c10,
  -- "preempted"
  JSONExtract(r.latency, 'preempted_ns', 'Nullable(Float64)') / 1e6 AS c11,
  -- "runnable"
  JSONExtract(r.latency, 'runnable_ns', 'Nullable(Float64)') / 1e6 AS c12,
  -- "running"
  JSONExtract(r.latency, 'running_ns', 'Nullable(Float64)') / 1e6 AS c13,
  -- "select"
  JSONExtract(r.latency, 'select_ns', 'Nullable(Float64)') / 1e6 AS c14,
  -- "sleep"
  JSONExtract(r.latency, 'sleep_ns', 'Nullable(Float64)') / 1e6 AS c15,
  -- "stop-the-world"
  JSONExtract(r.latency, 'stop_the_world_ns', 'Nullable(Float64)') / 1e6 AS c16,
  -- "sync"
  JSONExtract(r.latency, 'sync_ns', 'Nullable(Float64)') / 1e6 AS c17,
  -- "syscall"
  JSONExtract(r.latency, 'syscall_ns', 'Nullable(Float64)') / 1e6 AS c18
FROM (
  SELECT id, line,
    JSONExtract(line, 'kind', 'Nullable(String)') AS kind,
    JSONExtract(line, 'client', 'Nullable(Bool)') AS client,
    JSONExtract(line, 'slow', 'Nullable(Bool)') AS slow,
    JSONExtract(line, 'sampled', 'Nullable(Bool)') AS sampled,
    JSONExtract(line, 'early', 'Nullable(Bool)') AS early,
    JSONExtract(line, 'uncounted', 'Nullable(Bool)') AS uncounted,
    JSONExtract(line, 'wall_ns', 'Nullable(Float64)') AS wall_ns,
    JSONExtract(line, 'goroutines', 'Nullable(Float64)') AS goroutines,
    JSONExtractRaw(line, 'latency') AS latency,
    JSONExtractRaw(line, 'counts') AS counts,
    JSONExtractRaw(line, 'counts_running_ns') AS counts_running_ns,
    JSONExtractRaw(line, 'counts_enabled_ns') AS counts_enabled_ns,
    JSONExtractRaw(line, 'regions') AS regions,
    JSONExtractRaw(line, 'calls') AS calls,
    JSONExtractRaw(line, 'notes') AS notes
  FROM requests) AS r
-- A call of another server is an attribute of the task that makes it. A record that is there
-- twice, as from two downloads, counts once.
WHERE NOT client
  AND kind = 'GET /'
  -- Those that were recorded only for being slow are left out, and those of whose time others
  -- are gone.
  AND NOT early AND (sampled OR NOT slow)
  AND id IN (SELECT min(id) FROM requests GROUP BY JSONExtract(line, 'trace_id', 'Nullable(String)'), JSONExtract(line, 'span_id', 'Nullable(String)'), CASE WHEN JSONExtract(line, 'span_id', 'Nullable(String)') = '0000000000000000' THEN id END);

-- ==== ClickHouse 26.7