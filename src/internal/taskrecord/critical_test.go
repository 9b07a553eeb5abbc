// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"fmt"
	"math"
	"math/rand"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

const testMs = time.Millisecond

// parted fails the test unless path partitions [from, to).
func parted(t *testing.T, path []Segment, from, to time.Duration) {
	t.Helper()
	at := from
	for i, s := range path {
		if s.Start != at || s.End <= s.Start {
			t.Fatalf("segment %d is [%d,%d), want one that begins at %d", i, s.Start, s.End, at)
		}
		if s.Stopped < 0 || s.Behind < 0 || s.Stopped+s.Behind > s.End-s.Start {
			t.Fatalf("segment %d of %v: stopped %v, behind %v", i, s.End-s.Start, s.Stopped, s.Behind)
		}
		if s.Call >= len(s.Task.Calls) || s.Call < -1 {
			t.Fatalf("segment %d: call %d of %d", i, s.Call, len(s.Task.Calls))
		}
		at = s.End
	}
	if at != max(from, to) {
		t.Fatalf("path ends at %d, want %d", at, to)
	}
}

// pathText returns a path in short: goroutine, part and milliseconds.
func pathText(path []Segment) string {
	var text []string
	for _, s := range path {
		w := fmt.Sprintf("%d %s %d-%d", s.Goroutine, PartName(s.Part), s.Start/testMs, s.End/testMs)
		if s.Call >= 0 {
			w += " " + s.Task.Calls[s.Call].Kind
		}
		if s.Node != nil {
			w = s.Task.Kind + " " + w
		}
		text = append(text, w)
	}
	return strings.Join(text, ", ")
}

// waited returns a wait of goroutine g, in ms.
func waited(g uint64, part Part, start, wake, end int, waker Waker) Stretch {
	return Stretch{
		Goroutine: g, Part: part, Waker: waker,
		Start: time.Duration(start) * testMs, Wake: time.Duration(wake) * testMs, End: time.Duration(end) * testMs,
	}
}

