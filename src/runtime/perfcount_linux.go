// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Counters of performance-monitoring events that are only read, not sampled.
//
// As in perfprof_linux.go each thread has counters of its own, opened by
// whoever opens the set for the threads that exist, and by the thread itself,
// in minit, for those that come later. In unminit a thread adds its counts to
// the set's and closes them.
//
// A set keeps its threads in a list rather than in a field of m: m would need
// one per set, and the only thing that is looked up by thread is its end.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// perfCountThreads is the Linux part of a perfCountSet.
type perfCountThreads struct {
	threads *perfCountThread

	// leader[i] is the event that leads the group of event i; see group.
	// Written when the first thread is armed.
	leader  [perf.MaxEvents]int8
	grouped bool // leader is final
}

// A perfCountThread is the counters of one thread in one set. It is allocated
// outside the heap and reused. Protected by perfCount.lock.
type perfCountThread struct {
	_ sys.NotInHeap

	next *perfCountThread // in the set's list or the free list
	mp   muintptr         // the thread's M. A name: it may not be there any more
	n    int              // counters that are open
	fd   [perf.MaxEvents]int32
	id   [perf.MaxEvents]uint64 // the kernel's names for them, to know them again
}

var perfCountFreeThreads *perfCountThread // protected by perfCount.lock

// perfosCountStart arms all threads. The calling thread comes first: what is
// wrong with an event or with our permissions shows there, and what can be
// read together.
func perfosCountStart(s *perfCountSet) (f perf.Failure) {
	systemstack(func() {
		mp := getg().m
		f = s.arm(mp, true)
		if f.Op != perf.OpNone {
			return
		}
		// From here on new threads arm themselves. A thread that is being
		// created has either not looked at open yet, and will see the new
		// number, or has stored its procid before it looked, and the loop
		// below sees it. Both are sequentially consistent.
		lock(&perfCount.lock)
		s.state = perfCountOpen
		perfCount.open.Add(1)
		unlock(&perfCount.lock)

		// See perfosStart for why allm can be walked without a lock.
		for p := (*m)(atomic.Loadp(unsafe.Pointer(&allm))); p != nil; p = p.alllink {
			if f = s.arm(p, false); f.Op != perf.OpNone {
				return
			}
		}
	})
	return f
}

// perfCountInitThread arms the current thread for the sets that are open.
// Called from minit, possibly without a P.
func perfCountInitThread(mp *m) {
	if perfCount.open.Load() == 0 {
		return
	}
	systemstack(func() {
		for _, s := range perfCount.sets {
			if s == nil {
				continue
			}
			if f := s.arm(mp, false); f.Op != perf.OpNone {
				lock(&perfCount.lock)
				s.miss(f)
				unlock(&perfCount.lock)
			}
		}
	})
}

// perfCountExitThread disarms the current thread, which exits or leaves Go,
// and keeps its counts. Called from unminit with all signals blocked, possibly
// without a P.
//
//go:nowritebarrierrec
func perfCountExitThread(mp *m) {
	if perfCount.open.Load() == 0 {
		return
	}
	lock(&perfCount.lock)
	for _, s := range perfCount.sets {
		if s == nil {
			continue
		}
		for p := &s.threads; *p != nil; p = &(*p).next {
			if t := *p; t.mp.ptr() == mp {
				*p = t.next
				if f := t.read(s, s.exited[:], true); f.Op != perf.OpNone {
					s.miss(f)
				}
				t.free()
				break
			}
		}
	}
	unlock(&perfCount.lock)
}

// arm opens and starts the counters of mp's thread, unless they are already,
// or the set is not open, or the thread is not there. While the set is being
// opened only the first thread is armed, the opener's own.
func (s *perfCountSet) arm(mp *m, first bool) (f perf.Failure) {
	t := perfCountNewThread()
	lock(&perfCount.lock)
	tid := int32(atomic.Load64(&mp.procid))
	if tid == 0 || !s.wants(mp, first) {
		t.free()
		unlock(&perfCount.lock)
		return perf.Failure{}
	}
	t.mp.set(mp)
	f = t.open(s, tid)
	if f.Op == perf.OpNone && !s.grouped {
		if t.starved(s) {
			t.close()
			s.separate()
			f = t.open(s, tid)
		}
		s.grouped = true
	}
	if f.Op == perf.OpNone {
		t.next = s.threads
		s.threads = t
	} else {
		t.free()
		if f.Errno == _ESRCH {
			f = perf.Failure{} // the thread is gone
		}
	}
	unlock(&perfCount.lock)
	return f
}

