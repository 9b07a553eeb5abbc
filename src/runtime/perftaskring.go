// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Rings of records: what tasks leave behind.
//
// Each P has some rings. Who runs on it, and may not be preempted, writes: over what is
// oldest, without looking at who reads. Readers copy a record, and then look whether it
// was written over meanwhile. So no reader can slow a writer down, and each reader has
// its own place and its own count of what it has missed.
//
// Ps beyond the first MaxTaskProcs share a few rings, each of which has a lock for who
// writes. The first ones never write there, so theirs need none, however many Ps there are.
//
// Neither writers nor readers believe what a ring's words say. A length or a number that
// can't be right costs the records from there on, which count as written over. It can't lead
// anybody outside the ring, between two records, or into a loop without end.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// A perfTaskRing is one ring. Positions are numbers of words since it was made.
//
// A record is a word with its length in words, this one included, a word with its number,
// from 0, and its contents. It has no pointers.
type perfTaskRing struct {
	_ sys.NotInHeap

	words *[perf.MaxTaskRing / 8]uint64
	mask  uint64

	shared bool
	lock   mutex // of who writes, if shared

	// Written by the P's user, or with lock: what was pushed, up to head, and still is there, from tail
	// on.
	head, tail atomic.Uint64
	oldest     uint64        // the number of the record at tail, for who writes
	begun      atomic.Uint64 // records, the one that is being pushed included
	pushed     atomic.Uint64 // without it
}

// perfTaskRings are the rings of all Ps: NumTaskRings of each, then those that are shared. They
// are made by the first record that is pushed into them.
var perfTaskRings struct {
	lock  mutex
	words [perf.NumTaskRings]int // of each ring; a power of two
	rings [perf.AllTaskRings]atomic.UnsafePointer
}

// perfTaskRingSize sets the sizes of rings that are made from now on, in bytes. They are
// rounded up to powers of two.
//
//go:linkname perfTaskRingSize runtime/task.runtime_perfTaskRingSize
func perfTaskRingSize(bytes *[perf.NumTaskRings]int) {
	systemstack(func() {
		lock(&perfTaskRings.lock)
		for i, n := range bytes {
			perfTaskRings.words[i] = min(1<<sys.Len64(uint64(max(n, 1024)-1)/8), len(perfTaskRing{}.words))
		}
		unlock(&perfTaskRings.lock)
	})
}

// perfTaskPush pushes a record, which is not empty. It reports false if it does not fit into
// half a ring.
//
//go:linkname perfTaskPush runtime/task.runtime_perfTaskPush
func perfTaskPush(kind int, record []uint64) (ok bool) {
	mp := acquirem()
	i := int(mp.p.ptr().id)
	if i >= perf.MaxTaskProcs {
		i = perf.MaxTaskProcs + i%perf.SharedTaskProcs
	}
	i = i*perf.NumTaskRings + kind
	r := (*perfTaskRing)(perfTaskRings.rings[i].Load())
	if r == nil {
		systemstack(func() { r = perfNewTaskRing(i, kind) })
	}
	if r.shared {
		systemstack(func() { // whoever grows a stack must not hold it
			lock(&r.lock)
			ok = r.push(record)
			unlock(&r.lock)
		})
	} else {
		ok = r.push(record)
	}
	releasem(mp)
	return ok
}

// perfNewTaskRing makes a ring, unless another P has just made it, which shares it.
func perfNewTaskRing(i, kind int) *perfTaskRing {
	t := &perfTaskRings
	lock(&t.lock)
	r := (*perfTaskRing)(t.rings[i].Load())
	if r == nil {
		n := uintptr(t.words[kind])
		r = (*perfTaskRing)(persistentalloc(unsafe.Sizeof(perfTaskRing{}), 64, &memstats.other_sys))
		r.words = (*[perf.MaxTaskRing / 8]uint64)(sysAlloc(n*8, &memstats.other_sys, "task records"))
		if r.words == nil {
			throw("runtime: cannot allocate memory")
		}
		r.mask = uint64(n - 1)
		lockInit(&r.lock, lockRankPerfTaskRing)
		r.shared = i >= perf.MaxTaskProcs*perf.NumTaskRings
		t.rings[i].StoreNoWB(unsafe.Pointer(r))
	}
	unlock(&t.lock)
	return r
}

