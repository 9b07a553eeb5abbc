// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package whycmd is go tool pmu why.
package whycmd

import (
	"cmd/pmu/internal/source"
	"cmd/pmu/internal/verb"
	"cmd/pmu/internal/why"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// Verb says why some requests are slow.
var Verb = &verb.Verb{
	Name:  "why",
	Args:  "FILE|URL...",
	Short: "say why some requests are slow, from many of them",
	Long: `
Why says why some requests are slow: which events and parts of time make the tail of
their latency, and which conditions describe the slow ones. It reads the records of
tasks, and tables from elsewhere.

A file has the records of tasks, as a server's /debug/pprof/tasks has them; spans as
JSON of OTLP, Zipkin or Jaeger; or a table, as CSV with a header or as an object of
JSON a line. It may be compressed by gzip or zstd. In a table the column latency is
how long a request took, and every other column is an attribute, of numbers or of
words. Of spans a request is a span without a parent, and its attributes are the times
that spans below it took, without those that they waited for themselves. "-" is
standard input. All files are one table, unless -by compares them. Records of several
servers are joined by the IDs of traces: a request has what each server had of it.

	go tool pmu why -http=: http://localhost:6060
	go tool pmu why front.tasks db1.tasks db2.tasks
	go tool pmu why -latency ms requests.csv
	go tool pmu why -by file before.tasks after.tasks

What cannot be read of a file is skipped, and reported. The exit status is 0 if there
is a report, 1 if there were no requests, and 2 if an error occurred.
`,
	Run: run,
}

// manyCells is a table whose memory matters: 256 MB.
const manyCells = 32 << 20

// A command is what the arguments say.
type command struct {
	*verb.Verb
	verb.IO
	in       input
	o        why.Params
	kind     string
	columns  []string // only these, if there are any
	names    names
	at       string // the column of the time
	segments int
	by       string // what tells experiments apart: a column, or byFile
	page     string
	rowsFile string
	http     *verb.HTTP
	files    []string
}

func run(v *verb.Verb, args []string, std verb.IO) int {
	c := command{Verb: v, IO: std, in: input{Source: source.Source{Stdin: std.Stdin, Max: 1 << 40, Path: "/debug/pprof/tasks"}, stderr: std.Stderr}}
	if status, ok := c.parse(args); !ok {
		return status
	}
	if c.by != "" {
		return c.compare()
	}
	t, err := c.read(c.files)
	switch {
	case err != nil:
		return v.Fail(std, err)
	case t == nil && c.in.failed:
		return verb.Error // it has been reported
	case t == nil:
		fmt.Fprintln(std.Stderr, "pmu why: there are no requests")
		return verb.Other
	}
	if err := c.names.missing(c.columns, c.in.latency); err != nil {
		return v.Fail(std, err)
	}
	defer manyCellsOf(t)()
	if err := c.answer(t); err != nil {
		return v.Fail(std, err)
	}
	if c.in.failed {
		return verb.Error
	}
	return verb.OK
}

// manyCellsOf has less garbage beside a large table. What it returns ends that.
func manyCellsOf(t *why.Table) (end func()) {
	if len(t.Latency)*len(t.Columns) <= manyCells {
		return func() {}
	}
	// What the analysis allocates is less than the table, and gone soon.
	percent := debug.SetGCPercent(10)
	return func() { debug.SetGCPercent(percent) }
}

// parse sets what the arguments say. If it returns false, the program ends with the status.
// It is long because there are many flags, and which go together.
func (c *command) parse(args []string) (status int, ok bool) {
	fs := c.Flags(c.IO)
	fs.Float64Var(&c.o.P, "p", 0.99, "the `percentile` that is called the tail, between 0 and 1")
	fs.StringVar(&c.kind, "kind", "", "only requests of this `kind`; without it, of the most frequent one")
	fs.StringVar(&c.in.latency, "latency", "latency", "the `name` of the column of the latency")
	fs.Float64Var(&c.o.Bandwidth, "bandwidth", 0, "the `width` of clusters of values, in the unit of each column; 0 estimates it")
	fs.Uint64Var(&c.o.Seed, "seed", 1, "the `seed` of random numbers: the same seed gives the same report")
	fs.StringVar(&c.page, "html", "", "write a page with drawings to this `file`, too")
	fs.Int64Var(&c.in.most, "table", 8<<30, "let the table take at most so many `bytes`, 8 for each cell, empty or not")
	fs.IntVar(&c.segments, "segments", 0, "cut the run into `n` parts, in order of time, and compare their tails instead")
	fs.StringVar(&c.at, "time", "", "the `name` of the column of the time: numbers, or up to 65,536 different dates like\n2006-01-02T15:04:05.999Z; without it, tables are in order of time")
	fs.StringVar(&c.by, "by", "", "compare experiments instead: the values of this `column`, or \"file\" for each file or\ndirectory")
	groups := fs.String("groups", "", "a `file` with more events: lines of an event, its group (INST, CACHE, CYCLE, KERNEL, INPUT,\nOTHER, or = and another name of it) and its parents with semicolons between")
	columns := fs.String("columns", "", "keep only the columns with these `names`, with commas between")
	fs.BoolVar(&c.in.sql, "sql", false, "print the analysis as SQL for a database, with thresholds of these files")
	fs.StringVar(&c.in.engine, "engine", "", "the `database` that -sql is for, of "+engines()+"; without it, postgresql")
	fs.StringVar(&c.rowsFile, "rows", "", "write the rows of the table to this `file`, too, as an object of JSON a line")
	c.http = c.HTTP(fs)
	c.in.Flags(fs)
	if status, ok := c.Parse(fs, args, c.IO); !ok {
		return status, false
	}
	if c.files = fs.Args(); len(c.files) == 0 {
		fs.Usage()
		return verb.Error, false
	}
	if *columns != "" {
		c.columns = strings.Split(*columns, ",")
		c.in.b.Skip = func(name string) bool {
			if name == "kind" || name == c.at || name == c.by || slices.Contains(c.columns, name) {
				return false
			}
			c.names.skip(name)
			return true
		}
	}
	var err error
	if *groups != "" {
		if c.o.Groups, err = readGroups(*groups); err != nil {
			return c.Fail(c.IO, fmt.Errorf("%s: %w", *groups, err)), false
		}
	}
	switch {
	case c.in.Max <= 0:
		err = fmt.Errorf("-max is %d: it must be more than 0", c.in.Max)
	case c.in.most <= 0:
		err = fmt.Errorf("-table is %d: it must be more than 0", c.in.most)
	case !(c.o.P > 0 && c.o.P < 1):
		err = fmt.Errorf("-p is %v: it must be between 0 and 1, and is 0.99 for p99", c.o.P)
	case c.segments < 0 || c.segments == 1:
		err = fmt.Errorf("-segments is %d: it must be 2 at least", c.segments)
	case c.o.Bandwidth < 0:
		err = fmt.Errorf("-bandwidth is %v: it must not be less than 0", c.o.Bandwidth)
	case c.in.engine != "" && !c.in.sql:
		err = errors.New("-engine goes with -sql")
	case c.in.engine != "" && dialects[c.in.engine] == nil:
		err = fmt.Errorf("-engine is %q: it must be one of %s", c.in.engine, engines())
	case c.by != "" && (c.rowsFile != "" || c.in.sql):
		err = errors.New("-by goes with neither -rows nor -sql")
	case c.by == "" && c.segments != 0 && (c.page != "" || c.rowsFile != "" || c.in.sql || c.http.Given()):
		err = errors.New("-segments goes with none of -html, -http, -rows and -sql")
	case c.in.sql && c.http.Given():
		err = errors.New("-sql does not go with -http")
	}
	if err != nil {
		return c.Fail(c.IO, err), false
	}
	return verb.OK, true
}

// readGroups reads a table of events.
func readGroups(name string) (*why.Groups, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, errors.Unwrap(err) // the name is said already
	}
	defer f.Close()
	return why.ReadGroups(f)
}