// wants reports whether mp is to be armed and is not yet.
func (s *perfCountSet) wants(mp *m, first bool) bool {
	if s.state != perfCountOpen && !(first && s.state == perfCountOpening) {
		return false
	}
	for t := s.threads; t != nil; t = t.next {
		if t.mp.ptr() == mp {
			return false
		}
	}
	return true
}

// perfCountNewThread returns an unused perfCountThread.
func perfCountNewThread() *perfCountThread {
	lock(&perfCount.lock)
	t := perfCountFreeThreads
	if t != nil {
		perfCountFreeThreads = t.next
		t.next = nil
	}
	unlock(&perfCount.lock)
	if t == nil {
		t = (*perfCountThread)(persistentalloc(unsafe.Sizeof(perfCountThread{}), 0, &memstats.other_sys))
	}
	return t
}

//go:nowritebarrierrec
func (t *perfCountThread) free() {
	t.close()
	t.mp.set(nil)
	t.next = perfCountFreeThreads
	perfCountFreeThreads = t
}

// close closes t's counters, but no descriptor that the program has closed
// and reused. See perfIs.
//
//go:nowritebarrierrec
func (t *perfCountThread) close() {
	for i, fd := range t.fd[:t.n] {
		if perfIs(fd, t.id[i]) {
			closefd(fd)
		}
	}
	t.n = 0
}

// open opens all counters of t and starts them.
//
// The first thread of a set finds out which events the kernel takes as
// a group; what it found then holds for all threads.
func (t *perfCountThread) open(s *perfCountSet, tid int32) perf.Failure {
	for i := range s.n {
		if !s.grouped {
			s.leader[i] = s.group(i)
		}
		fd := t.openCounter(s, i, tid)
		if fd < 0 && !s.grouped && int(s.leader[i]) != i {
			s.leader[i] = int8(i)
			fd = t.openCounter(s, i, tid)
		}
		if fd < 0 {
			return perf.Failure{Slot: i, Op: perf.OpOpen, Errno: -fd}
		}
		t.fd[i] = fd
		t.n = i + 1
		// Can't fail for a counter that is open.
		ioctl(fd, _PERF_EVENT_IOC_ID, uintptr(unsafe.Pointer(&t.id[i])))
	}
	for i := range s.n {
		if int(s.leader[i]) == i {
			if r := ioctl(t.fd[i], _PERF_EVENT_IOC_ENABLE, _PERF_IOC_FLAG_GROUP); r < 0 {
				return perf.Failure{Slot: i, Op: perf.OpControl, Errno: -r}
			}
		}
	}
	return perf.Failure{}
}

// group proposes a leader for event i, given those of the events before it.
//
// A group is read with one system call, and its events count over exactly the
// same time, which makes their ratio meaningful even when the kernel has more
// groups than counters and runs them in turns. But it is all or nothing: no
// event of the group counts while one has no counter. So events that the
// kernel counts itself, or that are found by debug registers, which never wait
// for a counter, are not in a group with those of the PMU: they would become
// estimates for no reason.
func (s *perfCountSet) group(i int) int8 {
	for j := i - 1; j >= 0; j-- {
		if l := s.leader[j]; perfIsPMU(&s.cfg[l]) == perfIsPMU(&s.cfg[i]) {
			return l
		}
	}
	return int8(i)
}

// perfIsPMU reports whether the event needs a counter of the processor.
func perfIsPMU(c *perf.Config) bool {
	switch c.Type {
	case _PERF_TYPE_SOFTWARE, _PERF_TYPE_TRACEPOINT, _PERF_TYPE_BREAKPOINT:
		return false
	}
	return true
}

// separate gives up grouping: each event is its own leader.
func (s *perfCountSet) separate() {
	for i := range s.leader {
		s.leader[i] = int8(i)
	}
	s.grouped = true
}

