// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The signal handler's part of sampling performance-monitoring events.
//
// Everything here may run in a signal handler, with all signals blocked, at
// any instruction of the program: no allocation, no write barriers, and no
// locks but two spin locks. perfThread.lock is only tried. perfSlot.lock is
// held by other threads' handlers, or by normal code on a thread whose own
// counters have been stopped, so its holder is never what was interrupted here.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/stringslite"
	"unsafe"
)

// perfSigprof handles a SIGPROF on a thread with an M. It reports whether the
// signal was an event's doorbell, and not the timer's.
//
//go:nowritebarrierrec
func perfSigprof(c *sigctxt, gp *g, mp *m, delayed bool) bool {
	if !perfProf.used.Load() {
		return false // not our business
	}
	// The handler's c is on its stack. The compiler can't see that it stays there.
	return perfHooks.sigprof((*sigctxt)(noescape(unsafe.Pointer(c))), gp, mp, delayed)
}

// perfSessionSigprof is perfSigprof of a program that has had a session.
//
// The counters run on while the handler does. Stopping and starting them takes
// two system calls per event, which cost more than the whole rest of the
// handler (7-12 us against 1-2 us, measured on a virtual machine), and with
// the kernel excluded what they count meanwhile is just this code. It is a part
// of each period, 2 % of the cycles at 10 kHz, and the same part whatever was
// interrupted, so that shares stay right (TestPerfHandlerCost); the profile says
// how long the handlers took. What overflows in the handler is recorded as such.
//
//go:nowritebarrierrec
func perfSessionSigprof(c *sigctxt, gp *g, mp *m, delayed bool) bool {
	// Look at the ring on the timer's signals too: while one is pending the
	// kernel drops ours (legacy_queue in kernel/signal.c).
	doorbell := perfDoorbell(c)

	t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	if t == nil || !t.lock.CompareAndSwap(0, 1) {
		// Not armed any more, or just being disarmed by another thread, which
		// takes care of the records.
		return doorbell
	}
	if t.mp.ptr() != mp {
		// Disarmed, and t reused, since it was loaded.
		t.lock.Store(0)
		return doorbell
	}

	hits := &t.hits
	hits.reset(t.n)
	var entry int64
	if t.ring.base != 0 {
		t.drain(hits, gp, c.sigpc(), t.ring.head())
		if perfProf.exact {
			t.watchProgress(hits, c.sigpc())
		}
	} else if doorbell {
		entry = nanotime()
		t.drainCounters(hits, gp, perfSigFD(c))
	}
	if hits.any {
		t.sample(hits, c, gp, mp, delayed)
	}
	// Records since head was read overflowed in this handler. Their signal
	// is blocked until it returns, and would then blame what it interrupted.
	if t.ring.base != 0 {
		t.drainLeafs(t.ring.head(), true)
	}
	if hits.any || hits.first != 0 {
		t.account(hits, entry, nanotime())
	}
	t.lock.Store(0)
	return doorbell
}

// perfDoorbell reports whether the signal comes from a descriptor with O_ASYNC.
// User code's F_SETSIG with SIGPROF is not told from ours: the ring tells.
//
//go:nosplit
//go:nowritebarrierrec
func perfDoorbell(c *sigctxt) bool {
	code := int32(c.sigcode())
	return _POLL_IN <= code && code <= _POLL_HUP
}

// perfSigFD returns si_fd. In siginfo_t's union struct { long si_band; int
// si_fd; } has the place of si_addr.
//
//go:nowritebarrierrec
func perfSigFD(c *sigctxt) int32 {
	return *(*int32)(add(unsafe.Pointer(&c.info.si_addr), goarch.PtrSize))
}

// perfHits are the overflows that one signal announced, by event.
type perfHits struct {
	any         bool
	first, time int64 // nanotime of the first overflow and of the latest; 0 if not known
	ev          [perf.MaxEvents]struct {
		n     uint64  // overflows in user mode that belong to the interrupted stack
		ip    uintptr // instruction of the latest; 0 if not known
		exact bool    // ip is the instruction that caused the event

		kernel   uint64  // overflows in the kernel, which the interrupted stack entered
		kernelIP uintptr // their instruction, or perfKernelIP
	}
}

// reset empties the entries of the first n events, which are all that are used.
//
//go:nowritebarrierrec
func (h *perfHits) reset(n int) {
	h.any = false
	h.first, h.time = 0, 0
	clear(h.ev[:n])
}

