// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What accounts need of a thread.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// A perfMeter is what accounts need of one thread. The thread gets it with its first
// counters or the first measurement of its CPU time, and loses it when it ends. It is
// allocated outside the heap and reused.
//
// The thread itself reads it at any time. (What it reads depends on m.meter, so its loads
// are in order.) Others write to sets, under perfCount.lock, and look at busy.
type perfMeter struct {
	_ sys.NotInHeap

	next *perfMeter // in the free list; protected by perfCount.lock

	// busy is 1 while the thread uses counters that it has found in sets, and takes no lock
	// meanwhile. Whoever takes one out waits until it is 0, before the counter is closed.
	busy atomic.Uint32
	sets [perf.MaxCounterSets]atomic.Uintptr // *perfCountThread, or 0

	cpu perfCPU // the thread's own
}

// A perfMeterRef is a *perfMeter in an m; see perfAccountRef.
type perfMeterRef uintptr

//go:nosplit
//go:nowritebarrierrec
func (r perfMeterRef) ptr() *perfMeter { return (*perfMeter)(unsafe.Pointer(r)) }

var perfFreeMeters *perfMeter // protected by perfCount.lock

// perfNewMeter returns an unused meter.
func perfNewMeter() *perfMeter {
	lock(&perfCount.lock)
	t := perfFreeMeters
	if t != nil {
		perfFreeMeters = t.next
		t.next = nil
	}
	unlock(&perfCount.lock)
	if t == nil {
		t = (*perfMeter)(persistentalloc(unsafe.Sizeof(perfMeter{}), 0, &memstats.other_sys))
	}
	return t
}

// release puts t on the free list. The caller holds perfCount.lock.
//
//go:nowritebarrierrec
func (t *perfMeter) release() {
	t.next = perfFreeMeters
	perfFreeMeters = t
}

// perfNeedMeter returns mp's meter, which is spare if it had none; otherwise spare is
// released. The caller holds perfCount.lock, and mp's thread has not ended.
func perfNeedMeter(mp *m, spare *perfMeter) *perfMeter {
	if t := mp.meter.ptr(); t != nil {
		spare.release()
		return t
	}
	// The thread may be running, and reads it without the lock.
	atomic.Storeuintptr((*uintptr)(unsafe.Pointer(&mp.meter)), uintptr(unsafe.Pointer(spare)))
	return spare
}

// perfExitMeter takes the current thread's meter away. The thread ends, or leaves Go. It
// may have counters still of sets that are being closed, whose closer does that.
//
//go:nowritebarrierrec
func perfExitMeter(mp *m) {
	t := mp.meter.ptr()
	mp.meter = 0
	lock(&perfCount.lock)
	for i := range t.sets {
		t.sets[i].Store(0)
	}
	t.cpu.close()
	t.release()
	unlock(&perfCount.lock)
}

// idle waits until the thread does not use its counters. That takes it no longer than
// reading them, while it has a CPU.
//
//go:nowritebarrierrec
func (t *perfMeter) idle() {
	for t.busy.Load() != 0 {
		osyield()
	}
}
