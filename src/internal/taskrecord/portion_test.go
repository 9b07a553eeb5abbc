// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"math/rand"
	"runtime/pprof"
	"slices"
	"testing"
	"time"
)

// checkPortions checks what is so of all: they are the time of the task in sum, and none is less than 0.
func checkPortions(t *testing.T, list []Portion) {
	t.Helper()
	var sum time.Duration
	for _, x := range list {
		sum += x.Unknown
		if x.Unknown < 0 {
			t.Fatalf("not known: %d", x.Unknown)
		}
		for p, d := range x.Parts {
			if sum += d; d < 0 {
				t.Fatalf("%s: %d", PartName(Part(p)), d)
			}
		}
		for _, c := range x.Calls {
			if sum += c.Way; c.Way < 0 || c.Time < c.Way || !c.Joined && c.Way != c.Time {
				t.Fatalf("%+v", c)
			}
		}
	}
	if wall := max(0, list[0].Node.Task.Wall); sum != wall {
		t.Fatalf("portions are %d in sum, of %d", sum, wall)
	}
}

// TestPortions tests that portions are all of a task's time: of requests on several servers whose clocks
// differ, with timelines and without; of some whose records are not all there; and of those that make no sense.
func TestPortions(t *testing.T) {
	n := 2000
	if testing.Short() {
		n = 300
	}
	var joined, missing, unknown int
	for seed := range int64(n) {
		p := plan(seed)
		for _, x := range p.tasks {
			x.Parts[pprof.TimeRunning] = x.Wall
			for _, c := range x.Calls {
				x.Parts[pprof.TimeRunning] -= c.Wall
				x.Parts[pprof.TimeNetwork] += c.Wall
			}
			if x.Goroutines = 1; p.r.Intn(2) == 0 {
				x.Timeline = nil
			}
			if p.r.Intn(8) == 0 {
				x.Parts[pprof.TimeRunning] += x.Parts[pprof.TimeNetwork] - x.Parts[pprof.TimeNetwork]/4
				x.Parts[pprof.TimeNetwork] /= 4
			}
		}
		if seed%3 == 0 {
			p.tasks = slices.DeleteFunc(p.tasks, func(*Record) bool { return p.r.Intn(5) == 0 })
		}
		for _, r := range Join(slices.Values(p.tasks)) {
			for _, x := range r.Nodes {
				if x.Task.Flags&Client != 0 {
					continue
				}
				list := x.Latency(nil)
				checkPortions(t, list)
				for _, y := range list {
					if !y.Known {
						unknown++
					}
					for _, c := range y.Calls {
						if c.Joined {
							joined++
						} else {
							missing++
						}
					}
				}
			}
		}
	}
	t.Logf("%d calls joined, %d without a record, %d tasks of which it isn't known", joined, missing, unknown)
	if joined < 100 || missing < 100 || unknown < 10 {
		t.Error("too few of one kind")
	}
	r := rand.New(rand.NewSource(40))
	for i := range 10 * n {
		x := oddTask(r)
		if i%2 == 0 {
			x = randomTask(r)
		}
		checkPortions(t, (&Node{Task: x, Call: -1}).Latency(nil))
	}
}

// portionsOf joins tasks, and returns the portions of the first one by server: of waits for a mutex, for
// calls and on the way, and in no call, in ms.
func portionsOf(t *testing.T, asynchronous func(*Node, int) bool, tasks ...*Record) map[string][]time.Duration {
	t.Helper()
	r := Join(slices.Values(tasks))
	list := r[0].Roots[0].Latency(asynchronous)
	checkPortions(t, list)
	m := make(map[string][]time.Duration)
	for _, x := range list {
		var d [4]time.Duration
		if !x.Known {
			m[x.Node.Task.Server.Name] = nil
			continue
		}
		d[0], d[3] = x.Parts[pprof.TimeMutex], x.Parts[pprof.TimeSelect]+x.Parts[pprof.TimeSync]+x.Parts[pprof.TimeChan]+x.Unknown
		for _, c := range x.Calls {
			d[1] += c.Time
			d[2] += c.Way
		}
		for i := range d {
			d[i] /= testMs // as numbers
		}
		m[x.Node.Task.Server.Name] = d[:]
	}
	return m
}

