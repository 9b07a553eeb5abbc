// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package whycmd

import (
	"cmd/pmu/internal/why"
	"encoding/binary"
	"fmt"
	"internal/taskrecord"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// This file runs the SQL of why -sql on the engines that it is for, and compares it with the report.

// An engine runs the SQL of a dialect.
type engine interface {
	dialect() string                                         // as -engine names it
	load(file, script string) error                          // loads lines of JSON as the script says
	run(script string) (events, pairs [][]string, err error) // returns the script's tables
	cpu() time.Duration                                      // that all of that has taken
}

// A namedEngine is one that has been started.
type namedEngine struct {
	engine
	name string
}

// twoShards makes two tables of the lines, as two servers had them, and one of these. Each is
// behind a Distributed table, which there is no second server for. Lines that are there twice are in both.
var twoShards = []string{
	"DROP TABLE IF EXISTS part_0; CREATE TABLE part_0 AS requests; INSERT INTO part_0 SELECT * FROM requests WHERE id % 2 = 0",
	"DROP TABLE IF EXISTS part_1; CREATE TABLE part_1 AS requests; INSERT INTO part_1 SELECT * FROM requests WHERE id % 2 = 1",
	"DROP TABLE IF EXISTS shard_0; CREATE TABLE shard_0 AS remote('127.0.0.1', currentDatabase(), part_0)",
	"DROP TABLE IF EXISTS shard_1; CREATE TABLE shard_1 AS remote('127.0.0.1', currentDatabase(), part_1)",
	"DROP TABLE requests; CREATE TABLE requests AS part_0 ENGINE = Merge(currentDatabase(), '^shard_[01]$')",
}

// startEngines starts the engines that there are. PMU_TEST_REQUIRE names those that have to be.
func startEngines(t *testing.T) (all []namedEngine) {
	t.Helper()
	start := func(name, require string, e engine, missing string) {
		t.Helper()
		switch {
		case missing == "":
			all = append(all, namedEngine{e, name})
		case strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), require):
			t.Fatal(missing)
		default:
			t.Log(missing)
		}
	}
	e, missing := startPostgres(t)
	start("PostgreSQL", "postgres", e, missing)
	e, missing = startNode(t, "duckdb")
	start("DuckDB", "duckdb", e, missing)
	e, missing = startNode(t, "clickhouse")
	start("ClickHouse", "clickhouse", e, missing)
	e, missing = startNode(t, "clickhouse", twoShards...)
	start("ClickHouse/shards", "clickhouse", e, missing)
	if len(all) == 0 {
		t.Skip("there is no engine")
	}
	return all
}

// loads returns the statements that load a file as the script says.
func loads(script, file string) (statements []string) {
	_, rest, _ := strings.Cut(script, "\n--\t")
	for line := range strings.Lines(rest) {
		if strings.HasPrefix(line, "--\n") {
			break
		}
		statement := strings.TrimPrefix(strings.TrimSuffix(line, "\n"), "--\t")
		statements = append(statements, strings.ReplaceAll(statement, "'FILE'", "'"+file+"'"))
	}
	return statements
}

// An analysis is the report of a table, and what its SQL is printed from.
type analysis struct {
	in    *input
	table *why.Table
	all   bool
	*why.Report
	kind, file string
}

// script returns the SQL for an engine.
func (a *analysis) script(t *testing.T, engine string) string {
	t.Helper()
	a.in.engine = engine
	var sql strings.Builder
	if err := a.in.writeSQL(&sql, a.table, a.Report, a.kind, a.all, []string{a.file}, nil); err != nil {
		t.Fatal(err)
	}
	return sql.String()
}

