// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Threads that are not, or not now, running Go: threads that C created, and
// those of them that have called into Go and returned. (Upstream's timer can
// only sample them through the process-wide ITIMER_PROF.)
//
// They are found by looking in /proc/self/task, at the start of a session and
// some times a second during it, by a goroutine of runtime/pprof that also
// drains their rings. For their signal handler can't: without a g it may not
// call anything that could grow the stack, or write to a profBuf. It is not
// needed either. A record in the ring has the instruction, which is all that a
// profile shows of C code, under runtime._ExternalCode. Only if the program has
// a C traceback function (SetCgoTraceback) does the thread get a signal, and
// its handler leaves the stack in a queue, with the ring's head, for the
// goroutine to match with the records.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// perfForeignSignals reports whether threads that run C are sent signals.
func perfForeignSignals() bool { return cgoTraceback != nil }

// perfForeign finds the perfThread of a thread without an M, by its ID: a hash
// table with open addressing, so that the signal handler can look without a
// lock. Elements are written under perfProf.lock. They are *perfThread, 0 for
// one that ends a search, or perfForeignGone.
var perfForeign [1024]atomic.Uintptr

const perfForeignGone = 1

// perfForeignInsert enters t. If the table is full, t's samples have no stacks.
func perfForeignInsert(t *perfThread) {
	for i := range uint32(len(perfForeign)) {
		e := &perfForeign[(uint32(t.tid)+i)%uint32(len(perfForeign))]
		if p := e.Load(); p == 0 || p == perfForeignGone {
			e.Store(uintptr(unsafe.Pointer(t)))
			return
		}
	}
}

//go:nosplit
//go:nowritebarrierrec
func perfForeignFind(tid int32) *atomic.Uintptr {
	for i := range uint32(len(perfForeign)) {
		e := &perfForeign[(uint32(tid)+i)%uint32(len(perfForeign))]
		p := e.Load()
		if p == 0 {
			return nil
		}
		// t may be reused since it was loaded, but its memory stays.
		if p != perfForeignGone && (*perfThread)(unsafe.Pointer(p)).tid == tid {
			return e
		}
	}
	return nil
}

func perfForeignRemove(t *perfThread) {
	if e := perfForeignFind(t.tid); e != nil && e.Load() == uintptr(unsafe.Pointer(t)) {
		e.Store(perfForeignGone)
	}
}

// perfForeignReset empties the table. No thread is armed.
func perfForeignReset() {
	for i := range perfForeign {
		perfForeign[i].Store(0)
	}
}

// perfForeignAdopt gives mp the counters of its thread, if it has some from
// when it ran C. The caller holds perfProf.lock.
func perfForeignAdopt(mp *m, tid int32) bool {
	e := perfForeignFind(tid)
	if e == nil {
		return false
	}
	t := (*perfThread)(unsafe.Pointer(e.Load()))
	e.Store(perfForeignGone)
	t.drainForeign()
	t.acquire()
	t.mp.set(mp)
	mp.perf.Store(uintptr(unsafe.Pointer(t)))
	t.lock.Store(0)
	t.signals(true)
	return true
}

// abandon takes t from mp, whose thread returns to C. All signals are blocked,
// and the caller holds perfProf.lock.
func (t *perfThread) abandon(mp *m) {
	t.signals(perfForeignSignals())
	t.acquire()
	mp.perf.Store(0)
	t.mp.set(nil)
	if t.ring.base != 0 {
		t.drainLeafs(t.ring.head(), false)
	}
	t.lock.Store(0)
	perfForeignInsert(t)
}

// signals says whether t's thread gets signals for overflows.
func (t *perfThread) signals(on bool) {
	flags := uintptr(0)
	if on {
		flags = _O_ASYNC
	}
	for i := range t.ctr[:t.n] {
		if c := &t.ctr[i]; c.ours() {
			fcntlPtr(c.fd, _F_SETFL, flags)
		}
	}
}

// perfHasForeign reports whether the program may have threads that Go did not
// create.
//
//go:linkname perfHasForeign runtime/pprof.runtime_perfHasForeign
func perfHasForeign() bool { return iscgo }

// perfScan arms the threads in came, unless they have an M, and disarms those
// in gone, which have exited. Then it drains the rings of all threads that run
// C. It must not be called after perfStop.
//
//go:linkname perfScan runtime/pprof.runtime_perfScan
func perfScan(came, gone []int32) {
	systemstack(func() {
		// Writing samples takes locks that this thread's handler takes.
		var mask sigset
		sigsave(&mask)
		sigblock(false)
		for _, tid := range came {
			perfArmForeign(tid)
		}
		for _, tid := range gone {
			lock(&perfProf.lock)
			if e := perfForeignFind(tid); e != nil {
				t := (*perfThread)(unsafe.Pointer(e.Load()))
				t.stop()
				t.close(nil)
			}
			unlock(&perfProf.lock)
		}
		lock(&perfProf.lock)
		for t := perfLinux.armed; t != nil; t = t.next {
			if t.inC() {
				t.drainForeign()
			}
		}
		unlock(&perfProf.lock)
		msigrestore(mask)
	})
}

// inC reports whether t's thread runs C code that Go did not call.
func (t *perfThread) inC() bool {
	mp := t.mp.ptr()
	return mp == nil || mp.isExtraInC
}

