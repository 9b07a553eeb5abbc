// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Threads that are not running Go: threads that C created, which may have called
// into Go and returned. (Upstream's timer can only sample them through the
// process-wide ITIMER_PROF.)
//
// A goroutine of runtime/pprof finds them (see perffind_linux.go) and drains their
// rings. Their signal handler can't: without a g it may not call anything that could
// grow the stack, or write to a profBuf. Nor is it needed. A record in the ring has
// the instruction, which is all that a profile shows of C code, under
// runtime._ExternalCode. Only if the program has a C traceback function
// (SetCgoTraceback) does the thread get a signal. Its handler leaves the stack in a
// queue, with the ring's head, for the goroutine to match with the records.

package runtime

import "unsafe"

// perfForeignAdopt gives mp the counters that its thread has from when it ran C, and
// reports whether there were any. The caller holds perfProf.lock.
func perfForeignAdopt(mp *m, tid int32) bool {
	t := perfForeignFind(tid)
	if t == nil {
		return false
	}
	// Records are written to the slots while the thread's counters run. So its
	// handler, which takes the slots' locks, must not run.
	var mask sigset
	sigsave(&mask)
	sigblock(false)
	switch {
	case t.ended():
		t.disarmEnded()
		t = nil
	case t.mp != 0:
		// The thread has an M already. mp is for the handler of a signal that has
		// interrupted its C code; see badsignal.
	default:
		t.drainForeign()
		t.acquire()
		t.mp.set(mp)
		mp.perf.Store(uintptr(unsafe.Pointer(t)))
		t.lock.Store(0)
		t.setSignals(true)
		if !mp.isextra {
			perfForeignRemove(t)
		}
	}
	msigrestore(mask)
	return t != nil
}

// leaveGo takes t from mp, whose thread returns to C. All signals are blocked, and
// the caller holds perfProf.lock.
func (t *perfThread) leaveGo(mp *m) {
	t.setSignals(perfForeignSignals())
	t.acquire()
	mp.perf.Store(0)
	t.mp.set(nil)
	t.lock.Store(0)
	t.drainForeign() // the thread has been in C since perfCross
}

// perfThreadEnds reports whether the current thread, which C created and which drops
// its M mp, is about to end. Since Go 1.21 it keeps the M until then, if C can say
// when that is (see needAndBindM). An M that a signal's handler has needed for itself
// is dropped earlier, but its isExtraInC has never been set.
//
//go:nowritebarrierrec
func perfThreadEnds(mp *m) bool {
	return mp.isExtraInC && _cgo_pthread_key_created != nil && *(*uintptr)(_cgo_pthread_key_created) != 0
}

// perfSigprofInC handles an event's signal on a thread of C that has called Go and is
// in C again. gp is its M's g0. cgoSigtramp makes no C traceback of such a thread.
//
// The thread has called Go with C's stack, so its handler can call C on the signal's
// stack.
//
//go:nosplit
//go:nowritebarrierrec
func perfSigprofInC(gp *g, c *sigctxt) {
	if gp == nil || cgoTraceback == nil || !perfProf.used.Load() || !perfDoorbell(c) {
		return
	}
	mp := gp.m
	t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	if t == nil {
		return
	}
	// Nothing else uses cgoCallers while the thread has no Go frames.
	pcs := mp.cgoCallers
	pcs[0] = 0
	arg := cgoTracebackArg{sigContext: uintptr(c.ctxt), buf: (*uintptr)(noescape(unsafe.Pointer(pcs))), max: uintptr(len(pcs))}
	setg(mp.gsignal) // for asmcgocall not to leave the stack
	asmcgocall(cgoTraceback, noescape(unsafe.Pointer(&arg)))
	setg(gp)
	// Another thread has the lock while it reads the ring, and may lose its CPU then. If this one
	// has it, which the signal has interrupted, no try succeeds. Either way the tries end.
	for range perfStackTries {
		if t.lock.CompareAndSwap(0, perfHandlerLock) {
			if t.mp.ptr() == mp && t.stacks != nil && t.ring.base != 0 {
				t.stacks.push(pcs, t.ring.head(), c.sigpc(), c.sigsp())
			}
			t.lock.Store(0)
			break
		}
	}
	pcs[0] = 0
}

