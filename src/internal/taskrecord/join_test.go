// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"encoding/binary"
	"math/rand"
	"runtime/pprof"
	"slices"
	"testing"
	"time"
)

// A planned is a request that is made up, with true times, of which the tasks have what
// their servers' clocks show.
type planned struct {
	r       *rand.Rand
	servers []*Server
	skew    []time.Duration
	clocks  []Clock
	tasks   []*Record
	truth   map[SpanID]time.Duration // when a task began
	clients bool                     // there are records of the clients' side
	spans   uint64
}

func (p *planned) span() (s SpanID) {
	p.spans++
	binary.BigEndian.PutUint64(s[:], p.spans)
	return s
}

const planStart = 1_800_000_000_000_000_000

// serve makes up the task of a server that begins at a time, after what c knows, and
// returns when it has ended, and what it knows then.
func (p *planned) serve(server int, parent SpanID, at time.Duration, c Clock, depth int) (time.Duration, Clock) {
	t := &Record{
		Server: p.servers[server], Trace: TraceID{1}, Span: p.span(), Parent: parent, Kind: p.servers[server].Name,
		Start: planStart + int64(at+p.skew[server]), Goroutine: 1, Flags: ServerOf,
	}
	id := p.servers[server].ID
	tick := func() {
		p.clocks[server].Merge(&c)
		c = p.clocks[server]
		c.Tick(id)
		p.clocks[server] = c
	}
	tick()
	t.Before = c
	p.truth[t.Span] = at
	now := at
	step := func() { now += time.Duration(1 + p.r.Intn(100_000)) }
	step()
	for depth > 0 && p.r.Intn(3) > 0 && len(p.tasks) < 60 {
		call := Call{Span: p.span(), Kind: "call", Flags: Client, Start: now - at}
		from := now
		tick()
		step()
		next := (server + 1 + p.r.Intn(len(p.servers)-1)) % len(p.servers)
		now, c = p.serve(next, call.Span, now, c, depth-1)
		tick()
		step()
		call.Wall = now - from
		t.Timeline = append(t.Timeline, Stretch{Goroutine: 1, Part: pprof.TimeNetwork, Start: call.Start, Wake: now - at, End: now - at})
		t.Calls = append(t.Calls, call)
		if p.clients {
			p.tasks = append(p.tasks, &Record{
				Server: t.Server, Trace: t.Trace, Span: call.Span, Parent: t.Span, Kind: "call", Goroutine: 1, Flags: Client,
				Start: planStart + int64(from+p.skew[server]), Wall: call.Wall, Before: t.Before, After: c,
			})
			p.truth[call.Span] = from
		}
		step()
	}
	tick()
	t.After = c
	t.Wall = now - at
	p.tasks = append(p.tasks, t)
	return now, c
}

func plan(seed int64) *planned {
	r := rand.New(rand.NewSource(seed))
	p := &planned{r: r, truth: make(map[SpanID]time.Duration), clients: r.Intn(2) == 0}
	for i := range 2 + r.Intn(4) {
		p.servers = append(p.servers, &Server{ID: uint16(i + 1), PID: i + 10, Name: string(rune('a' + i))})
		p.skew = append(p.skew, time.Duration(r.Int63n(10e9)-5e9))
		p.clocks = append(p.clocks, Clock{})
	}
	p.serve(0, SpanID{}, 0, Clock{}, 4)
	r.Shuffle(len(p.tasks), func(i, j int) { p.tasks[i], p.tasks[j] = p.tasks[j], p.tasks[i] })
	return p
}

