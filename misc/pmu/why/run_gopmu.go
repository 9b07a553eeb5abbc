// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.23

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"pmu/internal/source"
	"runtime/debug"
	"runtime/task/why"
	"slices"
	"strings"
	"time"
)

// manyCells is a table whose memory matters: 256 MB.
const manyCells = 32 << 20

// run is the program. It returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintln(stderr, "why:", err)
		return 2
	}
	var o why.Options
	in := input{Source: source.Source{Stdin: stdin}, stderr: stderr}
	kind, page := "", ""
	fs := flag.NewFlagSet("why", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Float64Var(&o.P, "p", 0.99, "the `percentile` that is explained")
	fs.StringVar(&kind, "kind", "", "only requests of this `kind`")
	fs.StringVar(&in.latency, "latency", "latency", "the column of the latency, by `name`")
	fs.Float64Var(&o.Bandwidth, "bandwidth", 0, "of clusters of values; 0 estimates it")
	fs.Uint64Var(&o.Seed, "seed", 1, "of what is drawn at random")
	fs.StringVar(&page, "html", "", "write a page with drawings to this `file`, too")
	fs.Int64Var(&in.Max, "max", 1<<40, "read at most so many `bytes` from each file or URL")
	fs.Int64Var(&in.most, "table", 8<<30, "`bytes` that the table may take")
	fs.DurationVar(&in.Timeout, "timeout", 2*time.Minute, "for each URL")
	segments := fs.Int("segments", 0, "compare so `many` parts of the run, in order of time")
	at := fs.String("time", "", "the column of the time, by `name`; without it, tables are in order of time")
	columns := fs.String("columns", "", "only columns with these `names`, with commas between")
	fs.BoolVar(&in.sql, "sql", false, "print the analysis as SQL for a database, with thresholds of these files")
	fs.Usage = func() {
		fmt.Fprintln(stderr, "usage: why [flags] FILE|URL...")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if fs.NArg() == 0 {
		fs.Usage()
		return 2
	}
	if in.Max <= 0 {
		return fail(fmt.Errorf("-max is %d: it must be more than 0", in.Max))
	}
	var only []string
	if *columns != "" {
		only = strings.Split(*columns, ",")
		in.b.Skip = func(name string) bool { return name != "kind" && name != *at && !slices.Contains(only, name) }
	}
	if in.most <= 0 {
		return fail(fmt.Errorf("-table is %d: it must be more than 0", in.most))
	}
	in.b.MaxColumns = maxColumns
	in.progress = newProgress(stderr)
	for _, name := range fs.Args() {
		in.read(name)
	}
	in.spans.rows(&in.b, kind)
	in.progress.end()
	in.sayLeft()
	if in.b.Rows() == 0 {
		if in.failed {
			return 2
		}
		fmt.Fprintln(stderr, "why: there are no requests")
		return 1
	}
	for _, c := range in.b.Columns() {
		if _, words := c.State(); c.Bad > 0 && words && c.Name() == *at {
			return fail(fmt.Errorf("column %.100q has more different dates than a column can have words: times have to be numbers, such as seconds since 1970", *at))
		}
		if c.Bad > 0 {
			fmt.Fprintf(stderr, "why: column %q: %d cells don't fit the others and are left out\n", c.Name(), c.Bad)
		}
	}
	for _, name := range only {
		if !slices.ContainsFunc(in.b.Columns(), func(c *why.ColumnBuilder) bool { return c.Name() == name }) {
			fmt.Fprintf(stderr, "why: there is no column %.100q\n", name)
		}
	}
	t := in.b.Table(in.unit)
	if len(t.Latency)*len(t.Columns) > manyCells {
		// What the analysis allocates is less than the table, and gone soon.
		defer debug.SetGCPercent(debug.SetGCPercent(10))
	}
	dates := t.Time != nil
	if *at != "" {
		var err error
		if dates, err = takeTime(t, *at); err != nil {
			return fail(err)
		}
	}
	kind, err := selectKind(t, kind, stderr)
	if err != nil {
		return fail(err)
	}
	if *segments != 0 {
		if page != "" || in.sql {
			return fail(errors.New("-segments goes with neither -html nor -sql"))
		}
		list, err := why.Segments(t, *segments, o)
		if err == nil {
			err = why.WriteSegments(stdout, list, dates)
		}
		if err != nil {
			return fail(err)
		}
		if in.failed {
			return 2
		}
		return 0
	}
	r, err := why.Analyze(t, o)
	if err != nil {
		return fail(err)
	}
	if page != "" {
		if err := writePage(page, r); err != nil {
			return fail(err)
		}
	}
	if in.sql {
		if err := in.writeSQL(stdout, t, r, kind, len(t.Latency) == in.b.Rows(), fs.Args()); err != nil {
			return fail(err)
		}
		if in.failed {
			return 2
		}
		return 0
	}
	if err := r.WriteText(stdout); err != nil {
		return fail(err)
	}
	if next := nextStep(r, kind, in.tasks, fs.Args()); next != "" {
		fmt.Fprintf(stdout, "\nTo look further: %s\n", next)
	}
	if in.failed {
		return 2 // it has been reported
	}
	return 0
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
			fmt.Fprintf(stderr, "why: %d of %d requests are of kind %q; of %d other kinds see -kind\n", counts[word], len(t.Latency), c.Words[word], len(c.Words)-1)
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
		fmt.Fprintf(&b, "%.100q", n)
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
