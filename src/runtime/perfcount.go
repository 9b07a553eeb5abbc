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

	// open is the number of sets that new threads have to arm themselves for. It
	// is written under lock. Threads that start or end read it without the lock,
	// so that they cost nothing while no set is open.
	open atomic.Uint32

	sets [perf.MaxCounterSets]*perfCountSet
}

// A perfCountSet is a set of counters. Allocated outside the heap by the first
// program that needs it, and reused. Protected by perfCount.lock.
type perfCountSet struct {
	_ sys.NotInHeap

	state uint32 // perfCount*
	n     int    // events
	attrs [perf.MaxEvents]perf.Attr

	// exited is what the threads that have ended counted.
	exited [perf.MaxEvents]perf.Count

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
// number for the functions below. On failure nothing is left open: a thread
// that is not counted would make all counts wrong, so unlike in a profile one
// is enough to fail.
//
// A Failure with OpBusy means that perf.MaxCounterSets sets are open.
//
//go:linkname perfCountStart runtime/pprof.runtime_perfCountStart
func perfCountStart(attrs []perf.Attr) (set int, f perf.Failure) {
	if len(attrs) == 0 || len(attrs) > perf.MaxEvents {
		throw("perfCountStart: bad number of events")
	}
	systemstack(func() {
		set = perfCountReserve()
	})
	if set < 0 {
		return set, perf.Failure{Op: perf.OpBusy}
	}
	s := perfCount.sets[set]
	s.n = copy(s.attrs[:], attrs)
	if f = perfosCountStart(s); f.Op != perf.OpNone {
		perfCountStop(set)
	}
	return set, f
}

// perfCountReserve takes a free set into the state perfCountOpening. It
// returns -1 if there is none.
func perfCountReserve() int {
	lock(&perfCount.lock)
	set := -1
	for i, s := range perfCount.sets {
		if s == nil {
			s = (*perfCountSet)(persistentalloc(unsafe.Sizeof(perfCountSet{}), 0, &memstats.other_sys))
			perfCount.sets[i] = s
		}
		if s.state == perfCountFree {
			*s = perfCountSet{state: perfCountOpening}
			set = i
			break
		}
	}
	unlock(&perfCount.lock)
	return set
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
func perfCountRead(set int, dst []perf.Count) (missed uint64, f perf.Failure) {
	s := perfCount.sets[set]
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

// perfCountStop closes a set that perfCountStart has opened.
//
//go:linkname perfCountStop runtime/pprof.runtime_perfCountStop
func perfCountStop(set int) {
	s := perfCount.sets[set]
	systemstack(func() {
		lock(&perfCount.lock)
		if s.state == perfCountOpen {
			perfCount.open.Add(-1)
		}
		s.state = perfCountClosing
		unlock(&perfCount.lock)
		perfosCountStop(s)
		lock(&perfCount.lock)
		s.state = perfCountFree
		unlock(&perfCount.lock)
	})
}
