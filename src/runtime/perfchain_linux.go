// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Stacks that the kernel records.
//
// A signal for each sample is as dear as the interrupt itself. So where the kernel can
// follow the stack, it writes it to the ring with the sample (PERF_SAMPLE_CALLCHAIN),
// nobody is signalled, and the thread reads its ring when a goroutine is about to leave
// it or to change its labels, and when a timer rings (perfbell_linux.go). What is in the
// ring then is of the goroutine that is there.
//
// The kernel follows frame pointers. Go code keeps them, but for three things:
//
//   - A function that has no frame, or is in its prologue, hides its caller. Where that
//     is can be told from the stack pointer, the frame pointer and the link register at
//     the sample, and the table of how far the stack pointer has moved.
//   - morestack begins a chain of its own. The goroutine's is known until newstack
//     returns, which has the ring read first.
//   - C code need not have frame pointers. Its samples get the stack that called C, as
//     they do in a signal handler, when the call ends at the latest.
//
// Assembly may use the frame pointer's register for something else, and arm64's kernel
// does not follow it from the system stack to a goroutine's at lower addresses. A chain
// that does not reach the first function of its stack shows that. A thread that has
// several of these goes back to signals for a while; see perfChain.goBack.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

// perfHasChains says that the kernel can follow the stacks of Go code.
const perfHasChains = framepointer_enabled && (GOARCH == "amd64" || GOARCH == "arm64")

const (
	// perfChainType is what the records of such samples have.
	perfChainType = perf.SampleIdentifier | perf.SampleIP | perf.SampleCallchain |
		perf.SampleRegsUser | perf.SampleStackUser

	// perfChainRegs are the frame pointer, the link register if there is one, and the
	// stack pointer, which have ascending numbers.
	perfChainRegs  = 1<<perf.RegFP | goarch.IsArm64<<perf.RegLR | 1<<perf.RegSP
	perfChainStack = 32 // bytes of the user's stack

	// perfChainRingMost is enough for some 10,000 samples a second, of 20 frames: 280
	// bytes. Up to perfChainSeldom in a second, a quarter of that is: nobody reads them
	// for 14 ms where the kernel's tick is 10.
	perfChainRingMost = 64 << 10
	perfChainSeldom   = 1500
	perfChainGHz      = 3 // what a processor is taken to have

	// perfChainLongest is a record with the 127 functions that the kernel writes unless
	// kernel.perf_event_max_stack says otherwise, and two marks of where they are.
	perfChainLongest = 8*(4+2+127+1+2+goarch.IsArm64+1+1) + perfChainStack
)

// chainAttr has the samples of a counter bring their stacks.
func (attr *perfEventAttr) chainAttr(a *perf.Attr) {
	attr.sampleType = perfChainType
	attr.sampleRegsUser = perfChainRegs
	attr.sampleStackUser = perfChainStack
	// No one polls the ring. Else the kernel sends itself an interrupt to wake up
	// whoever does (perf_output_wakeup in kernel/events/ring_buffer.c).
	attr.bits |= perfAttrBit(perf.AttrWatermark)
	attr.wakeupEvents = 1 << 30
	if a.ExcludeKernel {
		attr.bits |= perfAttrBit(perf.AttrExcludeCallchainKernel)
		attr.sampleMaxStack = maxCPUProfStack
	}
}

// A perfChainRecord is where in a ring's records the parts of a sample with a
// stack are, in words from off.
type perfChainRecord struct {
	off   uint64
	size  uint64 // of the record, in bytes
	first uint64 // of the chain
	last  uint64 // behind it, and the ABI of the registers
	user  uint64 // in the chain, the interrupted instruction, or last
	regs  bool   // there are registers and a piece of the stack
}

// readChain decodes rec, of which rec.chain.off and size are known, as a sample with a
// stack. It reports whether that is well-formed.
//
//go:nowritebarrierrec
func (r *perfRing) readChain(rec *perfRecord) bool {
	off, size := rec.chain.off, rec.chain.size
	words := size / 8
	const first = 4 // header, ID, instruction, number of entries
	if words < first+1 {
		return false
	}
	n := r.word(off, first-1)
	if n > words-first-1 {
		return false
	}
	c := &rec.chain
	*c = perfChainRecord{off: off, size: size, first: first, last: first + n, user: first + n}
	rec.id = r.word(off, 1)
	rec.ip = uintptr(r.word(off, 2))
	rec.time = 0
	rec.pc, rec.sp, rec.regs = 0, 0, false
	user := false
	for k := c.first; k < c.last; k++ {
		w := r.word(off, k)
		if user && w < perf.ContextMax {
			c.user = k
			rec.pc = uintptr(w)
			break
		}
		user = w == perf.ContextUser
	}
	// ABI, registers, size of the piece of the stack, the piece, and how much of it is there.
	const regs, stack = 2 + goarch.IsArm64, perfChainStack / 8
	if words >= c.last+1+regs+1+stack+1 && r.word(off, c.last) != perf.SampleRegsABINone {
		c.regs = true
		rec.sp = uintptr(r.word(off, c.last+regs))
		rec.regs = c.user < c.last
	}
	return true
}