func TestJoinSkewed(t *testing.T) {
	pairs := 0
	for seed := range int64(500) {
		p := plan(seed)
		list := Join(slices.Values(p.tasks))
		if len(list) != 1 {
			t.Fatalf("seed %d: %d requests", seed, len(list))
		}
		r := list[0]
		if r.Inconsistent || len(r.Roots) != 1 || len(r.Nodes) != len(p.tasks) || r.Wall != r.Roots[0].Task.Wall || r.Start != planStart+int64(p.skew[0]) {
			t.Fatalf("seed %d: inconsistent %v, %d roots, %d of %d tasks, %v of %v, starts %d late",
				seed, r.Inconsistent, len(r.Roots), len(r.Nodes), len(p.tasks), r.Wall, r.Roots[0].Task.Wall, r.Start-planStart-int64(p.skew[0]))
		}
		for i, n := range r.Nodes {
			off := r.Servers[n.Server]
			if off.Server != n.Task.Server {
				t.Fatalf("seed %d: task of server %v has %v", seed, n.Task.Server, off.Server)
			}
			if d := n.Start - p.truth[n.Task.Span]; max(d, -d) > off.Error || off.Error < 0 {
				t.Errorf("seed %d: a task of %s is %v off, want at most %v", seed, off.Name, d, off.Error)
			}
			if q := n.Parent; q != nil && (n.Start < q.Start || n.End() > q.End()) {
				t.Errorf("seed %d: task in [%v,%v), its parent in [%v,%v)", seed, n.Start, n.End(), q.Start, q.End())
			}
			for _, m := range r.Nodes[:i] {
				// n is drawn at m's time, or after it.
				if n.Start < m.Start {
					t.Errorf("seed %d: tasks are not in order", seed)
				}
				if n.Task.After.Before(&m.Task.Before) && n.Start < m.Start {
					t.Errorf("seed %d: order of starts contradicts clocks", seed)
				}
			}
			for _, m := range r.Nodes {
				if m.Task.After.Before(&n.Task.Before) {
					pairs++
					if m.Start > n.Start {
						t.Errorf("seed %d: what happened before begins after it", seed)
					}
				}
			}
		}
		parted(t, r.CriticalPath(), 0, r.Wall)
		if t.Failed() {
			return
		}
	}
	if pairs < 500 {
		t.Errorf("only %d pairs of tasks of which one happened before the other", pairs)
	}
}

// TestJoinPath follows calls into servers, with and without the records of the clients.
func TestJoinPath(t *testing.T) {
	a, b := &Server{ID: 1, Name: "a"}, &Server{ID: 2, Name: "b"}
	front := &Record{
		Server: a, Trace: TraceID{1}, Span: SpanID{1}, Kind: "front", Goroutine: 1, Start: planStart, Wall: 100 * testMs,
		Timeline: []Stretch{waited(1, pprof.TimeSelect, 20, 80, 80, Waker{})},
		Calls:    []Call{{Span: SpanID{2}, Kind: "GET", Flags: Client, Start: 20 * testMs, Wall: 60 * testMs}},
	}
	client := &Record{Server: a, Trace: TraceID{1}, Span: SpanID{2}, Parent: SpanID{1}, Flags: Client, Goroutine: 1, Start: planStart + int64(20*testMs), Wall: 60 * testMs}
	back := &Record{
		Server: b, Trace: TraceID{1}, Span: SpanID{3}, Parent: SpanID{2}, Kind: "back", Flags: ServerOf, Goroutine: 5, Start: planStart - 3e9, Wall: 50 * testMs,
		Timeline: []Stretch{{Goroutine: 5, Part: pprof.TimeSleep, Reason: "sleep", Stack: stackIn("time.Sleep", 9), Start: 10 * testMs, Wake: 40 * testMs, End: 40 * testMs}},
	}
	front.Parts[pprof.TimeRunning], back.Parts[pprof.TimeRunning] = 40*testMs, 20*testMs
	const want = "front 1 running 0-20, back 5 running 20-30, back 5 sleep 30-60, back 5 running 60-70, front 1 select 70-80 GET, front 1 running 80-100"
	for _, tasks := range [][]*Record{{front, back}, {back, client, front}} {
		r := Join(slices.Values(tasks))[0]
		path := r.CriticalPath()
		parted(t, path, 0, 100*testMs)
		if got := pathText(path); got != want {
			t.Errorf("%d tasks: got\n%s\nwant\n%s", len(tasks), got, want)
		}
		list := r.Causes()
		if len(list) == 0 || list[0].Task != front || list[1].String() != "sleep 30 ms at x.go:9" || list[1].Task != back {
			t.Errorf("causes: %v", list)
		}
		if off := r.Servers[1]; off.Offset != 3*time.Second+20*testMs || off.Error != 10*testMs {
			t.Errorf("offset %v, error %v", off.Offset, off.Error)
		}
	}
}

