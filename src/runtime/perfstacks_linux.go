// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The queue in which the signal handler of a thread that runs C leaves C tracebacks
// for the goroutine that drains the thread's ring.

package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

// perfForeignSignals reports whether threads that run C are sent signals.
func perfForeignSignals() bool { return cgoTraceback != nil }

// perfStacks is a queue of stacks that a thread's signal handler leaves for
// drainForeign. Protected by perfThread.lock.
type perfStacks struct {
	_      sys.NotInHeap
	n      uint   // words in use
	until  uint64 // the ring's head when the latest stack was queued
	looked uint64 // the ring's head at the latest look; see due

	// Each stack is the ring's head when it was taken, the two registers that a
	// record must have to belong to it, the number of its instructions, and the
	// instructions. At 10 kHz and depth 10 the queue lasts 29 ms. Records without a
	// stack in the queue are recorded with their leaf.
	words [4096]uint64
}

const (
	perfStackHeader = 4 // words before a stack's instructions

	// perfStackTries is how often the handler tries to lock the thread, whose ring is being
	// read meanwhile, before it gives the stack up.
	perfStackTries = 1000
)

// makeStacks gives an unused t a queue, if the program has a C traceback function.
func (t *perfThread) makeStacks() {
	if perfForeignSignals() && t.stacks == nil {
		t.stacks = (*perfStacks)(persistentalloc(unsafe.Sizeof(perfStacks{}), 0, &memstats.other_sys))
	}
}

// push adds the stack in pcs, which a signal has interrupted at pc and sp, to the
// queue, if there is room for the longest possible one. head is the ring's.
//
// It calls nothing, and no index needs a bounds check; see perfSigprofNonGo.
//
//go:nosplit
//go:nowritebarrierrec
func (q *perfStacks) push(pcs *cgoCallers, head uint64, pc, sp uintptr) {
	i := q.n
	if i > uint(len(q.words)-perfStackHeader-len(pcs)) {
		return
	}
	n := uint(0)
	for n < uint(len(pcs)) && pcs[n] != 0 {
		q.words[i+perfStackHeader+n] = uint64(pcs[n])
		n++
	}
	q.words[i] = head
	q.words[i+1] = uint64(pc)
	q.words[i+2] = uint64(sp)
	q.words[i+3] = uint64(n)
	q.n = i + perfStackHeader + n
	q.until = head
}

// due returns up to where lookForeign reads the ring r, with this head. Later records are read
// at the next look, for their handler may be about to queue their stack; or now, if they
// fill half of the ring.
func (q *perfStacks) due(r *perfRing, head uint64) uint64 {
	due := q.looked
	if q.n > 0 {
		due = max(due, q.until)
	}
	q.looked = head
	if head-r.tail > r.mask/2 {
		return head
	}
	return min(due, head)
}