// hidden returns the caller of the interrupted instruction pc that the chain lacks, or 0.
// If it can't tell, ok is false.
//
//go:nowritebarrierrec
func (r *perfRing) hidden(rec *perfRecord, pc uintptr) (caller uintptr, ok bool) {
	c := &rec.chain
	f := perfFrameAt(pc)
	if f&perfFrameKind != perfFrameCall {
		return 0, true // it may be assembly that moves the stack pointer by itself
	}
	if !c.regs {
		return 0, false
	}
	fp := uintptr(r.word(c.off, c.last+1))
	at := c.last + 1 + 2 + goarch.IsArm64 + 1 // the words from sp on
	if usesLR {
		switch {
		case f.size() == 0:
			return uintptr(r.word(c.off, c.last+2)), true
		case fp == rec.sp-goarch.PtrSize:
			return 0, true
		}
		return uintptr(r.word(c.off, at)), true
	}
	// The frame pointer was pushed right behind the return address, and points there.
	if fp == rec.sp+f.size()-2*goarch.PtrSize {
		return 0, true
	}
	n := uint64(f.size()/goarch.PtrSize) - 1
	if n >= perfChainStack/8 {
		return 0, false
	}
	return uintptr(r.word(c.off, at+n)), true
}

// grows reports whether the record's stack begins in morestack, and not with a goroutine that
// newstack preempts. Since newstack reads the ring when it has moved the stack, that is where
// the thread is now. If it preempts, it does not come back: the thread may be anywhere.
//
//go:nowritebarrierrec
func (r *perfRing) grows(rec *perfRecord) bool {
	c := &rec.chain
	if c.user+1 >= c.last {
		return false
	}
	f := findfunc(uintptr(r.word(c.off, c.last-1)))
	if !f.valid() || f.funcID != abi.FuncID_morestack {
		return false
	}
	// The last are the function that preempts, newstack and morestack.
	return c.user+3 > c.last || !perfGivesWay(uintptr(r.word(c.off, c.last-3)))
}

// handles reports whether the record's stack has the signal handler in it.
//
//go:nowritebarrierrec
func (r *perfRing) handles(rec *perfRecord) bool {
	for k := rec.chain.user + 1; k < rec.chain.last; k++ {
		f := findfunc(uintptr(r.word(rec.chain.off, k)))
		if f.valid() && f.entry() == abi.FuncPCABIInternal(perfSessionSigprof) {
			return true
		}
	}
	return false
}

// addChain records a sample of t's slot i whose record has its stack.
//
// The labels are those of the thread's goroutine. A quiet thread reads its ring before its
// goroutine, or the goroutine's labels, change: see perfLeave. For that it takes t.lock, which
// the caller holds. So the labels belong to the record if another thread disarms it, too. A
// thread that gets signals changes them without a look at its ring.
//
//go:nowritebarrierrec
func (t *perfThread) addChain(i int, rec *perfRecord) {
	c := &t.ctr[i]
	mp := t.mp.ptr()
	if s := &mp.gsignal.stack; perfInHandlerOn(rec, s) || rec.regs && s.lo <= rec.sp && rec.sp < s.hi && t.ring.handles(rec) {
		t.run.add(i, c, rec, perfLeafHandler)
		return
	}
	broken := t.chain.broken
	stk, labelled := t.chainStack(c, rec, mp)
	c.Broken += uint64(t.chain.broken - broken)
	var tag *unsafe.Pointer
	if gp := mp.curg; gp != nil && labelled && t.ownsRecords(mp) {
		tag = &gp.labels
	}
	events := c.period + c.carry
	c.carry = 0
	perfTables.slots[i].add(tag, stk, 1, events)
	c.Samples++
	c.Sampled += events
	if t.ring.tail <= t.chain.before {
		t.chain.sum += perfCost.bare
		return
	}
	t.chain.bytes += int64(rec.chain.size)
	t.chain.hits[i]++
	t.chain.n++
}

