// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"unsafe"
)

// perfFunc returns where to set a breakpoint that each call of the function
// with the given name passes once, and how many functions have that name.
// Wrappers between ABIs and method wrappers share the name of what they wrap
// and don't count.
//
//go:linkname perfFunc runtime/pprof.runtime_perfFunc
func perfFunc(name string) (pc uintptr, n int) {
	for _, md := range activeModules() {
		if len(md.ftab) == 0 {
			continue
		}
		// The last entry only marks the end.
		for _, e := range md.ftab[:len(md.ftab)-1] {
			f := funcInfo{(*_func)(unsafe.Pointer(&md.pclntable[e.funcoff])), md}
			if f.funcID != abi.FuncIDWrapper && funcname(f) == name {
				pc = perfOncePerCall(f)
				n++
			}
		}
	}
	return pc, n
}

// perfOncePerCall returns the first instruction of f that each call executes
// just once. That is not its entry if f checks its stack: a call that finds the
// stack too small, or the goroutine asked to yield, starts again from the entry
// (morestack). It is the one after that which makes f's frame. A function without a
// frame checks nothing, but on 386.
func perfOncePerCall(f funcInfo) uintptr {
	if f.pcsp == 0 {
		return f.entry()
	}
	p := f.datap.pctab[f.pcsp:]
	pc, val := f.entry(), int32(-1)
	for first := true; ; first = false {
		start := pc
		var ok bool
		if p, ok = step(p, &pc, &val, first); !ok {
			return perfPastCheck(f)
		}
		if val > 0 {
			return start
		}
	}
}

// perfPastCheck returns the instruction behind the check of its stack that f, which has
// no frame, begins with, or else f's entry.
//
// Only the assembler for 386 has functions without a frame check (cmd/internal/obj/x86,
// preprocess). The check is CMPL SP, g.stackguard0 and a jump to the call of morestack. The
// jump is by itself a place where goroutines are not preempted. The assembler marks others
// so, too, as where it loads g, but compares nothing with SP before them.
func perfPastCheck(f funcInfo) uintptr {
	if goarch.Is386 == 0 || f.npcdata <= abi.PCDATA_UnsafePoint {
		return f.entry()
	}
	off := pcdatastart(f, abi.PCDATA_UnsafePoint)
	if off == 0 {
		return f.entry()
	}
	const cmp = 0x08613b // CMPL SP, 8(CX)
	p := f.datap.pctab[off:]
	pc, val := f.entry(), int32(-1)
	for first := true; ; first = false {
		start := pc
		var ok bool
		if p, ok = step(p, &pc, &val, first); !ok {
			return f.entry()
		}
		// Code of at least 4 bytes comes before, as CX is loaded.
		if val == abi.UnsafePointUnsafe && start >= f.entry()+4 && *(*uint32)(unsafe.Pointer(start - 4))>>8 == cmp {
			return pc
		}
	}
}
