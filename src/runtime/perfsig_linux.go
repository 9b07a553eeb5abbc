// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The signal handler's part of sampling performance-monitoring events.
//
// Everything here may run in a signal handler, with all signals blocked, at
// any instruction of the program: no allocation, no write barriers, and no
// locks but two spin locks, of which the holder is never what was interrupted here.
// perfThread.lock says who has it. perfSlot.lock is held by other threads' handlers, or
// by normal code on a thread that has no counter of the slot, blocks SIGPROF, or has
// its own perfThread locked.

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
	if perfInAtomic64(c.sigpc()) {
		return doorbell // the next signal's handler reads the ring
	}

	t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	doorbell = doorbell || t != nil && t.isKnock(c)
	if t == nil || !t.acquireInHandler(mp) {
		return doorbell // not armed any more, or this is the thread that is about to change that
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
	var entry int64
	if t.ring.base != 0 {
		t.drain(hits, gp, c, t.ring.head())
	} else if doorbell {
		entry = nanotime()
		t.drainCounters(hits, gp, perfSigFD(c))
	}
	if perfProf.exact {
		t.watchProgress(hits, c, delayed)
	}
	if hits.any {
		t.sample(hits, c, gp, mp, delayed)
	}
	if hits.any || hits.first != 0 || hits.odd != 0 {
		t.account(hits, entry, nanotime())
	}
	// Records since head was read overflowed in this handler. Their signal
	// is blocked until it returns.
	if t.ring.base != 0 {
		t.drainLeafs(t.ring.head(), true)
	}
	t.lock.Store(0)
	return doorbell
}

// perfDoorbell reports whether the signal comes from a descriptor with O_ASYNC.
// User code's F_SETSIG with SIGPROF is not told from ours: the ring tells.
//
// It calls nothing, not even c.sigcode; see perfSigprofNonGo.
//
//go:nosplit
//go:nowritebarrierrec
func perfDoorbell(c *sigctxt) bool {
	code := c.info.si_code
	return _POLL_IN <= code && code <= _POLL_HUP
}

// perfSigFD returns si_fd, or -1 if the signal has none. In siginfo_t's union
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

// perfHits are the overflows that one signal announced, by event.
type perfHits struct {
	any         bool  // some belong to the interrupted stack
	first, time int64 // nanotime of the first and of the latest of these; 0 if there is none, or it is not known
	odd         int64 // overflows that don't
	ev          [perf.MaxEvents]struct {
		all   uint64  // overflows, wherever they belong
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
	h.first, h.time, h.odd = 0, 0, 0
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
			rec.hide(i)
			return i
		}
	}
	return -1
}

// hide removes the address from a record of event i that the kernel's part may not have.
// The counter stopped on the way into the kernel, and the interrupt found the thread
// there (skid). The address is none of the program's business; perf_event_open(2) would
// not have told it: exclude_kernel.
//
//go:nowritebarrierrec
func (rec *perfRecord) hide(i int) {
	if rec.kernel() && perfProf.slots[i].cfg.ExcludeKernel {
		rec.ip = 0
		rec.misc &^= _PERF_RECORD_MISC_CPUMODE_MASK | _PERF_RECORD_MISC_EXACT_IP
	}
}

// drain reads the ring up to head and counts in hits the overflows of each
// event that belong to the stack that c interrupted.
//
// A record may be there because SIGPROF was blocked, or pending from the timer,
// and the thread elsewhere since. The interrupted stack is not that one's, which is
// recorded with its leaf only.
//
//go:nowritebarrierrec
func (t *perfThread) drain(hits *perfHits, gp *g, c *sigctxt, head uint64) {
	if t.ring.tail == head {
		return
	}
	pc, sp := c.sigpc(), c.sigsp()
	var rec perfRecord
	for {
		i := t.overflow(&rec, head)
		if i < 0 {
			break
		}
		fits := rec.pc == pc && rec.sp == sp || t.fits(i, &rec, c)
		if !fits {
			hits.odd++
		} else if hits.first == 0 {
			hits.first = rec.time
		}
		if perfProf.watch && perfWatches(i, rec.ip) && perfReplayed(gp) {
			t.ctr[i].Replayed++
			continue
		}
		if !t.count(i) {
			continue
		}
		h := &hits.ev[i]
		h.all++
		if !fits {
			t.odd(i, &rec, perfInHandler(&rec))
			continue
		}
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
		h.n++
		h.ip = rec.ip
		h.exact = rec.misc&_PERF_RECORD_MISC_EXACT_IP != 0
	}
	t.ring.consume()
	t.flush()
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
		t.odd(i, &rec, inHandler)
	}
	t.ring.consume()
	t.flush()
}