// TestJoinClocks has two servers whose clocks are taken as they are where the call permits that, or
// where they are one machine's, and otherwise moved as little as possible.
func TestJoinClocks(t *testing.T) {
	const boot = "3a1e5e60-9d0b-4c93-b9f4-4b2f4f5c3a11"
	for _, test := range []struct {
		name        string
		boot        string
		after, took time.Duration // the server's task, since the call's start; that took 100 ms
		want        time.Duration
		error       time.Duration // -1: as far as one machine's clocks differ
	}{
		{"within the call", "", 7 * testMs, 20 * testMs, 7 * testMs, 73 * testMs},
		{"at its start", "", 0, 20 * testMs, 0, 80 * testMs},
		{"too early", "", -134 * testMs, 20 * testMs, 0, 80 * testMs},
		{"too late", "", 134 * testMs, 20 * testMs, 80 * testMs, 80 * testMs},
		{"on another machine", "another", 134 * testMs, 20 * testMs, 80 * testMs, 80 * testMs},
		{"on the same machine", boot, 7 * testMs, 20 * testMs, 7 * testMs, -1},
		{"when the call had been given up, on the same machine", boot, 134 * testMs, 20 * testMs, 134 * testMs, -1},
		{"a moment too early, on the same machine", boot, -sameClock / 2, 20 * testMs, 0, -1},
	} {
		front := &Record{
			Server: &Server{ID: 1, Boot: boot}, Trace: TraceID{1}, Span: SpanID{1}, Start: planStart, Wall: 300 * testMs,
			Calls: []Call{{Span: SpanID{2}, Flags: Client, Start: 20 * testMs, Wall: 100 * testMs}},
		}
		back := &Record{
			Server: &Server{ID: 2, Boot: test.boot}, Trace: TraceID{1}, Span: SpanID{3}, Parent: SpanID{2},
			Start: planStart + int64(20*testMs+test.after), Wall: test.took,
		}
		r := Join(slices.Values([]*Record{back, front}))[0]
		n, off := r.Nodes[1], r.Servers[1]
		if r.Inconsistent || n.Task != back || n.Start-20*testMs != test.want || off.Offset != test.want-test.after ||
			test.error >= 0 && off.Error != test.error || test.error < 0 && off.Error > 2*sameClock {
			t.Errorf("%s: inconsistent %v, begins %v after its call, want %v; moved by %v, error %v", test.name, r.Inconsistent, n.Start-20*testMs, test.want, off.Offset, off.Error)
		}
	}
}

// TestJoinLonger has a server's task that goes on after its answer.
func TestJoinLonger(t *testing.T) {
	front := &Record{
		Server: &Server{ID: 1}, Trace: TraceID{1}, Span: SpanID{1}, Start: planStart, Wall: 100 * testMs,
		Calls: []Call{{Span: SpanID{2}, Flags: Client, Start: 20 * testMs, Wall: 10 * testMs}},
	}
	back := &Record{Server: &Server{ID: 2}, Trace: TraceID{1}, Span: SpanID{3}, Parent: SpanID{2}, Start: planStart + 4e9, Wall: 11 * testMs}
	r := Join(slices.Values([]*Record{back, front}))[0]
	if n := r.Nodes[1]; r.Inconsistent || n.Task != back || n.Start != 30*testMs || r.Servers[1].Error != 10*testMs {
		t.Errorf("inconsistent %v, the server's task begins at %v, error %v", r.Inconsistent, n.Start, r.Servers[1].Error)
	}
}

// TestJoinInconsistent has two calls of one server between which its clock was set.
func TestJoinInconsistent(t *testing.T) {
	front := &Record{
		Server: &Server{ID: 1}, Trace: TraceID{1}, Span: SpanID{1}, Start: planStart, Wall: 100 * testMs,
		Calls: []Call{
			{Span: SpanID{2}, Flags: Client, Start: 20 * testMs, Wall: 10 * testMs},
			{Span: SpanID{3}, Flags: Client, Start: 40 * testMs, Wall: 10 * testMs},
		},
	}
	s := &Server{ID: 2}
	tasks := []*Record{
		front,
		{Server: s, Trace: TraceID{1}, Span: SpanID{4}, Parent: SpanID{2}, Start: planStart + 4e9, Wall: 5 * testMs},
		{Server: s, Trace: TraceID{1}, Span: SpanID{5}, Parent: SpanID{3}, Start: planStart - 1e9, Wall: 5 * testMs},
	}
	if r := Join(slices.Values(tasks))[0]; !r.Inconsistent || len(r.Nodes) != 3 {
		t.Errorf("inconsistent %v, %d tasks", r.Inconsistent, len(r.Nodes))
	}
}