// read reads the table of some files. It is nil if there are no requests.
func (c *command) read(files []string) (*why.Table, error) {
	in := &c.in
	in.b.MaxColumns = maxColumns
	in.progress = newProgress(c.Stderr)
	for _, name := range files {
		in.readAll(name)
	}
	if err := in.spans.rows(&in.b, c.kind, in.fullOfRows); err != nil {
		fmt.Fprintf(c.Stderr, "pmu why: spans: %v\n", err)
		in.failed = true
	}
	in.spans.say(c.Stderr)
	if err := in.joined.rows(&in.b, c.kind, in.fullOfRows); err != nil {
		fmt.Fprintf(c.Stderr, "pmu why: records: %v\n", err)
		in.failed = true
	}
	in.joined.say(c.Stderr)
	in.progress.end()
	in.sayLeft()
	if in.b.Rows() == 0 {
		return nil, nil
	}
	for _, col := range in.b.Columns() {
		if _, words := col.State(); col.Bad > 0 && words && col.Name() == c.at {
			return nil, fmt.Errorf("column %.100q has more different dates than a column can have words: times have to be numbers, such as seconds since 1970", c.at)
		}
		if col.Bad > 0 {
			fmt.Fprintf(c.Stderr, "pmu why: column %q: %d cells don't fit the others and are left out\n", col.Name(), col.Bad)
		}
	}
	for _, col := range in.b.Columns() {
		c.names.have(col.Name())
	}
	return in.b.Table(in.unit), nil
}