// chainStack returns the stack that rec, a sample of k, brings, and whether it is of mp's
// goroutine, or the scheduler's.
//
//go:nowritebarrierrec
func (t *perfThread) chainStack(k *perfCounter, rec *perfRecord, mp *m) (stk []uintptr, labelled bool) {
	pcs := &t.stk.pcs
	pcs[1] = 0
	n := 2
	r, c := &t.ring, &rec.chain
	if rec.kernel() {
		n = t.kernelChain(rec, n)
	}
	pc := rec.pc
	if rec.misc&perf.MiscExactIP != 0 {
		pc = k.exactPC(rec.ip, pc, 1)
	}
	if perfFrameAt(pc) == perfFrameOdd {
		f := findfunc(pc)
		if !f.valid() {
			return t.chainOutside(rec, mp, n), true
		}
		if funcname(f) == "gogo" {
			// It goes to the goroutine's stack: the caller is not where it seems, and the
			// unwinder does not look for it either.
			pcs[n] = pc + 1
			return pcs[1 : n+1], false
		}
	}
	leaf := n
	pcs[n] = pc + 1 // stacks hold return addresses; see tracebackPCs
	n++
	caller, ok := r.hidden(rec, rec.pc)
	if caller != 0 {
		pcs[n] = caller
		n++
	}
	if c.user < c.last {
		n += r.words(pcs[n:], c.off, c.user+1, c.last)
	}
	if n < len(pcs) && !(ok && perfChainEnds(pcs[n-1])) {
		n = t.mendChain(mp, leaf, n, ok)
	}
	return pcs[1:n], !perfInMcall(pcs[n-1])
}

// words stores the words from first to last of the record at off in dst, as many as there is
// room for, and returns how many. Words are pointers: only 64-bit systems have chains.
//
//go:nowritebarrierrec
func (r *perfRing) words(dst []uintptr, off, first, last uint64) int {
	n := min(last-first, uint64(len(dst)))
	if n == 0 {
		return 0
	}
	at := (off + 8*first) & r.mask
	fit := min(n, (r.mask+1-at)/8)
	memmove(unsafe.Pointer(&dst[0]), unsafe.Pointer(r.data+uintptr(at)), uintptr(8*fit))
	if fit < n {
		memmove(unsafe.Pointer(&dst[fit]), unsafe.Pointer(r.data), uintptr(8*(n-fit)))
	}
	return int(n)
}

// perfGivesWay reports whether the return address is in what newstack calls to preempt
// a goroutine.
//
//go:nowritebarrierrec
func perfGivesWay(pc uintptr) bool {
	entry := findfunc(pc).entry()
	return entry == abi.FuncPCABIInternal(gopreempt_m) || entry == abi.FuncPCABIInternal(preemptPark)
}

// perfChainEnds reports whether the return address is in the first function of a stack.
//
//go:nowritebarrierrec
func perfChainEnds(pc uintptr) bool { return perfFrameAt(pc) == perfFrameTop || perfInMcall(pc) }

// perfInMcall reports whether the return address is in mcall, where the stacks of the
// scheduler begin.
//
//go:nowritebarrierrec
func perfInMcall(pc uintptr) bool { return pc-perfLinux.mcall < perfLinux.mcallSize }

// kernelChain stores the kernel's part of a chain, and returns the new n.
//
//go:nowritebarrierrec
func (t *perfThread) kernelChain(rec *perfRecord, n int) int {
	pcs, c := &t.stk.pcs, &rec.chain
	pcs[n] = rec.ip + 1
	n++
	leaf := true
	for k := c.first; k < c.user && n < len(pcs)/2; k++ {
		w := t.ring.word(c.off, k)
		if w >= perf.ContextMax {
			continue
		}
		if !leaf {
			pcs[n] = uintptr(w)
			n++
		}
		leaf = false
	}
	return n
}

// mendChain completes the frames of t.stk from leaf to n, which don't reach the first
// function of a stack, or can't be trusted, as well as it can, and returns the new n.
//
//go:nowritebarrierrec
func (t *perfThread) mendChain(mp *m, leaf, n int, ok bool) int {
	pcs := &t.stk.pcs
	// What is no code was taken for a frame because the register was something else.
	k := leaf + 1
	for k < n && findfunc(pcs[k]).valid() {
		k++
	}
	if f := findfunc(pcs[k-1]); ok && k == n && f.valid() && f.funcID == abi.FuncID_morestack {
		gp := mp.curg
		if gp == nil || k-3 >= leaf && perfGivesWay(pcs[k-3]) {
			return n // the scheduler's, after a preemption
		}
		// morestack does not show in stacks; see unwinder.resolveInternal.
		if m := 0; t.chain.growing {
			m = t.walk.unwind(&t.more, gp.sched.pc, gp.sched.sp, gp.sched.lr, gp)
			if m != 0 {
				t.more[0]-- // it is a return address already
				return k - 1 + copy(pcs[k-1:], t.more[:m])
			}
		}
	}
	t.chain.broken++
	if k < len(pcs) {
		pcs[k] = abi.FuncPCABIInternal(_PerfBroken) + 1
		k++
	}
	return k
}

