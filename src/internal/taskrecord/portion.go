// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"math/bits"
	"runtime/pprof"
	"time"
)

// This file divides the latency of a task among the tasks of all servers that worked for it.

// A Portion is what one task has of a latency: of its own, or of that of a task that has called it.
type Portion struct {
	Node *Node

	// Known says that it is known how long the latency's task waited for this one. If it is not,
	// the rest is not all.
	Known bool

	Parts   Latency       // without the waits for Calls
	Calls   []CallPortion // of Node.Task.Calls, by index
	Unknown time.Duration // waits for calls or for something else: no one knows for which

	// Regions are of Node.Task.Regions, by index: for so long a region may have been what was waited
	// for, at most. Those of goroutines that are on no path are not in it.
	Regions []time.Duration
}

// Time returns for how long the task was what was waited for, with its calls.
func (x *Portion) Time() time.Duration {
	d := x.Unknown
	for _, v := range x.Parts {
		d += v
	}
	for _, c := range x.Calls {
		d += c.Time
	}
	return d
}

// A CallPortion is the time in which a task waited for a call of another server.
type CallPortion struct {
	Time   time.Duration
	Way    time.Duration // of it, in which no task among the records worked on the call
	Joined bool          // there is such a task
	Known  bool
}

// Latency divides the latency of n's task, which is no client's, among n, which is the first, and all tasks among the
// records that worked on its calls, and on theirs. What it waited for is that of
// [Record.CriticalPath], in which the tasks that worked on a call take the place of the wait. A wait that
// may be for one of several calls is Unknown. Parts, Unknown and the Ways of all are the task's Wall in
// sum, exactly.
//
// A task without a timeline has no path. Its calls then have the waits that may be for them: those
// of the goroutine that ended it, as [Record.Latency] has them. Of two calls at a time it is the one that ends
// last, and if there are fewer waits than calls have taken, each has as large a part of them. These
// waits are Unknown where some call was not waited for, and no one knows which: if they are less than half
// of the time of calls, or if calls went on side by side for longer than it waited for other goroutines: it can
// make one call at a time.
//
// Asynchronous reports for which calls such a task did not wait, if that is known from others; nil
// says that it is not.
func (n *Node) Latency(asynchronous func(n *Node, call int) bool) []Portion {
	p := &portions{asynchronous: asynchronous}
	p.find(n)
	for i := range p.list {
		p.list[i].Regions = p.regions(i)
	}
	return p.list
}

// find finds what Latency returns, without Regions.
func (p *portions) find(n *Node) {
	p.at, p.walkers = make(map[*Node]int), make(map[*Node]*walker)
	p.register(n, true, 0)
	p.add(n, 0, max(0, n.Task.Wall), 0)
	for i := range p.list {
		x := &p.list[i]
		for j, d := range x.Node.Task.latency(p.own[i]) {
			x.Parts[j] += d
		}
	}
}

// Caller returns the task that has called n, and which of its calls that is: -1 if that isn't known.
func (n *Node) Caller() (*Node, int) {
	p := n.Parent
	switch {
	case p == nil:
		return nil, -1
	case p.Task.Flags&Client != 0 && p.Parent != nil && n.Call < 0:
		return p.Parent, p.Call
	}
	return p, n.Call
}

// portions are what Latency finds.
type portions struct {
	asynchronous func(n *Node, call int) bool

	// pathsOnly leaves out tasks that are on no path, and what is known of others: a task may be below thousands of others, and
	// be looked at for each of them.
	pathsOnly bool

	list    []Portion
	own     [][]Segment   // of paths, by index in list, without waits for calls
	callees [][][]*Node   // by index in list, and in Calls
	at      map[*Node]int // in list
	walkers map[*Node]*walker
	on      []map[uint64]bool // by index in list: goroutines that are on the paths
}

