// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// # Tasks
//
// If the program records tasks (see [runtime/task]), a page shows what they cost, where
// they waited, and why they were slow:
//
//	http://localhost:6060/debug/pprof/tasks
//
// It is a page of text. Diagrams, and what needs many records, are a tool's:
//
//	go tool pmu tasks -http=: http://localhost:6060/debug/pprof/tasks
//	go tool pmu why -http=: http://localhost:6060/debug/pprof/tasks
//	go tool pmu slow -http=: http://localhost:6060/debug/pprof/tasks
//
// To see where the time of requests goes in the next 30 seconds, or to keep the slow ones:
//
//	go tool pprof -http=: 'http://localhost:6060/debug/pprof/tasks?format=pprof&seconds=30'
//	curl -o slow.tasks 'http://localhost:6060/debug/pprof/tasks?format=tasks&seconds=30&slow=1'
//
// See [Tasks] for all formats and parameters.
package pprof

import (
	"cmp"
	"internal/taskrecord"
	"strconv"
	"time"
)

// lookAt adds to sums why tasks were slow, of those that want chooses those that ended last, until a
// part of the page's bounds is reached. It returns how many it looked at, of how many that the rings
// have, which have lost others.
func (p *taskPage) lookAt(sums *taskrecord.Reasons, part int, want func(head *taskrecord.Record) bool) (n, all, gone uint64) {
	pieces := 0
	all, gone = tasks.newest(true, maxSlowTasks/part, want, func(t *taskrecord.Record) bool {
		sums.Add(t)
		n++
		pieces += len(t.Timeline) + len(t.Regions) + len(t.Calls) + len(t.Notes)
		return pieces < maxPieces/part && p.ctx.Err() == nil
	})
	return n, all, gone
}

// countOf says how many of all things were looked at.
func countOf(n, all uint64, what string) string {
	text := strconv.FormatUint(n, 10) + " of " + count(int64(all), what)
	if n < all {
		text += ", those that ended last"
	}
	return text
}

// reasons writes why the slow tasks that ended last were slow.
func (p *taskPage) reasons() {
	p.put("<h2 id=slow>Why slow ones were slow</h2>\n")
	var sums taskrecord.Reasons
	part := 1
	if p.req.hasKind {
		part = 2
	}
	n, all, gone := p.lookAt(&sums, part, func(head *taskrecord.Record) bool { return !p.req.hasKind || head.Kind == p.req.kind })
	if n == 0 {
		p.put("<p>There are none, or newer ones have taken their place.</p>\n")
		return
	}
	p.put("<p>Looked at %s", countOf(n, all, "slow task"))
	if p.req.hasKind {
		// Who held a mutex may only be known by tasks of other kinds.
		n, all, _ = p.lookAt(&sums, part, func(head *taskrecord.Record) bool { return head.Kind != p.req.kind })
		p.put("; and, for who held mutexes, at %s", countOf(n, all, "other one"))
	}
	if gone > 0 {
		p.put(". %s of slow tasks made room for newer ones", count(int64(gone), "older record"))
	}
	p.put(". Below each reason are those that ended last.</p>\n")
	rows, more := 0, 0
	for _, r := range sums.List() {
		if p.req.hasKind && r.Kind != p.req.kind {
			continue
		}
		if rows++; rows > maxReasons {
			more += r.N
			continue
		}
		p.put("<p>%s: <b>%s</b><br>\n", taskrecord.KindText(cmp.Or(r.Kind, "(no name)"), r.Client), r.String())
		for i, x := range r.Newest {
			if i > 0 {
				p.put(",\n")
			}
			p.put("<a href='%s'>%s</a> %s", p.taskLink(x.Trace, x.Span), taskrecord.Duration(x.Wall), p.ago(x.Start+int64(x.Wall)))
		}
		if n := r.N - len(r.Newest); n > 0 {
			p.put(",\nand %s", count(int64(n), "other"))
		}
		if r.Executing() {
			p.put(";\n<a href='#tools'>what do they execute?</a>")
		}
		p.put("</p>\n")
	}
	if more > 0 {
		p.put("<p>And %s, for %s.</p>\n", count(int64(rows-maxReasons), "other reason"), count(int64(more), "slow task"))
	}
}

// ago returns how long it is since a time, in ns since 1970.
func (p *taskPage) ago(ns int64) string {
	d := time.Duration(p.now.UnixNano() - ns)
	switch {
	case d < time.Second:
		return "just now"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s ago"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min ago"
	}
	return "at " + time.Unix(0, ns).Format(time.DateTime)
}
