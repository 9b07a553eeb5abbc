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

	// user is whether counters are read in user mode (perfpage_linux.go), and
	// config1 what an event must have for that. Final when grouped is.
	user    bool
	config1 uint64

	calls uint64 // system calls by which perfosCountRead has read counters, for tests
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

	// last is what was read last. It is what a read would find now for the
	// events that lead a group in known, while their pages have the state seq.
	last  [perf.MaxEvents]perf.Count
	page  [perf.MaxEvents]perfPage
	seq   [perf.MaxEvents]uint32
	known uint8
}

var perfCountFreeThreads *perfCountThread // protected by perfCount.lock

// perfosCountStart arms all threads. The calling thread comes first: what is
// wrong with an event or with our permissions shows there, and what can be
// read together.
func perfosCountStart(s *perfCountSet) (f perf.Failure) {
	systemstack(func() {
		mp := getg().m
		s.config1, s.user = perfUserCounters()
		f = s.arm(mp, true)
		if f.Op != perf.OpNone {
			return
		}
		// From here on new threads arm themselves. A thread that is being
		// created has either not looked at open yet, and will see the new
		// number, or has stored its procid before it looked, and the loop
		// below sees it. Both are sequentially consistent.
		lock(&perfCount.lock)
		if perfCountHooks.init == nil {
			perfCountHooks.init = perfCountInitThread
			perfCountHooks.exit = perfCountExitThread
		}
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

// perfCountHooks is what threads call when they begin and end. See perfHooks.
var perfCountHooks struct {
	init, exit func(mp *m)
}

// perfCountInitThread arms the current thread for the sets that are open.
// Called from minit, possibly without a P.
func perfCountInitThread(mp *m) {
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
	if !s.grouped {
		if f.Op != perf.OpNone && s.config1 != 0 {
			t.close() // perhaps the kernel does not want it read in user mode
			s.user, s.config1 = false, 0
			f = t.open(s, tid)
		}
		if f.Op == perf.OpNone && t.starved(s) {
			t.close()
			s.separate()
			f = t.open(s, tid)
		}
		if s.user = f.Op == perf.OpNone && s.user && t.readable(s); !s.user {
			t.unmap()
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
	t.unmap()
	t.known = 0
	t.n = 0
}

//go:nowritebarrierrec
func (t *perfCountThread) unmap() {
	for i := range t.page {
		t.page[i].close()
	}
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
		if s.user && s.cfg[i].OnPMU() {
			t.page[i].open(fd)
		}
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
		if l := s.leader[j]; s.cfg[l].OnPMU() == s.cfg[i].OnPMU() {
			return l
		}
	}
	return int8(i)
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
	attr := perfAttr(&s.cfg[i], 0)
	attr.sampleType = 0
	attr.wakeupEvents = 0
	switch attr.typ {
	case perf.TypeHardware, perf.TypeHWCache, perf.TypeRaw:
		attr.config1 |= s.config1
	}
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

// read adds what t's counters have counted to dst, by one system call for each
// group and another before it: see perfIs.
//
//go:nowritebarrierrec
func (t *perfCountThread) read(s *perfCountSet, dst []perf.Count, check bool) perf.Failure {
	for l := range s.n {
		if int(s.leader[l]) != l {
			continue
		}
		if f := t.call(s, l, check); f.Op != perf.OpNone {
			return f
		}
		t.add(s, l, dst)
	}
	return perf.Failure{}
}

// call reads the group that event l leads by a system call. With check it makes
// sure before that the descriptor is still the counter's.
//
//go:nowritebarrierrec
func (t *perfCountThread) call(s *perfCountSet, l int, check bool) perf.Failure {
	var g perfCountGroup
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
			t.last[i] = perf.Count{Value: g.values[k], Enabled: g.enabled, Running: g.running}
			k++
		}
	}
	return perf.Failure{}
}

// registers reads the group that event l leads in user mode. t must be the
// current thread's. It reports whether that was possible.
//
//go:nowritebarrierrec
func (t *perfCountThread) registers(s *perfCountSet, l int) bool {
	for i := l; i < s.n; i++ {
		if int(s.leader[i]) == l {
			c, ok := t.page[i].read()
			if !ok {
				return false
			}
			t.last[i] = c
		}
	}
	return true
}

// readable reports whether all groups of the PMU's events of the current thread
// can be read in user mode.
func (t *perfCountThread) readable(s *perfCountSet) bool {
	some := false
	for l := range s.n {
		if int(s.leader[l]) == l && s.cfg[l].OnPMU() {
			if !t.registers(s, l) {
				return false
			}
			some = true
		}
	}
	return some
}

// add adds what was read of the group that event l leads to dst.
//
//go:nowritebarrierrec
func (t *perfCountThread) add(s *perfCountSet, l int, dst []perf.Count) {
	for i := l; i < s.n; i++ {
		if int(s.leader[i]) == l {
			dst[i].Add(t.last[i])
		}
	}
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
	// The groups that the current thread can read in user mode. It runs, so that
	// its pages would show if the kernel did not keep them: such a group's pages
	// are true for the other threads, too.
	self, user := s.own(), uint8(0)
	for l := range s.n {
		if self != nil && int(s.leader[l]) == l && self.registers(s, l) {
			user |= 1 << l
		}
	}
	asked, check := false, false
	for t := s.threads; t != nil; t = t.next {
		for l := range s.n {
			if int(s.leader[l]) != l {
				continue
			}
			if pages := user>>l&1 != 0; !pages || t != self && !t.unchanged(l) {
				if !asked {
					asked, check = true, !s.intact()
				}
				if f := t.ask(s, l, check, pages); f.Op != perf.OpNone {
					s.miss(f)
					break
				}
			}
			t.add(s, l, dst)
		}
	}
}

// own returns the current thread's counters if they can be read in user mode.
func (s *perfCountSet) own() *perfCountThread {
	if !s.user {
		return nil
	}
	t := s.threads
	for t != nil && t.mp.ptr() != getg().m {
		t = t.next
	}
	return t
}

// ask is call, and with pages also takes note of whether t can be left alone the
// next time.
func (t *perfCountThread) ask(s *perfCountSet, l int, check, pages bool) perf.Failure {
	s.calls++
	if !pages {
		return t.call(s, l, check)
	}
	t.known &^= 1 << l
	seq, idle := t.page[l].idle()
	f := t.call(s, l, check)
	// An event that had to share its counter could be without one while the
	// thread runs, and its page would not tell that time goes on.
	if idle && f.Op == perf.OpNone && t.last[l].Running == t.last[l].Enabled {
		if now, still := t.page[l].idle(); still && now == seq {
			t.seq[l] = seq
			t.known |= 1 << l
		}
	}
	return f
}

// unchanged reports whether t.last is what the group that event l leads has
// counted up to now. (If t has run, but never with the group, it is. Then the
// time that t has run is missing, in which the event could have counted; the
// next read that finds the group counting has it.)
func (t *perfCountThread) unchanged(l int) bool {
	return t.known>>l&1 != 0 && t.page[l].state() == t.seq[l]
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
