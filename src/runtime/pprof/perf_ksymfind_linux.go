// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"io"
	"slices"
)

// A ksymFinder finds the functions at some addresses in one pass over the list, and keeps
// no others. It finds what ksyms.at does.
//
// The kernel's own functions are in ascending order, see eachKsym. Those of modules follow
// in any order. So the function at an address is known when the next one has been read,
// if both are the kernel's own and next to each other. When all are known, the rest of
// the list, which the kernel would have to write, is not read.
type ksymFinder struct {
	addrs []uint64 // wanted, in ascending order
	found []ksymFound

	// The function read last. It is at the addresses from its own to that of the next one.
	addr uint64
	name []byte

	next int    // index of the first address that is not before addr
	last uint64 // greatest address of a function
	sure bool   // nothing in the rest of the list is at the addresses before next
}

// A ksymFound is the last function that is not behind an address, so far.
type ksymFound struct {
	addr uint64 // 0 if there is none
	name string
}

// ksymRoom is more than a function of the kernel takes. Where the next one is farther away,
// a module may be in between.
const ksymRoom = 16 << 20

func newKsymFinder(wanted map[uint64]bool) *ksymFinder {
	addrs := make([]uint64, 0, len(wanted))
	for addr := range wanted {
		addrs = append(addrs, addr)
	}
	slices.Sort(addrs)
	return &ksymFinder{addrs: addrs, found: make([]ksymFound, len(addrs)), sure: true}
}

// find reads the list as far as needed.
func (f *ksymFinder) find(r io.Reader) {
	eachKsym(r, f.skip, f.function)
	f.cover(^uint64(0))
}

// skip reports whether no wanted address for which a function is looked for is before addr.
func (f *ksymFinder) skip(addr uint64) bool {
	return f.next < len(f.addrs) && addr <= f.addrs[f.next]
}

// function tells f of the next function in the list. It reports false if f knows enough.
func (f *ksymFinder) function(addr uint64, name []byte, core bool) bool {
	f.last = max(f.last, addr)
	f.sure = f.sure && core
	switch {
	case addr == f.addr:
		return true // the first of several names is the one that is found
	case addr > f.addr:
		if f.cover(addr); f.sure && f.next == len(f.addrs) {
			return false
		}
	default:
		// The list is not in order here. Of what it had so far, the one before is the last.
		f.cover(^uint64(0))
		f.sure = false
		f.next, _ = slices.BinarySearch(f.addrs, addr)
	}
	f.addr, f.name = addr, append(f.name[:0], name...)
	return true
}

// cover enters the function read last for the wanted addresses before end, except where
// an earlier one is nearer.
func (f *ksymFinder) cover(end uint64) {
	name := ""
	for ; f.next < len(f.addrs) && f.addrs[f.next] < end; f.next++ {
		f.sure = f.sure && end-f.addr <= ksymRoom
		w := &f.found[f.next]
		if w.addr >= f.addr {
			if end == ^uint64(0) {
				break // nearer functions are nearer to all that follow
			}
			continue
		}
		if name == "" {
			name = string(f.name)
		}
		*w = ksymFound{f.addr, name}
	}
}

// names returns the names of the functions at the wanted addresses, or "" as ksyms.at.
func (f *ksymFinder) names() map[uint64]string {
	names := make(map[uint64]string, len(f.addrs))
	for i, addr := range f.addrs {
		name := ""
		if f.found[i].addr != f.last { // nothing says where the last one ends
			name = f.found[i].name
		}
		names[addr] = name
	}
	return names
}
