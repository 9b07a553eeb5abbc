// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package listcmd

import (
	"fmt"
	"io"
	"runtime/pprof"
	"strings"
	"text/tabwriter"
)

// state is the event's, in a word: was sampled, opens but did not occur while
// it was tried, cannot be sampled.
func state(e *pprof.EventInfo) string {
	switch {
	case e.Err != nil:
		return "no"
	case e.Sampled:
		return "yes"
	}
	return "opens"
}

func preset(e *pprof.EventInfo) string {
	switch {
	case e.Period == 0:
		return ""
	case e.Unit == "nanoseconds":
		return fmt.Sprintf("%d ns", e.Period)
	}
	return fmt.Sprint(e.Period)
}

// writeTable prints the events. Reasons are numbered, and printed below once:
// one often stands for nearly all events. Unless all is set the events that
// share a reason are not in the table but with it.
func writeTable(w io.Writer, list []pprof.EventInfo, all bool) {
	var reasons []string
	number := make(map[string]int)
	names := make(map[string][]string)
	tw := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprint(tw, "EVENT\tKIND\tPERIOD\tSAMPLED\n")
	for i := range list {
		e := &list[i]
		status := state(e)
		if e.Err != nil {
			why := e.Err.Error()
			if number[why] == 0 {
				reasons = append(reasons, why)
				number[why] = len(reasons)
			}
			names[why] = append(names[why], e.Name)
			status = fmt.Sprintf("no [%d]", number[why])
			if !all {
				continue
			}
		}
		name := strings.Join(append([]string{e.Name}, e.Aliases...), " OR ")
		fmt.Fprintf(tw, "%s\t[%s]\t%s\t%s\n", name, e.Kind, preset(e), status)
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
func verdict(list []pprof.EventInfo) (text string, status int) {
	hardware := func(e *pprof.EventInfo) bool { return e.Kind != "software" && e.Kind != "clock" }
	find := func(match func(e *pprof.EventInfo) bool) *pprof.EventInfo {
		for i := range list {
			if match(&list[i]) {
				return &list[i]
			}
		}
		return nil
	}
	named := func(name string) *pprof.EventInfo {
		return find(func(e *pprof.EventInfo) bool { return e.Name == name })
	}

	cycles := named("cycles")
	if cycles != nil && cycles.Sampled {
		return wrap("Verdict: hardware counters work here. Profile with -cpuprofileevent=cycles, ?event=cycles or pprof.CPUCycles.", 0), 0
	}
	if e := find(func(e *pprof.EventInfo) bool { return hardware(e) && e.Sampled }); e != nil {
		return wrap(fmt.Sprintf("Verdict: some hardware counters work here (%s), but not cycles: %s.", e.Name, why(cycles)), 0), 0
	}
	if e := named("task-clock"); e != nil && e.Sampled {
		return wrap(fmt.Sprintf("Verdict: no hardware counters here, only events of the kernel. Profile time with -cpuprofileevent=task-clock, which takes periods far below the timer's 10 ms. For hardware events: %s.", why(cycles)), 0), 0
	}
	return wrap(fmt.Sprintf("Verdict: no events here, only the timer. %s.", why(named("task-clock"))), 0), 1
}

func why(e *pprof.EventInfo) string {
	if e == nil || e.Err == nil {
		return "it did not occur when tried"
	}
	return e.Err.Error()
}