// TestPortionsPlanted has a front that calls a back, which waits for a mutex for 30 of 36 ms, and an audit for
// which it does not wait, and which takes 50 ms.
func TestPortionsPlanted(t *testing.T) {
	front, back, audit := &Server{ID: 1, Name: "front"}, &Server{ID: 2, Name: "back"}, &Server{ID: 3, Name: "audit"}
	trace := TraceID{7}
	const start = planStart
	x := &Record{Server: front, Trace: trace, Span: SpanID{1}, Start: start, Wall: 60 * testMs, Goroutine: 1, Goroutines: 2}
	x.Calls = []Call{{Span: SpanID{2}, Flags: Client, Start: 5 * testMs, Wall: 50 * testMs, Goroutine: 2, Ender: 2}, {Span: SpanID{3}, Flags: Client, Start: 10 * testMs, Wall: 40 * testMs, Goroutine: 1, Ender: 1}}
	x.Parts[pprof.TimeRunning], x.Parts[pprof.TimeSelect] = 30*testMs, 80*testMs
	x.Ender = Ender{Goroutine: 1}
	x.Ender.Parts[pprof.TimeRunning], x.Ender.Parts[pprof.TimeSelect] = 20*testMs, 40*testMs
	b := &Record{Server: back, Trace: trace, Span: SpanID{4}, Parent: SpanID{3}, Flags: ServerOf, Start: start + int64(12*testMs), Wall: 36 * testMs, Goroutine: 1, Goroutines: 1}
	b.Parts[pprof.TimeRunning], b.Parts[pprof.TimeMutex] = 6*testMs, 30*testMs
	a := &Record{Server: audit, Trace: trace, Span: SpanID{5}, Parent: SpanID{2}, Flags: ServerOf, Start: start + int64(6*testMs), Wall: 48 * testMs, Goroutine: 1, Goroutines: 1}
	a.Parts[pprof.TimeMutex] = 48 * testMs
	reads := Waker{Goroutine: 9, Stack: stackIn("net/http.(*persistConn).readLoop", 9)}
	timeline := []Stretch{
		{Goroutine: 2, Part: pprof.TimeSelect, Start: 5 * testMs, Wake: 55 * testMs, End: 55 * testMs, Waker: reads},
		{Goroutine: 1, Part: pprof.TimeSelect, Start: 10 * testMs, Wake: 50 * testMs, End: 50 * testMs, Waker: reads},
	}
	with := *x
	with.Timeline = timeline
	old := with // of a server that does not record who made calls
	old.Calls = slices.Clone(x.Calls)
	for i := range old.Calls {
		old.Calls[i].Goroutine, old.Calls[i].Ender = 0, 0
	}
	isAudit := func(n *Node, call int) bool { return n.Task.Calls[call].Span == SpanID{2} }
	less := *x
	less.Ender.Parts[pprof.TimeRunning], less.Ender.Parts[pprof.TimeSelect] = 50*testMs, 10*testMs
	joins := *x
	joins.Ender.Parts[pprof.TimeSelect], joins.Ender.Parts[pprof.TimeSync] = 0, 40*testMs
	// The second attempt of something between front and back.
	again := *b
	again.Server, again.Span, again.Start, again.Wall = &Server{ID: 4, Name: "again"}, SpanID{6}, b.Start+int64(10*testMs), 26*testMs
	again.Parts[pprof.TimeMutex] = 20 * testMs
	lost := *b
	lost.Parent = x.Span
	alone := *x
	alone.Calls = x.Calls[1:]
	for _, tt := range []struct {
		name         string
		asynchronous func(*Node, int) bool
		tasks        []*Record
		want         map[string][]time.Duration
	}{
		{"timeline", nil, []*Record{&with, b, a}, map[string][]time.Duration{"front": {0, 40, 4, 0}, "back": {30, 36, 0, 0}, "audit": {0, 0, 0, 0}}},
		{"timeline, and it is not known who made the calls", nil, []*Record{&old, b, a}, map[string][]time.Duration{"front": {0, 0, 0, 40}, "back": nil, "audit": nil}},
		{"no record of back", nil, []*Record{&with, a}, map[string][]time.Duration{"front": {0, 40, 40, 0}, "audit": {0, 0, 0, 0}}},
		{"no timeline, audit is known", isAudit, []*Record{x, b, a}, map[string][]time.Duration{"front": {0, 40, 4, 0}, "back": {30, 36, 0, 0}, "audit": {0, 0, 0, 0}}},
		{"no timeline, two calls at a time", nil, []*Record{x, b, a}, map[string][]time.Duration{"front": {0, 0, 0, 40}, "back": nil, "audit": nil}},
		{"no timeline, two calls, of which one was others'", nil, []*Record{&joins, b, a}, map[string][]time.Duration{"front": {0, 40, 1, 0}, "back": {0, 0, 0, 0}, "audit": {39, 0, 0, 0}}},
		{"no timeline, one call", nil, []*Record{&alone, b}, map[string][]time.Duration{"front": {0, 40, 4, 0}, "back": {30, 36, 0, 0}}},
		{"two tasks of one call", nil, []*Record{&with, b, &again}, map[string][]time.Duration{"front": {0, 40, 4, 0}, "back": {30, 36, 0, 0}, "again": {0, 0, 0, 0}}},
		{"no record of the call", nil, []*Record{&with, &lost, a}, map[string][]time.Duration{"front": {0, 40, 40, 0}, "back": nil, "audit": {0, 0, 0, 0}}},
		{"no timeline, too short waits", nil, []*Record{&less, b, a}, map[string][]time.Duration{"front": {0, 0, 0, 10}, "back": nil, "audit": nil}},
	} {
		got := portionsOf(t, tt.asynchronous, tt.tasks...)
		for name, want := range tt.want {
			g := got[name]
			if g != nil && name != "front" {
				g = []time.Duration{g[0], want[1], g[2], g[3]} // it calls no one
			}
			if !slices.Equal(g, want) {
				t.Errorf("%s: %s: mutex, calls, ways, other waits %v, want %v", tt.name, name, got[name], want)
			}
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
