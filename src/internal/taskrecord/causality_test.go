// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"internal/race"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// The tests here simulate requests that run on several servers. Goroutines take turns in
// a random order, so that whatever can be concurrent is. What has happened before what is
// noted as a graph, and compared with what clocks say, for all pairs of tasks of a
// request in both directions. The clocks go from server to server as text.

// A locals says how a simulated server keeps clocks.
type locals int

const (
	perRequest locals = iota // one Local per request, as Clock wants it
	perMessage               // one Local per message that comes, which share their counts
	perNothing               // one Local per message, with counts of its own: what not to do
)

// A topology says who calls whom: the first server is where requests come in.
type topology [][]int

var (
	// A master and three backups, of which the first may ask back.
	replicated = topology{{1, 2, 3}, {0}, {}, {}}
	chained    = topology{{1}, {2}, {}}
	// More servers than a clock can hold, each of which may call some.
	large = topology{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {10, 11, 0}, {12, 13, 1}, {14, 15, 2}, {3, 8, 13}, {4, 9, 14},
		{5, 10, 15}, {6, 11, 0}, {7, 12, 1}, {8, 13, 2}, {9, 14, 3}, {10, 15, 4}, {11, 0, 5}, {12, 1, 6}}
)

// serverIDs are in no order, so that nothing depends on that.
var serverIDs = []uint16{300, 7, 65534, 2, 40, 12, 5000, 1, 99, 8, 3, 777, 4, 60, 31, 9}

const (
	maxSimTasks  = 20 // and about as many that these have begun to call
	maxSimEvents = 512
)

// simRequests is how many requests a test runs. The simulation has one goroutine: there is
// nothing to find for the race detector, which makes it slow.
func simRequests() int {
	if race.Enabled || testing.Short() {
		return 1_000
	}
	return 10_000
}

// An eventSet is a set of a request's events, by number.
type eventSet [maxSimEvents / 64]uint64

func (s *eventSet) has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }
func (s *eventSet) add(i int)      { s[i/64] |= 1 << (i % 64) }
func (s *eventSet) union(o *eventSet) {
	for i := range s {
		s[i] |= o[i]
	}
}

// A simEvent is a node of the graph, with all those from which there is a path to it.
type simEvent struct {
	server  int
	time    time.Duration
	planted eventSet // by edges that are planted: of a goroutine, of its start and end, of messages
	ordered eventSet // by those, and the order of events on each server
}

// A simOp is what a simulated goroutine does in its turn.
type simOp int

const (
	opBegin   simOp = iota // of its task
	opFork                 // starts a goroutine with a task of its own
	opCall                 // starts a goroutine that calls a server
	opJoin                 // waits for those that it has started
	opWork                 // is anything that needs no clock
	opSend                 // sends the message of a call
	opReceive              // waits for the answer
	opGiveUp               // doesn't wait for the answer
	opEnd                  // ends its task, and sends the answer
)

// A simThread is a simulated goroutine, with one task.
type simThread struct {
	server int
	local  *Local
	ops    []simOp
	last   int // the number of its last event, or of the one that started it

	task       Record
	begin, end int // numbers of events

	started []*simThread
	callee  *simThread // that works on the message that it has sent
	state   string     // tracestate that came with the message
	answer  string     // tracestate of its answer
	done    bool       // has sent the answer
}

// A sim is a simulated request.
type sim struct {
	r      *rand.Rand
	top    topology
	locals locals
	trace  TraceID
	now    time.Duration
	skew   []time.Duration // of each server's clock
	events []simEvent
	last   []int // each server's last event, or -1
	local  []*Local
	counts []atomic.Uint64
	live   []*simThread
	tasks  []*simThread // all
	err    error
}

