// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Where the rest of the runtime calls the engine: when a thread begins and ends,
// when it crosses between C and Go, when it gets a SIGPROF, and around execve. While
// nothing is sampled or counted each but the last costs a load and a compare.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// perfHooks are the engine's entry points. The first session sets them, before
// perfProf.used and perfProf.state, which callers look at first; later sessions
// leave them as they are. They are variables so that the linker leaves the engine
// out of a program that has no way to start a session. (The compiler does not look
// for write barriers behind them, so the functions are marked themselves.)
//
// Their type has a name because the linker writes an anonymous struct's fields three times.
var perfHooks perfHookTable

type perfHookTable struct {
	init, exit func(mp *m)
	exec       func(mp *m, begin bool)
	cross      func(mp *m, toGo bool)
	sigprof    func(c *sigctxt, gp *g, mp *m, delayed bool) bool
	preempted  func(gp *g, c *sigctxt, pc uintptr)
	leave      func(mp *m, grown bool)

	replace func(begin bool) // the program, by execve; set by the first page, see perfhazard_linux.go
}

// perfSetHooks connects the engine. Starts of sessions come one after the other.
func perfSetHooks() {
	if perfProf.used.Load() {
		return
	}
	perfHooks.init = perfSessionInitThread
	perfHooks.exit = perfSessionExitThread
	perfHooks.exec = perfSessionExec
	perfHooks.cross = perfSessionCross
	perfHooks.sigprof = perfSessionSigprof
	perfHooks.preempted = perfSessionPreempted
	perfHooks.leave = perfSessionLeave
	perfProf.used.Store(true)
}

// perfInitThread arms the current thread if a session is running. It is called
// from minit, with signals unblocked, possibly without a P.
func perfInitThread(mp *m) {
	if perfOpenSets.Load() != 0 {
		perfCountHooks.init(mp)
	}
	if perfProf.state.Load() == perfSampling {
		perfHooks.init(mp)
	}
}

func perfSessionInitThread(mp *m) {
	systemstack(func() { perfArm(mp, nil) })
}

// perfExitThread disarms the current thread, which exits or leaves Go. It is
// called from unminit with all signals blocked, possibly without a P.
//
//go:nowritebarrierrec
func perfExitThread(mp *m) {
	// unminit is about to do this. Doing it before looking at the states means
	// that whoever starts a session or opens a set later does not find the
	// thread, and that whoever has found it already holds the lock taken below
	// until it is armed.
	atomic.Store64(&mp.procid, 0)
	// In the reverse order of perfInitThread, so that what a profile counts of
	// a thread is a part of what a set of counters does.
	if perfProf.state.Load() != perfIdle {
		perfHooks.exit(mp)
	}
	if perfOpenSets.Load() != 0 {
		perfCountHooks.exit(mp)
	}
	if mp.meter != 0 {
		perfCountHooks.exitMeter(mp)
	}
}

//go:nowritebarrierrec
func perfSessionExitThread(mp *m) {
	lock(&perfProf.lock)
	if t := (*perfThread)(unsafe.Pointer(mp.perf.Load())); t == nil {
		// Never armed, or disarmed by perfStopThreads.
	} else if mp.isextra && !perfThreadEnds(mp) {
		t.leaveGo(mp)
	} else {
		t.stop(t.slots)
		t.disarm(t.slots)
	}
	unlock(&perfProf.lock)
}

// perfCross is called by a thread of C that has an M, when it goes to Go and when
// it goes back to C that Go did not call. The thread must not be preempted; see
// cgocallbackg. And mp.isExtraInC must be false, so that no signal makes the
// thread take an M for its handler (see badsignal): arming that M would wait for
// perfProf.lock, whose holder may wait for the lock taken here.
//
//go:nosplit
func perfCross(mp *m, toGo bool) {
	if mp.perf.Load() != 0 {
		perfHooks.cross(mp, toGo)
	}
}

// perfSessionCross records what has overflowed on the side the thread comes from
// and has not been read yet. Otherwise the next reader of the ring would take it
// for the other side's.
//
// It holds the thread's lock, so its handler does not wait for a slot's.
//
//go:nosplit
func perfSessionCross(mp *m, toGo bool) {
	systemstack(func() {
		t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
		if t == nil {
			return
		}
		t.acquire()
		if t.mp.ptr() == mp && t.ring.base != 0 && t.ring.head() != t.ring.tail {
			if toGo && mp.ncgo == 0 { // from C that Go did not call
				t.readForeign(t.ring.head())
			} else {
				t.drainLeafs(t.ring.head(), perfLeafDelayed)
			}
			// These overflowed here, while the handler gave up.
			t.drainLeafs(t.ring.head(), perfLeafHandler)
		}
		t.lock.Store(0)
	})
}

// perfSigprof handles a SIGPROF on a thread with an M. It reports whether the
// signal was an event's doorbell, and not the timer's.
//
//go:nowritebarrierrec
func perfSigprof(c *sigctxt, gp *g, mp *m, delayed bool) bool {
	if !perfProf.used.Load() {
		return false
	}
	// The handler's c is on its stack. The compiler can't see that it stays there.
	return perfHooks.sigprof((*sigctxt)(noescape(unsafe.Pointer(c))), gp, mp, delayed)
}

// perfExec is called when the program is about to be replaced by another, and when
// that has failed. In between the goroutine stays on its thread, which gets no
// SIGPROF for overflows.
//
// The counters count on in execve until it closes their descriptors, where the
// kernel is included, and so may a PMU's interrupt that comes late. A signal that is
// pending then survives, and the new program, which has SIGPROF's default action,
// is killed. (Those of the timer's profile are discarded, with the timer: see
// begin_new_exec in fs/exec.c.) All other threads end in execve, with what is
// pending for them. To block the signal would not do, as that survives, too.
//
// perfLinux.exec is set even if there is no session, as another goroutine may start one.
func perfExec(begin bool) {
	if begin {
		lockOSThread()
	}
	mp := getg().m
	lock(&perfProf.lock)
	perfLinux.exec = 0
	if begin {
		perfLinux.exec = int32(atomic.Load64(&mp.procid))
	}
	if perfProf.used.Load() {
		perfHooks.exec(mp, begin)
	}
	unlock(&perfProf.lock)
	if h := perfHooks.replace; h != nil {
		h(begin)
	}
	if !begin {
		unlockOSThread()
	}
}

// perfSessionExec is perfExec's part in a program that has had a session. The
// caller holds perfProf.lock.
func perfSessionExec(mp *m, begin bool) {
	t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	if t == nil {
		return
	}
	// After this a signal that came before has been delivered, on return from the
	// system call.
	t.setSignals(!begin)
	if !begin {
		// What has overflowed meanwhile has the stack of this call. t stays the
		// thread's while the lock is held.
		t.knock()
	}
}

// perfSigbus is called by the handler of SIGBUS, unless it is nil. It reports whether the access can be
// done again. The first page sets it; see perfhazard_linux.go.
var perfSigbus func(info *siginfo) bool
