// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"slices"
	"sync"
	"unsafe"
)

// Memory outside the heap, zeroed, or nil if there is none.
func runtime_perfTableAlloc(n uintptr) unsafe.Pointer
func runtime_perfTableFree(p unsafe.Pointer, n uintptr)

// kernelSymbols are the kernel's functions; none if their addresses are hidden. They
// are read once, when a profile first has samples in the kernel, as it takes the kernel
// some 50 ms to list them.
var kernelSymbols = sync.OnceValue(func() *ksyms {
	f, err := os.Open("/proc/kallsyms")
	if err != nil {
		return new(ksyms)
	}
	defer f.Close()
	return readKallsyms(f)
})

// ksyms are functions, sorted by address. They are outside the heap, so that a profile
// with the kernel does not change the garbage collector's pace.
type ksyms struct {
	syms  []ksym
	names []byte // one after the other
}

type ksym struct {
	addr uint64
	name uint32 // where it begins in names
	size uint32 // of the name
}

// ksymCount and ksymNames are more than kernels have: some 130,000 functions, whose names
// have 3 MB. What is not written takes address space only.
const (
	ksymCount = 1 << 18
	ksymNames = 8 << 20
)

// newKsyms returns a table with room for count functions and bytes of names, and a function
// that gives it back. Where there is no more room, append continues on the heap.
func newKsyms(count, names int) (k *ksyms, free func()) {
	const size = int(unsafe.Sizeof(ksym{}))
	n := uintptr(count*size + names)
	p := runtime_perfTableAlloc(n)
	if p == nil {
		return new(ksyms), func() {}
	}
	k = &ksyms{
		unsafe.Slice((*ksym)(p), count)[:0],
		unsafe.Slice((*byte)(unsafe.Add(p, count*size)), names)[:0],
	}
	return k, func() { runtime_perfTableFree(p, n) }
}

// readKallsyms reads lines of the form "ffffffff81000000 T _text\t[module]" and
// keeps those of code (proc_kallsyms(5): types T, t, W, w).
func readKallsyms(r io.Reader) *ksyms {
	all, free := newKsyms(ksymCount, ksymNames)
	defer free()
	buf := make([]byte, 64<<10)
	for n := 0; n < len(buf); { // a longer line is none
		m, err := r.Read(buf[n:])
		n += m
		done, ok := all.addLines(buf[:n])
		if err != nil || !ok {
			break
		}
		n = copy(buf, buf[done:n])
	}
	if len(all.syms) == 0 {
		return new(ksyms)
	}
	// The first of several names of an address is the one that is found.
	order := func(a, b ksym) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.name, b.name)) }
	if !slices.IsSortedFunc(all.syms, order) {
		slices.SortFunc(all.syms, order) // modules
	}
	k, _ := newKsyms(len(all.syms), len(all.names))
	k.syms = append(k.syms, all.syms...)
	k.names = append(k.names, all.names...)
	return k
}

// addLines adds the whole lines in buf, and returns their size. It reports false if the
// addresses are hidden.
func (k *ksyms) addLines(buf []byte) (done int, ok bool) {
	for {
		n := bytes.IndexByte(buf[done:], '\n')
		if n < 0 {
			return done, true
		}
		line := buf[done:][:n]
		done += n + 1
		addr, digits := uint64(0), 0
		for ; digits < len(line) && digits < 16; digits++ {
			if c := line[digits]; '0' <= c && c <= '9' {
				addr = addr<<4 | uint64(c-'0')
			} else if 'a' <= c && c <= 'f' {
				addr = addr<<4 | uint64(c-'a'+10)
			} else {
				break
			}
		}
		if line = line[digits:]; digits == 0 || len(line) < 4 || line[0] != ' ' || line[2] != ' ' {
			continue
		}
		if typ := line[1] | 0x20; typ != 't' && typ != 'w' {
			continue
		}
		if addr == 0 {
			return done, false // they are hidden, all of them
		}
		name := line[3:]
		if len(name) > 6 && string(name[:6]) == "__pfx_" {
			continue // no function, but the padding before one, which is not executed
		}
		size := 0
		for size < len(name) && name[size] > ' ' {
			size++
		}
		k.syms = append(k.syms, ksym{addr, uint32(len(k.names)), uint32(size)})
		k.names = append(k.names, name[:size]...)
	}
}

// kernelSymbol returns the name of the kernel's function at addr, or "".
func kernelSymbol(addr uint64) string { return kernelSymbols().at(addr) }

// at returns the name of the function at addr, or "".
func (k *ksyms) at(addr uint64) string {
	find := func(addr uint64) (int, bool) {
		return slices.BinarySearchFunc(k.syms, addr, func(s ksym, a uint64) int { return cmp.Compare(s.addr, a) })
	}
	i, exact := find(addr)
	switch {
	case exact && i < len(k.syms)-1:
	case !exact && 0 < i && i < len(k.syms):
		i, _ = find(k.syms[i-1].addr)
	default:
		return "" // before the first, or beyond what the last may cover
	}
	s := k.syms[i]
	return string(k.names[s.name:][:s.size])
}
