// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"slices"
	"time"
)

// A Request is the tasks of one trace, of all servers, as a tree.
//
// Clocks of servers differ, by seconds at times. Times in a Request are since its start,
// and aligned: each server's clock is moved, as little as possible, so that what works on a call
// lies within the call, as far as the records permit that. Servers on one machine have one clock.
// The order of starts then never contradicts causal clocks, unless a server's clock was set
// meanwhile; see Inconsistent.
type Request struct {
	Trace TraceID
	Start int64         // of its first task, by the clock of Roots[0]'s server, in ns since 1970 UTC
	Wall  time.Duration // from there to the end of its last task

	Roots []*Node // those without a parent among the records, in order of their start
	Nodes []*Node // all: parents before their children, otherwise in order of their start

	Servers []Offset // in the order of their first task

	Duplicates   int64 // records that were dropped as there was one of the same span
	Dropped      int64 // records that were dropped as there were too many; see Joiner
	Inconsistent bool  // no offsets of clocks agree with all calls
}

// A Node is a task of a Request.
type Node struct {
	Task     *Record
	Parent   *Node   // nil if it is a root
	Children []*Node // in order of their start

	// Call is the index in Parent.Task.Calls of the call that the task works on, or is; -1
	// if there is none. A client's task is often missing among the records: the task of
	// the server that it calls then is a child of the task that made the call.
	Call int

	Server int           // the index in the request's Servers
	Start  time.Duration // since the request's start, aligned
}

// End returns when the node's task ended, since the request's start, aligned.
func (n *Node) End() time.Duration { return n.Start + length(n.Task.Wall) }

// An Offset is a server of a request, and by how much its clock differs.
type Offset struct {
	*Server
	Offset time.Duration // to add to its clock to get that of the request's first server
	Error  time.Duration // at most, either way, where calls bound it; negative if nothing does
}

// Limits of a Joiner.
const (
	// DefaultMaxTasks is how many tasks a [Joiner] keeps unless it is told otherwise.
	DefaultMaxTasks = 1 << 17

	maxRequestTasks = 1 << 14 // of one request
	maxOffsets      = 64      // servers of a request whose clocks are aligned
	maxClocks       = 256     // tasks of a request whose causal clocks are compared
)

// Join puts the tasks together that are of the same trace, and returns the requests in
// order of their start. Tasks without a trace are left out. It keeps [DefaultMaxTasks]
// tasks; see [Joiner] for those beyond.
func Join(tasks iter.Seq[*Record]) []*Request {
	var j Joiner
	for t := range tasks {
		j.Add(t)
	}
	return j.Requests()
}

// A Joiner puts tasks together that are of the same trace. The zero Joiner is ready.
type Joiner struct {
	MaxTasks int   // to keep; 0 means DefaultMaxTasks
	Dropped  int64 // tasks that were beyond that

	kept   int
	traces map[TraceID]*unjoined
}

// unjoined is what becomes a Request.
type unjoined struct {
	tasks               []*Record
	spans               map[SpanID]bool
	duplicates, dropped int64
}

// Add adds a task, which the Joiner keeps. Of tasks with the same span the first one counts.
func (j *Joiner) Add(t *Record) {
	if t.Trace == (TraceID{}) {
		return
	}
	u := j.traces[t.Trace]
	if u != nil && u.spans[t.Span] {
		u.duplicates++
		return
	}
	if j.kept >= cmp.Or(j.MaxTasks, DefaultMaxTasks) || u != nil && len(u.tasks) >= maxRequestTasks {
		j.Dropped++
		if u != nil {
			u.dropped++
		}
		return
	}
	if u == nil {
		u = &unjoined{spans: make(map[SpanID]bool)}
		if j.traces == nil {
			j.traces = make(map[TraceID]*unjoined)
		}
		j.traces[t.Trace] = u
	}
	u.spans[t.Span] = true
	u.tasks = append(u.tasks, t)
	j.kept++
}

// Requests returns the requests of the tasks added so far, in order of their start.
func (j *Joiner) Requests() []*Request {
	list := make([]*Request, 0, len(j.traces))
	for _, u := range j.traces {
		r := join(u.tasks)
		r.Duplicates, r.Dropped = u.duplicates, u.dropped
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *Request) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), bytes.Compare(a.Trace[:], b.Trace[:]))
	})
	return list
}

// join makes a request of its tasks, of which there is one at least, with different spans.
func join(tasks []*Record) *Request {
	r := &Request{Trace: tasks[0].Trace}
	tasks = slices.Clone(tasks)
	slices.SortFunc(tasks, func(a, b *Record) int { // whatever the order of the files
		return cmp.Or(cmp.Compare(a.Start, b.Start), bytes.Compare(a.Span[:], b.Span[:]))
	})
	r.link(tasks)
	servers := number(r.Nodes)
	local, base := times(r.Nodes, len(servers))
	offsets, bounds, ok := align(r.Nodes, local, servers, base)
	r.Inconsistent = !ok

	first := time.Duration(math.MaxInt64)
	for i, n := range r.Nodes {
		n.Start = local[i] + offsets[n.Server]
		first = min(first, n.Start)
	}
	for _, n := range r.Nodes {
		n.Start -= first
		r.Wall = max(r.Wall, n.End())
	}
	byStart := func(a, b *Node) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), bytes.Compare(a.Task.Span[:], b.Task.Span[:]))
	}
	slices.SortFunc(r.Roots, byStart)
	for _, n := range r.Nodes {
		slices.SortFunc(n.Children, byStart)
	}
	slices.SortFunc(r.Nodes, byStart)
	r.parentsFirst()

	// The first root's clock is the request's.
	root := r.Roots[0]
	r.Start = root.Task.Start - int64(root.Start)
	ref := root.Server
	number := make(map[int]int)
	for _, n := range r.Nodes {
		s := n.Server
		if _, ok := number[s]; !ok {
			number[s] = len(r.Servers)
			d := offsets[s] - offsets[ref]
			r.Servers = append(r.Servers, Offset{servers[s], d - since(base[ref], base[s]), bounds.around(ref, s, d)})
		}
		n.Server = number[s]
	}
	return r
}

