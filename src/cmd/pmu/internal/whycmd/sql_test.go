// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"flag"
	"fmt"
	"internal/taskrecord"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the scripts in testdata anew")

func TestSQLString(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", "''"},
		{"a", "'a'"},
		{"it's", "'it''s'"},
		{"'; DROP TABLE requests; --", "'''; DROP TABLE requests; --'"},
		{`\'`, `'\'''`},
		{"a\nb", "'a\nb'"},
		{":a $1", "':a $1'"},
	} {
		if got := sqlString(tt.in); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.in, got, tt.want)
		}
	}
	for v, want := range map[float64]string{0.1: "0.1", 1e21: "1e+21", -3: "-3", 1.0 / 3: "0.3333333333333333"} {
		if got := sqlNumber(v); got != "CAST('"+want+"' AS double precision)" {
			t.Errorf("%v: %s", v, got)
		}
	}
	if got := sqlNumber(nan); got != "CAST(NULL AS double precision)" {
		t.Errorf("NaN: %s", got)
	}
}

// TestPartKey tests that parts of the time have the keys that lines of tasks have.
func TestPartKey(t *testing.T) {
	for p := range taskrecord.Part(taskrecord.NumParts) {
		task := &taskrecord.Record{}
		task.Parts[p] = 12345 * time.Nanosecond
		if line := string(taskrecord.AppendJSON(nil, task)); !strings.Contains(line, `"`+partKey(p)+`":12345,`) {
			t.Errorf("%s: no %s in %s", p, partKey(p), line)
		}
	}
}

// endsHere is in the mark after which scripts are alike.
const endsHere = " ends here ===="

// golden tests that a script, or the beginning of one, is that of a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	// Files have other names each time.
	head, rest, _ := strings.Cut(got, "\n--\n")
	got = head[:strings.LastIndex(head, "of \"")] + "of FILE.\n--\n" + rest
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the script is not that of %s: see what go test -update changes\n%s", name, got)
	}
	if strings.Contains(got, "<no value>") || strings.Contains(got, "{{") || strings.Contains(got, "%!") {
		t.Errorf("%s: the template isn't filled in:\n%s", name, got)
	}
}

// TestDialects tests how dialects write strings and paths of names that are hostile.
func TestDialects(t *testing.T) {
	keys := []string{"a", `it's \`, "b/~c"}
	for engine, want := range map[string][2]string{
		"postgresql": {`'it''s \'`, `(line->'a'->'it''s \'->'b/~c')`},
		"duckdb":     {`'it''s \'`, `json_extract(line, '/a/it''s \/b~1~0c')`},
		"clickhouse": {`'it''s \\'`, `JSONExtractRaw(line, 'a', 'it''s \\', 'b/~c')`},
	} {
		d := dialects[engine]
		if got := [2]string{d.text(keys[1]), d.at(d.Value, "line", keys...)}; got != want {
			t.Errorf("%s: %s, want %s", engine, got, want)
		}
	}
}

// TestSQL tests the script of a small table, whose names are hostile, and that of tasks.
func TestSQL(t *testing.T) {
	var table strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&table, `{"latency":%d,"kind":"it's","it's \\":%d,"\n; --":%d,"a":{"b":%d},"cycles":%d,"ref-cycles":%d,"word":"x"}`+"\n",
			100+i%7+i%50/49*500, i%50/49*9+i%3, i%11, i%2, i%13, i%17)
	}
	for _, tt := range []struct{ name, data string }{
		{"table", table.String()},
		{"tasks", fileOf(t, tasksOf(planted()))},
	} {
		file := write(t, tt.data)
		status, got, errs := call("-sql", file)
		if status != 0 {
			t.Fatalf("%s: status %d: %s", tt.name, status, errs)
		}
		golden(t, tt.name+".sql", got)
		_, common, _ := strings.Cut(got, endsHere)
		for _, engine := range slices.Sorted(maps.Keys(dialects)) {
			status, got, errs := call("-sql", "-engine", engine, file)
			if status != 0 {
				t.Fatalf("%s, %s: status %d: %s", tt.name, engine, status, errs)
			}
			begin, rest, _ := strings.Cut(got, endsHere)
			if dialects[engine].escapes != "" {
				rest = strings.ReplaceAll(rest, `\\`, `\`)
			}
			if rest != common {
				t.Errorf("%s, %s: what is after %q is not that of PostgreSQL:\n%s", tt.name, engine, endsHere, rest)
			}
			if engine != "postgresql" {
				golden(t, tt.name+"-"+engine+".sql", begin)
			}
		}
	}
	if status, _, errs := call("-sql", "-engine", "oracle", write(t, table.String())); status != 2 || !strings.Contains(errs, `-engine is "oracle": it must be one of clickhouse, duckdb, postgresql`) {
		t.Errorf("of another engine: status %d: %s", status, errs)
	}
	if status, _, errs := call("-engine", "duckdb", write(t, table.String())); status != 2 || !strings.Contains(errs, "-engine goes with -sql") {
		t.Errorf("without -sql: status %d: %s", status, errs)
	}
	for _, tt := range []struct{ name, data, err string }{
		{"spans", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"00000000000000000000000000000001","spanId":"0000000000000001","name":"a","startTimeUnixNano":"1","endTimeUnixNano":"2"}]}]}]}`, "-sql is for lines of JSON, and these are spans"},
		{"one latency", strings.Repeat("{\"latency\":1,\"a\":2}\n", 100), "there is nothing to print as SQL"},
		{"two places", table.String() + "{\"latency\":1,\"a.b\":1}\n", `column "a.b" is a member of an object, and one of an object within`},
		{"NUL", strings.ReplaceAll(table.String(), `\n;`, `\u0000`), `"\x00 --" can't be written in SQL`},
	} {
		if status, out, errs := call("-sql", write(t, tt.data)); status != 2 || out != "" || !strings.Contains(errs, tt.err) {
			t.Errorf("%s: status %d\n%.200s\n%s, want %s", tt.name, status, out, errs, tt.err)
		}
	}
}
