// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"runtime"
	"unsafe"
)

// perfKernelFrame returns the frame of an instruction of the kernel, as in profiles
// that include kernel time, or nil if addr is not one. Its name is the kernel's
// symbol where /proc/kallsyms shows addresses to this process (kernel.kptr_restrict).
// It is marked as perf does, "schedule [k]", so that pprof -top and flame graphs show
// that it is not the program's. Otherwise the name is "[kernel]". The address itself
// stays out of the profile, as it would reveal where the kernel is.
func perfKernelFrame(addr uintptr) []runtime.Frame {
	in, known := perfKernelAddr(addr)
	if !in {
		return nil
	}
	name := "[kernel]"
	if known {
		if sym := kernelSymbol(uint64(addr - 1)); sym != "" {
			name = sym + " [k]"
		}
	}
	return []runtime.Frame{{Function: name, File: "[kernel]"}}
}

// perfKernelAddr reports whether addr is an instruction of the kernel, and whether it is
// known which one.
func perfKernelAddr(addr uintptr) (in, known bool) {
	// The upper half on 64-bit systems; elsewhere, and where the instruction
	// is not known, perfKernelIP of package runtime, in the last page.
	const bits = 8 * unsafe.Sizeof(addr)
	known = addr < ^uintptr(4095)
	return bits == 64 && uint64(addr)>>63 != 0 || bits == 32 && !known, known
}

// nameKernel has the kernel's functions named that are in the session's profiles, all of
// which are about to end, so that their names are looked for once.
func (s *perfSession) nameKernel() {
	wanted := make(map[uint64]bool)
	for _, p := range s.profiles {
		p.stacks.addKernel(wanted)
	}
	if len(wanted) > 0 {
		nameKernel(wanted)
	}
}

// addKernel adds the addresses that kernelSymbol will be asked for when the stacks are
// written.
func (t *perfStacks) addKernel(wanted map[uint64]bool) {
	for _, g := range []*perfGeneration{&t.old, &t.young} {
		for _, chunk := range g.chunks {
			for len(chunk) > 0 {
				n := int(uint32(chunk[1]))
				_, stk := splitData(chunk[stackHeader+t.width:][:n])
				for _, pc := range stk {
					if in, known := perfKernelAddr(uintptr(pc)); in && known {
						wanted[pc-1] = true
					}
				}
				chunk = chunk[stackHeader+t.width+n:]
			}
		}
	}
}
