// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package taskscmd is go tool pmu tasks.
package taskscmd

import (
	"bufio"
	"cmd/pmu/internal/diagram"
	"cmd/pmu/internal/keep"
	"cmd/pmu/internal/otlp"
	"cmd/pmu/internal/source"
	"cmd/pmu/internal/verb"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"internal/taskrecord"
	"io"
	"iter"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

// A config is what the arguments say.
type config struct {
	trace  taskrecord.TraceID // zero for all
	kind   string
	where  string // conditions, or ""
	slow   bool
	public bool
	path   bool // -critical
	format *format
	out    string
	pages  *verb.HTTP
	src    source.Source
	files  []string
	keep   string // a folder, or ""
	bytes  int64  // that it takes at most

	// held has all tasks, if only a trace is asked for: others may have held what it waited for.
	held taskrecord.Reasons

	taken map[string]taskrecord.Taken // see input
	from  *origins
}

// A format is a row of the table of formats. The tasks are those that the flags select.
type format struct {
	name  string
	write func(w io.Writer, tasks func(func(*taskrecord.Record) bool), c *config) error
}

var formats = []format{
	{"text", writeText},
	{"json", writeJSON},
	{"otlp", func(w io.Writer, tasks func(func(*taskrecord.Record) bool), _ *config) error {
		return otlp.Write(w, tasks)
	}},
	{"pprof", func(w io.Writer, tasks func(func(*taskrecord.Record) bool), c *config) error {
		if c.path {
			return writePaths(w, tasks, c)
		}
		return taskrecord.WriteProfile(w, tasks)
	}},
	{"tasks", writeTasks},
	{"svg", writeSVG},
}

func formatNames() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// errNone is that nothing was selected.
var errNone = errors.New("no tasks")

// Verb says what requests cost, and why they were slow.
var Verb = &verb.Verb{
	Name:  "tasks",
	Args:  "FILE|URL...",
	Short: "say what requests cost, where they waited and why they were slow",
	Long: `
Tasks reads the records of tasks that servers have written, from files or from their
/debug/pprof/tasks, and says what requests cost, where they waited and why they were
slow. Records of several servers are joined by the IDs of traces.

A file has records as a server's format=tasks has them, or lines of JSON, format=json.
It may be compressed by gzip or zstd. "-" is standard input. Without flags tasks
prints a report of all. With -trace it prints one request: its tasks on all servers,
why it took so long, and its critical path.

	go tool pmu tasks http://localhost:6060
	go tool pmu tasks -slow -format json -o slow.jsonl a.tasks b.tasks
	go tool pmu tasks -critical -format pprof -o paths.pb.gz a.tasks b.tasks
	go tool pmu tasks -keep week http://localhost:6060

With -keep tasks reads servers for days, into files of a folder, and resumes what it
has kept there. A folder may be read wherever a file may.

What cannot be read of a file is skipped, and reported, and so is a record that
another file had. The exit status is 0 if there were tasks, 1 if there were none, and
2 if an error occurred.
`,
	Run: run,
}

func run(v *verb.Verb, args []string, std verb.IO) int {
	c := new(config)
	if status, ok := c.parse(v, args, std); !ok {
		return status
	}
	if c.keep != "" {
		return c.keepRecords(v, std)
	}
	// Tasks are converted while they are read: files may be larger than memory.
	c.taken = make(map[string]taskrecord.Taken)
	c.from = newOrigins()
	in := &input{Source: c.src, stderr: std.Stderr, taken: c.taken, from: c.from}
	files := in.files(c.files)
	if len(files) > 1 || c.where != "" { // as why has it
		in.seen = make(map[spanOf]struct{})
	}
	n := 0
	read := func(yield func(*taskrecord.Record) bool) {
		for _, name := range files {
			if !in.read(name, yield) {
				return
			}
		}
	}
	if c.where != "" {
		s, err := c.filter(in, read)
		if err != nil {
			return v.Fail(std, err)
		}
		defer s.Close()
		read = s.read
	}
	tasks := func(yield func(*taskrecord.Record) bool) {
		read(func(t *taskrecord.Record) bool {
			if !c.trace.IsZero() {
				c.held.Add(t)
			}
			if !c.selects(t) {
				return true
			}
			n++
			c.from.selected(t)
			if c.public {
				t = t.Public()
			}
			return yield(t)
		})
	}
	err := c.show(std, tasks, &n)
	switch {
	case err != nil && err != errNone:
		return v.Fail(std, err)
	case in.err != nil:
		return verb.Error // it has been reported
	case n == 0 || err == errNone:
		fmt.Fprintln(std.Stderr, "pmu tasks: no tasks: nothing was recorded, or the flags select none")
		return verb.Other
	}
	return verb.OK
}

// show serves pages of tasks, or writes the tasks. It has read n when it begins to serve.
func (c *config) show(std verb.IO, tasks iter.Seq[*taskrecord.Record], n *int) error {
	if !c.pages.Given() {
		return c.write(std.Stdout, tasks)
	}
	s := newSite(tasks)
	if *n == 0 {
		return nil
	}
	s.from = c.from
	if !c.trace.IsZero() {
		s.held = &c.held
	}
	return c.pages.Serve(std, s.handler())
}

// parse sets what the arguments say. If it returns false, the program ends with the status.
func (c *config) parse(v *verb.Verb, args []string, std verb.IO) (status int, ok bool) {
	c.src = source.Source{Stdin: std.Stdin, Path: tasksPath}
	fs := v.Flags(std)
	trace := fs.String("trace", "", "only the trace with this `ID`")
	fs.StringVar(&c.kind, "kind", "", "only tasks of this `kind`")
	fs.StringVar(&c.where, "where", "", "only requests that meet these `conditions`, as go tool pmu why prints them, such as\n'mutex >= 5 ms and note shard = \"b\"', with all that worked for them; -kind says of which kind\nrequests are then")
	fs.BoolVar(&c.slow, "slow", false, "only slow tasks")
	fs.BoolVar(&c.public, "public", false, "leave out notes, which may hold secrets")
	name := fs.String("format", "text", "what to write: text, or a conversion: json (lines), otlp (OTLP's JSON, for tracing\nsystems), pprof (for go tool pprof), tasks (the format of files), svg (a diagram of\nthe trace, or of the slowest one)")
	fs.BoolVar(&c.path, "critical", false, "with -format pprof: not what goroutines have used, but what the ends of requests had to\nwait for, over servers; -kind and -slow say which requests, and all tasks are read")
	fs.StringVar(&c.out, "o", "", "write to this `file` instead of to standard output")
	fs.StringVar(&c.keep, "keep", "", "keep the records of servers in files of this `folder`, until the program is interrupted")
	fs.Int64Var(&c.bytes, "bytes", 1<<30, "let the folder of -keep take at most so many `bytes`; the oldest records make room")
	c.pages = v.HTTP(fs)
	c.src.Flags(fs)
	if status, ok := v.Parse(fs, args, std); !ok {
		return status, false
	}
	if c.files = fs.Args(); len(c.files) == 0 {
		fs.Usage()
		return verb.Error, false
	}
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == *name })
	if i < 0 {
		return v.Fail(std, fmt.Errorf("there is no format %q: use one of %s", *name, formatNames())), false
	}
	c.format = &formats[i]
	if c.path && (c.format.name != "pprof" || c.pages.Given()) {
		return v.Fail(std, errors.New("-critical goes with -format pprof; the pages of -http have it, too")), false
	}
	if c.keep != "" && (c.pages.Given() || c.out != "" || i > 0 || *trace != "") {
		return v.Fail(std, errors.New("-keep goes with none of -format, -http, -o and -trace")), false
	}
	if c.keep != "" && c.where != "" {
		return v.Fail(std, errors.New("-keep does not go with -where: what was kept can be selected from")), false
	}
	if err := c.ignored(fs); err != nil {
		return v.Fail(std, err), false
	}
	if c.pages.Given() && (c.out != "" || i > 0) {
		return v.Fail(std, errors.New("-http goes with neither -format nor -o")), false
	}
	if *trace != "" {
		var err error
		if c.trace, err = taskrecord.ParseTraceID(*trace); err != nil {
			return v.Fail(std, fmt.Errorf("-trace: %s", strings.TrimPrefix(err.Error(), "task: "))), false
		}
	}
	return verb.OK, true
}