// perfKernelIP stands for instructions of the kernel that are not known. It is
// in the last page of the address space, where there is no code.
const perfKernelIP = ^uintptr(4095)

// overflow reads the next sample record before head into rec, and returns the
// index of its event, or -1 if there is none. Records of other types are entered
// in the ledger.
//
//go:nowritebarrierrec
func (t *perfThread) overflow(rec *perfRecord, head uint64) int {
	for t.ring.tail != head {
		if !t.ring.next(rec, head) {
			continue
		}
		i := t.event(rec)
		switch {
		case i < 0:
		case rec.typ != _PERF_RECORD_SAMPLE:
			t.note(i, rec)
		default:
			if rec.kernel() && perfProf.slots[i].cfg.ExcludeKernel {
				// The counter stopped on the way into the kernel, and the
				// interrupt found the thread there (skid). The address is none
				// of the program's business; perf_event_open(2) would not have
				// told it: exclude_kernel.
				rec.ip = 0
				rec.misc &^= _PERF_RECORD_MISC_CPUMODE_MASK | _PERF_RECORD_MISC_EXACT_IP
			}
			return i
		}
	}
	return -1
}

// drain reads the ring up to head and counts in hits the overflows of each
// event that belong to the interrupted stack, whose leaf is at pc.
//
// The latest record of an event is what the signal is about. Earlier ones are
// there because SIGPROF was blocked, or pending with the thread off the CPU.
// Where their instruction is in another function than pc, the interrupted
// stack is not theirs, and they are recorded with their leaf only.
//
//go:nowritebarrierrec
func (t *perfThread) drain(hits *perfHits, gp *g, pc uintptr, head uint64) {
	if t.ring.tail == head {
		return
	}
	var rec perfRecord
	for {
		i := t.overflow(&rec, head)
		if i < 0 {
			break
		}
		if hits.first == 0 {
			hits.first = rec.time
		}
		if perfProf.watch && perfWatches(i, rec.ip) && perfReplayed(gp) {
			t.ctr[i].replayed++
			continue
		}
		if !t.count(i) {
			continue
		}
		h := &hits.ev[i]
		hits.any = true
		hits.time = rec.time
		if rec.kernel() {
			h.kernel++
			if h.kernel == 1 && goarch.PtrSize == 8 {
				h.kernelIP = rec.ip
			} else if h.kernelIP != rec.ip {
				h.kernelIP = perfKernelIP
			}
			continue
		}
		if h.n > 0 && !perfSameFunc(h.ip, pc) {
			h.n--
			t.leaf(i, h.ip, _PerfDelayed)
			t.ctr[i].delayed++
		}
		h.n++
		h.ip = rec.ip
		h.exact = rec.misc&_PERF_RECORD_MISC_EXACT_IP != 0
	}
	t.ring.consume()
}

// drainLeafs reads the ring up to head and records every overflow with its leaf
// only: with inHandler those in the signal handler itself, which calls it, and
// otherwise those that no handler will read any more.
//
//go:nowritebarrierrec
func (t *perfThread) drainLeafs(head uint64, inHandler bool) {
	if t.ring.tail == head {
		return
	}
	var rec perfRecord
	for {
		i := t.overflow(&rec, head)
		if i < 0 {
			break
		}
		if !t.count(i) {
			continue
		}
		if inHandler {
			t.leaf(i, rec.ip, _PerfHandler)
			t.ctr[i].inHandler++
		} else {
			t.leaf(i, rec.ip, _PerfDelayed)
			t.ctr[i].delayed++
		}
	}
	t.ring.consume()
}

// perfPreempted notes that gp is preempted and will resume at pc, before the
// instruction there.
//
// An execution breakpoint is hit before its instruction runs. If an
// asynchronous preemption then makes gp call asyncPreempt from the same
// instruction, returning from that call hits the breakpoint a second time: the
// processor's resume flag, which the kernel keeps for signal handlers, does
// not survive a return instruction. Since most of the time of a function with
// a breakpoint is spent on the breakpoint, that is where preemptions find it.
// So for each preemption one hit is not counted: the next one. It is the second
// if the preemption came after the first one's SIGPROF; otherwise it is the
// first, whose SIGPROF waits for this handler and then finds gp in asyncPreempt,
// and the second has the right stack.
//
// g.perfReplay has the number of hits not to count in its lower two bits. It
// can be above 1, as a second preemption may come before the next hit's SIGPROF.
// The other bits are the session that it is about: one that ends before the hit
// leaves it behind. It is used by the signal handlers of the thread that runs
// the goroutine. (It is one byte so that a g is no larger than upstream's.)
//
//go:nowritebarrierrec
func perfPreempted(gp *g, c *sigctxt, pc uintptr) {
	if !perfProf.watch || perfProf.state.Load() != perfSampling {
		return
	}
	if pc == c.sigpc() && !perfHitBefore(c) {
		return
	}
	for i := range perfProf.slots[:perfProf.n] {
		if perfWatches(i, pc) {
			if gp.perfReplay>>2 != perfProf.session {
				gp.perfReplay = perfProf.session << 2
			}
			if gp.perfReplay&3 < 3 {
				gp.perfReplay++
			}
			return
		}
	}
}

