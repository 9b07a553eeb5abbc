-- Why are some requests slow? The analysis of all of them, where the data is.
-- Printed by why -sql: thresholds are of 2000 requests of FILE.
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
  CASE WHEN JSONType(line, 'latency') IN ('Int64', 'UInt64', 'Double') THEN JSONExtract(line, 'latency', 'Nullable(Float64)') END AS latency,
  -- "\n; --"
  CASE WHEN JSONType(line, '
; --') IN ('Int64', 'UInt64', 'Double') THEN JSONExtract(line, '
; --', 'Nullable(Float64)') WHEN match(JSONExtractString(line, '
; --'), '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN toFloat64(JSONExtractString(line, '
; --')) END AS c1,
  -- "a.b"
  CASE WHEN JSONType(line, 'a', 'b') IN ('Int64', 'UInt64', 'Double') THEN JSONExtract(line, 'a', 'b', 'Nullable(Float64)') WHEN match(JSONExtractString(line, 'a', 'b'), '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN toFloat64(JSONExtractString(line, 'a', 'b')) END AS c2,
  -- "cycles"
  CASE WHEN JSONType(line, 'cycles') IN ('Int64', 'UInt64', 'Double') THEN JSONExtract(line, 'cycles', 'Nullable(Float64)') WHEN match(JSONExtractString(line, 'cycles'), '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN toFloat64(JSONExtractString(line, 'cycles')) END AS c3,
  -- "it's \\"
  CASE WHEN JSONType(line, 'it''s \\') IN ('Int64', 'UInt64', 'Double') THEN JSONExtract(line, 'it''s \\', 'Nullable(Float64)') WHEN match(JSONExtractString(line, 'it''s \\'), '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN toFloat64(JSONExtractString(line, 'it''s \\')) END AS c4,
  -- "ref-cycles"
  CASE WHEN JSONType(line, 'ref-cycles') IN ('Int64', 'UInt64', 'Double') THEN JSONExtract(line, 'ref-cycles', 'Nullable(Float64)') WHEN match(JSONExtractString(line, 'ref-cycles'), '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN toFloat64(JSONExtractString(line, 'ref-cycles')) END AS c5
FROM requests
WHERE coalesce(JSONExtract(line, 'kind', 'Nullable(String)'), 'it''s') = 'it''s';

-- ==== ClickHouse 26.7