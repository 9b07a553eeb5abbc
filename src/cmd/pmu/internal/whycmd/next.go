// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/verb"
	"cmd/pmu/internal/why"
	"fmt"
	"internal/taskrecord"
	"math"
	"runtime/pprof"
	"slices"
	"strings"
)

// steps are the commands that show the stacks of a part of time, where that isn't the records
// themselves, by the URL that these came from and the kind.
var steps = map[string]func(name, kind string) string{
	pprof.TimeRunning.String(): func(name, kind string) string { return verb.Slow(name, "", kind) },
	pprof.TimeGC.String(): func(name, _ string) string {
		return "go tool pprof -sample_index=alloc_space " + verb.Shell(verb.Server(name)+"/debug/pprof/allocs?seconds=30")
	},
	pprof.TimeMutex.String(): func(name, _ string) string {
		return "go tool pprof " + verb.Shell(verb.Server(name)+"/debug/pprof/mutex?seconds=30")
	},
}

// recorded reports whether the records of slow tasks say more on a column: it is of tasks, and
// no event that could be sampled.
func recorded(column string) bool {
	for p := range taskrecord.Part(taskrecord.Elsewhere + 1) {
		if column == taskrecord.PartName(p) {
			return true
		}
	}
	switch column {
	case "switches", "preemptions", "migrations", "goroutines":
		return true
	}
	return strings.Contains(column, " ") // a region, a call or a note
}

// An origin is where the records of an event came from: files or URLs, and of which kind they are. Event is
// the name that it has there.
type origin struct {
	event, kind string
	names       []string
}

// originOf returns where an event is of. On another server than the requests it is of a kind of its own.
func originOf(j *joined, t *why.Table, event, kind string, names []string) origin {
	p := origin{event, kind, names}
	server := ""
	for i := range t.Columns {
		col := &t.Columns[i]
		switch {
		case col.Name == event && col.Of != "":
			server, p.kind = j.callees.Task(col.Of)
			p.event = strings.TrimSuffix(event, col.Of)
		case col.Name == "server" && server == "" && col.Words != nil:
			server = mostFrequent(col)
		}
	}
	if name := j.from[server]; name != "" && len(names) > 1 && (p.event != event || steps[event] != nil || !recorded(event)) {
		p.names = []string{name}
	}
	return p
}

// mostFrequent returns the word that most cells of a column have.
func mostFrequent(c *why.Column) (word string) {
	counts := make([]int, len(c.Words))
	most := 0
	for _, v := range c.Values {
		if v == v {
			if counts[int(v)]++; counts[int(v)] > most {
				word, most = c.Words[int(v)], counts[int(v)]
			}
		}
	}
	return word
}

// nextStep returns the next command to run, or "".
func nextStep(r *why.Report, tasks bool, p origin) string {
	if !tasks || len(r.First) == 0 {
		return ""
	}
	for _, name := range p.names {
		if p.event == "" {
			break // one of several
		}
		if verb.Server(name) == "" {
			continue
		}
		if step := steps[p.event]; step != nil {
			return step(name, p.kind)
		}
		event := why.RatioEvent(p.event)
		if event == "" && !recorded(p.event) {
			event = p.event
		}
		if event != "" {
			return verb.Slow(name, event, p.kind)
		}
		break
	}
	return "go tool pmu tasks -slow" + verb.OfKind(p.kind) + inputs(p.names)
}

// inputs returns arguments, each after a space.
func inputs(names []string) string {
	s := ""
	for _, name := range names {
		s += " " + verb.Shell(name)
	}
	return s
}

// described returns the conditions on the requests that the report is about: that the event is high that makes
// the tail, or those of the pattern that the first line names, and how long such requests took.
func described(r *why.Report) (conds []why.Cond, from, to float64) {
	from, to = math.Inf(-1), math.Inf(1)
	for _, e := range r.Impacts {
		if top := r.Top(); top != "" && e.Event == top {
			return []why.Cond{{Column: e.Event, Unit: e.Unit, Lo: math.Nextafter(e.Threshold, to), Hi: to}}, from, to
		}
	}
	if p := r.Described(); p != nil {
		return p.Conds, p.From, p.To
	}
	return nil, from, to
}

// all returns the command that shows all requests that conditions describe, or "" if a shell can't be given
// that. Without the flag -kind requests are those that no other task has called, of the most frequent kind.
func all(t *why.Table, conds []why.Cond, flag, kind string, names []string) string {
	if len(conds) == 0 {
		return ""
	}
	if flag == "" && kind != "" {
		conds = append(slices.Clone(conds), why.Cond{Column: "kind", IsWord: true, Word: kind})
	}
	filter := why.Filter(conds, t)
	if verb.Obeyed(filter + flag) {
		return ""
	}
	return "go tool pmu tasks -where " + verb.Shell(filter) + verb.OfKind(flag) + inputs(names)
}

// example returns the command that shows the slowest of the requests that conditions describe and that took
// more than from, and to at most; or "".
func example(t *why.Table, list []why.Cond, from, to float64, names []string) string {
	conds := make(map[string]why.Cond)
	for _, c := range list {
		conds[c.Column] = c
	}
	best := -1
	for row, latency := range t.Latency {
		if !(from < latency && latency <= to) {
			continue
		}
		if len(conds) > 0 && row < len(t.Trace) && !t.Trace[row].IsZero() && (best < 0 || latency > t.Latency[best]) && t.Meets(row, conds) {
			best = row
		}
	}
	if best < 0 {
		return ""
	}
	return fmt.Sprintf("go tool pmu tasks -trace %x%s", t.Trace[best][:], inputs(names))
}
