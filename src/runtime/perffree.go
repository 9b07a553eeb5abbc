// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Free lists of what accounts and tasks consist of, which is allocated outside the heap and
// reused.
//
// Servers begin and end tasks on all Ps all the time. One list for all would be the same few
// words in memory for them. With that, and package runtime/task's sums in one place, too, a task
// took 2 to 5 times as much of a CPU with two Ps as with one; now it is 1.6 times
// (BenchmarkTaskParallel in runtime/task, on a virtual machine with two CPUs, AMD EPYC). So each P
// keeps a few of each kind for itself, and nobody else looks at these.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

// A perfFreeKind is a kind of memory that is reused.
type perfFreeKind uint8

const (
	perfFreeAccount perfFreeKind = iota
	perfFreeCounts
	perfFreeEpoch
	perfFreeTask
	perfFreeMember
	perfFreeBack
	perfFreeAsking
	perfFreeLeft
	perfFreeKinds
)

// perfFreeKeep is how many of a kind a P keeps.
const perfFreeKeep = 32

// perfFreeLists are for all Ps: of what one has too many of, another one has too few.
var perfFreeLists [perfFreeKinds]lfstack

// A perfLocal is what belongs to a P. Whoever has the P, and can't lose it meanwhile, reads and
// writes it, so nothing is atomic.
type perfLocal struct {
	free [perfFreeKinds]struct {
		head *lfnode // linked by next
		n    int
	}
	serials  uint64
	accounts int64 // taken, less given back here

	_ [32]byte // apart from the next one's
}

var (
	perfLocals  [perf.MaxTaskProcs]perfLocal
	perfSerials atomic.Uint64 // of Ps beyond
)

// perfHere returns what belongs to the P, or nil if there is none, or one of too many. The caller
// has no P, or can't be preempted, or is a thread of C that leaves Go: dropm changes its
// goroutine's status when the system call is on already, in which others may take m.p.
//
//go:nosplit
//go:nowritebarrierrec
func perfHere() *perfLocal {
	mp := getg().m
	pp := mp.p.ptr()
	if pp == nil || mp.isExtraInC || uint32(pp.id) >= perf.MaxTaskProcs {
		return nil
	}
	return &perfLocals[pp.id]
}

// perfProc returns the number of the calling goroutine's P, which it may lose as soon as it has
// returned: code of this package is preempted only where it calls something.
//
//go:linkname perfProc runtime/task.runtime_perfProc
//go:nosplit
func perfProc() int32 { return getg().m.p.ptr().id }

// pop returns memory that is free, or nil if there is none. See perfHere for the caller.
//
//go:nowritebarrierrec
func (k perfFreeKind) pop() unsafe.Pointer {
	if l := perfHere(); l != nil {
		f := &l.free[k]
		if node := f.head; node != nil {
			// The nodes are outside the heap, so that no write barrier is needed.
			*(*uintptr)(unsafe.Pointer(&f.head)) = uintptr(node.next)
			f.n--
			return unsafe.Pointer(node)
		}
	}
	return perfFreeLists[k].pop()
}

// push gives memory back. See perfHere for the caller.
//
//go:nowritebarrierrec
func (k perfFreeKind) push(node *lfnode) {
	if l := perfHere(); l != nil {
		f := &l.free[k]
		if f.n < perfFreeKeep {
			node.next = uint64(uintptr(unsafe.Pointer(f.head)))
			*(*uintptr)(unsafe.Pointer(&f.head)) = uintptr(unsafe.Pointer(node))
			f.n++
			return
		}
	}
	perfFreeLists[k].push(node)
}

// perfNewSerial returns a number that no other account has had. See perfHere for the caller.
func perfNewSerial() uint64 {
	l := perfHere()
	if l == nil {
		return perfSerials.Add(1)
	}
	l.serials++
	return uint64(getg().m.p.ptr().id+1)<<48 | l.serials
}