func TestCriticalPath(t *testing.T) {
	self := SpanID{1}
	child := SpanID{2}
	other := SpanID{9}
	reader := []Frame{{Func: "net/http.(*persistConn).readLoop"}, {Func: "net/http.(*Transport).dialConn.gowrap2"}}
	call := func(kind string, flags Flags, start, end int) Call {
		return Call{Span: child, Kind: kind, Flags: flags, Start: time.Duration(start) * testMs, Wall: time.Duration(end-start) * testMs, Goroutine: 1, Ender: 1}
	}
	by := func(c Call, maker, ender uint64) Call {
		c.Goroutine, c.Ender = maker, ender
		return c
	}
	for _, test := range []struct {
		name     string
		timeline []Stretch
		calls    []Call
		want     string
	}{
		{"nothing", nil, nil, "1 running 0-100"},
		{"sleep", []Stretch{waited(1, pprof.TimeSleep, 10, 30, 35, Waker{})}, nil,
			"1 running 0-10, 1 sleep 10-30, 1 runnable 30-35, 1 running 35-100"},
		{"another goroutine's sleep is not on it", []Stretch{waited(2, pprof.TimeSleep, 10, 30, 35, Waker{})}, nil,
			"1 running 0-100"},
		{"waker of the task", []Stretch{
			waited(1, pprof.TimeChan, 10, 80, 82, Waker{Goroutine: 2, Span: self}),
			waited(2, pprof.TimeSleep, 20, 70, 71, Waker{}),
		}, nil, "1 running 0-10, 2 running 10-20, 2 sleep 20-70, 2 runnable 70-71, 2 running 71-80, 1 runnable 80-82, 1 running 82-100"},
		{"what the waker did before is not on it", []Stretch{
			waited(1, pprof.TimeChan, 30, 80, 80, Waker{Goroutine: 2, Span: self}),
			waited(2, pprof.TimeSleep, 5, 40, 40, Waker{}),
		}, nil, "1 running 0-30, 2 sleep 30-40, 2 running 40-80, 1 running 80-100"},
		{"chain of wakers", []Stretch{
			waited(1, pprof.TimeSync, 10, 90, 90, Waker{Goroutine: 2, Span: self}),
			waited(2, pprof.TimeChan, 20, 80, 80, Waker{Goroutine: 3}),
			waited(3, pprof.TimeSyscall, 30, 70, 70, Waker{}),
		}, nil, "1 running 0-10, 2 running 10-20, 3 running 20-30, 3 syscall 30-70, 3 running 70-80, 2 running 80-90, 1 running 90-100"},
		{"waker that never waited", []Stretch{waited(1, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 2, Span: self})}, nil,
			"1 running 0-10, 2 running 10-80, 1 running 80-100"},
		{"waker of another task", []Stretch{
			waited(1, pprof.TimeMutex, 10, 80, 80, Waker{Goroutine: 2, Span: other}),
			waited(2, pprof.TimeSleep, 2, 9, 10, Waker{}),
		}, nil, "1 running 0-10, 1 mutex 10-80, 1 running 80-100"},
		{"waker that has just left the task", []Stretch{
			waited(1, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 2, Span: other}),
			waited(2, pprof.TimeSleep, 20, 70, 70, Waker{}),
		}, nil, "1 running 0-10, 2 running 10-20, 2 sleep 20-70, 2 running 70-80, 1 running 80-100"},
		{"waker of a child", []Stretch{
			waited(1, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 2, Span: child}),
			waited(2, pprof.TimeSleep, 20, 70, 70, Waker{}),
		}, []Call{call("child", 0, 10, 80)}, "1 running 0-10, 2 running 10-20, 2 sleep 20-70, 2 running 70-80, 1 running 80-100"},
		{"go statement", []Stretch{
			waited(1, pprof.TimeChan, 20, 90, 90, Waker{Goroutine: 3, Span: self}),
			waited(2, pprof.TimeSleep, 22, 50, 50, Waker{}),
			waited(3, pprof.TimeRunnable, 60, 60, 65, Waker{Goroutine: 2, Span: self}),
		}, nil, "1 running 0-20, 2 running 20-22, 2 sleep 22-50, 2 running 50-60, 3 runnable 60-65, 3 running 65-90, 1 running 90-100"},
		{"wakers in a circle", []Stretch{
			waited(1, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 2, Span: self}),
			waited(2, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 3, Span: self}),
			waited(3, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 1, Span: self}),
		}, nil, "1 running 0-10, 3 chan 10-80, 1 running 80-100"},
		{"C that waits in Go", []Stretch{
			waited(1, pprof.TimeC, 10, 80, 80, Waker{}),
			waited(1, pprof.TimeSleep, 20, 30, 30, Waker{}),
		}, nil, "1 running 0-10, 1 C 10-20, 1 sleep 20-30, 1 C 30-80, 1 running 80-100"},
		{"regions are no waits", []Stretch{{Goroutine: 1, Region: "r", Start: 10 * testMs, Wake: 20 * testMs, End: 20 * testMs}}, nil,
			"1 running 0-100"},
		{"call", []Stretch{waited(1, pprof.TimeSelect, 10, 80, 80, Waker{Goroutine: 7})},
			[]Call{call("GET", Client, 5, 85)}, "1 running 0-10, 1 select 10-80 GET, 1 running 80-100"},
		{"call, by a goroutine that another task started to read a connection", []Stretch{
			waited(1, pprof.TimeSelect, 10, 80, 80, Waker{Goroutine: 7, Span: other, Stack: reader}),
		}, []Call{call("GET", Client, 5, 85)}, "1 running 0-10, 1 select 10-80 GET, 1 running 80-100"},
		{"call, by a goroutine of nobody's", []Stretch{
			waited(1, pprof.TimeSelect, 10, 80, 80, Waker{Goroutine: 7, Stack: stackIn("example.com/rpc.(*Conn).read", 9)}),
		}, []Call{call("GET", Client, 5, 85)}, "1 running 0-10, 1 select 10-80 GET, 1 running 80-100"},
		{"wait for another task inside a call", []Stretch{waited(1, pprof.TimeSelect, 10, 80, 80, Waker{Goroutine: 7, Span: other})},
			[]Call{call("GET", Client, 5, 85)}, "1 running 0-10, 1 select 10-80, 1 running 80-100"},
		{"wait for a connection of a pool inside a call", []Stretch{
			waited(1, pprof.TimeSelect, 10, 70, 70, Waker{Goroutine: 7, Span: other, Stack: stackIn("database/sql.(*DB).putConnDBLocked", 9)}),
			waited(1, pprof.TimeNetwork, 71, 80, 80, Waker{}),
		}, []Call{call("SELECT a", Client, 5, 85)}, "1 running 0-10, 1 select 10-70, 1 running 70-71, 1 network 71-80 SELECT a, 1 running 80-100"},
		{"wait for a connection that no task has given back", []Stretch{
			waited(1, pprof.TimeSelect, 10, 80, 80, Waker{Goroutine: 7, Stack: stackIn("database/sql.(*DB).putConnDBLocked", 9)}),
		}, []Call{call("SELECT a", Client, 5, 85)}, "1 running 0-10, 1 select 10-80, 1 running 80-100"},
		{"wait for an idle connection inside a call", []Stretch{
			waited(1, pprof.TimeSelect, 10, 80, 80, Waker{Goroutine: 7, Span: other, Stack: append([]Frame{{Func: "net/http.(*Transport).tryPutIdleConn"}}, reader...)}),
		}, []Call{call("GET", Client, 5, 85)}, "1 running 0-10, 1 select 10-80, 1 running 80-100"},
		{"mutex inside a call", []Stretch{waited(1, pprof.TimeMutex, 10, 80, 80, Waker{Goroutine: 7, Span: other})},
			[]Call{call("GET", Client, 5, 85)}, "1 running 0-10, 1 mutex 10-80, 1 running 80-100"},
		{"own goroutine that computes inside a call", []Stretch{
			waited(1, pprof.TimeSelect, 10, 80, 80, Waker{Goroutine: 7, Span: self, Stack: stackIn("main.compute", 9)}),
		}, []Call{call("GET", Client, 5, 85)}, "1 running 0-10, 7 running 10-80, 1 running 80-100"},
		{"call in a part of a wait", []Stretch{waited(1, pprof.TimeNetwork, 10, 80, 80, Waker{})},
			[]Call{by(call("a", Client, 20, 40), 0, 0), by(call("b", Client, 50, 70), 0, 0)},
			"1 running 0-10, 1 network 10-20, 1 network 20-40 a, 1 network 40-50, 1 network 50-70 b, 1 network 70-80, 1 running 80-100"},
		{"of calls side by side, the one that the goroutine has made", []Stretch{waited(1, pprof.TimeNetwork, 10, 60, 60, Waker{})},
			[]Call{by(call("short", Client, 9, 61), 2, 2), call("own", Client, 5, 90), by(call("early", Client, 9, 30), 3, 3)},
			"1 running 0-10, 1 network 10-60 own, 1 running 60-100"},
		{"a call of another goroutine alone", []Stretch{waited(1, pprof.TimeNetwork, 10, 60, 60, Waker{})},
			[]Call{by(call("others", Client, 9, 61), 2, 2)},
			"1 running 0-10, 1 network 10-60, 1 running 60-100"},
		{"calls of two goroutines for which a third one waits", []Stretch{
			waited(1, pprof.TimeSync, 10, 80, 80, Waker{Goroutine: 2, Span: self, Stack: stackIn("main.fetch", 9)}),
			waited(2, pprof.TimeSelect, 12, 78, 78, Waker{Goroutine: 7, Stack: reader}),
			waited(3, pprof.TimeSelect, 12, 85, 85, Waker{Goroutine: 8, Stack: reader}),
		}, []Call{by(call("late", Client, 11, 84), 2, 2), by(call("audit", Client, 11, 79), 3, 3)},
			"1 running 0-10, 2 running 10-12, 2 select 12-78 late, 2 running 78-80, 1 running 80-100"},
		{"calls side by side of nobody knows whom", []Stretch{waited(1, pprof.TimeNetwork, 10, 60, 60, Waker{})},
			[]Call{by(call("long", Client, 5, 90), 0, 0), by(call("short", Client, 9, 61), 0, 0)},
			"1 running 0-10, 1 network 10-60, 1 running 60-100"},
		{"a call of nobody knows whom", []Stretch{waited(1, pprof.TimeNetwork, 10, 60, 60, Waker{})},
			[]Call{by(call("early", Client, 2, 9), 0, 0), by(call("GET", Client, 9, 61), 0, 0)},
			"1 running 0-10, 1 network 10-60 GET, 1 running 60-100"},
		{"an answer that another goroutine reads", []Stretch{
			waited(1, pprof.TimeChan, 30, 90, 90, Waker{Goroutine: 2, Span: self, Stack: stackIn("main.read", 9)}),
			waited(2, pprof.TimeNetwork, 32, 85, 85, Waker{}),
		}, []Call{by(call("GET", Client, 5, 88), 1, 2), by(call("other", Client, 5, 86), 3, 3)},
			"1 running 0-30, 2 running 30-32, 2 network 32-85 GET, 2 running 85-90, 1 running 90-100"},
		{"a connection that the task opened, and reads in a goroutine", []Stretch{
			waited(1, pprof.TimeSelect, 10, 80, 80, Waker{Goroutine: 7, Span: self, Stack: reader}),
			waited(7, pprof.TimeNetwork, 12, 79, 79, Waker{}),
		}, []Call{call("GET", Client, 5, 85), by(call("other", Client, 5, 82), 3, 3)},
			"1 running 0-10, 7 running 10-12, 7 network 12-79 GET, 7 running 79-80, 1 running 80-100"},
		{"a goroutine that calls no one, while who waits for it has an answer to read", []Stretch{
			waited(1, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 2, Span: self, Stack: stackIn("main.ask", 9)}),
			waited(2, pprof.TimeNetwork, 12, 79, 79, Waker{}),
		}, []Call{call("GET", Client, 5, 85)},
			"1 running 0-10, 2 running 10-12, 2 network 12-79, 2 running 79-80, 1 running 80-100"},
		{"a call by a goroutine that is not the task's", []Stretch{
			waited(1, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 9, Stack: stackIn("main.worker", 9)}),
		}, []Call{by(call("GET", Client, 20, 75), 9, 9), by(call("other", Client, 5, 82), 3, 3)},
			"1 running 0-10, 1 chan 10-20, 1 chan 20-75 GET, 1 chan 75-80, 1 running 80-100"},
		{"a call within one whose answer is not read yet", []Stretch{
			waited(1, pprof.TimeNetwork, 30, 40, 40, Waker{}),
			waited(1, pprof.TimeNetwork, 65, 70, 70, Waker{}),
		}, []Call{call("outer", Client, 5, 85), call("inner", Client, 20, 60)},
			"1 running 0-30, 1 network 30-40 inner, 1 running 40-65, 1 network 65-70 outer, 1 running 70-100"},
		{"one of two answers, and nobody knows which", []Stretch{
			waited(1, pprof.TimeNetwork, 10, 15, 15, Waker{}),
			waited(1, pprof.TimeNetwork, 30, 40, 40, Waker{}),
			waited(1, pprof.TimeNetwork, 65, 70, 70, Waker{}),
		}, []Call{call("first", Client, 5, 60), call("second", Client, 20, 85)},
			"1 running 0-10, 1 network 10-15 first, 1 running 15-30, 1 network 30-40, 1 running 40-65, 1 network 65-70 second, 1 running 70-100"},
		{"an answer that one goroutine reads for all, and hands over after it has ended the call", []Stretch{
			waited(1, pprof.TimeChan, 10, 91, 91, Waker{Goroutine: 9, Stack: stackIn("main.read", 9)}),
		}, []Call{by(call("other", Client, 0, 100), 2, 9), by(call("own", Client, 10, 90), 1, 9)},
			"1 running 0-10, 1 chan 10-90 own, 1 chan 90-91, 1 running 91-100"},
		{"a goroutine that reads answers for others", []Stretch{
			waited(1, pprof.TimeChan, 10, 91, 91, Waker{Goroutine: 9, Stack: stackIn("main.read", 9)}),
		}, []Call{by(call("one", Client, 0, 100), 2, 9), by(call("two", Client, 20, 90), 3, 9)},
			"1 running 0-10, 1 chan 10-91, 1 running 91-100"},
		{"answers to calls within each other that another goroutine reads", []Stretch{
			waited(1, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 9, Stack: stackIn("main.read", 9)}),
		}, []Call{by(call("outer", Client, 0, 100), 2, 9), by(call("inner", Client, 5, 90), 2, 9)},
			"1 running 0-10, 1 chan 10-80 inner, 1 running 80-100"},
		{"calls that crossed, and have ended long before the wait", []Stretch{waited(1, pprof.TimeNetwork, 0, 99, 99, Waker{})},
			[]Call{call("first", Client, 40, 60), call("second", Client, 50, 70)},
			"1 network 0-40, 1 network 40-70, 1 network 70-99, 1 running 99-100"},
		{"a sleep is for no call", []Stretch{waited(1, pprof.TimeSleep, 10, 80, 80, Waker{})},
			[]Call{call("GET", Client, 5, 85)}, "1 running 0-10, 1 sleep 10-80, 1 running 80-100"},
		{"a goroutine that reads a connection waits as long as the call", []Stretch{
			waited(1, pprof.TimeSelect, 10, 80, 80, Waker{Goroutine: 7, Span: self}),
		}, []Call{call("GET", Client, 5, 85)}, "1 running 0-10, 1 select 10-80 GET, 1 running 80-100"},
	} {
		x := &Record{Span: self, Goroutine: 1, Wall: 100 * testMs, Timeline: test.timeline, Calls: test.calls}
		x.Goroutines, x.Parts[pprof.TimeRunning] = 3, 300*testMs
		path := x.CriticalPath()
		parted(t, path, 0, x.Wall)
		if got := pathText(path); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

// TestCriticalPathLate has goroutines that have come to work for the task later than they could have:
// they have not run or waited for as long, by their sums.
func TestCriticalPathLate(t *testing.T) {
	self := SpanID{1}
	for _, test := range []struct {
		name     string
		ender    Ender
		running  time.Duration // of the others
		timeline []Stretch
		want     string
	}{
		{"a worker takes a job late", Ender{Goroutine: 1}, 15 * testMs, []Stretch{
			waited(1, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 2, Span: self}),
		}, "1 running 0-10, 1 chan 10-65, 2 running 65-80, 1 running 80-100"},
		{"and waits then", Ender{Goroutine: 1}, 15 * testMs, []Stretch{
			waited(1, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 2, Span: self}),
			waited(2, pprof.TimeSleep, 50, 70, 70, Waker{}),
		}, "1 running 0-10, 1 chan 10-45, 2 running 45-50, 2 sleep 50-70, 2 running 70-80, 1 running 80-100"},
		{"it was there all the time", Ender{Goroutine: 1}, 70 * testMs, []Stretch{
			waited(1, pprof.TimeChan, 10, 80, 80, Waker{Goroutine: 2, Span: self}),
		}, "1 running 0-10, 2 running 10-80, 1 running 80-100"},
		{"one that ends the task takes it up late", Ender{Goroutine: 2}, 40 * testMs, nil,
			"2 elsewhere 0-60, 2 running 60-100"},
	} {
		x := &Record{Span: self, Goroutine: 1, Goroutines: 2, Wall: 100 * testMs, Timeline: test.timeline, Ender: test.ender}
		if len(test.timeline) > 0 {
			x.Ender.Parts[pprof.TimeRunning], x.Ender.Parts[pprof.TimeChan] = 30*testMs, 70*testMs
		}
		x.Parts = x.Ender.Parts
		x.Parts[pprof.TimeRunning] += test.running
		for _, s := range test.timeline {
			if s.Goroutine == 2 {
				x.Parts[s.Part] += s.Wake - s.Start
			}
		}
		path := x.CriticalPath()
		parted(t, path, 0, x.Wall)
		if got := pathText(path); got != test.want {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, test.want)
		}
		checkLatency(t, x)
	}
}

