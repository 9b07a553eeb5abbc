// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// stackIn returns a stack below x.go:line, as one that waits in a package's function has.
func stackIn(inner string, line int) []Frame {
	return []Frame{{inner, "/go/src/lib.go", 7}, {"main.handle", "/src/x.go", line}, {"net/http.HandlerFunc.ServeHTTP", "/go/src/net/http/server.go", 1}}
}

// account sets the parts of a task with one goroutine by its timeline.
func account(t *Record) *Record {
	t.Goroutines = 1
	left := t.Wall
	for _, s := range t.Timeline {
		t.Parts[s.Part] += s.Wake - s.Start
		t.Parts[pprof.TimeRunnable] += s.End - s.Wake
		left -= s.End - s.Start
	}
	t.Parts[pprof.TimeRunning] += left
	return t
}

// TestCausesOfCall checks that a call waits for its answer, and for how much longer than
// usual.
func TestCausesOfCall(t *testing.T) {
	for _, test := range []struct {
		name  string
		usual *Usual
		more  time.Duration
	}{
		{"nothing is usual", nil, 50 * testMs},
		{"too few to be usual", &Usual{Tasks: minUsual - 1, Wall: 2 * testMs}, 50 * testMs},
		{"usually shorter", &Usual{Tasks: minUsual, Wall: 2 * testMs}, 48 * testMs},
		{"usually longer", &Usual{Tasks: minUsual, Wall: 60 * testMs}, 0},
	} {
		x := &Record{Kind: "GET db:80", Flags: Client | Slow, Wall: 50 * testMs, Usual: test.usual}
		list := x.Causes()
		if len(list) != 1 || list[0].String() != "way or answer of the server 50 ms" || list[0].Name != "way or answer" || list[0].More != test.more || list[0].Task != x {
			t.Errorf("%s: %+v, want %v more than usual", test.name, list, test.more)
		}
	}
	if list := (&Record{Flags: Client}).Causes(); len(list) != 0 {
		t.Errorf("a call that took no time: %v", list)
	}
}