// ignored returns an error for a flag that would do nothing, with -keep or without it.
func (c *config) ignored(fs *flag.FlagSet) (err error) {
	fs.Visit(func(f *flag.Flag) {
		switch name := f.Name; {
		case c.keep != "" && (name == "max" || name == "timeout"):
			err = fmt.Errorf("-keep does not go with -%s: a server is read until the program is interrupted", name)
		case c.keep == "" && name == "bytes":
			err = errors.New("-bytes goes with -keep only: -max bounds what is read")
		}
	})
	return err
}

// keepRecords keeps records until the program is interrupted.
func (c *config) keepRecords(v *verb.Verb, std verb.IO) int {
	q := make(url.Values)
	if c.kind != "" {
		q.Set("kind", c.kind)
	}
	if c.slow {
		q.Set("slow", "1")
	}
	if c.public {
		q.Set("public", "1")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := keep.Archiver{Dir: c.keep, Bytes: c.bytes, URLs: c.files, Query: q, Stderr: std.Stderr}.Run(ctx)
	if err != nil {
		return v.Fail(std, fmt.Errorf("-keep: %w", err))
	}
	return verb.OK
}

// selects reports whether the flags select a task. Critical paths are those of requests, to which others have to be joined.
func (c *config) selects(t *taskrecord.Record) bool {
	if !c.trace.IsZero() && t.Trace != c.trace {
		return false
	}
	return c.path || (c.kind == "" || c.where != "" || t.Kind == c.kind) && (!c.slow || t.Flags&taskrecord.Slow != 0)
}

// write writes the tasks to the file, or to stdout. If there are none it writes nothing: a file
// that is there stays as it is.
func (c *config) write(stdout io.Writer, tasks func(func(*taskrecord.Record) bool)) error {
	if c.out != "" {
		if out, err := os.Stat(c.out); err == nil {
			for _, name := range c.files {
				if f, err := os.Stat(name); err == nil && os.SameFile(f, out) {
					return fmt.Errorf("%s is to be read: -o needs another file", name)
				}
			}
		}
	}
	next, stop := iter.Pull(tasks)
	defer stop()
	first, ok := next()
	if !ok {
		return errNone
	}
	out := &output{name: c.out, w: stdout}
	b := bufio.NewWriter(out)
	err := c.format.write(b, func(yield func(*taskrecord.Record) bool) {
		for t, ok := first, true; ok && yield(t); {
			t, ok = next()
		}
	}, c)
	return cmp.Or(err, b.Flush(), out.Close())
}

// join joins the tasks and says on what was left out.
func join(tasks func(func(*taskrecord.Record) bool)) ([]*taskrecord.Request, error) {
	var j taskrecord.Joiner
	for t := range tasks {
		j.Add(t)
	}
	list := j.Requests()
	if len(list) == 0 {
		return nil, errNone
	}
	if j.Dropped > 0 {
		return list, fmt.Errorf("%d tasks are too many to join: select some with -trace, -kind or -slow", j.Dropped)
	}
	return list, nil
}

func writeText(w io.Writer, tasks func(func(*taskrecord.Record) bool), c *config) error {
	if c.trace.IsZero() {
		return cmp.Or(writeReport(w, tasks, c.from), writeTaken(w, c.taken))
	}
	list, err := join(tasks)
	if err != nil {
		return err
	}
	r := list[0]
	if err := r.WriteText(w); err != nil {
		return err
	}
	header := "\nWho held mutexes that were handed on:\n"
	for _, x := range r.Causes() {
		if text := c.held.Words(&x); text != x.String() {
			if _, err := fmt.Fprintf(w, "%s  %s\n", header, text); err != nil {
				return err
			}
			header = ""
		}
	}
	// What is known of those tasks that were slow, or are alone.
	for _, n := range r.Nodes {
		if len(n.Task.Timeline) == 0 && len(r.Nodes) > 1 {
			continue
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := n.Task.WriteText(w); err != nil {
			return err
		}
	}
	return nil
}

func writeJSON(w io.Writer, tasks func(func(*taskrecord.Record) bool), _ *config) error {
	var b []byte
	for t := range tasks {
		b = taskrecord.AppendJSON(b[:0], t)
		if len(b) == 0 || b[len(b)-1] != '\n' {
			b = append(b, '\n')
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func writeTasks(w io.Writer, tasks func(func(*taskrecord.Record) bool), _ *config) error {
	var rw *taskrecord.FileWriter
	for t := range tasks {
		if rw == nil {
			rw = taskrecord.NewFileWriter(w, t.Server)
		}
		if err := rw.Write(t); err != nil {
			return err
		}
	}
	return nil
}

// writeSVG draws the slowest request: with -trace there is only one.
func writeSVG(w io.Writer, tasks func(func(*taskrecord.Record) bool), _ *config) error {
	list, err := join(tasks)
	if err != nil {
		return err
	}
	return diagram.WriteRequest(w, slices.MaxFunc(list, func(a, b *taskrecord.Request) int { return cmp.Compare(a.Wall, b.Wall) }))
}

// writePaths writes critical paths as a profile.
func writePaths(w io.Writer, tasks iter.Seq[*taskrecord.Record], c *config) error {
	var all callers
	for t := range tasks {
		all.add(t)
	}
	if n := all.dropped(); n > 0 {
		return fmt.Errorf("%d tasks are too many: read fewer files at a time, or select requests with -where", n)
	}
	list := all.list(c.kind, c.slow)
	if len(list) == 0 {
		return errNone
	}
	return taskrecord.WritePathProfile(w, list)
}
