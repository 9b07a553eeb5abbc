// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The counters of one thread in one set.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// A perfCountThread is the counters of one thread in one set. It is allocated
// outside the heap and reused. Protected by perfCount.lock, but the thread itself reads
// what does not change while its meter has t, and writes division.
type perfCountThread struct {
	_ sys.NotInHeap

	next  *perfCountThread // in the set's list or the free list
	mp    muintptr         // the thread's M. It is a name only: the M may be gone
	set   *perfCountSet
	gen   atomic.Uint32 // of the set; 0 if the counters do not run, or are to be closed
	meter *perfMeter    // of the thread, which may have ended; nil until the counters run
	n     int           // counters that are open
	fd    [perf.MaxEvents]int32
	id    [perf.MaxEvents]uint64 // the kernel's names for them; see perfFDIsEvent

	// last is the latest reading. For the group leaders in known it is current
	// while their page's sequence is seq.
	last  perfReading
	page  [perf.MaxEvents]perfPage
	seq   [perf.MaxEvents]uint32
	known perfSlots // by event

	division perfDivision
}

var perfCountFreeThreads *perfCountThread // protected by perfCount.lock

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

// release closes t's counters and puts t on the free list.
//
//go:nowritebarrierrec
func (t *perfCountThread) release() {
	if t.meter != nil {
		t.gen.Store(0)
		t.meter.sets[t.set.id.Set].Store(0)
		t.meter.idle()
		t.meter = nil
	}
	t.close()
	t.mp.set(nil)
	t.next = perfCountFreeThreads
	perfCountFreeThreads = t
}

// close closes t's counters, but no descriptor that the program has closed and
// reused; see perfFDIsEvent.
//
//go:nowritebarrierrec
func (t *perfCountThread) close() {
	for i, fd := range t.fd[:t.n] {
		if perfFDIsEvent(fd, t.id[i]) {
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

// openFirst is open for the set's first thread. It finds out which events the kernel
// takes as a group, and whether programs may read them; what it finds holds for all
// threads.
func (t *perfCountThread) openFirst(tid int32) perf.Failure {
	s := t.set
	f := t.open(tid)
	if f.Op != perf.OpNone && s.config1 != 0 {
		t.close() // perhaps the kernel refuses reading in user mode
		s.user, s.config1 = false, 0
		f = t.open(tid)
	}
	if f.Op == perf.OpNone && t.starved() {
		t.close()
		s.ungroup()
		f = t.open(tid)
	}
	if s.user = f.Op == perf.OpNone && s.user && t.registersReadable(); !s.user {
		t.unmap()
	}
	s.grouped = true
	s.direct = s.user
	for i := range s.n {
		s.direct = s.direct && s.leader[i] == 0 && s.attrs[i].OnPMU()
	}
	return f
}

// open opens all counters of t, which is thread tid's, and starts them. Until the
// set's groups are final, an event whose group does not open leads one of its own.
func (t *perfCountThread) open(tid int32) perf.Failure {
	s := t.set
	for i := range s.n {
		if !s.grouped {
			s.leader[i] = s.group(i)
		}
		fd := t.openCounter(i, tid)
		if fd < 0 && !s.grouped && int(s.leader[i]) != i {
			s.leader[i] = int8(i)
			fd = t.openCounter(i, tid)
		}
		if fd < 0 {
			return perf.Failure{Slot: i, Op: perf.OpOpen, Errno: -fd}
		}
		t.fd[i] = fd
		t.n = i + 1
		// Can't fail for an open counter.
		ioctl(fd, perf.IoctlID, uintptr(unsafe.Pointer(&t.id[i])))
		if s.user && s.attrs[i].OnPMU() {
			t.page[i].open(fd)
		}
	}
	for i := range s.n {
		if int(s.leader[i]) == i {
			if r := ioctl(t.fd[i], perf.IoctlEnable, perf.IoctlFlagGroup); r < 0 {
				return perf.Failure{Slot: i, Op: perf.OpControl, Errno: -r}
			}
		}
	}
	return perf.Failure{}
}

// openCounter opens the counter of event i for thread tid. It is stopped until its leader
// is started. It returns a descriptor or a negated errno.
func (t *perfCountThread) openCounter(i int, tid int32) int32 {
	s := t.set
	// precise_ip stays 0: there is no instruction to be precise about, and the
	// kernel refuses it for counters that take no samples.
	attr := perfAttr(&s.attrs[i], 0)
	attr.sampleType = 0
	attr.wakeupEvents = 0
	switch attr.typ {
	case perf.TypeHardware, perf.TypeHWCache, perf.TypeRaw:
		attr.config1 |= s.config1
	}
	attr.readFormat = perf.FormatGroup | perf.FormatTotalTimeEnabled | perf.FormatTotalTimeRunning
	group := int32(-1)
	if l := int(s.leader[i]); l != i {
		group = t.fd[l]
		// It starts with its leader. If it is enabled after that, by PERF_EVENT_IOC_ENABLE,
		// and the two are of different PMUs, such as software and tracepoint, Linux 6.18 does
		// not start it on a thread that runs: it has been seen to count nothing until the
		// thread next lost its CPU, in a program of C, too. See TestCountersRunning.
		attr.bits &^= perfAttrBit(perf.AttrDisabled)
	}
	return perf_event_open(&attr, tid, -1, group, perf.FlagFDCloexec)
}

// group proposes a leader for event i, given those of the events before it.
//
// A group is read with one system call, and its events count over exactly the same
// time. That makes their ratio meaningful even when the kernel has more groups than
// counters and runs them in turns. But it is all or nothing: no event of the group
// counts while one of them has no counter. Events that the kernel counts itself, or
// finds by debug registers, never wait for a counter. So they are not grouped with
// those of the PMU, which would make estimates of them for no reason.
func (s *perfCountSet) group(i int) int8 {
	for j := i - 1; j >= 0; j-- {
		if l := s.leader[j]; s.attrs[l].OnPMU() == s.attrs[i].OnPMU() {
			return l
		}
	}
	return int8(i)
}

// ungroup makes each event its own leader.
func (s *perfCountSet) ungroup() {
	for i := range s.leader {
		s.leader[i] = int8(i)
	}
	s.grouped = true
}

// starved reports whether a group of the current thread, just started, is not
// counting. When a group is opened the kernel checks that it fits, but not whether
// somebody else keeps a counter for good, as the NMI watchdog does. Then the group
// would never count, while its events one by one would.
func (t *perfCountThread) starved() bool {
	var c [perf.MaxEvents]perf.Count
	if f := t.read(c[:]); f.Op != perf.OpNone {
		return false
	}
	for i := range t.set.n {
		if !t.set.leads(i) && c[i].Enabled != 0 && c[i].Running == 0 {
			return true
		}
	}
	return false
}