// fits reports whether a record may be so many words long, of so many that are there. It has some
// beside its header.
func (r *perfTaskRing) fits(size, there uint64) bool {
	return size > perf.TaskHeader && size <= min(there, (r.mask+1)/2)
}

func (r *perfTaskRing) push(record []uint64) bool {
	n := uint64(len(record) + perf.TaskHeader)
	if !r.fits(n, n) {
		return false
	}
	number := r.pushed.Load()
	r.begun.Store(number + 1)
	head, tail := r.head.Load(), r.tail.Load()
	for head+n-tail > r.mask+1 {
		size := r.words[tail&r.mask]
		if r.fits(size, head-tail) && r.words[(tail+1)&r.mask] == r.oldest {
			tail += size
			r.oldest++
		} else {
			tail, r.oldest = head, number
		}
	}
	if tail != r.tail.Load() {
		// A reader that sees a new word sees this. (The exchange is a full barrier.)
		r.tail.Store(tail)
		publicationBarrier()
	}
	r.words[head&r.mask] = n
	r.words[(head+1)&r.mask] = number
	at := (head + perf.TaskHeader) & r.mask
	copied := copy(r.words[at:r.mask+1], record)
	copy(r.words[:r.mask+1], record[copied:])
	r.head.Store(head + n)
	r.pushed.Store(number + 1)
	return true
}

// perfTaskPop copies the next record of a ring into dst: the one at *pos, or the oldest
// one after it that is still there, which skipped says. Then pos is after it. If dst is too
// small, which n says, nothing else has changed. n is 0 if there is no record, or no ring, and
// negative if what is there is none.
//
//go:linkname perfTaskPop runtime/task.runtime_perfTaskPop
func perfTaskPop(ring int, pos *uint64, dst []uint64) (n int, number uint64, skipped bool) {
	r := (*perfTaskRing)(perfTaskRings.rings[ring].Load())
	if r == nil {
		return 0, 0, false
	}
	for {
		head, p := r.head.Load(), max(*pos, r.tail.Load())
		if p >= head {
			return 0, 0, false
		}
		// A compare-and-swap is a full barrier: what is loaded before it is not loaded
		// after the tail.
		var barrier atomic.Uint32
		size, number := r.words[p&r.mask], r.words[(p+1)&r.mask]
		barrier.CompareAndSwap(0, 0)
		if r.tail.Load() > p {
			continue // it was written over
		}
		// Records follow each other up to head, and are numbered when they are begun.
		if !r.fits(size, head-p) || number >= r.begun.Load() {
			return -1, 0, false
		}
		n := int(size) - perf.TaskHeader
		if n > len(dst) {
			return n, number, p != *pos
		}
		at := (p + perf.TaskHeader) & r.mask
		copied := copy(dst[:n], r.words[at:r.mask+1])
		copy(dst[copied:n], r.words[:r.mask+1])
		barrier.CompareAndSwap(0, 0)
		if r.tail.Load() > p {
			continue
		}
		skipped = p != *pos
		*pos = p + size
		return n, number, skipped
	}
}

// perfTaskRingState returns where a ring begins and ends, how many records have been
// pushed, and the number of the oldest one that is there, which is never more than that.
//
//go:linkname perfTaskRingState runtime/task.runtime_perfTaskRingState
func perfTaskRingState(ring int) (tail, head, pushed, oldest uint64) {
	r := (*perfTaskRing)(perfTaskRings.rings[ring].Load())
	if r == nil {
		return 0, 0, 0, 0
	}
	for {
		pushed, head, tail = r.pushed.Load(), r.head.Load(), r.tail.Load()
		oldest = pushed
		if tail < head {
			oldest = min(oldest, r.words[(tail+1)&r.mask])
		}
		var barrier atomic.Uint32
		barrier.CompareAndSwap(0, 0) // as in perfTaskPop
		if r.begun.Load() == pushed {
			return tail, head, pushed, oldest // none has been begun meanwhile
		}
	}
}