// register adds n, which is below so many others, and all tasks that worked for it.
func (p *portions) register(n *Node, known bool, depth int) {
	x := Portion{Node: n, Known: known, Calls: make([]CallPortion, len(n.Task.Calls))}
	callees := make([][]*Node, len(n.Task.Calls))
	for _, c := range n.Children {
		if c.Call < 0 || n.Task.Calls[c.Call].Flags&Client == 0 {
			continue
		}
		if c.Server != n.Server || c.Task.Flags&ServerOf != 0 { // a server may call itself
			callees[c.Call] = append(callees[c.Call], c)
			continue
		}
		for _, c2 := range c.Children { // of a client's task
			if c2.Server != n.Server || c2.Task.Flags&ServerOf != 0 {
				callees[c.Call] = append(callees[c.Call], c2)
			}
		}
	}
	for i := range x.Calls {
		x.Calls[i].Known, x.Calls[i].Joined = known, len(callees[i]) > 0
	}
	p.at[n] = len(p.list)
	p.list = append(p.list, x)
	p.own = append(p.own, nil)
	p.on = append(p.on, nil)
	p.callees = append(p.callees, callees)
	if p.pathsOnly && depth == maxServers {
		return
	}
	for _, list := range callees {
		for _, c := range list {
			p.register(c, known, depth+1)
		}
	}
	if !p.pathsOnly {
		p.others(n, n, depth)
	}
}

// others registers the tasks that worked for n on calls that are not in its record: a record has so
// many, and those of a child of n are in the child's. For how long n waited for them is not known.
func (p *portions) others(n, of *Node, depth int) {
	for _, c := range of.Children {
		if _, ok := p.at[c]; ok {
			continue
		}
		if c.Server != n.Server || c.Task.Flags&ServerOf != 0 {
			p.register(c, false, depth+1)
		} else {
			p.others(n, c, depth)
		}
	}
}

// add adds what was waited for in [from, to) of n's task.
func (p *portions) add(n *Node, from, to time.Duration, depth int) {
	w := p.walkers[n]
	if w == nil {
		w = new(walker)
		w.init(n.Task)
		p.walkers[n] = w
	}
	if len(n.Task.Timeline) == 0 {
		p.estimate(n, w, from, to, depth)
		return
	}
	w.path = nil
	w.find(from, to)
	at := p.at[n]
	if p.on[at] == nil {
		p.on[at] = make(map[uint64]bool)
	}
	for _, s := range w.path {
		p.on[at][s.Goroutine] = true
		switch {
		case len(s.doubt) > 0:
			p.doubt(n, s.doubt, s.Start, s.End, s.End-s.Start)
		case s.Call < 0 || depth >= maxServers:
			p.own[at] = append(p.own[at], s)
		default:
			p.call(n, s.Call, s.Start, s.End, depth)
		}
	}
}

// doubt adds a wait of n's task in [from, to) for one of calls, of which no one knows for which.
func (p *portions) doubt(n *Node, calls []wait, from, to, waited time.Duration) {
	x := &p.list[p.at[n]]
	x.Unknown += waited
	if p.pathsOnly {
		return
	}
	for _, c := range calls {
		if c.start >= to || c.end <= from {
			continue
		}
		x.Calls[c.call].Known = false
		for _, y := range p.callees[p.at[n]][c.call] {
			p.forget(y)
		}
	}
}

// call adds a wait of n's task for a call.
func (p *portions) call(n *Node, call int, from, to time.Duration, depth int) {
	c := &p.list[p.at[n]].Calls[call]
	c.Time += to - from
	c.Way += to - from
	for _, y := range p.callees[p.at[n]][call] {
		start, end := max(y.Start-n.Start, from), min(y.End()-n.Start, to)
		if start < end {
			c.Way -= end - start
			p.add(y, start+n.Start-y.Start, end+n.Start-y.Start, depth+1)
			from = end
		}
	}
}

// regions returns for how long regions may have been waited for.
func (p *portions) regions(i int) []time.Duration {
	x := &p.list[i]
	t := x.Node.Task
	most := x.Time()
	list := make([]time.Duration, len(t.Regions))
	for j := range t.Regions {
		r := &t.Regions[j]
		d := length(r.Wall)
		for k := range t.Timeline {
			if s := &t.Timeline[k]; s.Region == r.Name && p.on[i] != nil && !p.on[i][s.Goroutine] {
				d -= length(s.End - s.Start)
			}
		}
		list[j] = min(max(0, d), most)
	}
	return list
}