// TestCauses has records of handlers with a planted reason to be slow, beside what
// handlers do: a wait for the network, a short lock, being runnable.
func TestCauses(t *testing.T) {
	const span = 1
	usual := &Usual{Tasks: 1000, Wall: 4 * testMs}
	usual.Parts[pprof.TimeRunning] = 1 * testMs
	usual.Parts[pprof.TimeNetwork] = 2 * testMs
	usual.Count = []pprof.CounterValue{{Value: 2}}

	at := func(s Stretch, reason, inner string, line int) Stretch {
		s.Reason, s.Stack = reason, stackIn(inner, line)
		return s
	}
	// All have this, in the first 5 ms.
	base := []Stretch{
		at(waited(1, pprof.TimeNetwork, 1, 3, 3, Waker{}), "IO wait", "internal/poll.runtime_pollWait", 12),
		at(waited(1, pprof.TimeMutex, 3, 4, 4, Waker{Goroutine: 50, Span: SpanID{8}, Kind: "GET /"}), "sync.Mutex.Lock", "sync.(*Mutex).Lock", 14),
	}
	with := func(f func(*Stretch), s Stretch) Stretch { f(&s); return s }
	for _, test := range []struct {
		name     string
		timeline []Stretch
		calls    []Call
		change   func(*Record)
		cause    string
		want     string
		place    string
	}{
		{name: "lock held", timeline: []Stretch{
			at(waited(1, pprof.TimeMutex, 5, 25, 26, Waker{Goroutine: 44, Span: SpanID{7}, Kind: "flush", Stack: stackIn("sync.(*Mutex).Unlock", 31)}), "sync.Mutex.Lock", "sync.(*Mutex).Lock", 15),
		}, cause: "mutex", want: `mutex held by task "flush" at x.go:31, 20 ms`, place: "x.go:15"},
		{name: "lock held by no task", timeline: []Stretch{
			at(waited(1, pprof.TimeMutex, 5, 25, 26, Waker{Goroutine: 44, Stack: stackIn("sync.(*Mutex).Unlock", 31)}), "sync.Mutex.Lock", "sync.(*Mutex).Lock", 15),
		}, cause: "mutex", want: "mutex held by goroutine 44 at x.go:31, 20 ms"},
		{name: "GC assist", timeline: []Stretch{
			at(waited(1, pprof.TimeGC, 5, 9, 9, Waker{}), "GC assist marking", "runtime.gcAssistAlloc", 16),
			at(waited(1, pprof.TimeGC, 10, 15, 15, Waker{Goroutine: 3}), "GC assist wait", "runtime.gcAssistAlloc", 17),
			at(waited(1, pprof.TimeSleep, 16, 23, 23, Waker{}), "sleep", "time.Sleep", 18),
		}, cause: "GC assist", want: "GC assist 9 ms", place: "x.go:17"},
		{name: "GC assists that are too short to be recorded", change: func(x *Record) {
			x.Parts[pprof.TimeRunning] -= 15 * testMs
			x.Parts[pprof.TimeGC] += 15 * testMs
		}, cause: "GC assist", want: "GC assist 15 ms"},
		{name: "stop-the-world while runnable", timeline: []Stretch{
			with(func(s *Stretch) { s.Stopped, s.StopReason = 7*testMs, "GC mark termination" },
				at(waited(1, pprof.TimeRunnable, 5, 5, 13, Waker{}), "", "main.f", 19)),
		}, change: func(x *Record) { x.Wall = 14 * testMs; x.Parts[0] = 2 * testMs }, cause: "stop-the-world", want: "stop-the-world 7 ms (GC mark termination)"},
		{name: "stop-the-world in waits", timeline: []Stretch{
			with(func(s *Stretch) { s.Stopped = 3 * testMs }, at(waited(1, pprof.TimeChan, 5, 8, 9, Waker{}), "chan receive", "main.f", 19)),
			with(func(s *Stretch) { s.Stopped = 9 * testMs }, at(waited(1, pprof.TimeMutex, 10, 19, 20, Waker{Goroutine: 3, Kind: "flush"}), "sync.Mutex.Lock", "main.f", 20)),
		}, cause: "stop-the-world", want: "stop-the-world 12 ms"},
		{name: "runnable behind a hog", timeline: []Stretch{
			with(func(s *Stretch) { s.BehindKind, s.Behind = "report", 12*testMs }, at(waited(1, pprof.TimeNetwork, 5, 6, 20, Waker{}), "IO wait", "internal/poll.runtime_pollWait", 21)),
		}, cause: "runnable behind", want: `runnable 12 ms behind task "report"`},
		{name: "runnable", timeline: []Stretch{
			at(waited(1, pprof.TimeNetwork, 5, 6, 20, Waker{}), "IO wait", "internal/poll.runtime_pollWait", 21),
		}, cause: "runnable", want: "runnable 14 ms"},
		{name: "sleep", timeline: []Stretch{
			at(waited(1, pprof.TimeSleep, 5, 25, 26, Waker{}), "sleep", "time.Sleep", 22),
		}, cause: "sleep", want: "sleep 20 ms at x.go:22", place: "x.go:22"},
		{name: "many sleeps", timeline: []Stretch{
			at(waited(1, pprof.TimeSleep, 5, 10, 10, Waker{}), "sleep", "time.Sleep", 22),
			at(waited(1, pprof.TimeSleep, 10, 15, 15, Waker{}), "sleep", "time.Sleep", 22),
			at(waited(1, pprof.TimeSyscall, 15, 23, 23, Waker{}), "", "syscall.Syscall", 23),
		}, cause: "sleep", want: "sleep 10 ms at x.go:22"},
		{name: "system call", timeline: []Stretch{
			at(waited(1, pprof.TimeSyscall, 5, 25, 25, Waker{}), "", "syscall.Syscall", 23),
		}, cause: "syscall", want: "system call 20 ms at x.go:23"},
		{name: "C", timeline: []Stretch{
			at(waited(1, pprof.TimeC, 5, 25, 25, Waker{}), "", "runtime.cgocall", 24),
		}, cause: "C", want: "C 20 ms at x.go:24"},
		{name: "slow server", timeline: []Stretch{
			at(waited(1, pprof.TimeSelect, 5, 26, 26, Waker{Goroutine: 90}), "select", "net/http.(*persistConn).roundTrip", 25),
		}, calls: []Call{{Kind: "GET /stock", Flags: Client, Start: 4 * testMs, Wall: 23 * testMs, Remote: "10.0.0.7:80"}},
			cause: "call", want: `waited 21 ms for call "GET /stock" of 10.0.0.7:80`},
		{name: "network", timeline: []Stretch{
			at(waited(1, pprof.TimeNetwork, 5, 25, 25, Waker{}), "IO wait", "internal/poll.runtime_pollWait", 26),
		}, cause: "network", want: "network 20 ms at x.go:26"},
		{name: "channel of another task", timeline: []Stretch{
			at(waited(1, pprof.TimeChan, 5, 25, 25, Waker{Goroutine: 4, Span: SpanID{9}, Kind: "pool", Stack: stackIn("runtime.chansend1", 40)}), "chan receive", "runtime.chanrecv1", 27),
		}, cause: "wait for a task", want: `chan receive 20 ms at x.go:27, ended by task "pool" at x.go:40`},
		{name: "preempted", change: func(x *Record) {
			x.Parts[pprof.TimeRunning] -= 20 * testMs
			x.Parts[pprof.TimePreempted] += 20 * testMs
		}, cause: "preempted", want: "preempted by the operating system 20 ms"},
		{name: "page faults", change: func(x *Record) {
			x.Wall, x.Parts[pprof.TimeRunning] = 13*testMs, 10*testMs
			x.Count[0].Value = 4096
		}, cause: "page faults", want: "page-faults 4096 (usual 2), running 9 ms more than usual"},
		{name: "too few page faults", change: func(x *Record) { x.Count[0].Value = 90 },
			cause: "running", want: "running 27 ms, 26 ms more than usual"},
		{name: "running", cause: "running", want: "running 27 ms, 26 ms more than usual"},
		{name: "running, nothing is usual", change: func(x *Record) { x.Usual = nil }, cause: "running", want: "running 27 ms"},
		{name: "page faults, nothing is usual", change: func(x *Record) { x.Usual = nil; x.Count[0].Value = 4096 },
			cause: "page faults", want: "page-faults 4096, running 27 ms"},
		{name: "what is usual is no reason", timeline: []Stretch{
			at(waited(1, pprof.TimeNetwork, 5, 15, 15, Waker{}), "IO wait", "internal/poll.runtime_pollWait", 26),
			at(waited(1, pprof.TimeSleep, 15, 23, 23, Waker{}), "sleep", "time.Sleep", 22),
		}, change: func(x *Record) {
			u := *x.Usual
			u.Wall = 13 * testMs
			u.Parts[pprof.TimeNetwork] = 11 * testMs
			x.Usual = &u
		}, cause: "sleep", want: "sleep 8 ms at x.go:22"},
		{name: "what is not on the critical path is no reason", timeline: []Stretch{
			at(waited(2, pprof.TimeSleep, 5, 29, 29, Waker{}), "sleep", "time.Sleep", 28),
			at(waited(1, pprof.TimeMutex, 5, 19, 19, Waker{Goroutine: 44, Kind: "flush"}), "sync.Mutex.Lock", "sync.(*Mutex).Lock", 15),
		}, change: func(x *Record) {
			x.Goroutines = 2
			x.Parts[pprof.TimeRunning] += 24 * testMs // account has them as one
		}, cause: "mutex", want: `mutex held by task "flush", 14 ms`},
		{name: "a goroutine of the task that sleeps with the lock", timeline: []Stretch{
			at(waited(1, pprof.TimeMutex, 5, 25, 25, Waker{Goroutine: 2, Span: SpanID{span}}), "sync.Mutex.Lock", "sync.(*Mutex).Lock", 15),
			at(waited(2, pprof.TimeSleep, 4, 24, 24, Waker{}), "sleep", "time.Sleep", 29),
		}, change: func(x *Record) { x.Goroutines = 2 }, cause: "sleep", want: "sleep 19 ms at x.go:29"},
	} {
		x := &Record{
			Span: SpanID{span}, Kind: "GET /", Goroutine: 1, Wall: 30 * testMs, Flags: Slow, Usual: usual,
			Timeline: append(base[:len(base):len(base)], test.timeline...), Calls: test.calls,
			Events: []string{"page-faults"},
		}
		x.Count = []pprof.CounterValue{{Value: 3}}
		if n := len(x.Timeline); n > len(base) {
			x.Wall = x.Timeline[n-1].End + testMs
			for _, s := range x.Timeline {
				x.Wall = max(x.Wall, s.End+testMs)
			}
		}
		account(x)
		if test.change != nil {
			test.change(x)
		}
		checkAnalysis(t, x)
		list := x.Causes()
		if len(list) == 0 || list[0].Name != test.cause || list[0].String() != test.want {
			t.Errorf("%s: got %q\nwant first %q: %s", test.name, list, test.cause, test.want)
			continue
		}
		var stopped time.Duration
		for _, c := range list {
			if c.Name == "stop-the-world" {
				stopped += c.Time
			}
		}
		if l := x.Latency()[pprof.TimeStopTheWorld]; l != stopped {
			t.Errorf("%s: the world was stopped for %v by the latency, for %v by the causes", test.name, l, stopped)
		}
		for _, c := range list {
			if r := c.reason(); r == "" || anyTime.MatchString(r) || !strings.Contains(c.String(), strings.Fields(r)[0]) && c.Name != "page faults" {
				t.Errorf("%s: %q has the reason %q", test.name, c, r)
			}
		}
		if test.place != "" && list[0].Frame.at() != test.place {
			t.Errorf("%s: at %v, want %s", test.name, list[0].Frame, test.place)
		}
	}
}

