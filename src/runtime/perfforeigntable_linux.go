// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/sys"
	"unsafe"
)

// perfForeign has the perfThreads of all threads that Go did not create, with or
// without an M, by thread ID: a hash table with linear probing, at most half full.
//
// It is written under perfProf.lock. A thread's signal handler looks for its own
// entry without a lock. While entries are moved it may miss its own, which loses a
// stack, or find another thread's, so it checks what it finds. An outgrown table is
// not freed, for the handlers' sake. (All of them together are smaller than the
// current one.)
var perfForeign struct {
	table atomic.Uintptr // *perfForeignTable; 0 before the first insertion
	n     uint32         // threads in it
}

type perfForeignTable struct {
	_    sys.NotInHeap
	mask uint32 // number of entries - 1, which is a power of two
	_    uint32
	// The entries follow.
}

type perfForeignEntry struct {
	t    atomic.Uintptr // *perfThread, or 0
	ring uintptr        // its ring, or 0: a look at it need not look at t
	tid  int32
}

//go:nosplit
//go:nowritebarrierrec
func (tab *perfForeignTable) at(i uint32) *perfForeignEntry {
	p := unsafe.Pointer(uintptr(unsafe.Pointer(tab)) + unsafe.Sizeof(*tab) + uintptr(i&tab.mask)*unsafe.Sizeof(perfForeignEntry{}))
	return (*perfForeignEntry)(p)
}

//go:nosplit
//go:nowritebarrierrec
func perfForeignCurrent() *perfForeignTable {
	return (*perfForeignTable)(unsafe.Pointer(perfForeign.table.Load()))
}

// perfForeignFind returns the perfThread of thread tid, or nil. A handler may get
// another thread's, or one that has been reused since; its memory stays valid.
//
// It calls nothing, not even tab.at, where inlining is off; see perfSigprofNonGo.
//
//go:nosplit
//go:nowritebarrierrec
func perfForeignFind(tid int32) *perfThread {
	p := atomic.Loaduintptr((*uintptr)(unsafe.Pointer(&perfForeign.table)))
	if p == 0 {
		return nil
	}
	mask := uintptr((*perfForeignTable)(unsafe.Pointer(p)).mask)
	for i := uintptr(0); i <= mask; i++ {
		e := (*perfForeignEntry)(unsafe.Pointer(p + unsafe.Sizeof(perfForeignTable{}) + (uintptr(tid)+i)&mask*unsafe.Sizeof(perfForeignEntry{})))
		t := atomic.Loaduintptr((*uintptr)(unsafe.Pointer(&e.t)))
		if t == 0 {
			break
		}
		if e.tid == tid {
			return (*perfThread)(unsafe.Pointer(t))
		}
	}
	return nil
}

// perfForeignInsert enters t. Its ring is open.
func perfForeignInsert(t *perfThread) {
	tab := perfForeignCurrent()
	if tab == nil || 2*perfForeign.n > tab.mask {
		tab = perfForeignGrow(tab)
	}
	perfForeign.n++
	t.foreign = true
	tab.insert(t)
	perfDozeEnd() // which looks at all rings when it begins
}

func (tab *perfForeignTable) insert(t *perfThread) {
	e := tab.at(uint32(t.tid))
	for i := uint32(1); e.t.Load() != 0; i++ {
		e = tab.at(uint32(t.tid) + i)
	}
	e.ring = t.ring.base
	e.tid = t.tid
	e.t.Store(uintptr(unsafe.Pointer(t)))
}

// perfForeignGrow replaces tab, which may be nil, by one twice as large.
func perfForeignGrow(tab *perfForeignTable) *perfForeignTable {
	n := uint32(1 << 8)
	if tab != nil {
		n = 2 * (tab.mask + 1)
	}
	size := unsafe.Sizeof(*tab) + uintptr(n)*unsafe.Sizeof(perfForeignEntry{})
	bigger := (*perfForeignTable)(persistentalloc(size, 0, &memstats.other_sys))
	bigger.mask = n - 1
	if tab != nil {
		for i := uint32(0); i <= tab.mask; i++ {
			if p := tab.at(i).t.Load(); p != 0 {
				bigger.insert((*perfThread)(unsafe.Pointer(p)))
			}
		}
	}
	perfForeign.table.Store(uintptr(unsafe.Pointer(bigger)))
	return bigger
}

// perfForeignRemove removes t, if it is there.
//
//go:nowritebarrierrec
func perfForeignRemove(t *perfThread) {
	if !t.foreign {
		return
	}
	t.foreign = false
	perfForeign.n--
	tab := perfForeignCurrent()
	i := uint32(t.tid)
	for tab.at(i).t.Load() != uintptr(unsafe.Pointer(t)) {
		i++
	}
	// Close the gap: a search ends at an empty entry, so a later entry moves there
	// unless it belongs between the two.
	for j := i + 1; ; j++ {
		e := tab.at(j)
		p := e.t.Load()
		if p == 0 {
			break
		}
		if (j-uint32(e.tid))&tab.mask < (j-i)&tab.mask {
			continue
		}
		gap := tab.at(i)
		gap.ring, gap.tid = e.ring, e.tid
		gap.t.Store(p)
		i = j
	}
	tab.at(i).t.Store(0)
	perfDozeEnd()
}

// perfForeignReset empties the table. No thread is armed.
func perfForeignReset() {
	if tab := perfForeignCurrent(); tab != nil {
		for i := uint32(0); i <= tab.mask; i++ {
			if p := tab.at(i).t.Load(); p != 0 {
				(*perfThread)(unsafe.Pointer(p)).foreign = false
			}
			tab.at(i).t.Store(0)
		}
	}
	perfForeign.n = 0
}
