// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Who has worked for a task, and who works on when it has ended.
//
// A task counts goroutines, however often they come and go: who leaves is remembered. A
// goroutine that a task counts is counted by those that the task is a child of, too.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// A perfLeft has some of the goroutines that have left a task. Allocated like an account.
type perfLeft struct {
	_    sys.NotInHeap
	node lfnode

	next  *perfLeft
	n     int
	goids [29]uint64
}

// A perfLeaving is why a goroutine leaves a task.
type perfLeaving uint8

const (
	perfLeaveEnd  perfLeaving = iota // it ends
	perfLeaveOn                      // it works for another one, and comes back if the task is there
	perfLeaveGone                    // it does not come back
)

// perfOutlived is for how long goroutines ran that have ended, or work for something else, after
// their tasks had ended, in ns.
var perfOutlived atomic.Int64

// leftBy remembers that a goroutine has left t. The caller holds root.lock. As goroutines are looked
// for one by one, it does not remember too many. Others count again if they come back.
func (t *perfTask) leftBy(goid uint64) {
	const most = 16 // perfLefts
	for ; t != nil; t = t.parent {
		if !t.open.Load() || t.left.has(goid) {
			continue
		}
		l, n := t.left, 0
		if l == nil || l.n == len(l.goids) {
			for ; l != nil; l = l.next {
				n++
			}
			if n == most {
				continue
			}
			l = (*perfLeft)(perfFreeLeft.pop())
			if l == nil {
				l = (*perfLeft)(persistentalloc(unsafe.Sizeof(perfLeft{}), tagAlign, &memstats.other_sys))
			}
			l.n, l.next = 0, t.left
			t.left = l
		}
		l.goids[l.n] = goid
		l.n++
	}
}

// endsWith is called when m ends a child of t, or t is nil: unless m's goroutine goes back to t, it has
// left that. The caller holds root.lock.
func (t *perfTask) endsWith(m *perfMember, back *perfTaskBack) {
	if t != nil && !back.next(t) {
		t.leftBy(m.goid)
	}
}

func (l *perfLeft) has(goid uint64) bool {
	for ; l != nil; l = l.next {
		for _, id := range l.goids[:l.n] {
			if id == goid {
				return true
			}
		}
	}
	return false
}

//go:nowritebarrierrec
func (l *perfLeft) freeAll() {
	for l != nil {
		next := l.next
		perfFreeLeft.push(&l.node)
		l = next
	}
}

// hasCounted reports whether t counts m's goroutine already, which is about to work for it or for a
// child of it. The caller holds root.lock.
func (t *perfTask) hasCounted(m *perfMember) bool {
	if t.left.has(m.goid) {
		return true
	}
	for i := range m.back.len() {
		id := m.back.was[i].id
		// One of another tree may go meanwhile: all of this stays mapped.
		if b := perfFindTask(id); b != nil && b.root == t.root && b.serial.Load() == id.Serial {
			for ; b != nil; b = b.parent {
				if b == t {
					return true
				}
			}
		}
	}
	return false
}

// perfTaskLeft is leftBy for the task that id names, if it is there. lost says that the goroutine
// should come back, and won't.
func perfTaskLeft(id perf.TaskID, goid uint64, lost bool) {
	t := perfFindTask(id)
	if t == nil {
		return
	}
	root := t.root
	root.lockTree()
	if t.root == root && t.serial.Load() == id.Serial {
		t.leftBy(goid)
		if lost && t.open.Load() {
			t.unfound++
		}
	}
	unlock(&root.lock)
}

// outlives is called when t has ended, and m's goroutine has used that much, and was running then
// as far as is known. If m works for no
// task from now on, what it still uses is nobody's. The caller holds root.lock.
func (t *perfTask) outlives(m *perfMember, u *perf.TaskUsage, used *perf.GoroutineTime, running bool) {
	if t.open.Load() || m.task.live() != nil {
		return
	}
	u.Outlives++
	if m.ranAtEnd == 0 { // else it outlived another one first, or who began to ask earlier ends later
		m.onAtEnd, m.outlived = running, t.id()
		m.ranAtEnd = m.ran(used) + 1
	}
}

// ran returns for how long m's goroutine has run that has used that much. If it was running at the
// end of the task, it is not known how much of that its thread had no CPU for: that is found out
// when the goroutine stops, and would be taken off what it has run since. So it counts as running.
//
//go:nowritebarrierrec
func (m *perfMember) ran(used *perf.GoroutineTime) int64 {
	n := used.Parts[perf.PartRunning]
	if m.onAtEnd {
		n += used.Parts[perf.PartPreempted]
	}
	return n
}

// perfTaskOutlived returns for how long goroutines of a task that has ended, and has not been
// given up, have run since, and how many of them there are. If any is true, it looks for one
// only.
//
//go:linkname perfTaskOutlived runtime/task.runtime_perfTaskOutlived
func perfTaskOutlived(id perf.TaskID, any bool) (nanos int64, n int) {
	t, _, mp := perfLockToAsk(id)
	if t != nil {
		root := t.root
		r := t.ask(mp, nil)
		for {
			free, more := r.look(func(s *perfTask, m *perfMember) (work int) {
				if any && n > 0 {
					return 0
				}
				if m.ranAtEnd != 0 && m.outlived == id {
					var used perf.GoroutineTime
					m.account.peek(&used, r.nanos, r.ticks)
					nanos += max(0, m.ran(&used)-(m.ranAtEnd-1))
					n++
				}
				return 1
			})
			if more {
				mp = root.pause(mp, free)
				continue
			}
			free = free.with(r.end())
			unlock(&root.lock)
			free.freeAll()
			break
		}
	}
	releasem(mp)
	return nanos, n
}

// perfTaskOutlivedBefore returns perfOutlived.
//
//go:linkname perfTaskOutlivedBefore runtime/task.runtime_perfTaskOutlivedBefore
func perfTaskOutlivedBefore() int64 { return perfOutlived.Load() }

// perfTaskSetKind changes the kind of a task that has not ended.
//
//go:linkname perfTaskSetKind runtime/task.runtime_perfTaskSetKind
func perfTaskSetKind(id perf.TaskID, kind uint32) {
	mp := acquirem()
	perfRelabel() // what has been sampled has the kind that there was
	if t := perfFindTask(id); t != nil {
		if t.sampled.Load() { // samples are of the kind that it had
			countRoot(t.kind.Load(), perf.RootOther)
			countRoot(kind, perf.RootOther)
		}
		t.kind.Store(kind)
	}
	releasem(mp)
}
