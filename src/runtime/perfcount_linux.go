// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Counters of performance-monitoring events that are only read, not sampled.
//
// Each thread has counters of its own. Whoever opens a set opens them for the
// threads that exist; a thread that comes later does it itself, in minit. In unminit
// a thread adds its counts to the set's and closes its counters.
//
// A set keeps its threads in a list rather than in a field of m: m would need one
// per set, and only the end of a thread looks them up by thread.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

// perfCountThreads is the Linux part of a perfCountSet.
type perfCountThreads struct {
	threads *perfCountThread // newest first
	opener  muintptr         // whose thread is armed first, while the set is being opened

	// leader[i] is the event that leads the group of event i; see group. It is
	// written when the first thread is armed.
	leader  [perf.MaxEvents]int8
	grouped bool // leader is final

	// direct says that all events are in one group, which is read in user mode.
	direct bool

	// user says that counters are read in user mode (perfpage_linux.go), and
	// config1 is what an event must have for that. They are final when grouped is.
	user    bool
	config1 uint64

	calls uint64 // system calls by which perfosCountRead has read counters, for tests
}

// perfCountHooks is what threads call when they begin and end; see perfHooks. Only who has a
// P may set them.
var perfCountHooks perfCountHookTable

type perfCountHookTable struct {
	init, exit func(mp *m)
	exitMeter  func(mp *m)
}

// perfosCountStart arms all threads. The calling thread comes first: what is wrong
// with an event or with our permissions shows there, and also which events can be
// read together.
func perfosCountStart(s *perfCountSet) (f perf.Failure) {
	systemstack(func() {
		mp := getg().m
		perfCountHooks.exitMeter = perfExitMeter // before there is one
		s.config1, s.user = perfUserCounters()
		s.opener.set(mp)
		if f = s.arm(mp); f.Op != perf.OpNone {
			return
		}
		// From here on new threads arm themselves. A thread that is being created
		// has either not looked at open yet, and will see the new number, or has
		// stored its procid before it looked, and the loop below sees it. Both are
		// sequentially consistent.
		lock(&perfCount.lock)
		if perfCountHooks.init == nil {
			perfCountHooks.init = perfCountInitThread
			perfCountHooks.exit = perfCountExitThread
		}
		s.state = perfCountOpen
		perfOpenSets.Add(1)
		perfCount.gen[s.id.Set].Store(s.id.Gen)
		unlock(&perfCount.lock)

		// See perfosStart for why allm can be walked without a lock.
		for p := (*m)(atomic.Loadp(unsafe.Pointer(&allm))); p != nil; p = p.alllink {
			if f = s.arm(p); f.Op != perf.OpNone {
				return
			}
		}
	})
	return f
}

// perfosCountStop disarms all threads. It releases the lock between them, so a
// thread that exits does not wait for all the others.
func perfosCountStop(s *perfCountSet) {
	for {
		lock(&perfCount.lock)
		t := s.threads
		if t != nil {
			s.threads = t.next
			t.release()
		}
		unlock(&perfCount.lock)
		if t == nil {
			return
		}
	}
}

// perfCountInitThread arms the current thread for the sets that are open. It is
// called from minit, possibly without a P.
func perfCountInitThread(mp *m) {
	systemstack(func() {
		for _, s := range perfCount.sets {
			if s == nil {
				continue
			}
			if f := s.arm(mp); f.Op != perf.OpNone {
				lock(&perfCount.lock)
				s.countMissed(f)
				unlock(&perfCount.lock)
			}
		}
	})
}

// perfCountExitThread disarms the current thread, which exits or leaves Go, and
// keeps its counts. It is called from unminit with all signals blocked, possibly
// without a P.
//
//go:nowritebarrierrec
func perfCountExitThread(mp *m) {
	lock(&perfCount.lock)
	for _, s := range perfCount.sets {
		if s == nil {
			continue
		}
		for p := &s.threads; *p != nil; p = &(*p).next {
			if t := *p; t.mp.ptr() == mp {
				*p = t.next
				if f := t.read(s.exited[:]); f.Op != perf.OpNone {
					s.countMissed(f)
				} else {
					var v perfDivisionNow
					t.copyDivision(&v)
					t.addDivision(&v, &s.divided)
				}
				t.release()
				break
			}
		}
	}
	unlock(&perfCount.lock)
}

// arm opens and starts the set's counters on mp's thread, unless it has them, the
// thread is gone, or the set is not open.
func (s *perfCountSet) arm(mp *m) (f perf.Failure) {
	t, meter := perfCountNewThread(), perfNewMeter()
	lock(&perfCount.lock)
	tid := int32(atomic.Load64(&mp.procid))
	if tid == 0 || !s.lacks(mp) {
		t.release()
		meter.release()
		unlock(&perfCount.lock)
		return perf.Failure{}
	}
	t.mp.set(mp)
	t.set, t.division = s, perfDivision{}
	if s.grouped {
		f = t.open(tid)
	} else {
		f = t.openFirst(tid)
	}
	if f.Op == perf.OpNone {
		t.next = s.threads
		s.threads = t
		t.gen.Store(s.id.Gen)
		t.meter = perfNeedMeter(mp, meter)
		t.meter.sets[s.id.Set].Store(uintptr(unsafe.Pointer(t)))
	} else {
		t.release()
		meter.release()
		if f.Errno == _ESRCH {
			f = perf.Failure{} // the thread is gone
		}
	}
	unlock(&perfCount.lock)
	return f
}

// lacks reports whether mp's thread should have counters and has none yet. While the
// set is being opened only the opener's should.
func (s *perfCountSet) lacks(mp *m) bool {
	if s.state != perfCountOpen && (s.state != perfCountOpening || s.opener.ptr() != mp) {
		return false
	}
	for t := s.threads; t != nil; t = t.next {
		if t.mp.ptr() == mp {
			return false
		}
	}
	return true
}