// oddTask returns a task whose times, goroutines, wakers and calls are random, and of which
// many make no sense.
func oddTask(r *rand.Rand) *Record {
	x := &Record{Span: SpanID{1}, Goroutine: uint64(r.Intn(4)), Wall: time.Duration(r.Intn(1000)), Goroutines: int64(r.Intn(5))}
	any := func() time.Duration {
		switch r.Intn(20) {
		case 0:
			return time.Duration(r.Uint64())
		case 1:
			return -time.Duration(r.Intn(100))
		}
		return time.Duration(r.Intn(1100))
	}
	for range r.Intn(40) {
		s := Stretch{
			Goroutine: uint64(r.Intn(5)), Part: Part(r.Intn(int(NumParts) + 2)), Start: any(), Wake: any(), End: any(),
			Stopped: any(), Behind: any(), Reason: "r",
			Waker: Waker{Goroutine: uint64(r.Intn(6)), Span: SpanID{byte(r.Intn(4))}},
		}
		if r.Intn(2) == 0 { // in order
			s.Wake = max(s.Wake, s.Start)
			s.End = max(s.End, s.Wake)
		}
		if r.Intn(2) == 0 {
			s.BehindKind = "hog"
		}
		if r.Intn(10) == 0 {
			s.Region = "region"
		}
		x.Timeline = append(x.Timeline, s)
	}
	for range r.Intn(5) {
		x.Calls = append(x.Calls, Call{Span: SpanID{byte(r.Intn(6))}, Flags: Flags(r.Intn(16)), Start: any(), Wall: any(), Kind: "k"})
	}
	for p := range x.Parts {
		x.Parts[p] = any()
	}
	if r.Intn(2) == 0 {
		x.Usual = &Usual{Tasks: int64(r.Intn(20)), Wall: any()}
		for p := range x.Usual.Parts {
			x.Usual.Parts[p] = any()
		}
	}
	return x
}