// answer analyzes the table, and prints what was asked for.
func (c *command) answer(t *why.Table) error {
	dates := t.Time != nil
	if c.at != "" {
		var err error
		if dates, err = takeTime(t, c.at); err != nil {
			return err
		}
	}
	kind, err := selectKind(t, c.kind, c.Stderr)
	if err != nil {
		return err
	}
	if c.segments != 0 {
		list, err := why.Segments(t, c.segments, c.o)
		if err != nil {
			return err
		}
		return why.WriteSegments(c.Stdout, list, dates)
	}
	r, err := why.Analyze(t, c.o)
	if err != nil {
		return err
	}
	if c.page != "" {
		if err := writePage(c.page, r.WriteHTML); err != nil {
			return err
		}
	}
	if c.rowsFile != "" {
		if err := writeRows(c.rowsFile, t, r); err != nil {
			return err
		}
	}
	if c.in.sql {
		return c.in.writeSQL(c.Stdout, t, r, kind, len(t.Latency) == c.in.b.Rows(), c.files, c.o.Groups)
	}
	if err := r.WriteText(c.Stdout); err != nil {
		return err
	}
	conds, from, to := described(r)
	before := "\n"
	say := func(what, command string) {
		if command != "" {
			fmt.Fprintf(c.Stdout, "%s%s: %s\n", before, what, command)
			before = ""
		}
	}
	say("To look further", nextStep(r, c.in.tasks, originOf(&c.in.joined, t, r.Top(), kind, c.files)))
	if c.in.tasks {
		say("All of these requests", all(t, conds, c.kind, kind, c.files))
	}
	say("One of these requests", example(t, conds, from, to, c.files))
	if c.http.Given() {
		return c.http.ServePage(c.IO, why.ContentSecurityPolicy, r.WriteHTML)
	}
	return nil
}

// selectKind leaves the requests of a kind, or of the most frequent one, which it returns.
func selectKind(t *why.Table, kind string, stderr io.Writer) (string, error) {
	i := slices.IndexFunc(t.Columns, func(c why.Column) bool { return c.Name == "kind" && c.Words != nil })
	if i < 0 {
		if kind != "" {
			return "", fmt.Errorf("there is no column kind, and so nothing of kind %q", kind)
		}
		return "", nil
	}
	c := &t.Columns[i]
	counts := make([]int, len(c.Words))
	for _, v := range c.Values {
		if v == v {
			counts[int(v)]++
		}
	}
	word := slices.Index(c.Words, kind)
	if kind == "" {
		for w, n := range counts {
			if word < 0 || n > counts[word] {
				word = w
			}
		}
	}
	if word < 0 {
		return "", fmt.Errorf("there is nothing of kind %q: kinds are %s", kind, list(c.Words))
	}
	if len(c.Words) > 1 {
		if kind == "" {
			other := "the other kind"
			if n := len(c.Words) - 1; n > 1 {
				other = fmt.Sprintf("one of %d other kinds", n)
			}
			fmt.Fprintf(stderr, "pmu why: %d of %d requests are of kind %q, and the report is of these: -kind selects %s\n", counts[word], len(t.Latency), c.Words[word], other)
		}
		t.Keep(func(row int) bool { return c.Values[row] == float64(word) })
	}
	return c.Words[word], nil
}

// takeTime makes a column the time of t's requests: numbers, or dates by RFC 3339.
func takeTime(t *why.Table, name string) (dates bool, err error) {
	i := slices.IndexFunc(t.Columns, func(c why.Column) bool { return c.Name == name })
	if i < 0 {
		return false, fmt.Errorf("there is no column %.100q for the time", name)
	}
	c := t.Columns[i]
	t.Columns = slices.Delete(t.Columns, i, i+1)
	if t.Time = c.Values; c.Words == nil {
		return false, nil
	}
	seconds := make([]float64, len(c.Words))
	for w, s := range c.Words {
		d, err := time.Parse(time.RFC3339, s)
		if err != nil {
			return false, fmt.Errorf("column %.100q has %.100q for a time: it must be a number or a date like 2006-01-02T15:04:05.999Z", name, s)
		}
		seconds[w] = float64(d.UnixMicro()) / 1e6
	}
	for row, w := range t.Time {
		if w == w {
			t.Time[row] = seconds[int(w)]
		}
	}
	return true, nil
}

// list returns some names.
func list(names []string) string {
	const most = 10
	var b strings.Builder
	for i, n := range names {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(names)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%.128q", n) // a kind is no longer
	}
	return b.String()
}

// A progress says on a terminal how far the program is.
type progress struct {
	w    io.Writer // nil if it isn't a terminal
	last time.Time
	next int // rows
}

func newProgress(w io.Writer) *progress {
	if f, ok := w.(*os.File); ok {
		if fi, err := f.Stat(); err == nil && fi.Mode()&os.ModeCharDevice != 0 {
			return &progress{w: w, last: time.Now()}
		}
	}
	return &progress{}
}

func (p *progress) rows(n int) {
	if p.w != nil && n >= p.next && time.Since(p.last) > 200*time.Millisecond {
		p.last, p.next = time.Now(), n+10_000
		fmt.Fprintf(p.w, "\r%d requests ", n)
	}
}

func (p *progress) end() {
	if p.w != nil {
		fmt.Fprintf(p.w, "\r\033[K")
	}
}