// program returns what a thread does after its begin.
func (s *sim) program(t *simThread) []simOp {
	ops := []simOp{opBegin}
	for range 1 + s.r.IntN(6) {
		x := simOp(opFork + simOp(s.r.IntN(4)))
		if len(s.top) > MaxClock && s.r.IntN(2) == 0 {
			x = opCall
		}
		if x == opCall && len(s.top[t.server]) == 0 {
			x = opWork
		}
		ops = append(ops, x)
	}
	if s.r.IntN(8) > 0 { // otherwise it leaves its children alone
		ops = append(ops, opJoin)
	}
	ops = append(ops, opEnd)
	if s.r.IntN(6) == 0 { // it does more after its answer
		ops = append(ops, opFork, opWork)
	}
	return ops
}

func (s *sim) start(server int, local *Local, from int) *simThread {
	t := &simThread{server: server, local: local, last: from, begin: -1, end: -1}
	t.task.Trace = s.trace
	t.task.Server = &Server{ID: serverIDs[server]}
	t.ops = s.program(t)
	s.live = append(s.live, t)
	s.tasks = append(s.tasks, t)
	return t
}

func (s *sim) newLocal(server int) *Local {
	if s.locals == perRequest && s.local[server] != nil {
		return s.local[server]
	}
	l := new(Local)
	counts := &s.counts[server]
	if s.locals == perNothing {
		counts = nil
	}
	l.Init(serverIDs[server], counts)
	s.local[server] = l
	return l
}

// event adds an event of t to the graph, that others have led to.
func (s *sim) event(t *simThread, others ...int) int {
	i := len(s.events)
	s.now += time.Duration(1 + s.r.IntN(50_000))
	e := simEvent{server: t.server, time: s.now}
	for _, o := range append(others, t.last) {
		if o >= 0 {
			e.planted.add(o)
			e.planted.union(&s.events[o].planted)
			e.ordered.add(o)
			e.ordered.union(&s.events[o].ordered)
		}
	}
	if o := s.last[t.server]; o >= 0 {
		e.ordered.add(o)
		e.ordered.union(&s.events[o].ordered)
	}
	s.events = append(s.events, e)
	s.last[t.server] = i
	t.last = i
	return i
}

func (s *sim) wall(i int) int64 {
	e := &s.events[i]
	return int64(time.Hour + e.time + s.skew[e.server])
}

func (s *sim) receive(l *Local, state string) {
	c, ok, rest, err := ParseTracestate(state)
	if err != nil || !ok || rest != "other=x" {
		s.err = err
		return
	}
	l.Merge(&c)
}

func (s *sim) send(c Clock) string { return string(AppendTracestate(nil, &c, "other=x")) }

// ready reports whether t can have its turn.
func (t *simThread) ready() bool {
	switch t.ops[0] {
	case opJoin:
		for _, c := range t.started {
			if len(c.ops) > 0 {
				return false
			}
		}
	case opReceive:
		return t.callee.done
	}
	return true
}

func (s *sim) step(t *simThread) {
	o := t.ops[0]
	t.ops = t.ops[1:]
	switch o {
	case opBegin:
		if t.state != "" {
			s.receive(t.local, t.state)
		}
		t.begin = s.event(t)
		t.task.Before = t.local.Event()
		t.task.Start = s.wall(t.begin)
	case opFork, opCall:
		if len(s.tasks) >= maxSimTasks {
			return
		}
		c := s.start(t.server, t.local, s.event(t))
		if o == opCall {
			c.task.Flags |= Client
			c.ops = []simOp{opBegin, opSend, opReceive, opEnd}
			if s.r.IntN(10) == 0 {
				c.ops[2] = opGiveUp
			}
		}
		t.started = append(t.started, c)
	case opJoin:
		var last []int
		for _, c := range t.started {
			last = append(last, c.last)
		}
		t.started = nil
		s.event(t, last...)
	case opWork, opGiveUp:
		s.event(t)
	case opSend:
		to := s.top[t.server][s.r.IntN(len(s.top[t.server]))]
		i := s.event(t)
		state := s.send(t.local.Clock())
		// The message is under way until the thread has its first turn.
		t.callee = s.start(to, s.newLocal(to), i)
		t.callee.state = state
		t.callee.task.Flags |= ServerOf
	case opReceive:
		s.event(t, t.callee.end)
		s.receive(t.local, t.callee.answer)
	case opEnd:
		t.end = s.event(t)
		t.task.After = t.local.Event()
		t.task.Wall = time.Duration(s.wall(t.end) - t.task.Start)
		t.answer = s.send(t.task.After)
		t.done = true
	}
}

