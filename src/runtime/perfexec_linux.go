// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

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
