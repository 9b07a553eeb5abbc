// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Arming threads.
//
// Each thread has one counter per slot that samples an event, and one more in front
// of it if the event has a Leader. They are opened for that thread only
// (perf_event_open(2), pid = tid, cpu = -1): they count wherever the thread runs and
// cost other threads nothing. An overflow makes the kernel write
// a record to the thread's ring and send SIGPROF to that very thread (fcntl(2),
// F_SETOWN_EX with F_OWNER_TID).
//
// Threads that exist when a session starts are armed by the goroutine that starts
// it: any thread may open counters for any other of its process, and one that is
// deep in a system call or in C would not come by for long. A thread that comes
// later arms itself in minit, which every thread passes before it runs Go code,
// including C threads that call into Go. So the schedule path needs no check.
//
// A thread disarms itself in unminit, before it exits. Otherwise whoever stops the
// session does, synchronously; see perfdisarm_linux.go. For threads that Go did not
// create, and those that return from Go to C, see perfforeign_linux.go.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

// perfosStart arms all threads for the session. The calling thread comes first:
// what is wrong with an event or with our permissions shows there and is returned.
// Another thread that can't be armed for lack of descriptors or memory is counted
// in the ledger; that is no reason to go without a profile.
func perfosStart(ss *perfSession, limits perf.Limits) perf.Failure {
	alone := perfProf.active == 0 // starts and stops come one after the other
	perfSetHooks()
	perfInstallHandler()

	if perfChooseChains(ss, limits); ss.chainRing() != 0 {
		ss.quiet = true
		perfQuietStart()
	}

	mp := acquirem() // the self-armed thread must stay the current one
	perfLinux.fds = int32(limits.FD)
	perfLimitCost(nil)
	if alone {
		perfProbeKernel(mp, ss)
	}
	perfStartRungs(ss)

	// From here on new threads arm themselves. A thread that is being created
	// has either not reached minit's check, which will see the new state, or has
	// stored its procid before that check, and the loop below sees it. Both are
	// sequentially consistent.
	var f perf.Failure
	systemstack(func() {
		lock(&perfProf.lock)
		perfProf.active |= ss.mask
		perfProf.state.Store(perfSampling)
		unlock(&perfProf.lock)

		f = perfArm(mp, ss)
	})
	releasem(mp)
	if f.Op != perf.OpNone {
		perfosStop(ss)
		return f
	}
	// allm is prepended to, and elements removed from it keep their links. So it
	// can be walked without a lock, which would stop the scheduler for the time
	// of all these system calls.
	for p := (*m)(atomic.Loadp(unsafe.Pointer(&allm))); p != nil; p = p.alllink {
		perfArmM(p, ss)
	}
	perfEachThread(func(t *perfThread) bool {
		if t.mp == 0 {
			t.join(ss) // it runs C, and is known from another session
		}
		return true
	})
	return perf.Failure{}
}

// perfProbeKernel finds out, for the first of the sessions that run at a time,
// what the kernel's samples have and what they cost. With other sessions' counters
// running their cost would be measured too; what was measured for the first
// session holds for all of them.
func perfProbeKernel(mp *m, ss *perfSession) {
	perfForeignReset()
	perfLinux.regs = true
	perfLinux.readFormat = perf.FormatTotalTimeEnabled | perf.FormatTotalTimeRunning | perf.FormatID | perf.FormatLost
	var sa sigactiont
	sysSigaction(_SIGPROF, nil, &sa)
	perfLinux.sigEntry = sa.sa_handler
	perfLinux.minClock = perfMinClock
	perfMeasureCost(mp, ss)
}

// perfArmM arms an existing thread for the session, if it is not armed yet. Like
// perfNextThread it is called for each of perhaps thousands of threads, and takes
// some ten microseconds for each. The goroutine can be preempted on entry, so that
// stopping the world need not wait for all of them.
//
//go:noinline
func perfArmM(mp *m, ss *perfSession) {
	systemstack(func() { perfArm(mp, ss) })
}