// takeLeafs records the overflows of some stopped counters that the thread's handler
// has not read in time. It leaves the ring as it is, with what the handler will want to
// know of the other counters. The handler passes over the records of counters that are
// closed by then. (They can't be marked: writing to the ring's records is a SIGBUS,
// perf_mmap_pfn_mkwrite in kernel/events/core.c.)
//
//go:nowritebarrierrec
func (t *perfThread) takeLeafs(slots perfSlots) {
	tail := t.ring.tail
	head := t.ring.head()
	var rec perfRecord
	for t.ring.tail != head {
		if !t.ring.next(&rec, head) {
			continue
		}
		switch i := t.event(&rec); {
		case i < 0 || !slots.has(i):
		case rec.typ != _PERF_RECORD_SAMPLE:
			t.note(i, &rec)
		case t.count(i):
			rec.hide(i)
			t.odd(i, &rec, false)
		}
	}
	t.ring.tail = tail
	t.flush()
}

// A perfAlike is overflows in a row whose stack is not known and which are of the same
// event and instruction. They are one sample: what a breakpoint in the recording itself
// has left in the ring would otherwise fill it anew while it is read.
type perfAlike struct {
	n, events uint64 // overflows, and what they stand for
	slot      int
	ip        uintptr
	inHandler bool
}

// odd records an overflow of event i whose stack is not known with its leaf only. The
// caller calls flush after the last one.
//
//go:nowritebarrierrec
func (t *perfThread) odd(i int, rec *perfRecord, inHandler bool) {
	c, ip := &t.ctr[i], rec.leaf()
	if a := &t.alike; a.n == 0 || a.slot != i || a.ip != ip || a.inHandler != inHandler {
		t.flush()
		a.slot, a.ip, a.inHandler = i, ip, inHandler
	}
	t.alike.n++
	t.alike.events += c.period
	c.Sampled += c.period
	if inHandler {
		c.InHandler++
	} else {
		c.Delayed++
	}
}

// flush writes what odd has gathered to the profile's buffer.
//
//go:nowritebarrierrec
func (t *perfThread) flush() {
	a := &t.alike
	if a.n == 0 {
		return
	}
	why := _PerfDelayed
	if a.inHandler {
		why = _PerfHandler
	}
	perfProf.slots[a.slot].addLeaf(a.ip, why, a.n, a.events)
	a.n, a.events = 0, 0
}

// fits reports whether a record of event i, whose registers are not just those that c
// interrupted, belongs to that stack all the same.
//
//go:nowritebarrierrec
func (t *perfThread) fits(i int, rec *perfRecord, c *sigctxt) bool {
	pc, sp := c.sigpc(), c.sigsp()
	if pc != abi.FuncPCABI0(asyncPreempt) || rec.regs && rec.pc == pc {
		return t.fitsAt(i, rec, pc, sp)
	}
	// The signal that preempts the goroutine was handled first. It made the
	// interrupted instruction, or one at which to begin again, call this.
	pc = c.siglr()
	if !usesLR {
		pc = *(*uintptr)(unsafe.Pointer(sp))
	}
	if !rec.regs {
		return t.fitsAt(i, rec, pc, sp)
	}
	return rec.sp-sp <= perfMaxPushed && perfSameFunc(rec.pc, pc)
}

// fitsAt reports whether a record of event i belongs to the stack that a signal has
// interrupted at pc and sp.
//
// Where the kernel does not tell the registers, the instruction must do. Of an
// overflow in the kernel nothing is known then, and it is taken to be of who is
// interrupted.
//
//go:nowritebarrierrec
func (t *perfThread) fitsAt(i int, rec *perfRecord, pc, sp uintptr) bool {
	cfg := &perfProf.slots[i].cfg
	if !rec.regs {
		if rec.kernel() || rec.ip == 0 {
			return true
		}
		rec.pc, rec.sp = rec.ip, sp
	}
	if rec.sp == sp {
		if rec.pc == pc || rec.ip != rec.pc && rec.pc == pc+perfSyscallSize {
			return true // that is a system call that the kernel will make again
		}
		if cfg.OnPMU() && perfSameFunc(rec.pc, pc) {
			// The PMU's interrupt may be an NMI. From there it takes another interrupt
			// to send the signal, and it may be some instructions until that one.
			return true
		}
	}
	// The registers that the PMU has stored are those of the event. The interrupt
	// came later. (The stack pointer may be of either.)
	return perfProf.slots[i].stats.Precise > 0 && (rec.sp == sp || findfunc(pc).valid() && perfSameFunc(rec.pc, pc))
}

const (
	// perfSyscallSize is the size of the instruction for a system call.
	perfSyscallSize = 4 - 2*(goarch.Is386|goarch.IsAmd64|goarch.IsS390x)

	// perfMaxPushed is the most that sigctxt.pushCall pushes, in bytes.
	perfMaxPushed = 32
)