// perfArmForeign arms thread tid, unless it is armed or has an M, in which case
// it is, or arms itself. A thread that Go is just creating may be too early to
// have a procid; its minit adopts the counters.
func perfArmForeign(tid int32) {
	t := perfNewThread()
	if perfForeignSignals() && t.stacks == nil {
		t.stacks = (*perfStacks)(persistentalloc(unsafe.Sizeof(perfStacks{}), 0, &memstats.other_sys))
	}
	lock(&perfProf.lock)
	if perfProf.state.Load() != perfSampling || perfForeignFind(tid) != nil || perfHasM(tid) {
		t.recycle()
	} else if f := t.arm(nil, tid, false); f.Op != perf.OpNone {
		perfCountFailure(f)
	}
	unlock(&perfProf.lock)
}

func perfHasM(tid int32) bool {
	for mp := (*m)(atomic.Loadp(unsafe.Pointer(&allm))); mp != nil; mp = mp.alllink {
		if int32(atomic.Load64(&mp.procid)) == tid {
			return true
		}
	}
	return false
}

// perfStacks is a queue of stacks that a thread's signal handler leaves for
// drainForeign. Protected by perfThread.lock.
type perfStacks struct {
	_ sys.NotInHeap
	n uint // words in use

	// Each stack is the ring's head when it was taken, the number of its
	// instructions, and these. At 10 kHz and depth 10 the queue lasts 30 ms.
	// Records without a stack in the queue are recorded with their leaf.
	words [4096]uint64
}

// perfSigprofNonGo handles an event's signal on a thread without a g that has
// a C traceback, which is in sigprofCallers. See sigprofNonGo for what may be done here.
//
// No index may need a bounds check: the call of panicBounds takes more stack
// than ppc64 has left for nosplit functions here.
//
//go:nosplit
//go:nowritebarrierrec
func perfSigprofNonGo(info *siginfo, ctx unsafe.Pointer) {
	if !perfProf.used.Load() || !perfDoorbell(&sigctxt{info, ctx}) {
		return
	}
	e := perfForeignFind(int32(gettid()))
	if e == nil {
		return
	}
	t := (*perfThread)(unsafe.Pointer(e.Load()))
	if uintptr(unsafe.Pointer(t)) == perfForeignGone || !t.lock.CompareAndSwap(0, 1) {
		return
	}
	if q := t.stacks; q != nil && t.used && t.mp == 0 && t.tid == int32(gettid()) && t.ring.base != 0 {
		if i := q.n; i <= uint(len(q.words)-2-len(sigprofCallers)) { // there is room for the longest
			n := uint(0)
			for n < uint(len(sigprofCallers)) && sigprofCallers[n] != 0 {
				q.words[i+2+n] = uint64(sigprofCallers[n])
				n++
			}
			q.words[i] = t.ring.head()
			q.words[i+1] = uint64(n)
			q.n = i + 2 + n
		}
	}
	t.lock.Store(0)
}

// drainForeign reads the ring of a thread that runs C and records its samples,
// with the stacks that its handler has queued. The calling thread's counters
// are stopped or its signals blocked.
func (t *perfThread) drainForeign() {
	t.acquire()
	if t.ring.base == 0 {
		t.lock.Store(0)
		return
	}
	head := t.ring.head()
	stk := [1 + maxCPUProfStack]uintptr{logicalStackSentinel} // see perfStack
	next, n := uint(0), 1
	until := uint64(0) // records that end here or before belong to stk[:n]
	records := 0
	var rec perfRecord
	for {
		i := t.overflow(&rec, head)
		if i < 0 {
			break
		}
		records++
		if !t.count(i) {
			continue
		}
		if q := t.stacks; q != nil {
			for until < t.ring.tail && next < q.n {
				until = q.words[next]
				n = 1
				for _, pc := range q.words[next+2:][:q.words[next+1]] {
					if n < len(stk) {
						stk[n] = uintptr(pc)
						n++
					}
				}
				next += 2 + uint(q.words[next+1])
			}
		}
		c := &t.ctr[i]
		events := c.period + c.carry
		c.carry = 0
		if t.ring.tail <= until {
			perfProf.slots[i].add(nil, stk[:n], 1, events)
		} else {
			perfProf.slots[i].addLeaf(rec.ip, _ExternalCode, 1, events)
		}
		c.samples++
		c.events += events
	}
	t.ring.consume()
	if t.stacks != nil {
		t.stacks.n = 0
	}
	t.boundForeign(records)
	t.lock.Store(0)
}

// boundForeign is the overhead bound of a thread that runs C, where nothing of a
// sample's cost is seen: each record was an interrupt.
func (t *perfThread) boundForeign(records int) {
	b := &t.load
	direction := -1
	if records > 0 {
		cpu := t.cpuTime(nanotime())
		total := cpu - b.cpu
		b.cpu = cpu
		each := perfCost.interrupt
		if perfForeignSignals() {
			each = perfCost.whole
		}
		n := int64(0)
		for i := range t.ctr[:t.n] {
			n += t.interrupts(i, total)
		}
		cost := max(n, int64(records)) * each
		b.sum += cost
		direction = perfDirection(cost, 0, max(total, cost))
	}
	if t.stopped {
		return
	}
	for i := range t.ctr[:t.n] {
		if c := &t.ctr[i]; direction != 0 || c.rung < c.minRung {
			t.step(i, direction)
		}
	}
}