func TestJoinLimits(t *testing.T) {
	s := &Server{Name: "a"}
	task := func(trace, span, parent byte) *Record {
		return &Record{Server: s, Trace: TraceID{trace}, Span: SpanID{span}, Parent: SpanID{parent}, Start: planStart + int64(span), Wall: 1}
	}
	j := Joiner{MaxTasks: 5}
	for _, x := range []*Record{
		task(1, 1, 0), task(1, 1, 0), // a duplicate
		task(1, 2, 3), task(1, 3, 2), // a cycle
		task(1, 4, 77),               // an orphan
		task(2, 1, 0), task(2, 2, 1), // the second is one too many
		task(0, 1, 0), // no trace
		task(3, 1, 0), // too many
	} {
		j.Add(x)
	}
	list := j.Requests()
	if len(list) != 2 || j.Dropped != 2 {
		t.Fatalf("%d requests, %d dropped", len(list), j.Dropped)
	}
	r := list[0]
	if len(r.Nodes) != 4 || len(r.Roots) != 3 || r.Duplicates != 1 || r.Dropped != 0 || list[1].Dropped != 1 {
		t.Errorf("%d tasks, %d roots, %d duplicates, %d and %d dropped", len(r.Nodes), len(r.Roots), r.Duplicates, r.Dropped, list[1].Dropped)
	}
}

// TestJoinOdd joins tasks that make no sense.
func TestJoinOdd(t *testing.T) {
	for seed := range int64(1000) {
		joinOdd(t, seed)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func FuzzJoin(f *testing.F) {
	f.Add(int64(1))
	f.Fuzz(joinOdd)
}

func joinOdd(t *testing.T, seed int64) {
	r := rand.New(rand.NewSource(seed))
	servers := []*Server{nil, {ID: 1}, {ID: 2}, {ID: 2, PID: 3}}
	var tasks []*Record
	distinct := make(map[SpanID]bool)
	for range 1 + r.Intn(12) {
		x := oddTask(r)
		x.Trace, x.Span, x.Parent = TraceID{1}, SpanID{byte(r.Intn(12))}, SpanID{byte(r.Intn(12))}
		x.Server = servers[r.Intn(len(servers))]
		x.Start = int64(r.Intn(2000))
		if r.Intn(10) == 0 {
			x.Start = int64(r.Uint64())
		}
		if r.Intn(10) == 0 {
			x.Wall = time.Duration(r.Uint64())
		}
		for i := range x.Before.Entry[:r.Intn(3)] {
			x.Before.N++
			x.Before.Entry[i] = ClockEntry{uint16(i + 1), uint32(r.Intn(5))}
		}
		x.After = x.Before
		tasks = append(tasks, x)
		distinct[x.Span] = true
	}
	req := Join(slices.Values(tasks))[0]
	if len(req.Nodes) != len(distinct) || int(req.Duplicates) != len(tasks)-len(distinct) {
		t.Fatalf("%d tasks of %d, %d duplicates of %d", len(req.Nodes), len(distinct), req.Duplicates, len(tasks))
	}
	seen := make(map[*Node]bool)
	roots := 0
	for _, n := range req.Nodes {
		if n.Parent == nil {
			roots++
		} else if !seen[n.Parent] || !slices.Contains(n.Parent.Children, n) {
			t.Fatal("a task before its parent")
		}
		if seen[n] || n.Start < 0 || n.End() > req.Wall || n.Start > n.End() {
			t.Fatalf("task in [%v,%v) of %v", n.Start, n.End(), req.Wall)
		}
		seen[n] = true
	}
	if roots != len(req.Roots) || roots == 0 {
		t.Fatalf("%d roots, want %d", len(req.Roots), roots)
	}
	root := req.Roots[0]
	parted(t, req.CriticalPath(), root.Start, root.Start+max(0, root.Task.Wall))
	req.Causes()
	for _, n := range req.Nodes {
		if n.Task.Flags&Client == 0 {
			checkPathStacks(t, n)
		}
	}
}

// checkPathStacks checks that a task's stacks are its length in sum.
func checkPathStacks(t *testing.T, n *Node) {
	t.Helper()
	var sum time.Duration
	n.PathStacks(true, func(s *PathStack) {
		if s.Time <= 0 || s.Tasks < 1 || len(s.Frames) < s.Tasks {
			t.Fatalf("%+v", s)
		}
		sum += s.Time
	})
	if sum != max(0, n.Task.Wall) {
		t.Fatalf("stacks are %d in sum, of %d", sum, n.Task.Wall)
	}
}