// starved reports whether a group of the current thread, just started, is not
// counting. The kernel checks that a group fits when it is opened, but not
// whether somebody else keeps a counter for good (the NMI watchdog does): then
// the group would never count, while its events one by one would.
func (t *perfCountThread) starved(s *perfCountSet) bool {
	var c [perf.MaxEvents]perf.Count
	if f := t.read(s, c[:], false); f.Op != perf.OpNone {
		return false
	}
	for i := range s.n {
		if int(s.leader[i]) != i && c[i].Enabled != 0 && c[i].Running == 0 {
			return true
		}
	}
	return false
}

// openCounter opens the counter of event i for thread tid, stopped. It returns
// a descriptor or a negated errno.
func (t *perfCountThread) openCounter(s *perfCountSet, i int, tid int32) int32 {
	// precise_ip stays 0: there is no instruction to be precise about, and
	// the kernel refuses it for what takes no samples.
	attr := perfAttr(&perfSlot{cfg: s.cfg[i]})
	attr.sampleType = 0
	attr.wakeupEvents = 0
	attr.readFormat = _PERF_FORMAT_GROUP | _PERF_FORMAT_TOTAL_TIME_ENABLED | _PERF_FORMAT_TOTAL_TIME_RUNNING
	group := int32(-1)
	if l := int(s.leader[i]); l != i {
		group = t.fd[l]
	}
	return perf_event_open(&attr, tid, -1, group, _PERF_FLAG_FD_CLOEXEC)
}

// perfCountGroup is what read(2) of a group's leader returns.
type perfCountGroup struct {
	n       uint64 // of values
	enabled uint64 // ns
	running uint64 // ns
	values  [perf.MaxEvents]uint64
}

// read adds what t's counters have counted to dst. It makes one system call
// for each group, and with check another before it: see perfIs.
//
//go:nowritebarrierrec
func (t *perfCountThread) read(s *perfCountSet, dst []perf.Count, check bool) perf.Failure {
	var g perfCountGroup
	for l := range s.n {
		if int(s.leader[l]) != l {
			continue
		}
		r := int32(-_EBADF)
		if !check || perfIs(t.fd[l], t.id[l]) {
			r = read(t.fd[l], noescape(unsafe.Pointer(&g)), int32(unsafe.Sizeof(g)))
		}
		if r < 0 {
			// The program has closed the descriptor behind our back.
			return perf.Failure{Slot: l, Op: perf.OpControl, Errno: -r}
		}
		// The group's values are in the order in which it was opened.
		k := 0
		for i := l; i < s.n; i++ {
			if int(s.leader[i]) == l {
				dst[i].Value += g.values[k]
				dst[i].Enabled += g.enabled
				dst[i].Running += g.running
				k++
			}
		}
	}
	return perf.Failure{}
}

// intact reports whether the first descriptor that the set has opened, of those
// of the threads that there are, is still a counter. A program that closes
// descriptors which are not its own closes all from some number on. Where this
// one is left, so are those that were opened after it, and need not be asked.
func (s *perfCountSet) intact() bool {
	t := s.threads
	for t != nil && t.next != nil {
		t = t.next // newer ones are before older ones
	}
	if t == nil {
		return true
	}
	lowest := 0
	for i, fd := range t.fd[:t.n] {
		if fd < t.fd[lowest] {
			lowest = i
		}
	}
	return perfIs(t.fd[lowest], t.id[lowest])
}

// perfosCountRead adds what all threads have counted to dst. The caller holds
// perfCount.lock.
func perfosCountRead(s *perfCountSet, dst []perf.Count) {
	check := !s.intact()
	for t := s.threads; t != nil; t = t.next {
		if f := t.read(s, dst, check); f.Op != perf.OpNone {
			s.miss(f)
		}
	}
}

// perfosCountStop disarms all threads. The lock is released between them, so
// that one that exits does not wait for all the others.
func perfosCountStop(s *perfCountSet) {
	for {
		lock(&perfCount.lock)
		t := s.threads
		if t != nil {
			s.threads = t.next
			t.free()
		}
		unlock(&perfCount.lock)
		if t == nil {
			return
		}
	}
}
