// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The threads that are sampled: who may touch their counters, and when.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// A perfM is what an m keeps for sampling and for accounts, as a part of its mOS.
type perfM struct {
	_       [0]func()      // no function is needed to compare it
	perf    atomic.Uintptr // *perfThread; written under perfProf.lock
	meter   perfMeterRef   // written under perfCount.lock, and by the thread when it ends
	unwound uintptr        // *perfUnwound, while the thread's handler has sigprof unwind a stack

	// Room for a perfClock and a perfTaken. Programs that can't follow tasks have the types of
	// m's fields, too. They have these anyway.
	clock [4]uint64
	taken [15]uint64
}

var _ [unsafe.Sizeof(perfM{}.clock) - unsafe.Sizeof(perfClock{})]byte // it fits

// A perfThread holds the counters of one thread.
//
// It is allocated outside the heap and never freed, only reused, so a signal
// handler that has just loaded a pointer to it may always lock it and check
// whether it still belongs to its thread.
type perfThread struct {
	_ sys.NotInHeap

	// next and prev link the threads of perfLinux.armed; next alone links the
	// free list. round is that of the latest perfEachThread that has visited the
	// thread. Protected by perfProf.lock.
	next, prev *perfThread
	round      uint32

	// lock protects everything below. Its value is perfHandlerLock if a signal
	// handler of the thread holds it, and else says which M does. The thread's
	// handler waits for another thread to release it, but gives up if it has
	// interrupted its own thread in the middle: then the next signal finds what
	// is in the ring. The holder is on the system stack and waits for nothing
	// but the locks of perfSlots, which are taken after this one.
	lock atomic.Uint32

	used    bool     // belongs to a thread
	fresh   bool     // the thread has just begun; see perfFirstPeriod
	mp      muintptr // the thread's M; 0 if it has none, see perfforeign_linux.go
	foreign bool     // Go did not create the thread, and t is in perfForeign. Protected by perfProf.lock
	tid     int32
	slots   perfSlots     // those for which there is a counter
	n       int           // all of slots are below it
	knocked atomic.Uint32 // knock has sent the thread a SIGPROF, and none has come since
	ring    perfRing
	ctr     [perf.MaxEvents]perfCounter // by slot
	lead    [perf.MaxEvents]perfFD      // the counters that lead them, of events that have a Leader
	stacks  *perfStacks                 // of a thread that runs C; see perfforeign_linux.go. Stays when t is reused
	load    perfBound
	chain   perfChain
	run     perfLeafRun

	wants uintptr // the size of the ring for samples of the session being joined that bring their stacks, or 0

	// What the handler works with. It is here and not on the handler's stack
	// because most of it need not be zeroed for each signal.
	hits perfHits
	stk  perfStack
	walk perfWalk
	more [maxCPUProfStack]uintptr // a stack that continues another one
	data perfDataStack

	dataSlots perfSlots      // whose samples have addresses
	access    perfDataRecord // of the record that was read last
}

// perfLinux is the Linux part of perfProf. Protected by perfProf.lock.
var perfLinux struct {
	armed, last *perfThread // threads that have counters, doubly linked
	round       uint32      // see perfEachThread
	free        *perfThread // linked by next only

	// readFormat is what read(2) of a counter returns, and perf.SampleRead:
	// value, time enabled, time running, ID and, since Linux 6.0, records lost.
	readFormat uint64

	// regs says that samples have the user's registers. Not all kernels provide
	// them on all architectures.
	regs bool

	// sigEntry is where the kernel begins the handling of SIGPROF, which may be
	// a sanitizer's wrapper of Go's handler.
	sigEntry uintptr

	// fds is the least descriptor that sessions must not take. The kernel gives
	// out the least one that is free, so this many are in use by then.
	fds int32

	// mcall is where mcall begins, and mcallSize how long it is.
	mcall, mcallSize uintptr

	// exec is the thread that is in execve, or 0; see perfExec.
	exec int32

	// maxPercent is the least perf.Limits.Cost of all sessions, and minClock the
	// least first period of a clock, in ns. They are written before any thread is
	// armed for the session that changes them, and handlers read maxPercent
	// without a lock.
	maxPercent atomic.Int32 // not 64 bits: see perfInAtomic64
	minClock   uint64
}

// perfNewThread returns an unused perfThread.
func perfNewThread() *perfThread {
	lock(&perfProf.lock)
	t := perfLinux.free
	if t != nil {
		perfLinux.free = t.next
		t.next = nil
	}
	unlock(&perfProf.lock)
	if t == nil {
		t = (*perfThread)(persistentalloc(unsafe.Sizeof(perfThread{}), 0, &memstats.other_sys))
	}
	return t
}

// assign makes t the perfThread of thread tid, whose M is mp, or nil if it has
// none. It is to be armed next. The caller holds perfProf.lock.
func (t *perfThread) assign(mp *m, tid int32) {
	t.acquire()
	t.used = true
	t.fresh = false
	t.mp.set(mp)
	t.tid = tid
	t.load = perfBound{}
	t.chain = perfChain{}
	t.lock.Store(0)
}

