// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"cmp"
	"runtime/pprof"
	"slices"
	"time"
)

// A Segment is a piece of a critical path: what the end of a task, or of a request, had to
// wait for at a time. Segments of a path are in order of time, and partition it: each begins
// where the one before ends.
type Segment struct {
	Node       *Node   // of the task, in a request's path; otherwise nil
	Task       *Record // that the goroutine worked for
	Goroutine  uint64
	Start, End time.Duration // since the start of the task, or of the request

	// Part is what the goroutine was in. A timeline leaves out what is short. So one that is
	// running here runs, or is in waits and system calls that were shorter than those recorded;
	// [Record.Latency] has how much of the path was in which. It is Elsewhere, and Stretch is nil,
	// where no goroutine worked for the task.
	Part   Part
	Reason string // of a wait, as in stack traces
	Frame  Frame  // where; see [Place]

	// Stretch is what the segment is of; nil if the goroutine ran, or if there was none.
	Stretch *Stretch
	Call    int // the index in Task.Calls of the call of a server that it waited for, or -1

	// Stopped is for how long, at least, the world was stopped within the segment.
	Stopped time.Duration
	// Behind is how much of a runnable segment another task had the thread, at least; see
	// [Stretch].BehindKind.
	Behind time.Duration

	// Of a gap between stretches: the wait that it is in the place of, if another goroutine ended
	// that, and whether nothing is known of the goroutine before.
	outer *wait
	first bool

	doubt []wait // Call is -1, as it may be any of these calls
}

// Bounds of the search for a critical path. Records of real tasks are far below; they keep
// one that was made up from taking long.
const (
	maxHops  = 64      // from a goroutine to the one that woke it, nested
	maxSteps = 1 << 20 // all in all
)

// CriticalPath returns what t's end had to wait for, which partitions [0, t.Wall).
//
// It goes back from the end on the goroutine that ended the task. Where that waited for
// another goroutine of the task, which woke it, the path is that goroutine's for the time of
// the wait, as long as it worked for the task, and so on. Where it waited for something else,
// the wait is a segment. A task without a Timeline has one segment, in which it ran or waited,
// and one in which it was elsewhere.
//
// This is the chain of wakeups that TAILOR follows (Xi Yang's thesis, chapter 4), by what
// Go's scheduler has noted instead of the kernel's.
func (t *Record) CriticalPath() []Segment { return new(walker).criticalPath(t) }

// criticalPath is [Record.CriticalPath]. The next call for the same walker writes over what it
// returns.
func (w *walker) criticalPath(t *Record) []Segment {
	w.init(t)
	w.find(0, t.Wall)
	return w.path
}

// find finds the path in [from, to).
func (w *walker) find(from, to time.Duration) {
	w.path = w.path[:0]
	w.walk(w.t.last(), from, to)
	w.settle()
	slices.Reverse(w.path)
}

// A walker finds a path through one task, from its end to its start. It can be used again.
type walker struct {
	t     *Record
	all   []wait
	of    map[uint64][]wait // of all, by goroutine, in order of start
	calls []wait            // of servers, in order of start
	by    []wait            // ditto, for each goroutine that has made or ended one
	made  map[uint64][]wait // of by, by goroutine, in order of start
	known bool              // who made the calls
	path  []Segment         // the last one first
	stack []hop             // goroutines that wait for each other, outermost first
	steps int

	spans map[SpanID]struct{} // of the calls, and of t itself

	own, rest [NumParts]time.Duration // what t.left returns, if hasLeft
	hasLeft   bool
}

// A hop is from a goroutine to the one that it waited for.
type hop struct {
	goroutine uint64
	wait      *wait // nil if it is the one that ended the task
}

// A wait is a Stretch, or a Call, with times that are in order and within the task,
// whatever the record says.
type wait struct {
	start, wake, end time.Duration
	latest           time.Duration // end of this one and of those that start before
	stretch          *Stretch
	call             int
	goroutine        uint64 // that waits, or has made or ended the call
	maker, ender     uint64 // goroutines, of a call
}

