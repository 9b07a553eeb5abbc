// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package slowcmd is go tool pmu slow.
package slowcmd

import (
	"bytes"
	"cmd/pmu/internal/flame"
	"cmd/pmu/internal/slow"
	"cmd/pmu/internal/source"
	"cmd/pmu/internal/verb"
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path"
	"slices"
	"strconv"
	"time"
)

// Verb says what slow requests execute more of than usual ones.
var Verb = &verb.Verb{
	Name:  "slow",
	Args:  "FILE|URL",
	Short: "say what slow requests execute more of than usual ones",
	Long: `
Slow says in which code slow requests spend more of their time, or of another event,
than usual ones of the same kind. It prints the stacks whose share of slow requests'
samples is larger than their share of usual ones', beyond the error.

The profile is of an event, taken while the program records tasks: its samples have
the labels slow, task and trace. "-" is standard input. Of a server's address, or that
of its page of tasks, slow takes a profile of -event for -seconds.

	go tool pmu slow -seconds 30 http://localhost:6060
	go tool pmu slow cpu.pprof
	go tool pprof -tagfocus slow=yes cpu.pprof

With -http or -html, slow shows a flame graph of the first kind and event that have
such code; -kind and -event choose another. It is as wide as what slow requests have
executed, and its colours say how much of that a usual request has.

Errors are half an interval of 95 % for all that is printed together. They allow for
requests that differ from each other, as those do whose samples have the label trace.

The exit status is 0 if some code has a larger share in slow requests, 1 if none has,
and 2 if an error occurred.
`,
	Run: run,
}

func run(v *verb.Verb, args []string, std verb.IO) int {
	var opt slow.Options
	src := source.Source{Stdin: std.Stdin}
	fs := v.Flags(std)
	fs.StringVar(&opt.Event, "event", "", "compare by this `event` of the profile; of a server, task-clock if it is empty")
	fs.StringVar(&opt.Kind, "kind", "", "only requests of this `kind`")
	page := fs.String("html", "", "write the page to this `file` instead of the text to standard output")
	http := v.HTTP(fs)
	seconds := fs.Int("seconds", 10, "how long a server's profile takes")
	src.Flags(fs)
	if status, ok := v.Parse(fs, args, std); !ok {
		return status
	}
	if fs.NArg() != 1 {
		fs.Usage()
		return verb.Error
	}
	if *seconds <= 0 {
		return v.Fail(std, fmt.Errorf("-seconds is %d: it must be more than 0", *seconds))
	}
	name := fs.Arg(0)
	from := profileOf(name, opt.Event, *seconds)
	if from != name {
		opt.Event = "" // all of the profile, which may have another name for it
		if took := time.Duration(*seconds) * time.Second; src.Timeout > 0 && src.Timeout < took+time.Minute {
			src.Timeout = took + time.Minute
		}
	}
	p, err := read(&src, from, opt)
	if err != nil {
		return v.Fail(std, fmt.Errorf("%s: %w", name, err))
	}
	list := p.Compare()
	if len(list) == 0 {
		return v.Fail(std, fmt.Errorf("%s: no sample is of kind %q", name, opt.Kind))
	}
	status := verb.Other
	shown := list[0] // on the page
	if i := slices.IndexFunc(list, func(c *slow.Comparison) bool { return len(c.Rows) > 0 }); i >= 0 {
		status, shown = verb.OK, list[i]
	}
	if *page == "" && !http.Given() {
		if err := p.WriteText(std.Stdout, list); err != nil {
			return v.Fail(std, err)
		}
		return status
	}
	if err := show(v, std, p, shown, *page, http); err != nil {
		return v.Fail(std, err)
	}
	return status
}

// show writes and serves the page of a comparison.
func show(v *verb.Verb, std verb.IO, p *slow.Profile, c *slow.Comparison, file string, http *verb.HTTP) error {
	if !c.Known() {
		return fmt.Errorf("kind %q: there are no samples of slow requests, or none of usual ones", c.Kind)
	}
	r, err := p.Page(c)
	if err != nil {
		return err
	}
	if file != "" {
		var b bytes.Buffer
		if err := r.WriteHTML(&b); err != nil {
			return err
		}
		if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
			return err
		}
	}
	if !http.Given() {
		return nil
	}
	return http.ServePage(std, flame.ContentSecurityPolicy(), r.WriteHTML)
}

// profileOf returns the URL of the profile that a server is asked for, if name is the server, or its page of
// profiles or of tasks.
func profileOf(name, event string, seconds int) string {
	u, err := url.Parse(name)
	if !source.IsURL(name) || err != nil {
		return name
	}
	source.SetPath(u, "/debug/pprof/")
	dir, page := path.Split(u.Path)
	if page == "pprof" {
		dir, page = u.Path+"/", ""
	}
	if page != "" && page != "tasks" {
		return name
	}
	q := url.Values{"event": {cmp.Or(event, "task-clock")}, "seconds": {strconv.Itoa(seconds)}}
	u.Path, u.RawQuery = dir+"profile", q.Encode()
	return u.String()
}

// read reads a profile.
func read(src *source.Source, name string, opt slow.Options) (*slow.Profile, error) {
	r, err := src.Open(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	p, err := slow.Read(r, opt)
	if err := r.Err(); err != nil {
		return nil, err
	}
	return p, err
}
