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
	// The upper half on 64-bit systems; elsewhere, and where the instruction
	// is not known, perfKernelIP of package runtime, in the last page.
	const bits = 8 * unsafe.Sizeof(addr)
	if bits == 64 && uint64(addr)>>63 == 0 || bits == 32 && addr < ^uintptr(4095) {
		return nil
	}
	name := "[kernel]"
	if addr < ^uintptr(4095) {
		if sym := kernelSymbol(uint64(addr - 1)); sym != "" {
			name = sym + " [k]"
		}
	}
	return []runtime.Frame{{Function: name, File: "[kernel]"}}
}