// analyze returns the report of a file.
func analyze(t *testing.T, p float64, kind, file string) *analysis {
	t.Helper()
	start := time.Now()
	in := &input{latency: "latency", stderr: io.Discard, progress: &progress{}}
	in.Max = 1 << 40
	in.sql = true // rows are in the order of lines, which decides between requests that took as long
	in.read(file)
	if err := in.joined.rows(&in.b, kind, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	table := in.b.Table(in.unit)
	if _, err := selectKind(table, kind, io.Discard); err != nil {
		t.Fatal(err)
	}
	read := time.Now()
	r, err := why.Analyze(table, why.Params{P: p, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d requests, %d columns: read in %.1f s, analyzed in %.1f s", r.Requests, len(table.Columns), read.Sub(start).Seconds(), time.Since(read).Seconds())
	return &analysis{in, table, len(table.Latency) == in.b.Rows(), r, kind, file}
}

// compare compares the tables of the script with a report, and returns the differences.
func compare(r *why.Report, events, pairs [][]string) (diffs []string) {
	same := func(what, got string, want float64) {
		v, err := strconv.ParseFloat(got, 64)
		if got == "" {
			v, err = nan, nil
		}
		if math.IsNaN(v) && math.IsNaN(want) {
			return
		}
		if err != nil || !(math.Abs(v-want) <= 1e-9*max(math.Abs(v), math.Abs(want))) {
			diffs = append(diffs, fmt.Sprintf("%s is %s, and %v in the report", what, got, want))
		}
	}
	exact := func(what, got string, want any) {
		if got != fmt.Sprint(want) {
			diffs = append(diffs, fmt.Sprintf("%s is %q, and %q in the report", what, got, fmt.Sprint(want)))
		}
	}
	exact("the number of events", strconv.Itoa(len(events)), len(r.Impacts))
	last := math.Inf(1)
	for _, row := range events {
		// Those that are alike to 1 % are in the report by their intervals, which SQL doesn't have.
		adjusted, _ := strconv.ParseFloat(row[6], 64)
		if rank := math.Round(100 * adjusted); rank > last {
			diffs = append(diffs, row[0]+" is below one with a lower impact")
		} else {
			last = rank
		}
		i := slices.IndexFunc(r.Impacts, func(e why.Impact) bool { return e.Event == row[0] })
		if i < 0 {
			diffs = append(diffs, fmt.Sprintf("event %q is not in the report", row[0]))
			continue
		}
		e := r.Impacts[i]
		exact(e.Event+": n", row[1], e.N)
		exact(e.Event+": high", row[2], e.High)
		if v, err := strconv.ParseFloat(row[3], 64); row[3] != "" && (err != nil || v != e.Threshold) || row[3] == "" && e.Threshold == e.Threshold {
			diffs = append(diffs, fmt.Sprintf("%s: threshold is %s, and %v in the report", e.Event, row[3], e.Threshold))
		}
		same(e.Event+": raw", row[4], e.Raw)
		same(e.Event+": own", row[5], e.Own)
		same(e.Event+": adjusted", row[6], e.Adjusted)
		exact(e.Event+": cause", row[7], e.Cause)
		same(e.Event+": jaccard", row[8], e.Jaccard)
		exact(e.Event+": remark", row[9], e.Remark)
	}
	exact("the number of pairs", strconv.Itoa(len(pairs)), len(r.Pairs))
	for i := range min(len(pairs), len(r.Pairs)) {
		row, e := pairs[i], r.Pairs[i]
		exact("a pair", row[0]+" and "+row[1], e.Events[0]+" and "+e.Events[1])
		same("its Jaccard", row[2], e.Jaccard)
	}
	return diffs
}

// sqlRequests is how many requests the test has: PMU_TEST_SQL, or enough for a test.
func sqlRequests(t *testing.T) int {
	s := os.Getenv("PMU_TEST_SQL")
	switch {
	case s == "" && os.Getenv("CI") != "":
		return 100_000
	case s == "":
		return 30_000
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		t.Fatalf("PMU_TEST_SQL: %v", err)
	}
	return n
}

// sqlTests are the tables that the SQL is tested with.
var sqlTests = []struct {
	name  string
	p     float64
	kind  string
	write func(*testing.T, int) string
}{
	{"table", 0.99, "a", func(t *testing.T, n int) string { return writeRequests(t, n, 0.0625, false) }},
	{"p90", 0.9, "b's", func(t *testing.T, n int) string { return writeRequests(t, n, 0.25, false) }},
	{"ties", 0.95, "a", func(t *testing.T, n int) string { return writeRequests(t, n, 8, false) }},
	{"tasks", 0.99, "GET /it's", writeTasks},
}

// TestEngines tests that the SQL of why -sql finds on each engine what the report has.
func TestEngines(t *testing.T) {
	engines := startEngines(t)
	n := sqlRequests(t)
	for _, tt := range sqlTests {
		t.Run(tt.name, func(t *testing.T) {
			a := analyze(t, tt.p, tt.kind, tt.write(t, n))
			for _, e := range engines {
				t.Run(e.name, func(t *testing.T) { testEngine(t, e, a) })
			}
		})
	}
}

// testEngine tests that an engine finds what the report has.
func testEngine(t *testing.T, e engine, a *analysis) {
	script := a.script(t, e.dialect())
	var took []string
	timed := func(what string, f func() error) {
		start, cpu := time.Now(), e.cpu()
		if err := f(); err != nil {
			t.Fatal(err)
		}
		took = append(took, fmt.Sprintf("%s in %.1f s, CPU %.1f s", what, time.Since(start).Seconds(), (e.cpu()-cpu).Seconds()))
	}
	var events, pairs [][]string
	timed("loaded", func() error { return e.load(a.file, script) })
	timed("analyzed", func() (err error) {
		events, pairs, err = e.run(script)
		return err
	})
	t.Log(strings.Join(took, "; "))
	for _, d := range compare(a.Report, events, pairs) {
		t.Error(d)
	}
	for _, row := range append(events, pairs...) {
		t.Logf("%q", row)
	}
}

// TestEnginesTwice tests which value of a name that an object has twice counts: the last one, or
// the first one where the script says so.
func TestEnginesTwice(t *testing.T) {
	engines := startEngines(t)
	file := writeRequests(t, 3000, 1, true)
	a := analyze(t, 0.99, "a", file)
	for _, e := range engines {
		script := a.script(t, e.dialect())
		if err := e.load(file, script); err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		events, pairs, err := e.run(script)
		if err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		first := strings.Contains(script, "-- Of a name that an object has twice the first value counts")
		if same := len(compare(a.Report, events, pairs)) == 0; same == first {
			t.Errorf("%s: that it is equal to the report is %v, and that the script says that it isn't is %v", e.name, same, first)
		}
	}
}

// mutations make the SQL wrong.
var mutations = []struct{ old, new string }{
	{`(c\d+) > CAST`, `$1 >= CAST`},
	{`(c\d+) <= CAST`, `$1 < CAST`},
	{`size - 1 - least`, `size - least`},
	{`THEN all_n ELSE n END AS size`, `THEN all_n ELSE all_n END AS size`},
	{`THEN 1 ELSE 0 END AS random`, `THEN 0 ELSE 1 END AS random`},
	{`THEN 1 ELSE 0 END AS random`, `THEN 1 ELSE 1 END AS random`},
	{`AND n\d+ < place THEN`, `AND place < 0 THEN`},
	{`p.low_place < p.all_place`, `p.low_place > p.all_place`},
	{`least\(c\.raw, c\.own\)`, `c.raw`},
	{`c\.grp < e\.grp`, `c.grp > e.grp`},
	{`c\.grp = 2 OR`, ``},
	{`x\.high_a \+ x\.high_b - x\.shared`, `x.high_a + x.high_b`},
	{`WHEN b\.n = b\.all_n THEN a\.high`, `WHEN true THEN a.high`},
	{`remains DESC`, `remains`},
	{`least\(coalesce\(c\.adjusted, e\.raw\), e\.own\)`, `coalesce(c.adjusted, e.raw)`},
	{`(?s)\n  AND id IN .*?;`, `;`},
	{`WHERE NOT client`, `WHERE true`},
	{`NOT uncounted AND`, ``},
	{`NOT uncounted AND .*? THEN`, `NOT uncounted THEN`},
	{`WHERE coalesce\(.*\) = '.*'`, ``},
	{`adjusted \+ 0\.5\) DESC`, `adjusted + 0.5)`},
	{`AND \(sampled OR NOT slow\)`, ``},
	{`NOT early AND`, ``},
	{`THEN (.*latency.*) ELSE .* END / 1e6`, `THEN $1 ELSE $1 END / 1e6`},
}

// TestEnginesJoined tests the SQL of records of several servers, on the rows that are of them.
func TestEnginesJoined(t *testing.T) {
	engines := startEngines(t)
	f := newFleet(6, fleetNames...)
	for i := range 3000 {
		binary.BigEndian.PutUint64(f.trace[:], uint64(i+1))
		j := fanOut(rare(i, f.around(40*testMs)))
		j.calls[2].beside, j.calls[2].region = testMs+rare(i, f.around(80*testMs))+rare(i/2+i%2*99, 80*testMs), "index"
		j.calls[1].mutex = rare(i+3, f.around(20*testMs))
		f.do(j, taskrecord.SpanID{}, time.Duration(i)*time.Second)
		if list := f.files[4]; i%7 == 0 {
			f.files[4] = list[:len(list)-1]
		}
	}
	files := f.run(t, 0, nil)
	in := input{latency: "latency", stderr: io.Discard, progress: &progress{}}
	in.Max = 1 << 40
	for _, file := range files {
		in.read(file)
	}
	if err := in.joined.rows(&in.b, "GET /", func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	r, err := why.Analyze(in.b.Table(in.unit), why.Params{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Top() != "mutex on backup5 (write)" {
		t.Errorf("the report: %s", r.Cause())
	}
	for _, e := range engines {
		t.Run(e.name, func(t *testing.T) { testJoined(t, e, r, files) })
	}
}

// testJoined tests that an engine finds what the report of several servers has, and that it
// matters which events the script lets cause others.
func testJoined(t *testing.T, e engine, r *why.Report, files []string) {
	rows := filepath.Join(t.TempDir(), "rows")
	status, script, errs := call(append([]string{"-sql", "-engine", e.dialect(), "-rows", rows, "-kind", "GET /"}, files...)...)
	if status != 0 || !strings.Contains(errs, "the script is for the rows that -rows writes") {
		t.Fatalf("status %d: %s", status, errs)
	}
	if err := e.load(rows, script); err != nil {
		t.Fatal(err)
	}
	events, pairs, err := e.run(script)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range compare(r, events, pairs) {
		t.Error(d)
	}
	for _, m := range []struct{ old, new string }{
		{"OR c.task = e.task AND", "OR"},
		{"OR e.grp = 7", ""},
		{"AND a.grp <> 7 AND b.grp <> 7", ""},
	} {
		wrong := strings.Replace(script, m.old, m.new, 1)
		if wrong == script {
			t.Errorf("no %q in the script", m.old)
		}
		events, pairs, err := e.run(wrong)
		if err != nil || len(compare(r, events, pairs)) == 0 {
			t.Errorf("it does not matter whether the script has %q: %v", m.old, err)
		}
	}
	if len(events) < 30 {
		t.Errorf("%d events", len(events))
	}
}

// TestEnginesNotice tests that the comparison notices if the SQL is wrong.
func TestEnginesNotice(t *testing.T) {
	engines := startEngines(t)
	engines = slices.DeleteFunc(engines, func(e namedEngine) bool { return e.name == "ClickHouse/shards" }) // has the same SQL
	noticed := make([][]bool, len(engines))
	for _, tt := range sqlTests {
		file := tt.write(t, 10_000)
		a := analyze(t, tt.p, tt.kind, file)
		for k, e := range engines {
			noticed[k] = slices.Grow(noticed[k], len(mutations))[:len(mutations)]
			script := a.script(t, e.dialect())
			if err := e.load(file, script); err != nil {
				t.Fatalf("%s: %v", e.name, err)
			}
			for i, m := range mutations {
				wrong := regexp.MustCompile(m.old).ReplaceAllString(script, m.new)
				if wrong == script || noticed[k][i] {
					continue
				}
				events, pairs, err := e.run(wrong)
				noticed[k][i] = err != nil || len(compare(a.Report, events, pairs)) > 0
				if err != nil {
					t.Errorf("%s: %s: %v", e.name, m.old, err)
				}
			}
		}
	}
	for k, e := range engines {
		for i, m := range mutations {
			if !noticed[k][i] {
				t.Errorf("%s: it does not matter whether the script has %q or %q", e.name, m.old, m.new)
			}
		}
	}
}