// parentsFirst changes the order of nodes only where one is before its parent.
func (r *Request) parentsFirst() {
	added := make(map[*Node]bool)
	list := make([]*Node, 0, len(r.Nodes))
	for _, n := range r.Nodes {
		from := len(list)
		for ; n != nil && !added[n]; n = n.Parent {
			added[n] = true
			list = append(list, n)
		}
		slices.Reverse(list[from:])
	}
	r.Nodes = list
}

// longest is a length, of a task or of a request, that sums of many do not overflow with.
const longest = time.Duration(math.MaxInt64 / 1024)

// length returns d, or 0 or longest if it is not in between.
func length(d time.Duration) time.Duration { return max(0, min(d, longest)) }

// since returns b-a, or as near to it as longest permits.
func since(a, b int64) time.Duration {
	d := time.Duration(b - a)
	if b >= a && (d < 0 || d > longest) {
		return longest
	}
	if b < a && (d > 0 || d < -longest) {
		return -longest
	}
	return d
}

// link makes the nodes and the tree. Parents come before their children in r.Nodes.
func (r *Request) link(tasks []*Record) {
	type call struct {
		n *Node
		i int
	}
	spans := make(map[SpanID]*Node)
	calls := make(map[SpanID]call)
	for _, t := range tasks {
		n := &Node{Task: t, Call: -1}
		r.Nodes = append(r.Nodes, n)
		if t.Span != (SpanID{}) {
			spans[t.Span] = n
		}
		for i := range t.Calls {
			if s := t.Calls[i].Span; s != (SpanID{}) {
				calls[s] = call{n, i}
			}
		}
	}
	for _, n := range r.Nodes {
		if p := spans[n.Task.Parent]; p != nil {
			n.Parent = p
			if c, ok := calls[n.Task.Span]; ok && c.n == p {
				n.Call = c.i
			}
		} else if c, ok := calls[n.Task.Parent]; ok {
			n.Parent, n.Call = c.n, c.i
		}
	}
	r.breakCycles()
	for _, n := range r.Nodes {
		if n.Parent == nil {
			r.Roots = append(r.Roots, n)
		} else {
			n.Parent.Children = append(n.Parent.Children, n)
		}
	}
	r.Nodes = slices.Clone(r.Roots)
	for i := 0; i < len(r.Nodes); i++ { // it grows: there are no cycles left
		r.Nodes = append(r.Nodes, r.Nodes[i].Children...)
	}
}

// breakCycles breaks a cycle of parents where it is found, which is at its first task.
func (r *Request) breakCycles() {
	const ( // whether a task's ancestors have been looked at
		unknown = iota
		open
		done
	)
	state := make(map[*Node]int)
	for _, n := range r.Nodes {
		var way []*Node
		p := n
		for ; p != nil && state[p] == unknown; p = p.Parent {
			state[p] = open
			way = append(way, p)
		}
		if p != nil && state[p] == open {
			p.Parent, p.Call = nil, -1
		}
		for _, p := range way {
			state[p] = done
		}
	}
}

// number finds the servers of the nodes. Files of one server may have been read apart.
func number(nodes []*Node) (servers []*Server) {
	type key struct {
		id, pid int
		name    string
		start   int64
	}
	known := make(map[key]int)
	for _, n := range nodes {
		s := n.Task.Server
		if s == nil {
			s = new(Server)
		}
		k := key{int(s.ID), s.PID, s.Name, s.Start}
		i, ok := known[k]
		if !ok {
			i = len(servers)
			known[k] = i
			servers = append(servers, s)
		}
		n.Server = i
	}
	return servers
}

// times returns when each node began, by its server's clock, since the server's first task,
// which began at base. Where the parent's record says when its child began, then that is
// taken, which is by the monotonic clock.
func times(nodes []*Node, servers int) (local []time.Duration, base []int64) {
	base = make([]int64, servers)
	for i := range base {
		base[i] = math.MaxInt64
	}
	for _, n := range nodes {
		base[n.Server] = min(base[n.Server], n.Task.Start)
	}
	local = make([]time.Duration, len(nodes))
	of := make(map[*Node]time.Duration)
	for i, n := range nodes {
		d := since(base[n.Server], n.Task.Start)
		if p := n.Parent; p != nil && p.Server == n.Server && n.Call >= 0 {
			if call := &p.Task.Calls[n.Call]; call.Span == n.Task.Span {
				d = min(of[p]+length(min(call.Start, p.Task.Wall)), longest)
			}
		}
		of[n], local[i] = d, d
	}
	return local, base
}