func checkAnalysis(t *testing.T, x *Record) {
	t.Helper()
	parted(t, x.CriticalPath(), 0, x.Wall)
	var sum time.Duration
	list := x.Causes()
	for i, c := range list {
		if c.Time <= 0 || c.More < 0 || c.More > c.Time {
			t.Fatalf("%v: %v, more %v", c, c.Time, c.More)
		}
		if text := c.String(); text == "" || strings.ContainsAny(text, timeMark+"{}") {
			t.Fatalf("text of %s: %q", c.Name, text)
		}
		if i > 0 && list[i-1].More < c.More {
			t.Fatalf("causes are not in order: %v", list)
		}
		sum += c.Time
	}
	if sum > x.Wall {
		t.Fatalf("causes of %v in a task of %v: %v", sum, x.Wall, list)
	}
}

func TestCriticalPathOdd(t *testing.T) {
	for seed := range int64(5000) {
		x := oddTask(rand.New(rand.NewSource(seed)))
		checkAnalysis(t, x)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// TestCriticalPathBounded has waits that would be looked at in every order.
func TestCriticalPathBounded(t *testing.T) {
	const n = 5000
	x := &Record{Span: SpanID{1}, Goroutine: 1, Wall: 4 * n}
	for i := range n {
		for _, g := range []uint64{1, 2} {
			x.Timeline = append(x.Timeline, Stretch{
				Goroutine: g, Start: time.Duration(i), Wake: time.Duration(3*n - i), End: time.Duration(3*n - i + 1),
				Part: pprof.TimeChan, Waker: Waker{Goroutine: 3 - g, Span: x.Span},
			})
		}
		x.Calls = append(x.Calls, Call{Flags: Client, Start: time.Duration(i), Wall: 2})
	}
	w := new(walker)
	w.init(x)
	w.walk(1, 0, x.Wall)
	slices.Reverse(w.path)
	parted(t, w.path, 0, x.Wall)
	if w.steps > 2*maxSteps {
		t.Errorf("%d steps, want at most %d", w.steps, 2*maxSteps)
	}
}

// TestCriticalPathLong has records of the length that a file may have, of which not everything may be
// looked at for everything else: that would take minutes. Twenty times the length takes about 20 to 40
// times as long, as the memory is new, and 100 to 400 times if it is.
func TestCriticalPathLong(t *testing.T) {
	const n, times, limit = 20_000, 20, 80
	few, many := time.Duration(0), time.Duration(math.MaxInt64)
	for range 10 { // as anything else may take the time meanwhile
		few, many = max(few, longPaths(t, n/times)), min(many, longPaths(t, n))
		if t.Failed() || many < limit*few {
			return
		}
	}
	t.Errorf("the paths of records of length %d took %v, and of %d, %v", n/times, few, n, many)
}

// longPaths returns how long it takes to find the paths of records with n waits and calls.
func longPaths(t *testing.T, n int) time.Duration {
	waits := func(x *Record, k Waker) *Record {
		x.Span, x.Goroutine, x.Goroutines, x.Wall = SpanID{1}, 1, 2, time.Duration(4*n)
		x.Timeline = make([]Stretch, n)
		for i := range x.Timeline {
			at := time.Duration(4 * i)
			x.Timeline[i] = Stretch{Goroutine: 1, Start: at + 1, Wake: at + 3, End: at + 3, Part: pprof.TimeNetwork, Waker: k}
		}
		return x
	}
	// Wakers of another task, and many calls.
	x := waits(new(Record), Waker{Goroutine: 9, Span: SpanID{9}})
	x.Calls = make([]Call, n)
	start := time.Now()
	path := x.CriticalPath()
	took := time.Since(start)
	parted(t, path, 0, x.Wall)

	// A call in which the caller waits again and again, and what works on it does, too.
	x = waits(&Record{Server: &Server{ID: 1}, Trace: TraceID{1}}, Waker{})
	x.Calls = []Call{{Flags: Client, Span: SpanID{2}, Wall: x.Wall}}
	y := waits(&Record{Server: &Server{ID: 2}, Trace: TraceID{1}, Parent: SpanID{2}}, Waker{})
	y.Span = SpanID{3}
	start = time.Now()
	path = Join(slices.Values([]*Record{x, y}))[0].CriticalPath()
	took += time.Since(start)
	parted(t, path, 0, x.Wall)
	if !slices.ContainsFunc(path, func(s Segment) bool { return s.Task == y }) {
		t.Error("the path does not go through what worked on the call")
	}
	return took
}

func FuzzCriticalPath(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(func(t *testing.T, seed int64) { checkAnalysis(t, oddTask(rand.New(rand.NewSource(seed)))) })
}