// perfReplayed reports whether a hit of a breakpoint is no new execution, and
// if so takes note that it has come.
//
//go:nowritebarrierrec
func perfReplayed(gp *g) bool {
	if gp.perfReplay>>2 != perfProf.session || gp.perfReplay&3 == 0 {
		return false
	}
	gp.perfReplay--
	return true
}

// perfWatches reports whether event i samples each execution of pc.
//
//go:nowritebarrierrec
func perfWatches(i int, pc uintptr) bool {
	c := &perfProf.slots[i].cfg
	return c.Type == _PERF_TYPE_BREAKPOINT && c.BPType == _HW_BREAKPOINT_X && c.Config1 == uint64(pc) && c.Period == 1
}

// note enters in the ledger a record that is not a sample.
//
//go:nowritebarrierrec
func (t *perfThread) note(i int, rec *perfRecord) {
	switch rec.typ {
	case _PERF_RECORD_LOST:
		t.ctr[i].lostRing += rec.n
	case _PERF_RECORD_THROTTLE:
		t.throttled(i)
	}
}

// count reports whether the sample record of event i that ends at t.ring.tail
// stands for a period. The first overflow of a counter does, and sets the
// counter's period; see perfFirstPeriod. Of the records that the counter has
// written with its first period since then, every so many do.
//
//go:nowritebarrierrec
func (t *perfThread) count(i int) bool {
	c := &t.ctr[i]
	if !c.phased {
		t.phase(i)
		return true
	}
	if t.ring.tail > c.phaseEnd {
		return true
	}
	if c.phaseSum += c.first; c.phaseSum < c.period {
		return false
	}
	c.phaseSum -= c.period
	return true
}

// leaf records one overflow of event i of which only the instruction is known.
//
//go:nowritebarrierrec
func (t *perfThread) leaf(i int, ip uintptr, why func()) {
	period := t.ctr[i].period
	t.ctr[i].events += period
	perfProf.slots[i].addLeaf(ip, why, 1, period)
}

// drainCounters counts overflows without a ring: fd is the event that the
// signal names, and each counter's value tells how often it has overflowed.
// So events that overflow together are told apart; but the counts of a clock
// include what was filtered out of its samples, and it must trust the signal.
//
//go:nowritebarrierrec
func (t *perfThread) drainCounters(hits *perfHits, gp *g, fd int32) {
	for i := range t.ctr[:t.n] {
		c := &t.ctr[i]
		cfg := &perfProf.slots[i].cfg
		var n uint64
		var v perfCounterValue
		switch {
		case cfg.Clock:
			if c.fd == fd {
				n = 1
			}
		case v.read(c) && v.value >= c.due:
			if c.phased {
				n = 1 + (v.value-c.due)/c.period
				c.due += n * c.period
			} else {
				n = 1
				c.due = v.value + c.period
			}
		}
		if n == 0 {
			continue
		}
		if !c.phased {
			t.phase(i)
		}
		for n > 0 && perfWatches(i, uintptr(cfg.Config1)) && perfReplayed(gp) {
			t.ctr[i].replayed++
			n--
		}
		hits.ev[i].n = n
		hits.any = hits.any || n > 0
	}
}