func (w *walker) init(t *Record) {
	if w.of == nil {
		w.of = make(map[uint64][]wait)
		w.made = make(map[uint64][]wait)
		w.spans = make(map[SpanID]struct{}, 1+len(t.Calls))
		w.all = make([]wait, 0, len(t.Timeline))
		w.path = make([]Segment, 0, 2*len(t.Timeline)+1)
	}
	clear(w.of)
	clear(w.made)
	clear(w.spans)
	w.hasLeft, w.by, w.known = false, w.by[:0], true
	w.t, w.all, w.calls, w.path, w.stack, w.steps = t, w.all[:0], w.calls[:0], w.path[:0], append(w.stack[:0], hop{goroutine: t.last()}), 0
	within := func(d, from time.Duration) time.Duration {
		return max(from, min(d, t.Wall))
	}
	for i := range t.Timeline {
		s := &t.Timeline[i]
		if s.Region != "" {
			continue
		}
		x := wait{stretch: s, call: -1, goroutine: s.Goroutine}
		x.start = within(s.Start, 0)
		x.end = within(s.End, x.start)
		x.wake = min(within(s.Wake, x.start), x.end)
		if x.start < x.end {
			w.all = append(w.all, x)
		}
	}
	w.spans[t.Span] = struct{}{}
	for i := range t.Calls {
		c := &t.Calls[i]
		w.spans[c.Span] = struct{}{}
		if c.Flags&Client == 0 {
			continue
		}
		w.known = w.known && c.Goroutine != 0
		x := wait{call: i, goroutine: c.Goroutine, maker: c.Goroutine, ender: c.Ender}
		x.start = within(c.Start, 0)
		x.end = x.start + max(0, min(c.Wall, t.Wall-x.start))
		if x.start < x.end {
			w.calls = append(w.calls, x)
			w.by = append(w.by, x)
			if x.goroutine = c.Ender; x.goroutine != 0 && x.goroutine != c.Goroutine {
				w.by = append(w.by, x)
			}
		}
	}
	byGoroutine(w.of, w.all)
	byGoroutine(w.made, w.by)
	order(w.calls)
}

// byGoroutine orders list, and sets of to the pieces of it that have the same goroutine.
func byGoroutine(of map[uint64][]wait, list []wait) {
	slices.SortStableFunc(list, func(a, b wait) int { return cmp.Compare(a.goroutine, b.goroutine) })
	for len(list) > 0 {
		g := list[0].goroutine
		n := 1
		for n < len(list) && list[n].goroutine == g {
			n++
		}
		order(list[:n])
		of[g] = list[:n]
		list = list[n:]
	}
}

