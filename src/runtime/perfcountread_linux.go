// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Reading the counters of a set: by system calls, or in user mode where the kernel
// allows that (perfpage_linux.go).

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

// perfosCountRead adds what all threads have counted to dst. The caller holds
// perfCount.lock.
func perfosCountRead(s *perfCountSet, dst []perf.Count) {
	// The groups that the current thread can read in user mode. Since it runs, its
	// pages would show if the kernel did not keep them up to date. So such a
	// group's pages are true for the other threads as well.
	self, user := s.currentThread(), perfSlots(0)
	for l := range s.n {
		if self != nil && s.leads(l) && self.readRegisters(s, l) {
			user |= perfSlotBit(l)
		}
	}
	checked := false
	for t := s.threads; t != nil; t = t.next {
		for l := range s.n {
			if !s.leads(l) {
				continue
			}
			if !user.has(l) || t != self && !t.isCurrent(l) {
				if !checked {
					checked, s.verify = true, !s.descriptorsIntact()
				}
				s.calls++
				f := perf.Failure{}
				if user.has(l) {
					f = t.readIdle(s, l)
				} else {
					f = t.readGroup(s, l)
				}
				if f.Op != perf.OpNone {
					s.countMissed(f)
					break
				}
			}
			t.addLast(s, l, dst)
		}
	}
}

// leads reports whether event i leads a group.
//
//go:nowritebarrierrec
func (s *perfCountSet) leads(i int) bool { return int(s.leader[i]) == i }

// currentThread returns the current thread's counters if they can be read in user
// mode.
func (s *perfCountSet) currentThread() *perfCountThread {
	if !s.user {
		return nil
	}
	t := s.threads
	for t != nil && t.mp.ptr() != getg().m {
		t = t.next
	}
	return t
}

// descriptorsIntact reports whether the first descriptor that the set has opened for
// one of its current threads is still a counter. A program that closes descriptors
// which are not its own closes all from some number on. If it has left this one, it
// has left those that were opened later too, and they need not be checked.
func (s *perfCountSet) descriptorsIntact() bool {
	t := s.threads
	for t != nil && t.next != nil {
		t = t.next
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
	return perfFDIsEvent(t.fd[lowest], t.id[lowest])
}

// read adds what t's counters have counted to dst, by one system call for each group
// and, with s.verify, another one before it.
//
//go:nowritebarrierrec
func (t *perfCountThread) read(s *perfCountSet, dst []perf.Count) perf.Failure {
	for l := range s.n {
		if !s.leads(l) {
			continue
		}
		if f := t.readGroup(s, l); f.Op != perf.OpNone {
			return f
		}
		t.addLast(s, l, dst)
	}
	return perf.Failure{}
}

// perfCountGroup is what read(2) of a group's leader returns.
type perfCountGroup struct {
	n       uint64 // of values
	enabled uint64 // ns
	running uint64 // ns
	values  [perf.MaxEvents]uint64
}

// readGroup reads the group that event l leads by a system call.
//
//go:nowritebarrierrec
func (t *perfCountThread) readGroup(s *perfCountSet, l int) perf.Failure {
	var g perfCountGroup
	r := int32(-_EBADF)
	if !s.verify || perfFDIsEvent(t.fd[l], t.id[l]) {
		r = read(t.fd[l], noescape(unsafe.Pointer(&g)), int32(unsafe.Sizeof(g)))
	}
	if r < 0 {
		// The program has closed the descriptor.
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

// readIdle is readGroup for a group whose pages can be trusted. It also notes whether
// the reading stays current until the thread runs again.
func (t *perfCountThread) readIdle(s *perfCountSet, l int) perf.Failure {
	t.known &^= perfSlotBit(l)
	seq, idle := t.page[l].idle()
	f := t.readGroup(s, l)
	// An event that has had to share its counter could be without one while the
	// thread runs, and its page would not show that time goes on.
	if idle && f.Op == perf.OpNone && t.last[l].Running == t.last[l].Enabled {
		if now, still := t.page[l].idle(); still && now == seq {
			t.seq[l] = seq
			t.known |= perfSlotBit(l)
		}
	}
	return f
}

// isCurrent reports whether t.last is what the group that event l leads has counted
// up to now. (If t has run, but never with the group, that is so. Then the time that
// t has run is missing, in which the event could have counted; the next read that
// finds the group counting has it.)
func (t *perfCountThread) isCurrent(l int) bool {
	return t.known.has(l) && t.page[l].state() == t.seq[l]
}

// readRegisters reads the group that event l leads in user mode. t must be the
// current thread's. It reports whether that was possible.
//
//go:nowritebarrierrec
func (t *perfCountThread) readRegisters(s *perfCountSet, l int) bool {
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

// registersReadable reports whether the current thread can read all groups of the
// PMU's events in user mode.
func (t *perfCountThread) registersReadable(s *perfCountSet) bool {
	some := false
	for l := range s.n {
		if s.leads(l) && s.attrs[l].OnPMU() {
			if !t.readRegisters(s, l) {
				return false
			}
			some = true
		}
	}
	return some
}

// addLast adds the latest reading of the group that event l leads to dst.
//
//go:nowritebarrierrec
func (t *perfCountThread) addLast(s *perfCountSet, l int, dst []perf.Count) {
	for i := l; i < s.n; i++ {
		if int(s.leader[i]) == l {
			dst[i].Add(t.last[i])
		}
	}
}
