// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The memory of profiles' buffers and of package pprof's tables. It is outside the heap,
// so that a profile does not change the garbage collector's pace: a program with a live
// heap of 1 MB would otherwise be one with three times as much.
//
// A buffer is as large as it has to be if its reader is late. That is address space.
// What it takes of memory is what has been written: as its reader seldom is late, and
// begins again at the start when it has read everything, that is little. The reader
// accounts for it in MemStats.OtherSys.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

// A perfBuf is an event's profile buffer.
//
// One that is in a slot is written by whoever holds the slot's lock, and read by the
// session's reader. Before that it is perfStart's, and afterwards perfDone's.
type perfBuf struct {
	// Both are whole pages.
	data [perfBufWords]uint64
	tags [perfBufTags]unsafe.Pointer

	log      profBuf // of these arrays
	overflow [2 + perfHdrWords + 1]uint64

	// Owned by the reader.
	start   profIndex // where log's counts were when it last began at the start
	words   int       // of data that have been written, from the start
	ntags   int       // the same of tags
	charged uintptr   // bytes that are accounted for
}

// perfTagRoots has the buffers whose tags keep label sets alive. The garbage collector
// reads it without a lock.
var perfTagRoots struct {
	n       atomic.Int32      // buffers
	mark    func(gcw *gcWork) // perfMarkBufs, set before n; see perfHooks
	marking atomic.Int32      // not 0 while a buffer may be looked at
	bufs    [perf.MaxEvents]atomic.UnsafePointer
}

// newPerfBuf returns a buffer for the slot, or nil if there is no memory. No thread may
// be armed for it.
func newPerfBuf(slot int) *perfBuf {
	n := alignUp(unsafe.Sizeof(perfBuf{}), physPageSize)
	p := sysAllocOS(n, "profile buffer")
	if p == nil {
		return nil
	}
	// The first sample would otherwise get a huge page, which is nearly all of it.
	sysNoHugePageOS(p, n)
	b := (*perfBuf)(p)
	b.log.hdrsize = perfHdrWords
	b.log.data = b.data[:]
	b.log.tags = b.tags[:]
	b.log.overflowBuf = b.overflow[:]
	// What is written before the reader is awake is put in memory now, so that handlers
	// seldom have page faults.
	for i := 0; i < perfBufWords/perfBufDue; i += int(physPageSize / 8) {
		b.data[i] = 0
	}
	for i := 0; i < perfBufTags/perfBufDue; i += int(physPageSize / goarch.PtrSize) {
		b.tags[i] = nil
	}
	b.charge(perfBufWords/perfBufDue, perfBufTags/perfBufDue)
	perfTagRoots.bufs[slot].StoreNoWB(p)
	perfTagRoots.mark = perfMarkBufs
	perfTagRoots.n.Add(1)
	return b
}

// free gives b back, which was the slot's. Nobody writes or reads it any more.
func (b *perfBuf) free(slot int) {
	if b == nil {
		return
	}
	perfTagRoots.bufs[slot].StoreNoWB(nil)
	perfTagRoots.n.Add(-1)
	// A collector that has seen b counts in marking since before. It can't be
	// preempted, so this is not for long.
	for perfTagRoots.marking.Load() != 0 {
		osyield()
	}
	perfChargeMemory(-int64(b.charged))
	sysFreeOS(unsafe.Pointer(b), alignUp(unsafe.Sizeof(*b), physPageSize))
}

// charge accounts for the memory of the first words of data and of the first tags. As
// the reader does it, the account is behind by as much as the reader is.
func (b *perfBuf) charge(words, tags int) {
	b.words, b.ntags = max(b.words, min(words, perfBufWords)), max(b.ntags, min(tags, perfBufTags))
	n := alignUp(uintptr(b.words)*8, physPageSize) + alignUp(uintptr(b.ntags)*goarch.PtrSize, physPageSize) +
		alignUp(unsafe.Sizeof(*b)-unsafe.Offsetof(b.log), physPageSize)
	if n > b.charged {
		perfChargeMemory(int64(n - b.charged))
		b.charged = n
	}
}