var anyTime = regexp.MustCompile(`\d (s|ms|us|ns)\b|\x00`)

// TestCausesNotMoreThanKnown has sums over goroutines of which some, or none, must have
// been on the path.
func TestCausesNotMoreThanKnown(t *testing.T) {
	for _, test := range []struct {
		running, assist, want time.Duration
	}{
		{6 * testMs, 4 * testMs, 4 * testMs}, // one goroutine's
		{8 * testMs, 4 * testMs, 2 * testMs}, // 2 ms were elsewhere, maybe these
		{10 * testMs, 4 * testMs, 0},
		{0, 40 * testMs, 10 * testMs},
	} {
		x := &Record{Goroutine: 1, Wall: 10 * testMs}
		x.Parts[pprof.TimeRunning], x.Parts[pprof.TimeGC] = test.running, test.assist
		var got time.Duration
		for _, c := range x.Causes() {
			if c.Name == "GC assist" {
				got = c.Time
			}
		}
		if got != test.want {
			t.Errorf("running %v, assists %v: got %v on the path, want %v", test.running, test.assist, got, test.want)
		}
	}
}

// TestCauseTable tests that the table is complete: whatever a goroutine waits for has a cause,
// and all words are known.
func TestCauseTable(t *testing.T) {
	stack := stackIn("sync.(*Mutex).Lock", 1)
	s := &Stretch{Stack: stack, Reason: "reason", Waker: Waker{1, SpanID{}, "kind", stack}, BehindKind: "hog", StopReason: "why"}
	x := &Record{Calls: []Call{{Kind: "call", Remote: "remote"}}}
	node := &Node{Task: x, Children: []*Node{{Task: new(Record), Call: 0, Server: 1}}}
	used := make(map[string]bool)
	for part := range Part(NumParts + 1) {
		for call := -1; call < 1; call++ {
			for _, waker := range []Waker{s.Waker, {}, {Goroutine: 1, Stack: []Frame{{Func: carriers[0].fn}}}} {
				s.Waker = waker
				for _, reason := range []string{"reason", "GC assist wait"} {
					seg := &Segment{Task: x, Part: part, Reason: reason, Stretch: s, Call: call, Frame: Place(stack)}
					inRequest := *seg
					inRequest.Node = node
					for _, p := range []piece{{seg: seg}, {seg: seg, stop: true}, {seg: seg, behind: true}, {seg: &inRequest}} {
						c := rowOf(&p)
						used[c.name] = true
						if text := c.expand(p.word); !strings.Contains(text, timeMark) {
							t.Errorf("%v: text of %s is %q", part, c.name, text)
						}
					}
				}
			}
		}
	}
	for _, c := range causeTable {
		if c.match != nil && !used[c.name] {
			t.Errorf("no wait has cause %s", c.name)
		}
	}
}