// chainOutside returns the stack of a sample outside Go code, whose frame pointers are
// not to be relied on. n-2 frames of the kernel are in t.stk.
//
//go:nowritebarrierrec
func (t *perfThread) chainOutside(rec *perfRecord, mp *m, n int) []uintptr {
	pcs, r, c := &t.stk.pcs, &t.ring, &rec.chain
	if gp, pc, sp := t.cgoCall(mp); gp != nil && !inVDSOPage(rec.pc) {
		var u unwinder
		u.initAt(pc, sp, 0, gp, unwindSilentErrors)
		m := tracebackPCs(&u, 0, t.more[:])
		if n == 2 {
			pcs[1] = logicalStackSentinel
		}
		return pcs[1 : n+copy(pcs[n:], t.more[:m])]
	}
	// The vDSO keeps frame pointers, or leaves the register alone. Its own frames don't
	// show; see sigprofStack.
	k := c.user + 1
	for k < c.last && !findfunc(uintptr(r.word(c.off, k))).valid() {
		k++
	}
	first := n
	if k < c.last && perfCallsVDSO(uintptr(r.word(c.off, k))) {
		k++
	}
	for ; k < c.last && n < len(pcs); k++ {
		pcs[n] = uintptr(r.word(c.off, k))
		n++
	}
	if n > first && perfChainEnds(pcs[n-1]) {
		if !inVDSOPage(rec.pc) {
			return pcs[1 : first+perfChainOutside(pcs[first:], rec.pc)]
		}
		return pcs[1:n]
	}
	if n > first && inVDSOPage(rec.pc) && findfunc(pcs[first]).valid() {
		return pcs[1:t.mendChain(mp, first, n, true)]
	}
	return pcs[1 : first+perfChainOutside(pcs[first:], rec.pc)]
}

// ownsRecords reports whether what t's ring has is of the goroutine that the thread of mp runs
// now: the thread runs this code, or reads its ring before that changes.
//
//go:nowritebarrierrec
func (t *perfThread) ownsRecords(mp *m) bool { return mp == getg().m || t.chain.quiet }

// cgoCall returns the goroutine of mp's thread if it is in a call of C, and where it has called.
// It stays there while the ring has records of the call: see perfStatusQuiet.
//
// A goroutine of another thread may enter a call now, or leave one by its first step. It has
// the status of a call when pc and sp are those of the call, and before these change it waits
// for t.lock, which the caller holds.
//
// What is outside Go code need not be in such a call. The sanitizers are called without.
//
//go:nowritebarrierrec
func (t *perfThread) cgoCall(mp *m) (gp *g, pc, sp uintptr) {
	gp = mp.curg
	if gp == nil || mp != getg().m && (!t.chain.quiet || readgstatus(gp)&^_Gscan != _Gsyscall) {
		return nil, 0, 0
	}
	pc, sp = gp.syscallpc, atomic.Loaduintptr(&gp.syscallsp)
	if f := findfunc(pc); sp == 0 || !f.valid() || f.entry() != abi.FuncPCABIInternal(cgocall) {
		return nil, 0, 0
	}
	return gp, pc, sp
}

// perfChainOutside stores in stk what sigprofStack returns when it can't unwind, and returns
// how many frames that has.
//
//go:nowritebarrierrec
func perfChainOutside(stk []uintptr, pc uintptr) int {
	switch stk[0] = pc + 1; {
	case inVDSOPage(pc):
		stk[0] = abi.FuncPCABIInternal(_VDSO) + 1
	case pc > firstmoduledata.etext:
		stk[0] = abi.FuncPCABIInternal(_ExternalCode) + 1
	}
	stk[1] = abi.FuncPCABIInternal(_System) + 1
	return 2
}

// perfCallsVDSO reports whether the return address is in a function that calls the vDSO.
// The unwinder leaves it out.
//
//go:nowritebarrierrec
func perfCallsVDSO(pc uintptr) bool {
	switch funcname(findfunc(pc)) {
	case "runtime.nanotime1", "runtime.walltime", "runtime.vgetrandom1":
		return true
	case "time.now":
		return GOARCH == "amd64" // elsewhere it is Go code that calls the others
	}
	return false
}