// perfInHandler reports whether a record that does not fit overflowed where the
// handler of SIGPROF begins or ends: while the kernel made the signal's frame, in
// the code that leads to perfSigprof and back, or in sigreturn. (Other signals of
// Go's have that code in common. What they do there is theirs.)
//
//go:nowritebarrierrec
func perfInHandler(rec *perfRecord) bool {
	if s := &getg().stack; !rec.regs || rec.sp < s.lo || rec.sp >= s.hi {
		return false
	}
	if rec.pc == perfLinux.sigEntry {
		return true
	}
	f := findfunc(rec.pc)
	if !f.valid() {
		// sigreturn may be in the vDSO.
		return rec.ip != rec.pc && inVDSOPage(rec.pc)
	}
	switch name := funcname(f); name {
	case "runtime.sigtramp", "runtime.cgoSigtramp", "runtime.sigtrampgo", "runtime.sigfwdgo", "runtime.sighandler", "runtime.sigreturn__sigaction":
		return true
	default:
		return stringslite.HasPrefix(name, "runtime.perf") || stringslite.HasPrefix(name, "runtime.(*perf")
	}
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
// The other bits are the generation of breakpoints that it is about: if they go before
// the hit, it stays behind. It is used by the signal handlers of the thread that runs
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
			if gp.perfReplay>>2 != perfProf.generation {
				gp.perfReplay = perfProf.generation << 2
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
	if gp.perfReplay>>2 != perfProf.generation || gp.perfReplay&3 == 0 {
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
	return c.Watch() && c.Config1 == uint64(pc)
}

// note enters in the ledger a record that is not a sample.
//
//go:nowritebarrierrec
func (t *perfThread) note(i int, rec *perfRecord) {
	switch rec.typ {
	case _PERF_RECORD_LOST:
		t.ctr[i].LostRing += rec.n
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
		case !t.slots.has(i):
		case cfg.Clock():
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
			t.ctr[i].Replayed++
			n--
		}
		hits.ev[i].all, hits.ev[i].n = n, n
		hits.any = hits.any || n > 0
	}
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
	var last uintptr // instruction that stk is of; it differs between events only if perfExactPC says so
	for i := range t.ctr[:t.n] {
		h := &hits.ev[i]
		s := &perfProf.slots[i]
		period := t.ctr[i].period
		if all := h.n + h.kernel; all > 0 && delayed {
			// The thread sanitizer calls the handler later than the signal
			// came, and the stack has changed. See sighandler.
			s.addLeaf(h.ip, _PerfDelayed, all, all*period)
			t.ctr[i].Delayed += all
			t.ctr[i].Sampled += all * period
			continue
		}
		if h.n > 0 {
			if pc := perfExactPC(h.ip, h.exact, c.sigpc()); pc != last {
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
// 32-bit arm and mips. It holds a spin lock there that a profBuf's atomics would
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
	perfProf.handler = true
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

// perfRestoreHandler gives SIGPROF back to whom it belonged before, unless the timer
// or another session still uses it. Starts and stops come one after the other.
func perfRestoreHandler() {
	mask := lockSigprof()
	perfProf.handler = perfProf.state.Load() == perfSampling
	if !perfProf.handler && prof.hz.Load() == 0 && !sigInstallGoHandler(_SIGPROF) && atomic.Cas(&handlingSig[_SIGPROF], 1, 0) {
		perfDiscard()
		if h := atomic.Loaduintptr(&fwdSig[_SIGPROF]); h != _SIG_IGN {
			setsig(_SIGPROF, h)
		}
	}
	unlockSigprof(mask)
}

// perfDiscard discards the signals of sessions that have ended, before SIGPROF's
// handler becomes one that does not expect them: ignoring a signal discards those that
// are pending on any thread (do_sigaction in kernel/signal.c), also one of the
// program's own. One for which the kernel had chosen Go's handler already is for
// perfForward. The caller holds prof.signalLock and sets the handler next.
func perfDiscard() {
	if perfProf.used.Load() {
		setsig(_SIGPROF, _SIG_IGN)
	}
}

// perfForward returns who gets a signal that Go does not handle: fwdFn, but nobody if
// it was sent for a session that has ended since. The program's handler gets those of
// the program's own descriptors: they still send the signal, where a session's are
// closed before the handler is given back.
//
// sigfwdgo calls it, perhaps without a g. It reads what is set once, and asks the kernel.
//
//go:nosplit
//go:nowritebarrierrec
func perfForward(fwdFn uintptr, sig uint32, info *siginfo, ctx unsafe.Pointer) uintptr {
	if sig != _SIGPROF || !perfProf.used.Load() {
		return fwdFn
	}
	if fd := perfSigFD(&sigctxt{info, ctx}); fd >= 0 {
		if own, errno := fcntl(fd, _F_GETSIG, 0); errno != 0 || own != _SIGPROF {
			return _SIG_IGN
		}
	}
	return fwdFn
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
