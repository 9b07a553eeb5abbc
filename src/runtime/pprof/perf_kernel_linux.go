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
	"slices"
	"strconv"
	"sync"
)

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

// ksyms are functions, sorted by address. As they stay, they are kept in little memory.
type ksyms struct {
	syms  []ksym
	names []byte // one after the other
}

type ksym struct {
	addr uint64
	name uint32 // where it begins in names
	size uint32 // of the name
}

// readKallsyms reads lines of the form "ffffffff81000000 T _text\t[module]" and
// keeps those of code (proc_kallsyms(5): types T, t, W, w).
func readKallsyms(r io.Reader) *ksyms {
	k := new(ksyms)
	b := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := b.ReadSlice('\n')
		if err != nil {
			break // a longer line is none
		}
		word, line, _ := bytes.Cut(line, []byte(" "))
		addr, err := strconv.ParseUint(string(word), 16, 64)
		if err != nil || len(line) < 3 || line[1] != ' ' || bytes.IndexByte([]byte("TtWw"), line[0]) < 0 {
			continue
		}
		if addr == 0 {
			break // they are hidden, all of them
		}
		name := line[2:]
		if i := bytes.IndexAny(name, " \t\n"); i >= 0 {
			name = name[:i]
		}
		k.syms = append(k.syms, ksym{addr, uint32(len(k.names)), uint32(len(name))})
		k.names = append(k.names, name...)
	}
	// The first of several names of an address is the one that is found.
	slices.SortFunc(k.syms, func(a, b ksym) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.name, b.name)) })
	k.syms, k.names = slices.Clip(k.syms), slices.Clip(k.names)
	return k
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
