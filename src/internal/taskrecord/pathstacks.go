// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"runtime/pprof"
	"slices"
	"strconv"
	"time"
)

// This file is critical paths as stacks, which can be summed up over many requests.

// A PathStack is a time that the end of a task had to wait for, and for what.
type PathStack struct {
	// Frames has the root first: the task by its kind; the calls and the tasks of other servers in which the time was; what
	// the last one was in, as [PartName] has it; and, as far as timelines say, the reason as in stack
	// traces, where that was, and which task ended it.
	Frames  []Frame
	Tasks   int  // so many frames, from the root on, are tasks and calls
	Running bool // the last task ran, and no record says where
	Others  bool // the last task waited, maybe for another goroutine of its own: no record says what that did
	Time    time.Duration
}

// Names of what is no part of a time.
const (
	nameWay     = "way there and back" // of a call that a task among the records worked on
	nameUnknown = "not known"          // for which of several calls a wait was
)

// PathStacks calls yield with what the end of n's task, which is no client's, had to wait for. It is what
// [Node.Latency] says, so that the times are the task's Wall in sum, exactly. servers says that kinds shall have the
// server's name. Frames are valid during the call.
func (n *Node) PathStacks(servers bool, yield func(s *PathStack)) {
	p := portions{pathsOnly: true}
	p.find(n)
	stacks := pathStacks{portions: &p, servers: servers, yield: yield}
	stacks.add(n, []Frame{{Func: n.kindFrame(servers)}})
}

// kindFrame returns the name of n's task in a stack.
func (n *Node) kindFrame(server bool) string {
	kind := named(n.Task.Kind)
	if server {
		kind += " on " + n.Task.Server.Text()
	}
	return kind
}

type pathStacks struct {
	*portions
	servers bool
	yield   func(s *PathStack)
}

// add adds what n's task has, whose stack begins with frames, and what worked on its calls.
func (p *pathStacks) add(n *Node, frames []Frame) {
	at := p.at[n]
	x := &p.list[at]
	p.put(frames, nameUnknown, x.Unknown)
	p.portion(at, frames)
	for i := range x.Calls {
		c := &x.Calls[i]
		if c.Time == 0 {
			continue
		}
		call := append(slices.Clip(frames), Frame{Func: KindText(named(n.Task.Calls[i].Kind), true)})
		if c.Joined {
			p.put(call, nameWay, c.Way)
		} else {
			p.emit(PathStack{Time: c.Way}, call)
		}
		for _, y := range p.callees[at][i] {
			p.add(y, append(slices.Clip(call), Frame{Func: y.kindFrame(p.servers)}))
		}
	}
}

// portion adds what a portion has without calls: of a task with a timeline by its path, and the rest by its sums.
func (p *pathStacks) portion(at int, frames []Frame) {
	rest := p.list[at].Parts
	for i := range p.own[at] {
		s := &p.own[at][i]
		if s.Stretch == nil {
			continue
		}
		for _, piece := range s.pieces() {
			rest[piece.part()] -= piece.time
			p.emit(PathStack{Time: piece.time}, frames, piece.frames()...)
		}
	}
	several := p.list[at].Node.Task.Goroutines > 1
	for part, d := range rest {
		part := Part(part)
		x := PathStack{Running: part == pprof.TimeRunning, Others: several && forGoroutine(part), Time: d}
		p.emit(x, frames, Frame{Func: PartName(part)})
	}
}

// forGoroutine reports whether a wait in p may be for another goroutine.
func forGoroutine(p Part) bool {
	switch p {
	case pprof.TimeChan, pprof.TimeSelect, pprof.TimeMutex, pprof.TimeSync, pprof.TimeCoroutine, pprof.TimeOther:
		return true
	}
	return false
}

func (p *pathStacks) put(frames []Frame, name string, d time.Duration) {
	p.emit(PathStack{Time: d}, frames, Frame{Func: name})
}

// emit yields s, a time in which what is in of went on, below tasks.
func (p *pathStacks) emit(s PathStack, tasks []Frame, of ...Frame) {
	if s.Time > 0 {
		s.Frames, s.Tasks = append(slices.Clip(tasks), of...), len(tasks)
		p.yield(&s)
	}
}

// frames returns what a piece was: the part, the reason, where, and who ended it.
func (p *piece) frames() []Frame {
	s := p.seg.Stretch
	list := []Frame{{Func: PartName(p.part())}}
	switch {
	case p.stop && s.StopReason != "":
		return append(list, Frame{Func: s.StopReason})
	case p.stop:
		return list
	case p.behind:
		return append(list, Frame{Func: "behind task " + strconv.Quote(s.BehindKind)})
	case p.seg.Part == pprof.TimeRunnable: // what it had waited for is over
		return list
	}
	if p.seg.Reason != "" {
		list = append(list, Frame{Func: p.seg.Reason})
	}
	for _, f := range slices.Backward(s.Stack) {
		list = append(list, f)
	}
	if k := &s.Waker; k.Kind != "" {
		by := "ended by task " + strconv.Quote(k.Kind)
		if at := Place(k.Stack).at(); at != "" {
			by += " at " + at
		}
		list = append(list, Frame{Func: by})
	}
	return list
}
