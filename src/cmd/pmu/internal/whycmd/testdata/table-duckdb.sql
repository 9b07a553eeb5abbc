-- Why are some requests slow? The analysis of all of them, where the data is.
-- Printed by why -sql: thresholds are of 2000 requests of FILE.
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
  CASE WHEN json_type(line, '/latency') IN ('UBIGINT', 'BIGINT', 'DOUBLE') THEN CAST(json_extract(line, '/latency') AS DOUBLE) END AS latency,
  -- "\n; --"
  CASE WHEN regexp_matches(json_extract_string(line, '/
; --'), '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN CAST(json_extract_string(line, '/
; --') AS DOUBLE) END AS c1,
  -- "a.b"
  CASE WHEN regexp_matches(json_extract_string(line, '/a/b'), '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN CAST(json_extract_string(line, '/a/b') AS DOUBLE) END AS c2,
  -- "cycles"
  CASE WHEN regexp_matches(json_extract_string(line, '/cycles'), '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN CAST(json_extract_string(line, '/cycles') AS DOUBLE) END AS c3,
  -- "it's \\"
  CASE WHEN regexp_matches(json_extract_string(line, '/it''s \'), '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN CAST(json_extract_string(line, '/it''s \') AS DOUBLE) END AS c4,
  -- "ref-cycles"
  CASE WHEN regexp_matches(json_extract_string(line, '/ref-cycles'), '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$') THEN CAST(json_extract_string(line, '/ref-cycles') AS DOUBLE) END AS c5
FROM requests
WHERE coalesce(json_extract_string(line, '/kind'), 'it''s') = 'it''s';

-- ==== DuckDB 1.5