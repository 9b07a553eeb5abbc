// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.23

package main

import (
	"bufio"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"pmu/internal/source"
	"runtime/task/record"
	"slices"
	"strings"
	"time"
)

// A config is what the flags say.
type config struct {
	trace   string
	kind    string
	slow    bool
	public  bool
	format  string
	out     string
	max     int64
	timeout time.Duration
}

// A format is a row of the table of formats. The tasks are those that the flags select.
type format struct {
	name  string
	write func(w io.Writer, tasks func(func(*record.Task) bool), c *config) error
}

var formats = []format{
	{"text", writeText},
	{"json", writeJSON},
	{"otlp", func(w io.Writer, tasks func(func(*record.Task) bool), _ *config) error {
		return record.WriteOTLP(w, tasks)
	}},
	{"pprof", func(w io.Writer, tasks func(func(*record.Task) bool), _ *config) error {
		return record.WriteProfile(w, tasks)
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

// run is the program. It returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	fail := func(err error) int {
		fmt.Fprintln(stderr, "tasks:", err)
		return 2
	}
	var c config
	fs := flag.NewFlagSet("tasks", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&c.trace, "trace", "", "only the trace with this `ID`")
	fs.StringVar(&c.kind, "kind", "", "only tasks of this `kind`")
	fs.BoolVar(&c.slow, "slow", false, "only slow tasks")
	fs.BoolVar(&c.public, "public", false, "leave out notes, which may hold secrets")
	fs.StringVar(&c.format, "format", "text", "what to write: "+formatNames())
	fs.StringVar(&c.out, "o", "", "write to this `file`")
	fs.Int64Var(&c.max, "max", 1<<30, "read at most so many `bytes` from each file or URL")
	fs.DurationVar(&c.timeout, "timeout", 2*time.Minute, "for each URL")
	fs.Usage = func() {
		fmt.Fprintln(stderr, "usage: tasks [flags] FILE|URL...")
		fs.PrintDefaults()
	}
	if err := fs.Parse(args); err != nil {
		return 2
	}
	if fs.NArg() == 0 {
		fs.Usage()
		return 2
	}
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == c.format })
	if i < 0 {
		return fail(fmt.Errorf("there is no format %q: use one of %s", c.format, formatNames()))
	}
	var trace record.TraceID
	if c.trace != "" {
		var err error
		if trace, err = record.ParseTraceID(c.trace); err != nil {
			return fail(fmt.Errorf("-trace: %v", err))
		}
	}
	if c.max <= 0 {
		return fail(fmt.Errorf("-max is %d: it must be more than 0", c.max))
	}

	// Tasks are converted while they are read: files may be larger than memory.
	in := &input{Source: source.Source{Stdin: stdin, Timeout: c.timeout, Max: c.max}, stderr: stderr}
	n := 0
	tasks := func(yield func(*record.Task) bool) {
		for _, name := range fs.Args() {
			more := in.read(name, func(t *record.Task) bool {
				if c.trace != "" && t.Trace != trace || c.kind != "" && t.Kind != c.kind || c.slow && t.Flags&record.Slow == 0 {
					return true
				}
				n++
				if c.public {
					t = t.Public()
				}
				return yield(t)
			})
			if !more {
				return
			}
		}
	}

	w, file := stdout, (*os.File)(nil)
	if c.out != "" {
		if out, err := os.Stat(c.out); err == nil {
			for _, name := range fs.Args() {
				if f, err := os.Stat(name); err == nil && os.SameFile(f, out) {
					return fail(fmt.Errorf("%s is to be read: -o needs another file", name))
				}
			}
		}
		var err error
		if file, err = os.Create(c.out); err != nil {
			return fail(err)
		}
		w = file
	}
	b := bufio.NewWriter(w)
	err := formats[i].write(b, tasks, &c)
	err = cmp.Or(err, b.Flush())
	if file != nil {
		err = cmp.Or(err, file.Close())
	}
	switch {
	case err != nil && err != errNone:
		return fail(err)
	case in.err != nil:
		return 2 // it has been reported
	case n == 0 || err == errNone:
		fmt.Fprintln(stderr, "tasks: no tasks: nothing was recorded, or the flags select none")
		return 1
	}
	return 0
}

// join joins the tasks and says on what was left out.
func join(tasks func(func(*record.Task) bool)) ([]*record.Request, error) {
	var j record.Joiner
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

func writeText(w io.Writer, tasks func(func(*record.Task) bool), c *config) error {
	if c.trace == "" {
		return record.WriteText(w, tasks)
	}
	list, err := join(tasks)
	if err != nil {
		return err
	}
	r := list[0]
	if err := r.WriteText(w); err != nil {
		return err
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

func writeJSON(w io.Writer, tasks func(func(*record.Task) bool), _ *config) error {
	var b []byte
	for t := range tasks {
		b = record.AppendJSON(b[:0], t)
		if len(b) == 0 || b[len(b)-1] != '\n' {
			b = append(b, '\n')
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

func writeTasks(w io.Writer, tasks func(func(*record.Task) bool), _ *config) error {
	var rw *record.Writer
	for t := range tasks {
		if rw == nil {
			rw = record.NewWriter(w, t.Server)
		}
		if err := rw.Write(t); err != nil {
			return err
		}
	}
	return nil
}

// writeSVG draws the slowest request: with -trace there is only one.
func writeSVG(w io.Writer, tasks func(func(*record.Task) bool), _ *config) error {
	list, err := join(tasks)
	if err != nil {
		return err
	}
	return record.WriteSVG(w, slices.MaxFunc(list, func(a, b *record.Request) int { return cmp.Compare(a.Wall, b.Wall) }))
}
