// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// An event is what pprof.EventInfo says, which only the fork has.
type event struct {
	name    string
	aliases []string
	kind    string
	unit    string
	period  uint64
	sampled bool
	err     error
}

// status is the event's, in a word: was sampled, opens but did not occur while
// it was tried, cannot be sampled.
func (e *event) status() string {
	switch {
	case e.err != nil:
		return "no"
	case e.sampled:
		return "yes"
	}
	return "opens"
}

func (e *event) preset() string {
	switch {
	case e.period == 0:
		return ""
	case e.unit == "nanoseconds":
		return fmt.Sprintf("%d ns", e.period)
	}
	return fmt.Sprint(e.period)
}

// writeTable prints the events. Reasons are numbered, and printed below once:
// one often stands for nearly all events. Unless all is set the events that
// share a reason are not in the table but with it.
func writeTable(w io.Writer, list []event, all bool) {
	var reasons []string
	number := make(map[string]int)
	names := make(map[string][]string)
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "EVENT\tKIND\tPERIOD\tSAMPLED\n")
	for i := range list {
		e := &list[i]
		status := e.status()
		if e.err != nil {
			why := e.err.Error()
			if number[why] == 0 {
				reasons = append(reasons, why)
				number[why] = len(reasons)
			}
			names[why] = append(names[why], e.name)
			status = fmt.Sprintf("no [%d]", number[why])
			if !all {
				continue
			}
		}
		name := strings.Join(append([]string{e.name}, e.aliases...), " OR ")
		fmt.Fprintf(tw, "%s\t[%s]\t%s\t%s\n", name, e.kind, e.preset(), status)
	}
	tw.Flush()
	for i, why := range reasons {
		fmt.Fprintf(w, "\n[%d] %s\n", i+1, wrap(why, 4))
		if !all {
			fmt.Fprintf(w, "    %s\n", wrap(strings.Join(names[why], " "), 4))
		}
	}
	fmt.Fprint(w, `
Also: rHEX, PMU/term=value,.../, mem:SYMBOL_OR_ADDRESS[/len]:x|w|rw, system:tracepoint
yes: samples were taken. opens: accepted by the kernel, but did not occur when tried.
`)
}

// width is the width of a terminal.
const width = 80

// wrap breaks text at spaces into lines of at most width bytes, if words are
// not longer, of which all but the first are indented. The first starts after
// an indent, too.
func wrap(text string, indent int) string {
	var b strings.Builder
	col := indent
	for i, word := range strings.Fields(text) {
		if i > 0 && col+1+len(word) > width {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			col = indent
		} else if i > 0 {
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col += len(word)
	}
	return b.String()
}

// verdict says what the list means, and the exit status; see main.
func verdict(list []event) (text string, status int) {
	hardware := func(e *event) bool { return e.kind != "software" && e.kind != "clock" }
	find := func(match func(e *event) bool) *event {
		for i := range list {
			if match(&list[i]) {
				return &list[i]
			}
		}
		return nil
	}
	named := func(name string) *event { return find(func(e *event) bool { return e.name == name }) }

	cycles := named("cycles")
	if cycles != nil && cycles.sampled {
		return wrap("Verdict: hardware counters work here. Profile with -cpuprofileevent=cycles, ?event=cycles or pprof.CPUCycles.", 0), 0
	}
	if e := find(func(e *event) bool { return hardware(e) && e.sampled }); e != nil {
		return wrap(fmt.Sprintf("Verdict: some hardware counters work here (%s), but not cycles: %s.", e.name, why(cycles)), 0), 0
	}
	if e := named("task-clock"); e != nil && e.sampled {
		return wrap(fmt.Sprintf("Verdict: no hardware counters here, only events of the kernel. Profile time with -cpuprofileevent=task-clock, which takes periods far below the timer's 10 ms. For hardware events: %s.", why(cycles)), 0), 0
	}
	return wrap(fmt.Sprintf("Verdict: no events here, only the timer. %s.", why(named("task-clock"))), 0), 1
}

func why(e *event) string {
	if e == nil || e.err == nil {
		return "it did not occur when tried"
	}
	return e.err.Error()
}
