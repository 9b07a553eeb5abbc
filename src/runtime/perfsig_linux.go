// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The signal handler's part of sampling performance-monitoring events.
//
// Everything here may run in a signal handler, with all signals blocked, at any
// instruction of the program: no allocation, no write barriers, and no locks but two
// spin locks whose holder is never the code that the signal has interrupted. The
// value of perfThread.lock says who holds it. perfSlot.lock is held by other
// threads' handlers, or by normal code on a thread that has no counter of the slot,
// blocks SIGPROF, or holds the lock of its own perfThread.

package runtime

import (
	"internal/goarch"
	"internal/stringslite"
	"unsafe"
)

// perfSessionSigprof is perfSigprof in a program that has had a session.
//
// The counters run on while the handler does. Stopping and starting them takes two
// system calls per event, which cost more than the whole rest of the handler (7-12
// us against 1-2 us, measured on a virtual machine), and with the kernel excluded
// what they count meanwhile is just this code. That is a part of each period, 2 % of
// the cycles at 10 kHz, and the same part whatever was interrupted, so shares stay
// right (TestPerfHandlerCost); the profile says how long the handlers took. What
// overflows in the handler is recorded as such.
//
//go:nowritebarrierrec
func perfSessionSigprof(c *sigctxt, gp *g, mp *m, delayed bool) bool {
	// Look at the ring on the timer's signals too: while one is pending the kernel
	// drops ours (legacy_queue in kernel/signal.c).
	doorbell := perfDoorbell(c)
	if perfInAtomic64(c.sigpc()) {
		return doorbell // the next signal's handler reads the ring
	}

	t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	doorbell = doorbell || t != nil && (t.isKnock(c) || t.isBell(c))
	if t == nil || !t.acquireInHandler(mp) {
		return doorbell // not armed any more, or this thread is about to change that
	}
	if t.mp.ptr() != mp {
		// Disarmed, and t reused, since it was loaded.
		t.lock.Store(0)
		return doorbell
	}

	if t.knocked.Load() != 0 {
		t.knocked.Store(0)
	}

	hits := &t.hits
	hits.reset(t.n)
	whole := true // the ring is read
	var entry int64
	if t.chain.slots != 0 {
		entry = nanotime() // their records don't have it
	}
	if t.ring.base != 0 {
		head := t.ring.head()
		t.drain(hits, gp, c, head, delayed)
		if t.chain.quiet && t.isBell(c) {
			t.chain.bell.rang(&t.ring, head, t.cpuTime())
		}
		whole = t.ring.tail == head
	} else if doorbell {
		entry = nanotime()
		t.drainCounters(hits, gp, perfSigFD(c))
	}
	if perfProf.exact != 0 {
		t.watchProgress(hits, c, delayed)
	}
	if hits.any {
		t.sample(hits, c, gp, mp, delayed)
	}
	if hits.any || hits.first != 0 || hits.strays != 0 {
		t.load.account(t, hits, entry, nanotime())
	}
	if t.chain.slots != 0 {
		t.chain.handled(t, entry)
	}
	// Records since head was read overflowed in this handler. Their signal is
	// blocked until it returns. If drain has left some to newstack, these stay behind
	// them, and have stacks that say so.
	if t.ring.base != 0 && whole {
		t.drainLeafs(t.ring.head(), perfLeafHandler)
	}
	t.lock.Store(0)
	return doorbell
}

// perfDoorbell reports whether the signal comes from a descriptor with O_ASYNC.
// It may be a descriptor of the program's, which uses F_SETSIG with SIGPROF, too:
// only the ring says what has overflowed.
//
// It calls nothing, not even c.sigcode; see perfSigprofNonGo.
//
//go:nosplit
//go:nowritebarrierrec
func perfDoorbell(c *sigctxt) bool {
	code := c.info.si_code
	return _POLL_IN <= code && code <= _POLL_HUP
}

// perfSigFD returns si_fd, or -1 if the signal has none. In siginfo_t's union,
// struct { long si_band; int si_fd; } has the place of si_addr.
//
//go:nosplit
//go:nowritebarrierrec
func perfSigFD(c *sigctxt) int32 {
	if !perfDoorbell(c) {
		return -1
	}
	return *(*int32)(add(unsafe.Pointer(&c.info.si_addr), goarch.PtrSize))
}

// perfInAtomic64 reports whether pc is in the emulation of 64-bit atomics on 32-bit
// arm and mips. It holds a spin lock there that a profBuf's atomics would take. See
// sigprof.
//
//go:nowritebarrierrec
func perfInAtomic64(pc uintptr) bool {
	if GOARCH == "mips" || GOARCH == "mipsle" || GOARCH == "arm" {
		if f := findfunc(pc); f.valid() && stringslite.HasPrefix(funcname(f), "internal/runtime/atomic") {
			return true
		}
		return GOARCH == "arm" && goarm < 7 && pc&0xffff0000 == 0xffff0000
	}
	return false
}

// sample records the overflows in hits with the stack that c interrupted.
//
//go:nowritebarrierrec
func (t *perfThread) sample(hits *perfHits, c *sigctxt, gp *g, mp *m, delayed bool) {
	// See sigprof.
	getg().m.mallocing++
	var tagPtr *unsafe.Pointer
	if gp != nil && gp.m != nil && gp.m.curg != nil {
		tagPtr = &gp.m.curg.labels
	}

	stk := &t.stk
	var last uintptr // instruction that stk is of; it differs between events only if exactPC says so
	for i := range t.ctr[:t.n] {
		h := &hits.ev[i]
		s := &perfTables.slots[i]
		period := t.ctr[i].period
		if all := h.n + h.kernel; all > 0 && delayed {
			// The thread sanitizer calls the handler later than the signal came, and
			// the stack has changed. See sighandler.
			s.addLeaf(h.ip, _PerfDelayed, all, all*period)
			t.ctr[i].Delayed += all
			t.ctr[i].Sampled += all * period
			continue
		}
		if h.n > 0 {
			pc := c.sigpc()
			if h.exact {
				pc = t.ctr[i].exactPC(h.ip, pc, h.n)
			}
			if pc != last {
				stk.unwind(&t.walk, pc, c.sigsp(), c.siglr(), gp, mp)
				last = pc
			}
			s.add(tagPtr, stk.user(), h.n, h.n*period)
			t.ctr[i].Samples += h.n
			t.ctr[i].Sampled += h.n * period
		}
		if h.kernel > 0 {
			// The kernel's instruction is called by the stack that entered it.
			if pc := c.sigpc(); pc != last {
				stk.unwind(&t.walk, pc, c.sigsp(), c.siglr(), gp, mp)
			}
			s.add(tagPtr, stk.kernel(h.kernelIP), h.kernel, h.kernel*period)
			last = 0
			t.ctr[i].Samples += h.kernel
			t.ctr[i].Sampled += h.kernel * period
		}
	}
	getg().m.mallocing--
}
