// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"runtime/pprof"
	"runtime/task/record"
	"slices"
	"testing"
	"time"
)

// A queued is a task that waits for a mutex: from when until it was woken, in ms, and by
// whom, by number. Task 0 is the one that holds the mutex at first.
type queued struct{ from, to, by int }

// queue returns the records of the tasks from number 1 on.
func queue(now time.Time, waits ...queued) (list []*record.Task) {
	for i, q := range waits {
		id := byte(i + 1)
		w := record.Waker{Goroutine: uint64(10 + q.by), Span: record.SpanID{7: byte(q.by)}, Kind: "GET /"}
		if q.by == 0 {
			w = record.Waker{Goroutine: 10, Span: record.SpanID{5}, Kind: "flush", Stack: []record.Frame{{Func: "main.flush", File: "flush.go", Line: 112}}}
		}
		t := &record.Task{
			Trace: record.TraceID{id}, Span: record.SpanID{7: id}, Kind: "GET /", Flags: record.Slow,
			Goroutine: uint64(10 + i + 1), Goroutines: 1, Start: now.UnixNano() + int64(q.from)*int64(ms), Wall: time.Duration(q.to-q.from+1) * ms,
			Timeline: []record.Stretch{{Goroutine: uint64(10 + i + 1), Wake: time.Duration(q.to-q.from) * ms, End: time.Duration(q.to-q.from) * ms, Part: pprof.TimeMutex, Waker: w}},
		}
		t.Parts[pprof.TimeMutex], t.Parts[pprof.TimeRunning] = t.Wall-ms, ms
		list = append(list, t)
	}
	return list
}

func TestLockHolder(t *testing.T) {
	now := time.Now()
	const flush = "task \"flush\" at flush.go:112"
	for _, test := range []struct {
		name  string
		waits []queued
		want  []string // for each
	}{
		{"alone", []queued{{0, 100, 0}}, []string{""}},
		{"in a queue", []queued{{0, 100, 0}, {5, 101, 1}, {10, 102, 2}},
			[]string{"", "; 1 task before, it was held by " + flush, "; 2 tasks before, it was held by " + flush}},
		{"out of order", []queued{{10, 102, 2}, {5, 101, 3}, {0, 100, 0}},
			[]string{"; 2 tasks before, it was held by " + flush, "; 1 task before, it was held by " + flush, ""}},
		{"of a task that held it itself for long", []queued{{0, 100, 0}, {90, 180, 1}}, []string{"", ""}},
		{"of a task that held it for less than half of the wait", []queued{{0, 100, 0}, {90, 109, 1}},
			[]string{"", "; 1 task before, it was held by " + flush}},
		{"of a task that has no record", []queued{{0, 100, 9}, {5, 101, 1}}, []string{"", "; 1 task before, it was held by task \"GET /\""}},
		{"of a task that waited later", []queued{{0, 100, 0}, {5, 99, 1}}, []string{"", ""}},
		{"of each other", []queued{{0, 100, 2}, {0, 100, 1}}, []string{"", ""}},
	} {
		l := newLockWaits()
		list := queue(now, test.waits...)
		for _, x := range list {
			l.add(x)
		}
		for i, x := range list {
			if got := l.behindWhom(x, x.CriticalPath()); got != test.want[i] {
				t.Errorf("%s: task %d: %q, want %q", test.name, i+1, got, test.want[i])
			}
		}
	}
	// The waker's latest wait counts.
	l := newLockWaits()
	list := queue(now, queued{0, 100, 0}, queued{5, 101, 1})
	last := list[0].Timeline[0]
	first := last
	first.Wake, first.End = 80*time.Millisecond, 80*time.Millisecond
	first.Waker = record.Waker{Goroutine: 99, Kind: "older"}
	last.Start = first.End + 1
	list[0].Timeline = []record.Stretch{first, last}
	for _, x := range list {
		l.add(x)
	}
	if got, want := l.behindWhom(list[1], list[1].CriticalPath()), "; 1 task before, it was held by "+flush; got != want {
		t.Errorf("a task that waited twice: %q, want %q", got, want)
	}

	l = newLockWaits()
	x := queue(now, queued{0, 100, 0})[0]
	x.Timeline = append(x.Timeline, make([]record.Stretch, maxLockWaits)...)
	for i := range x.Timeline {
		x.Timeline[i] = x.Timeline[0]
	}
	for range 3 {
		l.add(x)
	}
	if l.n > 2*maxLockWaits {
		t.Errorf("%d waits are kept", l.n)
	}
}

// TestReasons tests that reasons are summed up, and that a queue for a mutex has one: who held it
// first.
func TestReasons(t *testing.T) {
	list := queue(time.Now(), queued{0, 100, 0}, queued{5, 101, 1}, queued{10, 102, 2})
	sleep := *list[0]
	sleep.Span, sleep.Kind = record.SpanID{1}, "GET /slow"
	sleep.Timeline = []record.Stretch{{Goroutine: 11, Wake: 99 * ms, End: 99 * ms, Part: pprof.TimeSleep, Stack: []record.Frame{{Func: "main.slow", File: "slow.go", Line: 7}}}}
	other := sleep
	other.Span = record.SpanID{2}
	fast := other
	fast.Span, fast.Flags = record.SpanID{3}, 0
	s := newSite(slices.Values(append(list, &sleep, &other, &fast)))
	var got []reasonRow
	for _, r := range s.overview("", false).Reasons {
		got = append(got, *r)
	}
	want := []reasonRow{
		{"GET /", `mutex held by task "flush" at flush.go:112`, 3, 3, (100 + 96 + 92) * ms},
		{"GET /slow", "sleep at slow.go:7", 2, 2, 2 * 99 * ms},
	}
	if !slices.Equal(got, want) {
		t.Errorf("reasons %v, want %v", got, want)
	}
}
