// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/why"
	"fmt"
	"internal/taskrecord"
	"maps"
	"slices"
	"strings"
	"text/template"
)

// A dialect is what the SQL of an engine has for lines of JSON. All else is alike. The formats'
// first argument is a document, and the second one a path into it; see [dialect.at].
type dialect struct {
	Title string // with the version that ran
	Load  string // how to load the lines of FILE
	Order string // where id is from, and what the engine makes of lines
	Run   string // how to run the script
	Setup string // what comes first in it

	escapes string                          // these have to be escaped in a string, but the quote
	path    func(key, quoted string) string // an element of a path
	paths   string                          // what begins and ends one

	Value   string // a value of whatever kind
	Text    string // as text, NULL if it is null
	Double  string // what is a number, if it is there
	Boolean string
	Plain   string // a number; NULL if it is of another kind
	Number  string // the same, or a string that looks like a number

	record string // the members of the record of a task, if it isn't made of the formats

	// Sum adds, of elements of an array in their order, those that are not NULL. Its arguments
	// are the array, the condition and the number of an element x.
	Sum string
}

// looksLikeNumber is the regular expression of a string that is taken for a number.
const looksLikeNumber = `'^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$'`

// dialects are the engines that -engine can name.
var dialects = map[string]*dialect{
	"postgresql": {
		Title: "PostgreSQL 15",
		Load: `CREATE TABLE requests (id bigint GENERATED ALWAYS AS IDENTITY, line jsonb);
\copy requests (line) FROM 'FILE' WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')
ANALYZE requests;`,
		Order: `From a table of columns: INSERT INTO requests (line) SELECT to_jsonb(t) FROM t.`,
		Run:   "psql -X --csv -v ON_ERROR_STOP=1 -f FILE.sql",
		Setup: `SET standard_conforming_strings = on;
SET jit = off;            -- it takes longer to compile than to run
SET work_mem = '256MB';   -- for sorting
SET client_encoding = 'UTF8';`,
		path: func(_, quoted string) string { return "->" + quoted },
		// Each -> takes the line apart, which may be compressed. This does so once.
		record: `requests, jsonb_to_record(line) AS r (kind text, client boolean, slow boolean, sampled boolean, early boolean, uncounted boolean,
  wall_ns double precision, goroutines double precision, latency jsonb,
  counts jsonb, counts_running_ns jsonb, counts_enabled_ns jsonb, regions jsonb, calls jsonb, notes jsonb)`,
		Value:   "(%[1]s%[2]s)",
		Text:    "(%[1]s%[2]s #>> '{}')",
		Double:  "(%[1]s%[2]s #>> '{}')::double precision",
		Boolean: "(%[1]s%[2]s #>> '{}')::boolean",
		Plain:   "CASE WHEN jsonb_typeof(%[1]s%[2]s) = 'number' THEN (%[1]s%[2]s)::double precision END",
		Number: "CASE WHEN jsonb_typeof(%[1]s%[2]s) = 'number' THEN (%[1]s%[2]s)::double precision" +
			" WHEN %[1]s%[2]s #>> '{}' ~ " + looksLikeNumber + " THEN (%[1]s%[2]s #>> '{}')::double precision END",
		Sum: "(SELECT sum(%[3]s) FROM jsonb_array_elements(%[1]s) AS x WHERE %[2]s)",
	},
	"duckdb": {
		Title: "DuckDB 1.5",
		Load:  `CREATE TABLE requests AS SELECT row_number() OVER () AS id, json AS line FROM read_ndjson_objects('FILE');`,
		Order: "Of a name that an object has twice the first value counts, and the last one in the report.",
		Run:   "duckdb -bail -csv FILE.db <FILE.sql",
		Setup: "SET preserve_insertion_order = true;",
		path: func(key, _ string) string {
			return "/" + strings.ReplaceAll(strings.NewReplacer("~", "~0", "/", "~1").Replace(key), "'", "''")
		},
		paths:   "'",
		Value:   "json_extract(%[1]s, %[2]s)",
		Text:    "json_extract_string(%[1]s, %[2]s)",
		Double:  "CAST(json_extract(%[1]s, %[2]s) AS DOUBLE)",
		Boolean: "CAST(json_extract(%[1]s, %[2]s) AS BOOLEAN)",
		Plain:   "CASE WHEN json_type(%[1]s, %[2]s) IN ('UBIGINT', 'BIGINT', 'DOUBLE') THEN CAST(json_extract(%[1]s, %[2]s) AS DOUBLE) END",
		Number:  "CASE WHEN regexp_matches(json_extract_string(%[1]s, %[2]s), " + looksLikeNumber + ") THEN CAST(json_extract_string(%[1]s, %[2]s) AS DOUBLE) END",
		Sum:     "list_sum(list_transform(list_filter(CAST(%[1]s AS JSON[]), lambda x: %[2]s), lambda x: %[3]s))",
	},
	"clickhouse": {
		Title: "ClickHouse 26.7",
		Load: `CREATE TABLE requests (id UInt64, line String, CONSTRAINT json CHECK isValidJSON(line)) ENGINE = MergeTree ORDER BY id;
INSERT INTO requests SELECT rowNumberInAllBlocks(), line FROM file('FILE', LineAsString, 'line String') SETTINGS max_threads = 1;`,
		Order: `Of a name that an object has twice the first value counts, and the last one in the report.
An integer that takes more than 64 bits is no JSON here. Of several servers requests is the
Distributed table, or a Merge table; an id then has to be one line's on all of them, such as
generateSnowflakeID().`,
		Run: "clickhouse client --format CSVWithNames --queries-file FILE.sql",
		Setup: `SET precise_float_parsing = 1;  -- each number is the nearest one
SET cast_keep_nullable = 1, join_use_nulls = 1, prefer_column_name_to_alias = 1;  -- as in standard SQL
SET distributed_product_mode = 'global';
SET max_query_size = 1000000000, max_ast_elements = 10000000, max_expanded_ast_elements = 10000000;`,
		escapes: `\`,
		path:    func(_, quoted string) string { return ", " + quoted },
		Value:   "JSONExtractRaw(%[1]s%[2]s)",
		Text:    "JSONExtract(%[1]s%[2]s, 'Nullable(String)')",
		Double:  "JSONExtract(%[1]s%[2]s, 'Nullable(Float64)')",
		Boolean: "JSONExtract(%[1]s%[2]s, 'Nullable(Bool)')",
		Plain:   "CASE WHEN JSONType(%[1]s%[2]s) IN ('Int64', 'UInt64', 'Double') THEN JSONExtract(%[1]s%[2]s, 'Nullable(Float64)') END",
		Number: "CASE WHEN JSONType(%[1]s%[2]s) IN ('Int64', 'UInt64', 'Double') THEN JSONExtract(%[1]s%[2]s, 'Nullable(Float64)')" +
			" WHEN match(JSONExtractString(%[1]s%[2]s), " + looksLikeNumber + ") THEN toFloat64(JSONExtractString(%[1]s%[2]s)) END",
		Sum: "arrayFold((sum, v) -> coalesce(sum + v, sum, v), arrayMap(x -> CAST(%[3]s AS Nullable(Float64)), arrayFilter(x -> %[2]s, JSONExtractArrayRaw(%[1]s))), CAST(NULL AS Nullable(Float64)))",
	},
}

// engines returns the names of the engines.
func engines() string { return strings.Join(slices.Sorted(maps.Keys(dialects)), ", ") }

// funcs returns what a template calls.
func (d *dialect) funcs() template.FuncMap {
	return template.FuncMap{"text": d.text, "at": d.at, "sum": d.sum, "count": d.count}
}

// sqlString quotes a string. Standard SQL knows no escape but of the quote.
func sqlString(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// text quotes a string.
func (d *dialect) text(s string) string {
	for _, c := range d.escapes {
		s = strings.ReplaceAll(s, string(c), `\`+string(c))
	}
	return sqlString(s)
}

// at fills in a format with a path of keys.
func (d *dialect) at(format, document string, keys ...string) string {
	var path strings.Builder
	for _, key := range keys {
		path.WriteString(d.path(key, d.text(key)))
	}
	return fmt.Sprintf(format, document, d.paths+path.String()+d.paths)
}

// sum returns the sum of the numbers of those elements of an array that have the key.
func (d *dialect) sum(array, name, key, number string) string {
	return fmt.Sprintf(d.Sum, array, d.at(d.Text, "x", name)+" = "+d.text(key), number)
}

// Record returns a table of the members of the record of a task.
func (d *dialect) Record() string {
	if d.record != "" {
		return d.record
	}
	table := "(\n  SELECT id, line"
	for _, of := range []struct{ format, names string }{
		{d.Text, "kind"},
		{d.Boolean, "client slow sampled early uncounted"},
		{d.Double, "wall_ns goroutines"},
		{d.Value, "latency counts counts_running_ns counts_enabled_ns regions calls notes"},
	} {
		for _, name := range strings.Fields(of.names) {
			table += ",\n    " + d.at(of.format, "line", name) + " AS " + name
		}
	}
	return table + "\n  FROM requests) AS r"
}

// count returns the count of an event in the record of a task, if it was counted all the time.
func (d *dialect) count(event string) string {
	running, enabled := d.at(d.Double, "counts_running_ns", event), d.at(d.Double, "counts_enabled_ns", event)
	return fmt.Sprintf("CASE WHEN NOT uncounted AND %s = %s THEN %s END", running, enabled, d.at(d.Double, "counts", event))
}

// partKey returns the key that a part of the time has in a line of JSON.
func partKey(p taskrecord.Part) string {
	return taskrecord.PartColumn(p) + "_ns"
}

// ratio returns a ratio of the record of a task.
func (d *dialect) ratio(r why.Ratio) string {
	count := func(event string) string { return "nullif(" + d.count(event) + ", 0)" }
	if r.Instructions != "" {
		return count(r.Cycles) + " / " + count(r.Instructions)
	}
	var sum []string
	for _, p := range r.Parts {
		sum = append(sum, d.at(d.Double, "line", partKey(p)))
	}
	return "(" + strings.Join(sum, " + ") + ") / " + count(r.Cycles)
}