// perfChargeMemory accounts for n more bytes, as sysAlloc does for what it allocates. It
// is not preempted in between: ReadMemStats finds both sums changed, or neither.
//
//go:nosplit
func perfChargeMemory(n int64) {
	memstats.other_sys.add(n)
	gcController.mappedReady.Add(n)
}

// perfTableAlloc returns n bytes outside the heap, zeroed, or nil if there is no memory.
// They are accounted for in MemStats.OtherSys, whether they are used or not.
//
//go:linkname perfTableAlloc runtime/pprof.runtime_perfTableAlloc
func perfTableAlloc(n uintptr) unsafe.Pointer {
	n = alignUp(n, physPageSize)
	p := sysAllocOS(n, "profile table")
	if p != nil {
		sysNoHugePageOS(p, n)
		perfChargeMemory(int64(n))
	}
	return p
}

// perfTableFree gives back what perfTableAlloc returned for n.
//
//go:linkname perfTableFree runtime/pprof.runtime_perfTableFree
func perfTableFree(p unsafe.Pointer, n uintptr) {
	n = alignUp(n, physPageSize)
	perfChargeMemory(-int64(n))
	sysFreeOS(p, n)
}

// chargeWritten accounts for what has been written. The caller is the reader.
func (b *perfBuf) chargeWritten() {
	w := b.log.w.load()
	words := min(w.dataCount()-b.start.dataCount(), perfBufWords)
	b.charge(int(words), countSub(w.tagCount(), b.start.tagCount()))
}

// rewind has a buffer that is empty begin at its start again, so that what is written
// next goes where something has been written before. The caller is the reader, and
// holds the slot's lock.
func (b *perfBuf) rewind() {
	l := &b.log
	w := l.w.load()
	if w != l.r.load() || w != l.rNext {
		return // there is something to read, or w has a flag
	}
	start := w.addCountsAndClearFlags(-int(w.dataCount())&(perfBufWords-1), -int(w.tagCount())&(perfBufTags-1))
	// Meanwhile close may set a flag. The collector may see one count without the other,
	// but then there are only nils between them.
	if l.w.cas(w, start) {
		l.r.store(start)
		l.rNext, b.start = start, start
	}
}

// perfMarkTags marks the label sets that tags in buffers refer to. It is a part of
// scanning roots.
//
//go:nowritebarrier
func perfMarkTags(gcw *gcWork) {
	if perfTagRoots.n.Load() != 0 {
		perfTagRoots.mark(gcw)
	}
}

// perfMarkBufs is perfMarkTags when there are buffers.
//
// What is written to a buffer during the collection need not be found here: the tag is
// the interrupted goroutine's, from which the collection that is under way reaches the
// label set as well; see profBuf.write. The same holds if the handler has not got to
// count the tag yet. What the reader clears meanwhile is shaded by its write barrier.
//
//go:nowritebarrier
func perfMarkBufs(gcw *gcWork) {
	roots := &perfTagRoots
	roots.marking.Add(1)
	for i := range roots.bufs {
		if b := (*perfBuf)(roots.bufs[i].Load()); b != nil {
			b.markTags(gcw)
		}
	}
	roots.marking.Add(-1)
}

// markTags marks what b's tags refer to. Consecutive samples often have the same one.
//
//go:nowritebarrier
func (b *perfBuf) markTags(gcw *gcWork) {
	// In this order, so that nothing is left out of what is written now. Where the
	// reader and the writer are faster, these are nil or other samples' tags.
	r, w := b.log.r.load(), b.log.w.load()
	n := min(countSub(w.tagCount(), r.tagCount()), perfBufTags)
	last := uintptr(0)
	for i := 0; i < n; i++ {
		tag := *(*uintptr)(unsafe.Pointer(&b.tags[(uint(r.tagCount())+uint(i))%perfBufTags]))
		if tag != last {
			last = tag
			scanblock(uintptr(unsafe.Pointer(&tag)), goarch.PtrSize, &oneptrmask[0], gcw, nil)
		}
	}
}
