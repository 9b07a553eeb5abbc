// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"cmp"
	"io"
	"slices"
	"unsafe"
)

// Memory outside the heap, zeroed, or nil if there is none.
func runtime_perfTableAlloc(n uintptr) unsafe.Pointer
func runtime_perfTableFree(p unsafe.Pointer, n uintptr)

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

// readKallsyms returns all functions of the list that eachKsym reads.
func readKallsyms(r io.Reader) *ksyms {
	all, free := newKsyms(ksymCount, ksymNames)
	defer free()
	eachKsym(r, nil, func(addr uint64, name []byte, _ bool) bool {
		all.syms = append(all.syms, ksym{addr, uint32(len(all.names)), uint32(len(name))})
		all.names = append(all.names, name...)
		return true
	})
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

// at returns the name of the function at addr, or "": before the first function, and from
// the last one on, as nothing says where that ends.
func (k *ksyms) at(addr uint64) string {
	// The first one of those at an address, or behind it.
	from := func(addr uint64) int {
		i, _ := slices.BinarySearchFunc(k.syms, addr, func(s ksym, a uint64) int { return cmp.Compare(s.addr, a) })
		return i
	}
	if len(k.syms) == 0 || addr < k.syms[0].addr || addr >= k.syms[len(k.syms)-1].addr {
		return ""
	}
	i := from(addr)
	if k.syms[i].addr > addr {
		i = from(k.syms[i-1].addr)
	}
	s := k.syms[i]
	return string(k.names[s.name:][:s.size])
}
