// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The ends of tasks, for samples that wait for them.
//
// Whether a task was slow is known when it ends. So package runtime/pprof keeps a sample of a
// goroutine that works for a task until then. A sample has the task's number, and the end says
// what became of the task with that number. Neither names its memory.
//
//	a handler   marks the task as sampled, and writes its number to the buffer
//	the end     is logged here if the task is marked
//	the reader  gets it after all samples that have the number
//
// A task that has no sample costs a load and a compare at its end, and so the log has no more
// entries than there are samples, times the depth of their tasks.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe" // for linkname, too
)

// A perfTaskSamples is what a task has for its samples.
type perfTaskSamples struct {
	number  uint64      // no other task or account has had it; set when the task is made
	sampled atomic.Bool // a sample may wait for the end; set by signal handlers, too
	verdict perfVerdict // protected by root.lock
	trace   [16]byte    // of the request; set before open is false, and no more then
}

// A perfVerdict is what has become of a task.
type perfVerdict uint8

const (
	perfUndecided perfVerdict = iota // it has not ended
	perfUsual
	perfSlow
)

// perfMostTaskEnds bounds the log: 10,000 tasks can be open.
//
// Readers are woken when perfTaskEndsDue ends wait for them. Until then these wait as the
// samples in the buffers do.
const (
	perfMostTaskEnds = 1 << 14
	perfTaskEndsDue  = perfMostTaskEnds / 4
)

// perfTaskRoots has how many tasks of each kind have ended, usual and slow ones, and how many are others
// than those that samples of the kind are of. It says how many requests a profile is of: most have no
// samples. Tasks of several kinds end at the same time, each holding the lock of its own root.
var perfTaskRoots [perf.MaxTaskRoots][perf.NumRootCounts]atomic.Uint64

// countRoot counts a task of a kind.
func countRoot(kind uint32, what int) {
	if kind < perf.MaxTaskRoots {
		perfTaskRoots[kind][what].Add(1)
	}
}

// perfReadTaskRoots returns what perfTaskRoots has of a kind.
//
//go:linkname perfReadTaskRoots runtime/pprof.runtime_perfTaskRoots
func perfReadTaskRoots(kind uint32) (n [perf.NumRootCounts]uint64) {
	for i := range n {
		n[i] = perfTaskRoots[kind][i].Load()
	}
	return n
}

// perfTaskEnds is the log of ends. The oldest one makes room for the next, whether all
// readers have read it or not: samples that wait for it then do so until the profile ends.
var perfTaskEnds struct {
	lock mutex
	n    atomic.Uint64 // that have been logged; written with lock
	ends [perfMostTaskEnds]perf.TaskEnd

	// wake is perfWakeReaders. It is nil before the first session, and a variable as perfHooks are.
	wake func()
}

// reset is for a new task. See perfHere for the caller.
func (t *perfTaskSamples) reset() {
	t.number = perfNewSerial()
	t.sampled.Store(false)
	t.verdict = perfUndecided
}

// perfTaskSampled returns the kind and the number of the task that the goroutine works for whose labels
// are at tag, or zeros. The end of that is going to be logged.
//
// It is called with the lock of the slot whose buffer is to have the number; see
// perfSession.seeEnds. Otherwise it is as perfTask.live. As the task is marked before it is seen to be
// open, either the end sees the mark or this sees the end.
//
//go:nowritebarrierrec
func perfTaskSampled(tag *unsafe.Pointer) (kind int64, number uint64) {
	a := perfTagAccount(tag)
	if a == nil {
		return 0, 0
	}
	m := a.member.ptr()
	if m == nil {
		return 0, 0
	}
	t := m.task
	for range perf.MaxTaskDepth + 1 {
		if t == nil {
			break
		}
		if t.open.Load() {
			if !t.sampled.Load() {
				t.sampled.Store(true)
			}
			if t.open.Load() {
				return int64(t.kind.Load()) & perf.TaskKindMask, t.number
			}
		}
		t = t.parent
	}
	return 0, 0
}

// decide notes that t has ended, slow if it has taken longer than slow ns, and logs that if
// there are samples. They wait on for the nearest task above that is undecided, unless one of
// the others was slow. The caller holds root.lock.
func (t *perfTask) decide(u *perf.TaskUsage, slow int64) {
	t.verdict = perfUsual
	if u.Wall > slow {
		t.verdict = perfSlow
	}
	switch {
	case t.parent != nil:
		countRoot(t.kind.Load(), perf.RootOther) // its samples may be slow because of the parent
	case t.verdict == perfSlow:
		countRoot(t.kind.Load(), perf.RootSlow)
	default:
		countRoot(t.kind.Load(), perf.RootUsual)
	}
	if !t.sampled.Load() {
		return
	}
	e := perf.TaskEnd{Task: t.number, Trace: u.Trace, Slow: t.verdict == perfSlow}
	var next *perfTask
	for s := t.parent; s != nil; s = s.parent {
		if s.verdict == perfUndecided && next == nil {
			next = s
		}
		e.Slow = e.Slow || s.verdict == perfSlow
	}
	if next != nil && !e.Slow {
		next.sampled.Store(true)
		e.Next = next.number
	}
	systemstack(func() { perfLogTaskEnd(&e) }) // who grows a stack must not hold the lock
}

func perfLogTaskEnd(e *perf.TaskEnd) {
	l := &perfTaskEnds
	lock(&l.lock)
	n := l.n.Load()
	l.ends[n%perfMostTaskEnds] = *e
	l.n.Store(n + 1)
	unlock(&l.lock)
	if (n+1)%(perfTaskEndsDue/2) == 0 && l.wake != nil {
		l.wake()
	}
}

// perfWakeReaders wakes the readers of all sessions.
func perfWakeReaders() {
	for i := range perfTables.sessions {
		perfTables.sessions[i].wake()
	}
}

// seeEnds returns how many ends have been logged. Samples of these tasks are in the buffers
// now, or have been read: who writes one has found its task open with the slot's lock, which is seen
// free here after that task has ended. The caller is the session's reader. It does not take the
// lock, and so a signal handler on its thread does not wait for it.
func (ss *perfSession) seeEnds() uint64 {
	n := perfTaskEnds.n.Load()
	if n != ss.ripe {
		for _, slot := range ss.slots[:ss.n] {
			for perfTables.slots[slot].lock.Load() != 0 {
				osyield()
			}
		}
	}
	return n
}

// perfReadTaskEnds stores in dst the next ends of tasks whose samples the session's reader has all read. It
// returns how many. The caller is that reader.
//
//go:linkname perfReadTaskEnds runtime/pprof.runtime_perfTaskEnds
func perfReadTaskEnds(session int, dst []perf.TaskEnd) (n int) {
	ss := &perfTables.sessions[session]
	if ss.ends == ss.ripe {
		return 0
	}
	l := &perfTaskEnds
	systemstack(func() {
		lock(&l.lock)
		if logged := l.n.Load(); logged-ss.ends > perfMostTaskEnds {
			ss.ends = min(logged-perfMostTaskEnds, ss.ripe)
		}
		for n < len(dst) && ss.ends != ss.ripe {
			dst[n] = l.ends[ss.ends%perfMostTaskEnds]
			ss.ends++
			n++
		}
		unlock(&l.lock)
	})
	return n
}
