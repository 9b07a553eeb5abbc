// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"unsafe"
)

// perfKernelFrame returns the frame of an instruction of the kernel, as
// profiles have it that include kernel time, or nil if addr is not one. Its
// name is the kernel's symbol where /proc/kallsyms shows addresses to this
// process (kernel.kptr_restrict), marked as perf does: "schedule [k]" is nothing
// of the program's, which pprof -top and flame graphs would not tell otherwise.
// Where it does not, the name is "[kernel]". The address itself stays out of the
// profile: it would tell its readers where the kernel is.
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

type ksym struct {
	addr uint64
	name string
}

// kernelSymbols are the kernel's functions, sorted by address; empty where the
// addresses are hidden.
var kernelSymbols = sync.OnceValue(func() []ksym {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return nil
	}
	defer f.Close()
	return readKallsyms(f)
})

// readKallsyms reads lines of the form "ffffffff81000000 T _text [module]" and
// keeps those of code (proc_kallsyms(5): types T, t, W, w).
func readKallsyms(r io.Reader) []ksym {
	var syms []ksym
	s := bufio.NewScanner(r)
	for s.Scan() {
		f := bytes.Fields(s.Bytes())
		if len(f) < 3 || len(f[1]) != 1 || bytes.IndexByte([]byte("TtWw"), f[1][0]) < 0 {
			continue
		}
		addr, err := strconv.ParseUint(string(f[0]), 16, 64)
		if err != nil || addr == 0 {
			continue
		}
		syms = append(syms, ksym{addr, string(f[2])})
	}
	slices.SortStableFunc(syms, func(a, b ksym) int { return cmp.Compare(a.addr, b.addr) })
	return syms
}

// kernelSymbol returns the name of the kernel's function at addr, or "".
func kernelSymbol(addr uint64) string {
	syms := kernelSymbols()
	i, exact := slices.BinarySearchFunc(syms, addr, func(s ksym, a uint64) int { return cmp.Compare(s.addr, a) })
	if !exact {
		i--
	}
	if i < 0 || i == len(syms)-1 {
		return "" // before the first, or beyond what the last may cover
	}
	return syms[i].name
}
