// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Whether a record belongs to the stack that its signal interrupted. The kernel
// sends the signal at the overflow, but the thread may have blocked it, or had
// another one pending, and be elsewhere by the time it is handled.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/stringslite"
	"unsafe"
)

// fits reports whether a sample record of slot i, whose registers are not exactly those
// that c interrupted, belongs to that stack all the same.
//
//go:nowritebarrierrec
func (rec *perfRecord) fits(i int, c *sigctxt) bool {
	pc, sp := c.sigpc(), c.sigsp()
	if pc != abi.FuncPCABI0(asyncPreempt) || rec.regs && rec.pc == pc {
		return rec.fitsAt(i, pc, sp)
	}
	// The signal that preempts the goroutine was handled first. It made the
	// interrupted instruction, or one at which to begin again, call asyncPreempt.
	pc = c.siglr()
	if !usesLR {
		pc = *(*uintptr)(unsafe.Pointer(sp))
	}
	if !rec.regs {
		return rec.fitsAt(i, pc, sp)
	}
	return rec.sp-sp <= perfMaxPushed && perfSameFunc(rec.pc, pc)
}

// fitsAt reports whether a sample record of slot i belongs to the stack that a signal has
// interrupted at pc and sp.
//
// Where the kernel does not provide the registers, the instruction has to do. Then
// nothing is known of an overflow in the kernel, and it is taken to belong to what
// was interrupted.
//
//go:nowritebarrierrec
func (rec *perfRecord) fitsAt(i int, pc, sp uintptr) bool {
	if !rec.regs {
		if rec.kernel() || rec.ip == 0 {
			return true
		}
		rec.pc, rec.sp = rec.ip, sp
	}
	if rec.sp == sp {
		if rec.pc == pc || rec.ip != rec.pc && rec.pc == pc+perfSyscallSize {
			return true // in the second case the kernel will make the system call again
		}
		if perfTables.slots[i].cfg.OnPMU() && perfSameFunc(rec.pc, pc) {
			// The PMU's interrupt may be an NMI. It takes another interrupt to send
			// the signal from there, which may come some instructions later.
			return true
		}
	}
	// The registers that the PMU has stored are those of the event. The interrupt
	// came later. (The stack pointer may be of either.)
	return perfTables.slots[i].stats.Precise > 0 && (rec.sp == sp || findfunc(pc).valid() && perfSameFunc(rec.pc, pc))
}

const (
	// perfSyscallSize is the size of the instruction for a system call.
	perfSyscallSize = 4 - 2*(goarch.Is386|goarch.IsAmd64|goarch.IsS390x)

	// perfMaxPushed is the most that sigctxt.pushCall pushes, in bytes.
	perfMaxPushed = 32
)

// perfInHandler reports whether a record that does not fit overflowed where the
// handler of SIGPROF begins or ends: while the kernel made the signal's frame, in
// the code that leads to perfSigprof and back, or in sigreturn. (Go's handlers of
// other signals share that code. Overflows in them are delayed ones.)
//
//go:nowritebarrierrec
func perfInHandler(rec *perfRecord) bool {
	return perfInHandlerOn(rec, &getg().stack)
}

// perfInHandlerOn is perfInHandler where s is the stack of the thread's handlers.
//
//go:nowritebarrierrec
func perfInHandlerOn(rec *perfRecord, s *stack) bool {
	if !rec.regs || rec.sp < s.lo || rec.sp >= s.hi {
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

// exactPC returns the instruction at which to start unwinding for n samples of c: ip,
// which the PMU says caused the event, if the stack has not changed between it and pc,
// where the interrupt came; otherwise pc. (Proposal 36821, section 4.2: the leaf of a
// precise sample is the one that the PMU presents.)
//
//go:nowritebarrierrec
func (c *perfCounter) exactPC(ip, pc uintptr, n uint64) uintptr {
	if ip == pc {
		return pc
	}
	if f := perfFrameAt(pc); f == perfFrameOdd || f != perfFrameAt(ip) || !perfSameFunc(ip, pc) {
		c.Moved += n
		return pc
	}
	return ip
}

// perfSameFunc reports whether two instructions are in the same Go function, or
// both outside Go.
//
//go:nowritebarrierrec
func perfSameFunc(a, b uintptr) bool {
	return a == b || findfunc(a) == findfunc(b)
}
