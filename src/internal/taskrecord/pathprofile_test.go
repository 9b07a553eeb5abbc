// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"encoding/binary"
	"internal/profile"
	"maps"
	"math"
	"math/rand"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

// pathProfileOf returns the profile of critical paths.
func pathProfileOf(t *testing.T, list []*Node) *profile.Profile {
	t.Helper()
	var buf bytes.Buffer
	if err := WritePathProfile(&buf, list); err != nil {
		t.Fatal(err)
	}
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// differ reports where sums by stack are not those that are wanted.
func differ(t *testing.T, got, want map[string]int64) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	for _, s := range slices.Sorted(maps.Keys(got)) {
		if got[s] != want[s] {
			t.Errorf("	%s %d, want %d", s, got[s], want[s])
		}
	}
	for s, d := range want {
		if _, ok := got[s]; !ok {
			t.Errorf("	no %s, want %d", s, d)
		}
	}
}

// addTruth adds where the time of a planned task went, by stack. It runs when it calls no one.
func addTruth(truth map[string]int64, x *Record, stack string, worksOn map[SpanID]*Record) {
	stack += x.Kind + " on " + x.Server.Name
	own := x.Wall
	for _, c := range x.Calls {
		own -= c.Wall
		way := c.Wall
		call := stack + ";call (call);"
		y := worksOn[c.Span]
		way -= y.Wall
		addTruth(truth, y, call, worksOn)
		truth[call+nameWay] += int64(way)
	}
	truth[stack+";running"] += int64(own)
}

// planAlone returns what is planned, with a trace of its own, and what works on each call.
func planAlone(seed int64) (p *planned, worksOn map[SpanID]*Record) {
	p = plan(seed)
	worksOn = make(map[SpanID]*Record)
	for _, x := range p.tasks {
		binary.BigEndian.PutUint64(x.Trace[:], uint64(seed+1))
		x.Goroutines = 1
		x.Parts[pprof.TimeRunning] = x.Wall
		for _, c := range x.Calls {
			x.Parts[pprof.TimeRunning] -= c.Wall
			x.Parts[pprof.TimeNetwork] += c.Wall
		}
		if x.Flags&Client == 0 {
			worksOn[x.Parent] = x
		}
	}
	return p, worksOn
}

// TestPathProfile has thousands of tasks of requests over servers whose clocks differ. Of each it is known where its
// time went, and under whose calls: the profile has exactly that.
func TestPathProfile(t *testing.T) {
	var tasks []*Record
	want := make(map[string]int64)
	const requests = 600
	for seed := range int64(requests) {
		p, worksOn := planAlone(seed)
		addTruth(want, worksOn[SpanID{}], "", worksOn)
		tasks = append(tasks, p.tasks...)
	}
	list := Callers(Join(slices.Values(tasks)), "")
	p := pathProfileOf(t, list)
	differ(t, stacksOf(p, "latency"), want)
	if len(list) != requests || len(tasks) < 2000 {
		t.Errorf("%d requests of %d tasks", len(list), len(tasks))
	}
	t.Logf("%d requests, %d tasks, %d stacks", len(list), len(tasks), len(want))
	if calls := Callers(Join(slices.Values(tasks)), "call"); len(calls) > 0 {
		t.Errorf("%d calls", len(calls))
	}
	if got := stacksOf(p, "tasks"); got["a on a"] != requests || len(got) != 1 {
		t.Errorf("tasks %v", got)
	}
	for _, s := range p.Sample {
		if k := s.Label["kind"]; len(k) != 1 || k[0] != "a" {
			t.Fatalf("kind %q", k)
		}
	}
}

// mixedTasks returns what TestPathProfileSums needs, for n requests and 20 times as many others.
func mixedTasks(n int) (tasks []*Record) {
	r := rand.New(rand.NewSource(41))
	for seed := range int64(n) {
		p, _ := planAlone(seed)
		for _, x := range p.tasks {
			if r.Intn(4) == 0 {
				x.Timeline = nil
			}
		}
		tasks = append(tasks, slices.DeleteFunc(p.tasks, func(*Record) bool { return seed%3 == 0 && r.Intn(5) == 0 })...)
	}
	for i := range 20 * n {
		var x *Record
		switch i % 4 {
		case 0:
			x = oddTask(r)
		case 1:
			x = randomTask(r)
		default:
			p := &program{r: r, most: 1 + r.Intn(8)}
			x, _ = p.task(p.run(nil, 0))
			lose(r, x)
		}
		binary.BigEndian.PutUint64(x.Trace[:], uint64(i+n+1))
		x.Flags &^= Client
		if x.Kind == "a" || x.Kind == "b" {
			x.Kind = "another"
		}
		tasks = append(tasks, x)
	}
	return tasks
}