// simulate runs a request. Servers' counts go on from request to request.
func simulate(r *rand.Rand, top topology, locals locals, n int, counts []atomic.Uint64) *sim {
	s := &sim{r: r, top: top, locals: locals, counts: counts}
	s.trace = TraceID{byte(n >> 16), byte(n >> 8), byte(n), 1}
	s.local = make([]*Local, len(top))
	for range top {
		s.skew = append(s.skew, time.Duration(r.Int64N(int64(10*time.Second)))-5*time.Second)
		s.last = append(s.last, -1)
	}
	root := s.start(0, s.newLocal(0), -1)
	if len(top) > MaxClock {
		// It has been on other servers, so that there is soon no room in its clock.
		been := clockOf(map[uint16]uint32{6: 1, 50: 2, 600: 3, 7000: 4, 50000: 5}, false)
		root.state = s.send(been)
	}
	for len(s.live) > 0 && s.err == nil {
		i := r.IntN(len(s.live))
		t := s.live[i]
		if t.ready() {
			s.step(t)
		}
		if len(t.ops) == 0 {
			s.live[i] = s.live[len(s.live)-1]
			s.live = s.live[:len(s.live)-1]
		}
	}
	return s
}

// simPairs calls f for all pairs of tasks of n requests.
func simPairs(t *testing.T, n int, locals locals, tops []topology, f func(s *sim, a, b *simThread)) (tasks int) {
	r := rand.New(rand.NewPCG(36821, uint64(locals)))
	counts := make([]atomic.Uint64, len(serverIDs))
	for i := range n {
		s := simulate(r, tops[i%len(tops)], locals, i, counts)
		if s.err != nil {
			t.Fatal(s.err)
		}
		if len(s.events) > maxSimEvents {
			t.Fatalf("%d events: make maxSimEvents larger", len(s.events))
		}
		tasks += len(s.tasks)
		for _, a := range s.tasks {
			for _, b := range s.tasks {
				if a != b {
					f(s, a, b)
				}
			}
		}
	}
	return tasks
}

func (t *simThread) String() string {
	return "task on " + strconv.Itoa(int(t.task.Server.ID)) + " " + t.task.Before.String() + ".." + t.task.After.String()
}

// TestCausality compares the order that clocks tell with the true one, which must be the
// same for all pairs of tasks, and with the one that wall clocks tell, which are up to five
// seconds off.
func TestCausality(t *testing.T) {
	requests := simRequests()
	var n, ordered, concurrent, planted, wallWrong, wallReversed int
	tasks := simPairs(t, requests, perRequest, []topology{replicated, chained}, func(s *sim, a, b *simThread) {
		n++
		want := s.events[b.begin].ordered.has(a.end)
		if got := a.task.After.Before(&b.task.Before); got != want {
			t.Fatalf("%v before %v: %v by clocks, want %v", a, b, got, want)
		}
		if got := a.task.HappenedBefore(&b.task); got != want {
			t.Fatalf("%v before %v: %v by HappenedBefore, want %v", a, b, got, want)
		}
		if s.events[b.begin].planted.has(a.end) {
			planted++
			if !want {
				t.Fatalf("%v before %v: planted, but not in the graph's closure", a, b)
			}
		}
		if want {
			ordered++
		} else if !b.task.HappenedBefore(&a.task) {
			concurrent++
		}
		if byWall := a.task.Start+int64(a.task.Wall) <= b.task.Start; byWall != want {
			wallWrong++
		}
		if want && b.task.Start+int64(b.task.Wall) <= a.task.Start {
			wallReversed++
		}
	})
	t.Logf("%d requests, %d tasks, %d pairs: %d ordered (%d by planted edges alone), %d concurrent; by wall clocks %d wrong, %d of these reversed",
		requests, tasks, n, ordered, planted, concurrent, wallWrong, wallReversed)
	if ordered < requests || concurrent < requests || planted < requests || planted == ordered {
		t.Error("the test is too weak: see the log")
	}
	if wallWrong < requests || wallReversed < requests {
		t.Error("wall clocks were mostly right: they should be off by seconds")
	}
}