// sample records the overflows in hits with the stack that c interrupted.
//
//go:nowritebarrierrec
func (t *perfThread) sample(hits *perfHits, c *sigctxt, gp *g, mp *m, delayed bool) {
	if perfInAtomic64(c.sigpc()) {
		for i := range t.ctr[:t.n] {
			t.ctr[i].lostUnwind += hits.ev[i].n + hits.ev[i].kernel
		}
		return
	}

	// See sigprof.
	getg().m.mallocing++
	var tagPtr *unsafe.Pointer
	if gp != nil && gp.m != nil && gp.m.curg != nil {
		tagPtr = &gp.m.curg.labels
	}

	stk := &t.stk
	var last uintptr // instruction that stk is of; it differs between events only if perfExactPC says so
	for i := range t.ctr[:t.n] {
		h := &hits.ev[i]
		s := &perfProf.slots[i]
		period := t.ctr[i].period
		if all := h.n + h.kernel; all > 0 && delayed {
			// The thread sanitizer calls the handler later than the signal
			// came, and the stack has changed. See sighandler.
			s.addLeaf(h.ip, _PerfDelayed, all, all*period)
			t.ctr[i].delayed += all
			t.ctr[i].events += all * period
			continue
		}
		if h.n > 0 {
			if pc := perfExactPC(h.ip, h.exact, c.sigpc()); pc != last {
				stk.unwind(&t.walk, pc, c.sigsp(), c.siglr(), gp, mp)
				last = pc
			}
			s.add(tagPtr, stk.user(), h.n, h.n*period)
			t.ctr[i].samples += h.n
			t.ctr[i].events += h.n * period
		}
		if h.kernel > 0 {
			// The kernel's instruction is called by the stack that entered it.
			if pc := c.sigpc(); pc != last {
				stk.unwind(&t.walk, pc, c.sigsp(), c.siglr(), gp, mp)
			}
			s.add(tagPtr, stk.kernel(h.kernelIP), h.kernel, h.kernel*period)
			last = 0
			t.ctr[i].samples += h.kernel
			t.ctr[i].events += h.kernel * period
		}
	}
	getg().m.mallocing--
}

// perfExactPC returns the instruction at which to start unwinding: ip, if the
// PMU says that it caused the event and the stack has not changed between it
// and pc, where the signal came; otherwise pc. (Proposal 36821, section 4.2:
// the leaf of a precise sample is the one that the PMU presents.)
//
//go:nowritebarrierrec
func perfExactPC(ip uintptr, exact bool, pc uintptr) uintptr {
	if !exact || ip == pc {
		return pc
	}
	if f := perfFrameAt(pc); f == perfFrameOdd || f != perfFrameAt(ip) || !perfSameFunc(ip, pc) {
		return pc
	}
	return ip
}

// perfSameFunc reports whether two instructions are in the same Go function,
// or both outside Go.
//
//go:nowritebarrierrec
func perfSameFunc(a, b uintptr) bool {
	return a == b || findfunc(a) == findfunc(b)
}

// perfInAtomic64 reports whether pc is in the emulation of 64-bit atomics on
// 32-bit arm and mips. It holds a spin lock there that writing a sample would
// take. See sigprof.
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

// perfInstallHandler makes sure that SIGPROF reaches Go's handler, like
// setProcessCPUProfilerTimer, but leaves ITIMER_PROF alone.
func perfInstallHandler() {
	mask := lockSigprof()
	if atomic.Cas(&handlingSig[_SIGPROF], 0, 1) {
		h := getsig(_SIGPROF)
		if h == _SIG_DFL {
			h = _SIG_IGN // a stray signal must not kill; see setProcessCPUProfilerTimer
		}
		atomic.Storeuintptr(&fwdSig[_SIGPROF], h)
		setsig(_SIGPROF, abi.FuncPCABIInternal(sighandler))
	}
	unlockSigprof(mask)
}

// perfRestoreHandler gives SIGPROF back to whom it belonged before, unless the
// timer still uses it. No counter is open.
func perfRestoreHandler() {
	mask := lockSigprof()
	if prof.hz.Load() == 0 && !sigInstallGoHandler(_SIGPROF) && atomic.Cas(&handlingSig[_SIGPROF], 1, 0) {
		// Ignoring a signal discards those that are pending on any thread
		// (do_sigaction in kernel/signal.c), so that none of ours reaches a
		// handler that does not expect it.
		setsig(_SIGPROF, _SIG_IGN)
		if h := atomic.Loaduintptr(&fwdSig[_SIGPROF]); h != _SIG_IGN {
			setsig(_SIGPROF, h)
		}
	}
	unlockSigprof(mask)
}

// lockSigprof takes prof.signalLock, which guards SIGPROF's handler against
// setcpuprofilerate. The timer's handler takes it too, so no signal may reach
// this thread meanwhile. It returns the signal mask for unlockSigprof.
func lockSigprof() (mask sigset) {
	acquirem()
	sigsave(&mask)
	sigblock(false)
	for !prof.signalLock.CompareAndSwap(0, 1) {
		osyield()
	}
	return mask
}

func unlockSigprof(mask sigset) {
	prof.signalLock.Store(0)
	msigrestore(mask)
	releasem(getg().m)
}