// TestPathProfileSums compares the sums of each kind with the lengths of its tasks: of requests some of whose records or
// timelines are missing; of programs whose goroutines wait for each other, with something lost; and of tasks that make
// no sense.
func TestPathProfileSums(t *testing.T) {
	n := 1000
	if testing.Short() {
		n = 200
	}
	requests := Join(slices.Values(mixedTasks(n)))
	for _, kind := range []string{"", "a", "b"} {
		want := make(map[string]int64)
		list := Callers(requests, kind)
		for _, x := range list {
			if kind != "" && x.Task.Kind != kind {
				t.Fatalf("kind %q among those of %q", x.Task.Kind, kind)
			}
			want[named(x.Task.Kind)] += int64(max(0, x.Task.Wall))
		}
		maps.DeleteFunc(want, func(_ string, d int64) bool { return d == 0 })
		got := make(map[string]int64)
		p := pathProfileOf(t, list)
		for _, s := range p.Sample {
			if s.Value[1] < 0 {
				t.Fatalf("a value of %d", s.Value[1])
			}
			if s.Value[1] > 0 {
				got[s.Label["kind"][0]] += s.Value[1]
			}
		}
		differ(t, got, want)
		if len(list) < n/2 {
			t.Errorf("kind %q: %d tasks", kind, len(list))
		}
		t.Logf("kind %q: %d tasks, %d samples", kind, len(list), len(p.Sample))
	}
}

// TestPathProfilePlanted has a front that calls a back, which waits for a mutex for 30 of 36 ms, and an audit for which
// it does not wait. The front itself waits for the collector, which stops the world, and for its turn behind a report.
func TestPathProfilePlanted(t *testing.T) {
	trace := TraceID{7}
	reads := Waker{Goroutine: 9, Stack: stackIn("net/http.(*persistConn).readLoop", 9)}
	front := &Record{Server: &Server{ID: 1, Name: "front"}, Trace: trace, Span: SpanID{1}, Start: planStart, Wall: 100 * testMs, Goroutine: 1, Goroutines: 2, Kind: "GET /", Flags: Slow,
		Calls: []Call{
			{Span: SpanID{2}, Kind: "GET audit", Flags: Client, Start: 5 * testMs, Wall: 50 * testMs, Goroutine: 2, Ender: 2},
			{Span: SpanID{3}, Kind: "GET back", Flags: Client, Start: 10 * testMs, Wall: 40 * testMs, Goroutine: 1, Ender: 1},
			{Span: SpanID{8}, Kind: "GET other", Flags: Client, Start: 60 * testMs, Wall: 10 * testMs, Goroutine: 1, Ender: 1},
		},
		Timeline: []Stretch{
			{Goroutine: 2, Part: pprof.TimeSelect, Start: 5 * testMs, Wake: 55 * testMs, End: 55 * testMs, Waker: reads},
			{Goroutine: 1, Part: pprof.TimeSelect, Start: 10 * testMs, Wake: 50 * testMs, End: 50 * testMs, Waker: reads},
			{Goroutine: 1, Part: pprof.TimeSelect, Start: 60 * testMs, Wake: 70 * testMs, End: 70 * testMs, Waker: reads},
			{Goroutine: 1, Part: pprof.TimeGC, Reason: "GC assist wait", Stack: []Frame{{Func: "main.parse"}}, Start: 72 * testMs, Wake: 80 * testMs, End: 87 * testMs, Stopped: 2 * testMs, StopReason: "GC mark termination", BehindKind: "report", Behind: 4 * testMs},
		},
	}
	front.Ender.Goroutine = 1
	front.Ender.Parts = [NumParts]time.Duration{pprof.TimeRunning: 34 * testMs, pprof.TimeSelect: 50 * testMs, pprof.TimeGC: 8 * testMs, pprof.TimeRunnable: 7 * testMs, pprof.TimeNetwork: 1 * testMs}
	front.Parts = front.Ender.Parts
	front.Parts[pprof.TimeSelect] += 50 * testMs
	back := &Record{Server: &Server{ID: 2, Name: "back"}, Trace: trace, Span: SpanID{4}, Parent: SpanID{3}, Flags: ServerOf, Start: planStart + int64(12*testMs), Wall: 36 * testMs, Goroutine: 1, Goroutines: 1, Kind: "GET /",
		Timeline: []Stretch{{Goroutine: 1, Part: pprof.TimeMutex, Reason: "sync.Mutex.Lock", Stack: stackIn("sync.(*Mutex).Lock", 9), Start: 1 * testMs, Wake: 31 * testMs, End: 31 * testMs, Waker: Waker{Goroutine: 5, Span: SpanID{99}, Kind: "flush", Stack: stackIn("sync.(*Mutex).Unlock", 12)}}},
	}
	back.Parts[pprof.TimeRunning], back.Parts[pprof.TimeMutex] = 6*testMs, 30*testMs
	audit := &Record{Server: &Server{ID: 3, Name: "audit"}, Trace: trace, Span: SpanID{5}, Parent: SpanID{2}, Flags: ServerOf, Start: planStart + int64(6*testMs), Wall: 48 * testMs, Goroutine: 1, Goroutines: 1}
	audit.Parts[pprof.TimeMutex] = 48 * testMs

	list := Callers(Join(slices.Values([]*Record{audit, back, front})), "")
	p := pathProfileOf(t, list)
	const f, b = "GET / on front", "GET / on front;GET back (call);GET / on back"
	want := map[string]int64{
		b + ";mutex;sync.Mutex.Lock;net/http.HandlerFunc.ServeHTTP@/go/src/net/http/server.go:1;main.handle@/src/x.go:9;sync.(*Mutex).Lock@/go/src/lib.go:7;ended by task \"flush\" at x.go:12;slow=yes": 30,
		b + ";running;slow=yes":                            6,
		f + ";GET back (call);" + nameWay + ";slow=yes":    4,
		f + ";GET other (call);slow=yes":                   10,
		f + ";running;slow=yes":                            34,
		f + ";network;slow=yes":                            1,
		f + ";GC;GC assist wait;main.parse;slow=yes":       8,
		f + ";stop-the-world;GC mark termination;slow=yes": 2,
		f + ";runnable;behind task \"report\";slow=yes":    4,
		f + ";runnable;slow=yes":                           1,
	}
	for s := range want {
		want[s] *= int64(testMs)
	}
	differ(t, stacksOf(p, "latency"), want)
	if got := stacksOf(p, "tasks"); got[f+";slow=yes"] != 1 || len(got) != 1 {
		t.Errorf("tasks %v", got)
	}

	// Of one server, kinds have no names of servers, and its kind is all that it takes to be asked for.
	alone := Callers(Join(slices.Values([]*Record{back, front})), "GET /")
	if len(alone) != 2 || Servers(alone) != 2 {
		t.Errorf("%d tasks of %d servers", len(alone), Servers(alone))
	}
	p = pathProfileOf(t, []*Node{{Task: back, Call: -1}})
	got := stacksOf(p, "latency")
	if got["GET /;running"] != int64(6*testMs) || len(got) != 2 {
		t.Errorf("alone: %v", got)
	}
}