func order(list []wait) {
	slices.SortStableFunc(list, func(a, b wait) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	var latest time.Duration
	for i := range list {
		latest = max(latest, list[i].end)
		list[i].latest = latest
	}
}

// before returns the index in list of the wait that was going on just before t, the
// innermost one, or of the last one before that; or -1. Waits nest if C calls Go: what is
// inside that one has ended by inner.
func (w *walker) before(list []wait, t time.Duration) (best int, inner time.Duration) {
	n, _ := slices.BinarySearchFunc(list, t, func(x wait, t time.Duration) int {
		return cmp.Compare(x.start, t)
	})
	best = -1
	for i := n - 1; i >= 0; i-- {
		w.steps++
		if best < 0 || list[i].end > list[best].end {
			if best >= 0 {
				inner = list[best].end
			}
			best = i
		}
		if list[best].end >= t || list[i].latest <= list[best].end {
			break // as a rule at once
		}
	}
	return best, inner
}

// walk adds what goroutine g did in [from, to), backwards.
func (w *walker) walk(g uint64, from, to time.Duration) {
	list := w.of[g]
	for to > from {
		w.steps++
		i, inner := -1, time.Duration(0)
		if w.steps < maxSteps {
			i, inner = w.before(list, to)
		}
		if i < 0 || list[i].end <= from {
			w.gap(g, from, to, i < 0)
			return
		}
		x := &list[i]
		if x.end < to {
			w.gap(g, x.end, to, false)
			to = x.end
		}
		from := max(from, inner) // of what is x's
		if wake := max(x.wake, from); wake < to {
			w.runnable(x, wake, to)
			to = wake
		}
		if i == 0 && x.start == x.wake && x.start > from && w.follows(x, from, to) {
			// The go statement made it runnable: there was no such goroutine before.
			w.hop(hop{x.stretch.Waker.Goroutine, w.stack[len(w.stack)-1].wait}, from, to)
			return
		}
		if start := max(x.start, from); start < to {
			if w.follows(x, start, to) {
				w.hop(hop{x.stretch.Waker.Goroutine, x}, start, to)
			} else {
				w.wait(x, start, to)
			}
			to = start
		}
	}
}

func (w *walker) hop(h hop, from, to time.Duration) {
	w.stack = append(w.stack, h)
	w.walk(h.goroutine, from, to)
	w.stack = w.stack[:len(w.stack)-1]
}

// gap adds what goroutine g did between its stretches.
func (w *walker) gap(g uint64, from, to time.Duration, first bool) {
	w.add(Segment{Goroutine: g, Start: from, End: to, Part: pprof.TimeRunning, outer: w.stack[len(w.stack)-1].wait, first: first})
}

// follows reports whether what went on in [from, to) is what the goroutine did that has
// ended x.
func (w *walker) follows(x *wait, from, to time.Duration) bool {
	k := &x.stretch.Waker
	if k.Goroutine == 0 || k.Goroutine == x.stretch.Goroutine || len(w.stack) >= maxHops || w.steps >= maxSteps {
		return false
	}
	if slices.ContainsFunc(w.stack, func(h hop) bool { return h.goroutine == k.Goroutine }) {
		return false // it waits itself: the record makes no sense
	}
	list := w.of[k.Goroutine]
	if w.foreign(k) {
		// It worked for another task then. It may have come from this one a moment before.
		i, _ := w.before(list, to)
		return i >= 0 && list[i].end > from
	}
	if len(list) > 0 {
		return true
	}
	// It never waited for long, if it is the task's; or it did, for a server, before it was.
	return k.Span == w.t.Span && k.Span != (SpanID{}) && w.answers(x, from, to) == nil
}

func (w *walker) add(s Segment) {
	s.Task = w.t
	if s.Stretch == nil {
		s.Call = -1
	}
	w.path = append(w.path, s)
}

// atLeast returns how much of d, which is somewhere in a length of all, is in a part of it.
func atLeast(d, part, all time.Duration) time.Duration {
	return max(0, min(d, all)-(all-part))
}

// stopped divides the time in x for which the world was stopped: as the goroutine runs
// again once the world does, most of it is at the end.
func (x *wait) stopped() (waiting, runnable time.Duration) {
	d := min(max(0, x.stretch.Stopped), x.end-x.start)
	runnable = min(d, x.end-x.wake)
	return d - runnable, runnable
}

func (w *walker) runnable(x *wait, from, to time.Duration) {
	all := x.end - x.wake
	_, stopped := x.stopped()
	s := Segment{
		Goroutine: x.stretch.Goroutine, Start: from, End: to, Part: pprof.TimeRunnable,
		Frame: Place(x.stretch.Stack), Stretch: x.stretch, Call: -1,
		Stopped: atLeast(stopped, to-from, all),
	}
	if x.stretch.BehindKind != "" {
		s.Behind = min(atLeast(max(0, x.stretch.Behind), to-from, all), to-from-s.Stopped)
	}
	w.add(s)
}

// wait adds the segments of a wait, or of a system call: one for each call of a server
// that it was for, and for the time between them.
func (w *walker) wait(x *wait, from, to time.Duration) {
	list := w.answers(x, from, to)
	for to > from {
		w.steps++
		start, call := from, -1
		var doubt []wait
		if w.steps < maxSteps {
			c, sure, since := w.call(list, from, to)
			switch {
			case c == nil:
			case c.end < to:
				start = max(c.end, from)
			case !sure:
				start, doubt = max(since, from), list
			default:
				start, call = max(c.start, from), c.call
			}
		}
		w.piece(x, start, to, call)
		w.path[len(w.path)-1].doubt = doubt
		to = start
	}
}

// piece adds [from, to) of a wait.
func (w *walker) piece(x *wait, from, to time.Duration, call int) {
	stopped, _ := x.stopped()
	w.add(Segment{
		Goroutine: x.stretch.Goroutine, Start: from, End: to,
		Part: x.stretch.part(), Reason: x.stretch.Reason, Frame: Place(x.stretch.Stack),
		Stretch: x.stretch, Call: call,
		Stopped: atLeast(stopped, to-from, x.wake-x.start),
	})
}

// CriticalPath returns what the end of the request's first task, Roots[0], had to wait for,
// which partitions its time. It is the task's own path, see [Record.CriticalPath], in which
// those of the servers that it called take the place of the calls, as far as there are
// records of them. What remains of a call is the way there and back.
func (r *Request) CriticalPath() []Segment {
	if len(r.Roots) == 0 {
		return nil
	}
	p := requestPath{walkers: make(map[*Node]*walker)}
	root := r.Roots[0]
	p.add(root, 0, root.Task.Wall, 0)
	return p.path
}

type requestPath struct {
	path    []Segment
	walkers map[*Node]*walker
}

// maxServers is how deeply calls may nest.
const maxServers = 64

// add adds the path of n's task for [from, to), since its start.
func (p *requestPath) add(n *Node, from, to time.Duration, depth int) {
	w := p.walkers[n]
	if w == nil {
		w = new(walker)
		w.init(n.Task)
		p.walkers[n] = w
	}
	w.path = nil
	w.find(from, to)
	for _, s := range w.path {
		s.Node = n
		// The rest of s is after those servers' tasks that have been added.
		if (s.Call >= 0 || n.isCall() && s.Part == Elsewhere) && depth < maxServers {
			for _, c := range n.callees(s.Call) {
				start := max(c.Start-n.Start, s.Start)
				end := min(c.End()-n.Start, s.End)
				if start >= end {
					continue
				}
				p.piece(s, s.Start, start, n.Start)
				p.add(c, start+n.Start-c.Start, end+n.Start-c.Start, depth+1)
				s.Start = end
			}
		}
		p.piece(s, s.Start, s.End, n.Start)
	}
}

// piece adds what is in [from, to) of s, whose task began at start.
func (p *requestPath) piece(s Segment, from, to, start time.Duration) {
	if from >= to {
		return
	}
	s.Stopped = atLeast(s.Stopped, to-from, s.End-s.Start)
	s.Behind = atLeast(s.Behind, to-from, s.End-s.Start)
	s.Start, s.End = from+start, to+start
	p.path = append(p.path, s)
}

// isCall reports whether n is a client's task, which is a call.
func (n *Node) isCall() bool { return n.Task.Flags&Client != 0 }

// callees returns the tasks of other servers that work on the call, in order of start: on n
// itself if call is -1.
func (n *Node) callees(call int) (list []*Node) {
	if call < 0 {
		for _, c := range n.Children {
			if c.Server != n.Server || c.Task.Flags&ServerOf != 0 {
				list = append(list, c)
			}
		}
		return list
	}
	for _, c := range n.Children {
		switch {
		case c.Call != call:
		case c.Server != n.Server || c.Task.Flags&ServerOf != 0: // a server may call itself
			list = append(list, c)
		default: // the client's task
			for _, c := range c.Children {
				if c.Server != n.Server || c.Task.Flags&ServerOf != 0 {
					list = append(list, c)
				}
			}
		}
	}
	return list
}