// A callPiece is a time in which a call went on that no other one outlasted.
type callPiece struct {
	call     int
	from, to time.Duration
}

// estimate is add for a task without a timeline.
func (p *portions) estimate(n *Node, w *walker, from, to time.Duration, depth int) {
	x := &p.list[p.at[n]]
	l := n.Task.latency([]Segment{{Task: n.Task, Goroutine: n.Task.last(), Start: from, End: to, Part: pprof.TimeRunning}})
	pieces, all := p.pieces(n, w, from, to)
	waited, others := l[Elsewhere], l[Elsewhere]
	for part := range NumParts {
		if forCall(part) {
			waited += l[part]
			if part != pprof.TimeSelect && part != pprof.TimeNetwork {
				others += l[part]
			}
		}
	}
	switch {
	case depth >= maxServers:
	case 2*waited < all || sideBySide(w.calls, from, to)-others > waited/8:
		p.doubt(n, w.calls, from, to, waited)
		l.take(waited)
	default:
		take := min(waited, all)
		l.take(take)
		for _, c := range pieces {
			d := mulDiv(take, c.to-c.from, all)
			take, all = take-d, all-(c.to-c.from)
			if d > 0 {
				p.call(n, c.call, c.to-d, c.to, depth)
			}
		}
	}
	for i, d := range l {
		x.Parts[i] += d
	}
}

// forget notes that it is not known how long anyone waited for n, and for what worked for it.
func (p *portions) forget(n *Node) {
	if i, ok := p.at[n]; ok {
		x := &p.list[i]
		x.Known = false
		for j := range x.Calls {
			x.Calls[j].Known = false
		}
	}
	for _, c := range n.Children {
		p.forget(c)
	}
}

// pieces returns when calls of n's task went on, the last first, and for how long.
func (p *portions) pieces(n *Node, w *walker, from, to time.Duration) (list []callPiece, all time.Duration) {
	var kept []wait
	for _, c := range w.calls {
		if p.asynchronous == nil || !p.asynchronous(n, c.call) {
			kept = append(kept, c)
		}
	}
	w.calls = kept
	for to > from && w.steps < maxSteps {
		c := w.lastCall(w.calls, from, to)
		if c == nil {
			break
		}
		to = min(to, c.end)
		start := max(from, c.start)
		list = append(list, callPiece{c.call, start, to})
		all += to - start
		to = start
	}
	return list, all
}

// sideBySide returns for how long more than one of calls, in order of their start, went on.
func sideBySide(calls []wait, from, to time.Duration) (d time.Duration) {
	once, twice := from, from // up to where calls, and two of them, went on
	for i := range calls {
		start, end := max(calls[i].start, from), min(calls[i].end, to)
		if both := min(end, once); both > max(start, twice) {
			d += both - max(start, twice)
			twice = both
		}
		once = max(once, end)
	}
	return d
}

// mulDiv returns a*b/c, of which c is as large as a or b at least.
func mulDiv(a, b, c time.Duration) time.Duration {
	if c <= 0 {
		return 0
	}
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	q, _ := bits.Div64(hi, lo, uint64(c))
	return time.Duration(q)
}

// callParts are the parts that waits for calls are in, the likeliest first: of a client of net/http
// or of a driver, of goroutines that make calls for others, and of all else.
var callParts = [][]Part{
	{pprof.TimeNetwork, pprof.TimeSelect},
	{pprof.TimeChan, pprof.TimeSync, Elsewhere},
	{pprof.TimeOther},
}

// take takes waits for calls out of a latency, which has as many.
func (l *Latency) take(d time.Duration) {
	for _, parts := range callParts {
		var all time.Duration
		for _, part := range parts {
			all += l[part]
		}
		now := min(d, all)
		d -= now
		for _, part := range parts {
			x := mulDiv(now, l[part], all)
			now, all = now-x, all-l[part]
			l[part] -= x
		}
	}
}
