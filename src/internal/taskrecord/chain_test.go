// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"runtime/pprof"
	"testing"
	"time"
)

// A queued is a task that waits for a mutex: from when until it was woken, in ms, and by whom, by
// number. Task 0 is the one that holds the mutex at first, and task -1 is no task.
type queued struct{ from, to, by int }

// queue returns the records of the tasks from number 1 on.
func queue(waits ...queued) (list []*Record) {
	for i, q := range waits {
		id := byte(i + 1)
		w := Waker{Goroutine: uint64(10 + q.by), Span: SpanID{7: byte(q.by)}, Kind: "GET /"}
		switch q.by {
		case 0:
			w = Waker{Goroutine: 10, Span: SpanID{5}, Kind: "flush", Stack: []Frame{{"main.flush", "/src/flush.go", 112}}}
		case -1:
			w = Waker{Goroutine: 9, Stack: []Frame{{"main.clean", "/src/clean.go", 7}}}
		}
		t := &Record{
			Trace: TraceID{id}, Span: SpanID{7: id}, Kind: "GET /", Flags: Slow | ServerOf,
			Goroutine: uint64(10 + i + 1), Start: planStart + int64(q.from)*int64(testMs), Wall: time.Duration(q.to-q.from+1) * testMs,
			Timeline: []Stretch{waited(uint64(10+i+1), pprof.TimeMutex, 0, q.to-q.from, q.to-q.from, w)},
		}
		list = append(list, account(t))
	}
	return list
}

// TestHolder checks that a mutex is followed back to the task that held it in the middle of the
// wait.
func TestHolder(t *testing.T) {
	const flush = `mutex held by task "flush" at flush.go:112, `
	const other = `mutex held by task "GET /", `
	for _, test := range []struct {
		name  string
		waits []queued
		want  []string // for each
	}{
		{"alone", []queued{{0, 100, 0}}, []string{flush + "100 ms"}},
		{"in a queue", []queued{{0, 100, 0}, {5, 101, 1}, {10, 102, 2}},
			[]string{flush + "100 ms", flush + "96 ms, and handed on by 1 task", flush + "92 ms, and handed on by 2 tasks"}},
		{"out of order", []queued{{10, 102, 2}, {5, 101, 3}, {0, 100, 0}},
			[]string{flush + "92 ms, and handed on by 2 tasks", flush + "96 ms, and handed on by 1 task", flush + "100 ms"}},
		{"of a task that held it itself for long", []queued{{0, 100, 0}, {90, 180, 1}}, []string{flush + "100 ms", other + "90 ms"}},
		{"of a task that held it for less than half of the wait", []queued{{0, 100, 0}, {90, 109, 1}},
			[]string{flush + "100 ms", flush + "19 ms, and handed on by 1 task"}},
		{"of a task that has no record", []queued{{0, 100, 9}, {5, 101, 1}}, []string{other + "100 ms", other + "96 ms, and handed on by 1 task"}},
		{"of a task that waited later", []queued{{0, 100, 0}, {5, 99, 1}}, []string{flush + "100 ms", other + "94 ms"}},
		{"of each other", []queued{{0, 100, 2}, {0, 100, 1}}, []string{other + "100 ms", other + "100 ms"}},
		{"of no task", []queued{{0, 100, -1}, {5, 101, 1}},
			[]string{"mutex held by goroutine 9 at clean.go:7, 100 ms", "mutex held by goroutine 9 at clean.go:7, 96 ms, and handed on by 1 task"}},
	} {
		var r Reasons
		list := queue(test.waits...)
		for _, x := range list {
			r.Add(x)
		}
		for i, x := range list {
			if got := r.Words(&x.Causes()[0]); got != test.want[i] {
				t.Errorf("%s: task %d: %q, want %q", test.name, i+1, got, test.want[i])
			}
		}
	}

	// The latest handover to the one that handed it on counts.
	list := queue(queued{0, 100, 0}, queued{5, 101, 1})
	last := list[0].Timeline[0]
	first := last
	first.Wake, first.End = 80*testMs, 80*testMs
	first.Waker = Waker{Goroutine: 99, Kind: "older"}
	last.Start = first.End + 1
	list[0].Timeline = []Stretch{first, last}
	var r Reasons
	for _, x := range list {
		r.Add(x)
	}
	if got, want := r.Words(&list[1].Causes()[0]), flush+"96 ms, and handed on by 1 task"; got != want {
		t.Errorf("a task that waited twice: %q, want %q", got, want)
	}
}

// TestHolderLongest checks that it is the holder of the mutex that the cause is about: of two
// mutexes, the one that took longer in all, and of its waits the longest.
func TestHolderLongest(t *testing.T) {
	list := queue(queued{0, 100, 0}, queued{50, 101, 1})
	x := list[1]
	x.Wall = 140 * testMs
	by := x.Timeline[0].Waker // task 1, which flush let have it
	long := Waker{Goroutine: 50, Span: SpanID{3}, Kind: "long"}
	x.Timeline = []Stretch{
		waited(12, pprof.TimeMutex, 0, 10, 10, by), // before flush let task 1 have it
		waited(12, pprof.TimeMutex, 12, 63, 63, by),
		waited(12, pprof.TimeMutex, 70, 130, 130, long),
	}
	x.Parts = [NumParts]time.Duration{}
	var r Reasons
	for _, x := range list {
		r.Add(x)
	}
	want := `mutex held by task "flush" at flush.go:112, 61 ms, and handed on by 1 task`
	if got := r.Words(&account(x).Causes()[0]); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLocksBounded checks that no more than a bound is kept, whatever records have.
func TestLocksBounded(t *testing.T) {
	x := queue(queued{0, 100, 0})[0]
	for range 1000 {
		x.Timeline = append(x.Timeline, x.Timeline[0])
	}
	var l locks
	for range 2 * maxHandovers / len(x.Timeline) {
		l.add(x)
	}
	if most := maxHandovers + len(x.Timeline); l.n > most {
		t.Errorf("%d handovers and tasks are kept, want %d at most", l.n, most)
	}
}
