// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"runtime/trace"
	"sync"
	"sync/atomic"
)

// This file is about regions in execution traces. There the regions of a goroutine must nest, and
// end on that goroutine: one that does not makes all of the trace unreadable. Programs that use ours
// for other purposes may not keep that, and know nothing of a trace that somebody else writes.
//
// So we keep, for each goroutine, which regions of ours are open in the trace, and how many others
// are above each. One that ends is told to the tracer if it is the innermost. If it is not,
// or ends on another goroutine, its own goroutine tells when it next can. If a region of the program
// ends that is around it, it is told to have ended before.

// untold is how many regions an execution trace does not have as they were.
var untold atomic.Uint64

// A toldRegion is a region of ours in the execution trace. It belongs to its goroutine, but for
// ended.
type toldRegion struct {
	gp     uintptr
	goid   uint64
	task   *tracedTask // or nil
	region *trace.Region
	above  int         // open regions that began while it was the innermost of ours
	told   bool        // that it has ended
	ended  atomic.Bool // End was called
}

// A tracedTask is a task in the execution trace. It does not keep the Task, as it may stay for as
// long as a goroutine.
type tracedTask struct {
	task  *trace.Task
	ended atomic.Bool
}

func (t *tracedTask) end() {
	t.ended.Store(true)
	t.task.End()
}

// toldRegions are those of a goroutine, which has them to itself.
type toldRegions struct {
	goid uint64
	list []*toldRegion
}

// maxTold is how many regions of a goroutine there are at most. Those that never end stay for as
// long as their goroutine.
const maxTold = 64

// toldBy has the toldRegions of goroutines that have some, by the address of their g, and of others.
// Those of a goroutine that has ended stay until its g is another's.
var toldBy [64]struct {
	mu sync.Mutex
	m  map[uintptr]*toldRegions
	_  [line - 16]byte
}

var anyTold atomic.Bool // one has ever been

func init() { runtime_perfSetRegionHook(regionHook) }

// toldOf returns those of the calling goroutine, which runtime_perfGoroutine says the names of; nil
// if there are none, unless begin.
func toldOf(gp uintptr, goid uint64, begin bool) *toldRegions {
	s := &toldBy[(gp>>9^gp>>15)%uintptr(len(toldBy))]
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.m[gp]
	if t != nil && t.goid == goid {
		return t
	}
	if !begin {
		return nil
	}
	if s.m == nil {
		s.m = make(map[uintptr]*toldRegions)
		anyTold.Store(true)
	}
	t = &toldRegions{goid: goid}
	s.m[gp] = t
	return t
}

// tellRegion begins a region of the calling goroutine in the execution trace. It returns nil if
// too many are open.
func tellRegion(t *Task, name string) *toldRegion {
	gp, goid := runtime_perfGoroutine()
	g := toldOf(gp, goid, true)
	g.settle(false)
	if len(g.list) == maxTold {
		g.settle(true)
	}
	if len(g.list) == maxTold {
		untold.Add(1)
		return nil
	}
	r := &toldRegion{gp: gp, goid: goid, task: t.traced}
	r.region = trace.StartRegion((*taskContext)(t), name)
	g.list = append(g.list, r)
	return r
}

// end is for the end of the region, by any goroutine, and any number of times.
func (r *toldRegion) end() {
	again := r.ended.Swap(true)
	gp, goid := runtime_perfGoroutine()
	if again || gp != r.gp || goid != r.goid {
		untold.Add(1)
		return
	}
	if r.told {
		return // counted then
	}
	toldOf(gp, goid, true).settle(false)
	if !r.told {
		untold.Add(1)
	}
}

// settle tells the ends of those that have ended, from the innermost on; if gone, also of those
// whose task has.
func (g *toldRegions) settle(gone bool) {
	for n := len(g.list); n > 0; n = len(g.list) {
		r := g.list[n-1]
		if r.above > 0 || !r.ended.Load() && !(gone && r.task != nil && r.task.ended.Load()) {
			return
		}
		g.tell(r)
	}
}

// tell tells the end of r, which is the innermost.
func (g *toldRegions) tell(r *toldRegion) {
	n := len(g.list) - 1
	g.list[n] = nil
	g.list = g.list[:n]
	r.told = true
	if !r.ended.Load() {
		untold.Add(1)
	}
	r.region.End()
}

// regionHook is called before a region begins or ends in the execution trace. It must not panic.
func regionHook(gp uintptr, goid, mode uint64) {
	if !anyTold.Load() {
		return
	}
	g := toldOf(gp, goid, false)
	if g == nil {
		return
	}
	g.settle(false)
	if mode != 0 {
		// If nothing is above the innermost of ours, what ends is around that.
		for n := len(g.list); n > 0 && g.list[n-1].above == 0; n = len(g.list) {
			g.tell(g.list[n-1])
		}
	}
	if n := len(g.list); n > 0 {
		if mode == 0 {
			g.list[n-1].above++
		} else {
			g.list[n-1].above--
		}
	}
}
