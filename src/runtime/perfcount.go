// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Counting of performance-monitoring events: the part that every OS shares.
//
// A set of counters counts up to perf.MaxEvents events on all threads of the process.
// It takes no samples and sends no signals; perfCountRead reads what it has counted.
// Sets are independent of each other and of profiling sessions (perfprof.go). They
// share only the processor's counters, which the kernel divides among them.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

var perfCount struct {
	// lock protects the sets, which no signal handler uses. It is held for the
	// system calls that arm or disarm one thread, and while a set is read on all
	// threads, so that a reading is consistent with the threads that come and go.
	// It is not held together with perfProf.lock.
	lock mutex

	sets [perf.MaxCounterSets]*perfCountSet

	// gen is perfCountSet.id.Gen of the sets that are open, else 0. It is written under
	// lock. Goroutines compare it without the lock; see perfSetOpen.
	gen [perf.MaxCounterSets]atomic.Uint32
}

// perfOpenSets is the number of sets that new threads have to arm themselves for. It is
// written under perfCount.lock. Threads that start or end read it without the lock, so
// that they cost nothing while no set is open. (It is not in perfCount, so that a program
// without counters has no perfCount; see perfHooks.)
var perfOpenSets atomic.Uint32

// A perfCountSet is a set of counters. Allocated outside the heap by the first
// program that needs it, and reused. Protected by perfCount.lock.
type perfCountSet struct {
	_ sys.NotInHeap

	id    perf.SetID
	state uint32 // perfCount*
	n     int    // events
	attrs [perf.MaxEvents]perf.Attr

	// exited is what the threads that have ended counted.
	exited [perf.MaxEvents]perf.Count

	// divided is how exited is divided among goroutines.
	divided perf.Division

	// missed counts the threads that could not be armed, or whose counters could
	// not be read when they ended. Their counts are missing.
	missed  uint64
	failure perf.Failure // why: the first one's

	perfCountThreads // of the OS
}

const (
	perfCountFree    = iota
	perfCountOpening // the opener, whose it is, arms its own thread
	perfCountOpen
	perfCountClosing // being disarmed by the closer
)

// A perfReading is what the counters of a thread have counted.
type perfReading struct {
	value [perf.MaxEvents]uint64
	times [perf.MaxEvents]perfTimes // by leader
}

// perfTimes are those of a group; see perf.Count.
type perfTimes struct {
	enabled, running uint64 // ns
	ticks            int64  // to be added to both, in perfTicks
}

// countMissed notes that a thread's counts, or some of them, are not in the set.
//
//go:nowritebarrierrec
func (s *perfCountSet) countMissed(f perf.Failure) {
	if s.missed == 0 {
		s.failure = f
	}
	s.missed++
}

// perfCountStart opens a set of counters for the events on all threads
// of the process, those that exist and those that come. It returns the set's
// name for the functions below. On failure nothing is left open: a thread
// that is not counted would make all counts wrong, so unlike in a profile one
// is enough to fail.
//
// A Failure with OpBusy means that perf.MaxCounterSets sets are open.
//
//go:linkname perfCountStart runtime/pprof.runtime_perfCountStart
func perfCountStart(attrs []perf.Attr) (set perf.SetID, f perf.Failure) {
	if len(attrs) == 0 || len(attrs) > perf.MaxEvents {
		throw("perfCountStart: bad number of events")
	}
	var s *perfCountSet
	systemstack(func() {
		s = perfCountReserve()
	})
	if s == nil {
		return set, perf.Failure{Op: perf.OpBusy}
	}
	set = s.id
	s.n = copy(s.attrs[:], attrs)
	if f = perfosCountStart(s); f.Op != perf.OpNone {
		perfCountStop(set)
	}
	return set, f
}

// perfCountReserve takes a free set into the state perfCountOpening. It
// returns nil if there is none.
func perfCountReserve() *perfCountSet {
	lock(&perfCount.lock)
	var free *perfCountSet
	for i, s := range perfCount.sets {
		if s == nil {
			s = (*perfCountSet)(persistentalloc(unsafe.Sizeof(perfCountSet{}), 0, &memstats.other_sys))
			perfCount.sets[i] = s
		}
		if s.state == perfCountFree {
			id := perf.SetID{Set: int32(i), Gen: s.id.Gen + 1}
			if id.Gen == 0 {
				id.Gen = 1 // 0 is no set's
			}
			*s = perfCountSet{id: id, state: perfCountOpening}
			free = s
			break
		}
	}
	unlock(&perfCount.lock)
	return free
}

// perfCountRead stores in dst what an open set has counted up to now. dst has
// an element for each event of the set.
//
// missed is the number of threads that are not in the counts, or not
// completely, and f says why for the first of them.
//
// The threads are read one after the other: counts of a thread are from one
// point in time, those of different threads from within a few microseconds.
// A thread's own counters are complete to the instruction that reads them.
//
//go:linkname perfCountRead runtime/pprof.runtime_perfCountRead
func perfCountRead(set perf.SetID, dst []perf.Count) (missed uint64, f perf.Failure) {
	s := perfCount.sets[set.Set]
	dst = dst[:s.n]
	systemstack(func() {
		lock(&perfCount.lock)
		copy(dst, s.exited[:])
		perfosCountRead(s, dst)
		missed, f = s.missed, s.failure
		unlock(&perfCount.lock)
	})
	return missed, f
}

// perfCountDivision stores in d how what an open set has counted is divided among
// goroutines. Its sums are what perfCountRead would read.
//
//go:linkname perfCountDivision runtime/pprof.runtime_perfCountDivision
func perfCountDivision(set perf.SetID, d *perf.Division) (missed uint64, f perf.Failure) {
	s := perfCount.sets[set.Set]
	systemstack(func() {
		lock(&perfCount.lock)
		*d = s.divided
		perfosCountDivision(s, d)
		missed, f = s.missed, s.failure
		unlock(&perfCount.lock)
	})
	return missed, f
}

// perfSetOpen reports whether a set is still open.
//
//go:nosplit
//go:nowritebarrierrec
func perfSetOpen(set perf.SetID) bool { return perfCount.gen[set.Set].Load() == set.Gen }

// perfCountStop closes a set that perfCountStart has opened.
//
//go:linkname perfCountStop runtime/pprof.runtime_perfCountStop
func perfCountStop(set perf.SetID) {
	s := perfCount.sets[set.Set]
	systemstack(func() {
		lock(&perfCount.lock)
		if s.state == perfCountOpen {
			perfOpenSets.Add(-1)
			perfCount.gen[set.Set].Store(0)
		}
		s.state = perfCountClosing
		unlock(&perfCount.lock)
		perfosCountStop(s)
		lock(&perfCount.lock)
		s.state = perfCountFree
		unlock(&perfCount.lock)
	})
}