// perfSigprofNonGo handles an event's signal on a thread without a g. Its C traceback
// is in sigprofCallers. See sigprofNonGo for what may be done here.
//
// It must make do with little stack. The linker grants nosplit functions 800 bytes.
// On ppc64 sigprofNonGoWrapper takes 544 of them and sigprofNonGo 80, which leaves
// 176 for this function and all that it calls; upstream's branch, addNonGo, takes all
// of these. So no index may need a bounds check (the call of panicBounds takes another
// 120 bytes), and where inlining is off, as for a debugger, the functions called here
// may call no others. test/pmu/ports links both ways, and demands that 48 bytes are
// left with inlining.
//
//go:nosplit
//go:nowritebarrierrec
func perfSigprofNonGo(info *siginfo, ctx unsafe.Pointer) {
	if !perfDoorbell(&sigctxt{info, ctx}) {
		return
	}
	t := perfForeignFind(int32(gettid()))
	if t == nil || !t.lock.CompareAndSwap(0, perfHandlerLock) {
		return // there is no room for a loop
	}
	if q := t.stacks; q != nil && t.used && t.mp == 0 && t.tid == int32(gettid()) && t.ring.base != 0 {
		pc, sp := perfContext(ctx)
		q.push(&sigprofCallers, t.ring.head(), pc, sp)
	}
	t.lock.Store(0)
}

// drainForeign reads the ring of a thread that runs C; it leaves others alone. The
// calling thread's counters are stopped or its signals blocked. perfCross has removed
// what the thread's last stay in Go left in the ring.
func (t *perfThread) drainForeign() {
	t.acquire()
	if t.ring.base != 0 && t.inC() {
		t.readForeign(t.ring.head())
	}
	t.lock.Store(0)
}

// lookForeign is drainForeign while the thread may be running: the signals of the latest records
// may not have been handled.
func (t *perfThread) lookForeign() {
	t.acquire()
	if t.ring.base != 0 && t.inC() {
		head := t.ring.head()
		if t.stacks != nil {
			head = t.stacks.due(&t.ring, head)
		}
		if head > t.ring.tail {
			t.readForeign(head)
		}
	}
	t.lock.Store(0)
}

// readForeign reads the ring of a thread that runs C up to head, and records its samples, with
// the stacks that its handler has queued. The caller has locked t.
func (t *perfThread) readForeign(head uint64) {
	stk := [1 + maxCPUProfStack]uintptr{logicalStackSentinel} // see perfStack
	next, n := uint(0), 1
	until := uint64(0) // records that end here or earlier belong to stk[:n],
	var pc, sp uint64  // if they have these registers
	records := 0
	var rec perfRecord
	for {
		i := t.nextSample(&rec, head)
		if i < 0 {
			break
		}
		records++
		c := &t.ctr[i]
		if !c.takesPeriod(t) {
			continue
		}
		if q := t.stacks; q != nil {
			for until < t.ring.tail && next < q.n {
				until, pc, sp = q.words[next], q.words[next+1], q.words[next+2]
				n = 1
				for _, pc := range q.words[next+perfStackHeader:][:q.words[next+3]] {
					if n < len(stk) {
						stk[n] = uintptr(pc)
						n++
					}
				}
				next += perfStackHeader + uint(q.words[next+3])
			}
		}
		events := c.period + c.carry
		c.carry = 0
		if t.ring.tail <= until && rec.fitsAt(i, uintptr(pc), uintptr(sp)) {
			perfTables.slots[i].add(nil, stk[:n], 1, events)
		} else {
			perfTables.slots[i].addLeaf(rec.leaf(), _ExternalCode, 1, events)
		}
		c.Samples++
		c.Sampled += events
	}
	t.ring.consume()
	if t.stacks != nil {
		t.stacks.n = 0
	}
	t.boundForeign(records)
}

// boundForeign is the overhead bound of a thread that runs C. It sees nothing of what
// a sample costs, only that each record was an interrupt.
func (t *perfThread) boundForeign(records int) {
	b := &t.load
	direction := -1
	if records > 0 {
		cpu := t.cpuTime()
		total := cpu - b.inC
		b.inC = cpu
		each := perfCost.interrupt
		if t.mp != 0 || perfForeignSignals() {
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
	for i := range t.ctr[:t.n] {
		if c := &t.ctr[i]; direction != 0 || c.rung < c.minRung {
			t.step(i, direction)
		}
	}
}
