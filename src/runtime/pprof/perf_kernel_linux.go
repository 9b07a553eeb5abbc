// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"io"
	"os"
	"sync"
)

// kernelNames are the names of the kernel's functions, as far as they have been needed.
var kernelNames = &kernelNamer{open: func() (io.ReadCloser, error) { return os.Open("/proc/kallsyms") }}

// A kernelNamer reads the kernel's list of its functions, which takes the kernel some 50
// ms to write: not before a profile has samples in the kernel, only as far as these need
// it, and at most twice. Most programs have one profile. Its names are found while the
// list is read, and the rest is forgotten. A program with more profiles keeps the whole
// list from the second one on that lacks a name.
type kernelNamer struct {
	open func() (io.ReadCloser, error) // the list

	mu    sync.Mutex
	named map[uint64]string // of addresses; "" if there is none
	all   *ksyms            // nil if not needed so far
}

// nameKernel has the functions named that are at the wanted addresses.
func nameKernel(wanted map[uint64]bool) { kernelNames.want(wanted) }

// kernelSymbol returns the name of the kernel's function at addr, or "". If addr was not
// among those given to nameKernel, the whole list is read.
func kernelSymbol(addr uint64) string { return kernelNames.at(addr) }

func (k *kernelNamer) want(wanted map[uint64]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.named == nil && k.all == nil {
		f := newKsymFinder(wanted)
		k.read(f.find)
		k.named = f.names()
		return
	}
	for addr := range wanted {
		if _, ok := k.named[addr]; !ok {
			k.readAll()
			return
		}
	}
}

func (k *kernelNamer) at(addr uint64) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	name, ok := k.named[addr]
	if !ok {
		k.readAll()
		name = k.all.at(addr)
	}
	return name
}

// readAll has k.all read, if it is not there.
func (k *kernelNamer) readAll() {
	if k.all == nil {
		k.all = new(ksyms)
		k.read(func(r io.Reader) { k.all = readKallsyms(r) })
	}
}

// read gives the list to f. A kernel without one names no function.
func (k *kernelNamer) read(f func(r io.Reader)) {
	list, err := k.open()
	if err != nil {
		return
	}
	defer list.Close()
	f(list)
}