// perfArm opens and starts a session's counters on mp's thread, unless the thread
// is gone. The thread may be armed for other sessions already. A failure on the
// calling thread is not counted, for it ends the session.
//
// If ss is nil, mp's thread is the calling one and has just begun. It is armed for
// all sessions.
func perfArm(mp *m, ss *perfSession) (f perf.Failure) {
	spare := perfNewThread()
	if mp.isextra {
		spare.makeStacks()
	}
	lock(&perfProf.lock)
	tid := int32(atomic.Load64(&mp.procid))
	t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	switch {
	case perfProf.active == 0 || tid == 0:
	case t == nil && perfForeignAdopt(mp, tid):
		t = (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	case t == nil:
		t, spare = spare, nil
		t.assign(mp, tid)
	}
	if spare != nil {
		spare.recycle()
	}
	if t != nil {
		t.fresh = ss == nil
		f = t.arm(ss)
	}
	unlock(&perfProf.lock)
	return f
}

// arm opens and starts the counters that t's thread lacks: those of ss, or of all
// sessions if ss is nil. If the thread has no counters then, t is released. The
// caller holds perfProf.lock.
func (t *perfThread) arm(ss *perfSession) (f perf.Failure) {
	if ss != nil {
		f = t.join(ss)
	} else {
		for i := range perfTables.sessions {
			if e := t.join(&perfTables.sessions[i]); e.Op != perf.OpNone {
				f = e
			}
		}
	}
	if t.slots == 0 {
		t.release()
	}
	return f
}

// join opens and starts the session's counters on t's thread, unless it has them.
// If one can't be opened, none is, and that is entered in the ledger. The caller
// holds perfProf.lock. Other sessions may sample the thread meanwhile, and its
// handler runs as long as t.lock is not held.
func (t *perfThread) join(ss *perfSession) perf.Failure {
	if ss.mask&perfProf.active == 0 || ss.mask&t.slots != 0 {
		return perf.Failure{}
	}
	var ctr [perf.MaxEvents]perfCounter
	var lead [perf.MaxEvents]perfFD
	if f := t.openCounters(ss, &ctr, &lead); f.Op != perf.OpNone {
		perfArmFailed(ss, f)
		return f
	}
	first := t.slots == 0
	t.acquire()
	for _, slot := range ss.slots[:ss.n] {
		t.ctr[slot], t.lead[slot] = ctr[slot], lead[slot]
		t.ctr[slot].joined = t.cost()
		t.n = max(t.n, int(slot)+1)
		if perfTables.slots[slot].cfg.Data {
			t.dataSlots |= perfSlotBit(int(slot))
		}
	}
	t.slots |= ss.mask
	if !first {
		t.load.newWindow(t)
	}
	t.addChains(ss)
	t.lock.Store(0)
	if first {
		t.link()
		mp := t.mp.ptr()
		if mp != nil {
			mp.perf.Store(uintptr(unsafe.Pointer(t)))
		}
		if mp == nil || mp.isextra {
			perfForeignInsert(t)
		}
	}
	for _, slot := range ss.slots[:ss.n] {
		perfTables.slots[slot].stats.Threads++
		if t.ring.base == 0 {
			perfTables.slots[slot].stats.NoRing++
		}
		// Can't fail for an open counter.
		ioctl(t.ctr[slot].fd, perf.IoctlEnable, 0)
	}
	return perf.Failure{}
}

// openCounters opens the session's counters for t's thread in ctr, by slot,
// stopped, and those that lead them in lead. If it fails, none is open.
func (t *perfThread) openCounters(ss *perfSession, ctr *[perf.MaxEvents]perfCounter, lead *[perf.MaxEvents]perfFD) perf.Failure {
	t.wants = 0
	if t.mp != 0 && !t.mp.ptr().isextra {
		t.wants = ss.chainRing()
	}
	for i, slot := range ss.slots[:ss.n] {
		op, errno := ctr[slot].open(t, int(slot), &lead[slot], &ctr[ss.slots[0]])
		if op == perf.OpNone {
			continue
		}
		// The one that failed may have descriptors, too.
		for _, slot := range ss.slots[:i+1] {
			ctr[slot].close()
			lead[slot].close()
		}
		if t.slots == 0 {
			t.ring.close()
		}
		return perf.Failure{Slot: i, Op: op, Errno: errno}
	}
	return perf.Failure{}
}

// perfArmFailed enters in the session's ledger that a thread could not be armed.
func perfArmFailed(ss *perfSession, f perf.Failure) {
	if f.Errno == _ESRCH {
		return // the thread is gone
	}
	// A thread is sampled for all events or for none.
	for _, slot := range ss.slots[:ss.n] {
		perfTables.slots[slot].stats.Fail(f)
	}
}
