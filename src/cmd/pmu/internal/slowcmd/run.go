// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package slowcmd is go tool pmu slow.
package slowcmd

import (
	"cmd/pmu/internal/slow"
	"cmd/pmu/internal/source"
	"cmd/pmu/internal/verb"
	"fmt"
	"slices"
)

// Verb says what slow requests execute more of than usual ones.
var Verb = &verb.Verb{
	Name:  "slow",
	Args:  "PROFILE|URL [RECORDS...]",
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

With -latency, slow says where the latency of slow requests goes, computing and
waiting, beside that of usual ones. What requests waited for is in the records of
tasks, and what they executed in a profile of a clock. Of a server's address slow
takes both:

	go tool pmu slow -latency http://localhost:6060
	go tool pmu slow -latency cpu.pprof shop.tasks

Parts and stacks of a latency are that latency in sum, and what is not known is named.

Errors are half an interval of 95 % for all that is printed together. They allow for
requests that differ from each other, as those do whose samples have the label trace.

The exit status is 0 if some code has a larger share in slow requests, or with
-latency if there is a slow one; 1 if not; and 2 if an error occurred.
`,
	Run: run,
}

func run(v *verb.Verb, args []string, std verb.IO) int {
	c := &config{Verb: v, IO: std, src: source.Source{Stdin: std.Stdin}}
	fs := v.Flags(std)
	fs.StringVar(&c.opt.Event, "event", "", "compare by this `event` of the profile; of a server, task-clock if it is empty")
	fs.StringVar(&c.opt.Kind, "kind", "", "only requests of this `kind`")
	fs.StringVar(&c.page, "html", "", "write the page to this `file` instead of the text to standard output")
	fs.BoolVar(&c.latency, "latency", false, "say where the latency goes, computing and waiting; a file of a profile takes files\nor URLs of records besides")
	c.http = v.HTTP(fs)
	fs.IntVar(&c.seconds, "seconds", 10, "how long a server's profile takes")
	c.src.Flags(fs)
	if status, ok := v.Parse(fs, args, std); !ok {
		return status
	}
	if c.args = fs.Args(); len(c.args) == 0 || len(c.args) > 1 && !c.latency {
		fs.Usage()
		return verb.Error
	}
	if c.seconds <= 0 {
		return v.Fail(std, fmt.Errorf("-seconds is %d: it must be more than 0", c.seconds))
	}
	find := c.code
	if c.latency {
		find = c.latencies
	}
	status, err := find()
	if err != nil {
		return v.Fail(std, err)
	}
	return status
}

// code says in which code slow requests spend more.
func (c *config) code() (status int, err error) {
	p, err := c.profile()
	if err != nil {
		return verb.Error, err
	}
	list := p.Compare()
	if len(list) == 0 {
		return verb.Error, fmt.Errorf("%s: no sample is of kind %q", c.args[0], c.opt.Kind)
	}
	status = verb.Other
	shown := list[0] // on the page
	if i := slices.IndexFunc(list, func(c *slow.Comparison) bool { return len(c.Rows) > 0 }); i >= 0 {
		status, shown = verb.OK, list[i]
	}
	if c.page == "" && !c.http.Given() {
		return status, p.WriteText(c.Stdout, list)
	}
	if !shown.Known() {
		return verb.Error, fmt.Errorf("kind %q: there are no samples of slow requests, or none of usual ones", shown.Kind)
	}
	r, err := p.Page(shown)
	if err != nil {
		return verb.Error, err
	}
	return status, c.show(r.WriteHTML)
}