// TestPathProfileFull tests that a sum which does not fit is an error, and not another number.
func TestPathProfileFull(t *testing.T) {
	x := &Record{Wall: math.MaxInt64/2 + 1}
	var buf bytes.Buffer
	if err := WritePathProfile(&buf, []*Node{{Task: x, Call: -1}, {Task: x, Call: -1}}); err == nil || !strings.Contains(err.Error(), "does not fit into 64 bits") || buf.Len() > 0 {
		t.Errorf("error %v, %d bytes", err, buf.Len())
	}
}

// nested returns tasks of a kind, each of which calls the next one for all of its time but 2 ns.
func nested(n int) (tasks []*Record) {
	for i := range n {
		x := &Record{Server: &Server{ID: uint16(1 + i%2)}, Trace: TraceID{1}, Kind: "a", Flags: ServerOf, Start: int64(i), Wall: time.Duration(3*n - 2*i), Goroutine: 1, Goroutines: 1}
		binary.BigEndian.PutUint32(x.Span[:], uint32(2*i+2))
		binary.BigEndian.PutUint32(x.Parent[:], uint32(2*i+1))
		c := Call{Kind: "a", Flags: Client, Start: 1, Wall: x.Wall - 2}
		binary.BigEndian.PutUint32(c.Span[:], uint32(2*i+3))
		x.Calls = []Call{c}
		x.Parts[pprof.TimeNetwork] = x.Wall
		tasks = append(tasks, x)
	}
	return tasks
}

// TestPathStacksNested has thousands of tasks below each other, as where a service calls itself for ever. All are of the kind
// that is asked for. For each of them so many are looked at as can be on its path, and not all that are below.
func TestPathStacksNested(t *testing.T) {
	const n = 3000
	list := Callers(Join(slices.Values(nested(n))), "a")
	if len(list) != n || Servers(list) != 2 {
		t.Fatalf("%d tasks of %d servers", len(list), Servers(list))
	}
	for _, x := range list {
		p := portions{pathsOnly: true}
		p.find(x)
		if len(p.list) > 1+maxServers {
			t.Fatalf("%d tasks are looked at", len(p.list))
		}
		if x != list[0] {
			continue
		}
		deepest := 0
		x.PathStacks(false, func(s *PathStack) { deepest = max(deepest, s.Tasks) })
		if want := 1 + 2*maxServers; deepest != want {
			t.Errorf("%d tasks and calls, want %d", deepest, want)
		}
		checkPathStacks(t, x)
		if all := x.Latency(nil); len(all) != n {
			t.Errorf("a latency of %d tasks", len(all))
		}
	}
}