// release closes t's ring and counters, and puts it on the free list. A handler
// may hold its lock; it does not use a perfThread with mp == 0. The caller holds
// perfProf.lock.
func (t *perfThread) release() {
	t.acquire()
	t.used = false
	t.mp.set(nil)
	t.chain.bell.delete()
	t.ring.close()
	for i := range t.ctr[:t.n] {
		t.closeCounter(i)
	}
	t.n = 0
	t.slots = 0
	t.dataSlots = 0
	t.lock.Store(0)
	t.recycle()
}

// closeCounter closes the counter of slot i, and after it the one that leads it. The
// caller holds perfProf.lock and t.lock.
func (t *perfThread) closeCounter(i int) {
	t.ctr[i].close()
	t.lead[i].close()
	t.ctr[i], t.lead[i] = perfCounter{}, perfFD{}
}

// recycle puts an unused t on the free list. The caller holds perfProf.lock.
func (t *perfThread) recycle() {
	t.next = perfLinux.free
	perfLinux.free = t
}

// getsSignals reports whether t's thread should get signals for overflows.
func (t *perfThread) getsSignals() bool {
	return (t.mp != 0 || perfForeignSignals()) && t.tid != perfLinux.exec
}

// setSignals sets whether t's thread gets signals for overflows.
func (t *perfThread) setSignals(on bool) {
	flags := uintptr(0)
	if on {
		flags = _O_ASYNC
	}
	for i := range t.ctr[:t.n] {
		if c := &t.ctr[i]; c.isOpen() && !(on && c.chain && c.firstDone && t.chain.quiet) {
			fcntlPtr(c.fd, _F_SETFL, flags)
		}
	}
}

// inC reports whether t's thread runs C code that Go did not call.
func (t *perfThread) inC() bool {
	mp := t.mp.ptr()
	return mp == nil || mp.isExtraInC
}

// perfHandlerLock is the value of perfThread.lock while a signal handler holds it.
const perfHandlerLock = 1

// perfLockOf returns the value of perfThread.lock while mp's thread holds it.
//
//go:nowritebarrierrec
func perfLockOf(mp *m) uint32 { return perfHandlerLock + 1 + uint32(mp.id) }

// acquire takes t.lock in normal code.
//
//go:nowritebarrierrec
func (t *perfThread) acquire() {
	for !t.lock.CompareAndSwap(0, perfLockOf(getg().m)) {
		osyield()
	}
}

// acquireInHandler takes t.lock in a signal handler of mp's thread, unless that
// thread holds it.
//
//go:nowritebarrierrec
func (t *perfThread) acquireInHandler(mp *m) bool {
	for !t.lock.CompareAndSwap(0, perfHandlerLock) {
		if t.lock.Load() == perfLockOf(mp) {
			return false
		}
		osyield()
	}
	return true
}

// link puts t at the end of perfLinux.armed. A perfEachThread that is under way
// has nothing to do for it. The caller holds perfProf.lock.
func (t *perfThread) link() {
	t.round = perfLinux.round
	t.prev, t.next = perfLinux.last, nil
	if t.prev != nil {
		t.prev.next = t
	} else {
		perfLinux.armed = t
	}
	perfLinux.last = t
}

// unlink removes t from perfLinux.armed. The caller holds perfProf.lock.
func (t *perfThread) unlink() {
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		perfLinux.armed = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		perfLinux.last = t.prev
	}
	t.prev, t.next = nil, nil
}

// perfEachThread calls f on the system stack for each thread that is armed now,
// with perfProf.lock held. It releases the lock between threads, so a thread that
// exits does not wait for all the others, and the world can stop there. One call
// is under way at a time, but the goroutine may move to another thread.
//
// f reports whether it is done with t, which it may have released. If not, f is
// called again, unless t has exited. Threads that f is done with go to the end of
// the list, as do new ones.
func perfEachThread(f func(t *perfThread) (done bool)) {
	var round uint32
	systemstack(func() {
		lock(&perfProf.lock)
		perfLinux.round++
		round = perfLinux.round
		unlock(&perfProf.lock)
	})
	for perfNextThread(round, f) {
	}
}

// perfNextThread calls f for the next thread of a round. It reports whether there
// was one.
//
//go:noinline
func perfNextThread(round uint32, f func(t *perfThread) (done bool)) (more bool) {
	systemstack(func() {
		lock(&perfProf.lock)
		t := perfLinux.armed
		more = t != nil && t.round != round
		wait := false
		if more {
			wait = !f(t)
			if !wait && t == perfLinux.armed {
				t.unlink()
				t.link()
			}
		}
		unlock(&perfProf.lock)
		if wait {
			osyield()
		}
	})
	return more
}