// If messages of a request that come to a server have a Local each, with shared counts, then
// no order is made up, none that is planted is lost, and HappenedBefore loses none of one
// server's.
func TestCausalityPerMessage(t *testing.T) {
	var lost, lostBoth int
	simPairs(t, simRequests()/2, perMessage, []topology{replicated, chained}, func(s *sim, a, b *simThread) {
		want := s.events[b.begin].ordered.has(a.end)
		got := a.task.After.Before(&b.task.Before)
		if got && !want {
			t.Fatalf("%v before %v: made up", a, b)
		}
		if !got && s.events[b.begin].planted.has(a.end) {
			t.Fatalf("%v before %v: lost", a, b)
		}
		if got != want {
			lost++
		}
		sure := a.task.HappenedBefore(&b.task)
		if sure && !want {
			t.Fatalf("%v before %v: made up by HappenedBefore", a, b)
		}
		if !sure && (got || want && a.server == b.server) {
			t.Fatalf("%v before %v: lost by HappenedBefore", a, b)
		}
		if sure != want {
			lostBoth++
		}
	})
	t.Logf("Before lost %d, HappenedBefore %d", lost, lostBoth)
	if lostBoth == 0 || lost <= lostBoth {
		t.Error("the test is too weak: see the log")
	}
}

// Locals that don't share their counts make order up: the simulation finds it.
func TestCausalityNothingShared(t *testing.T) {
	var madeUp int
	simPairs(t, simRequests()/2, perNothing, []topology{replicated, chained}, func(s *sim, a, b *simThread) {
		if a.task.After.Before(&b.task.Before) && !s.events[b.begin].ordered.has(a.end) {
			madeUp++
		}
	})
	if madeUp == 0 {
		t.Error("nothing is wrong with the clocks: the test is too weak")
	}
}

// With more servers than clocks can hold, answers are certain where Clock says so.
func TestCausalityOverflow(t *testing.T) {
	var beforeWrong, beforeLost, found, notFound, rescued int
	simPairs(t, simRequests()/2, perRequest, []topology{large}, func(s *sim, a, b *simThread) {
		want := s.events[b.begin].ordered.has(a.end)
		got := a.task.After.Before(&b.task.Before)
		switch {
		case got && !want && !a.task.After.Overflow:
			t.Fatalf("%v before %v: made up", a, b)
		case !got && want && !b.task.Before.Overflow:
			t.Fatalf("%v before %v: lost", a, b)
		case got && !want:
			beforeWrong++
		case !got && want:
			beforeLost++
		}
		sure := a.task.HappenedBefore(&b.task)
		switch {
		case sure && !want:
			t.Fatalf("%v before %v: made up by HappenedBefore", a, b)
		case !sure && want && !b.task.Before.Overflow:
			t.Fatalf("%v before %v: lost by HappenedBefore", a, b)
		case sure && !got:
			rescued++
		case sure:
			found++
		case want:
			notFound++
		}
	})
	t.Logf("Before: %d made up, %d lost; HappenedBefore: %d and %d found, %d not", beforeWrong, beforeLost, found, rescued, notFound)
	if beforeWrong == 0 || beforeLost == 0 || found == 0 || notFound == 0 {
		t.Error("the test is too weak: see the log")
	}
}
