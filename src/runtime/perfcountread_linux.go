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
		if self != nil && s.leads(l) && self.readRegisters(l, &self.last) {
			user |= perfSlotBit(l)
		}
	}
	var read func(t *perfCountThread, l int, r *perfReading) perf.Failure
	for t := s.threads; t != nil; t = t.next {
		for l := range s.n {
			if !s.leads(l) {
				continue
			}
			if !user.has(l) || t != self && !t.isCurrent(l) {
				if read == nil {
					read = s.reader()
				}
				s.calls++
				f := perf.Failure{}
				if user.has(l) {
					f = t.readIdle(l, read)
				} else {
					f = read(t, l, &t.last)
				}
				if f.Op != perf.OpNone {
					s.countMissed(f)
					break
				}
			}
			t.last.addGroup(s, l, dst)
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

// reader returns what reads a thread's groups now. It need not check descriptors if the
// first one that the set has opened for one of its current threads is still a counter.
// A program that closes descriptors which are not its own closes all from some number
// on. If it has left this one, it has left those that were opened later too.
func (s *perfCountSet) reader() func(t *perfCountThread, l int, r *perfReading) perf.Failure {
	t := s.threads
	for t.next != nil {
		t = t.next
	}
	lowest := 0
	for i, fd := range t.fd[:t.n] {
		if fd < t.fd[lowest] {
			lowest = i
		}
	}
	if perfFDIsEvent(t.fd[lowest], t.id[lowest]) {
		return (*perfCountThread).readGroup
	}
	return (*perfCountThread).readChecked
}

// read adds what t's counters have counted to dst, by two system calls for each group.
//
//go:nowritebarrierrec
func (t *perfCountThread) read(dst []perf.Count) perf.Failure {
	for l := range t.set.n {
		if !t.set.leads(l) {
			continue
		}
		if f := t.readChecked(l, &t.last); f.Op != perf.OpNone {
			return f
		}
		t.last.addGroup(t.set, l, dst)
	}
	return perf.Failure{}
}

// count returns the count of event i.
//
//go:nowritebarrierrec
func (r *perfReading) count(s *perfCountSet, i int) perf.Count {
	t := r.times[s.leader[i]]
	t.fold()
	return perf.Count{Value: r.value[i], Enabled: t.enabled, Running: t.running}
}

// fold adds t's ticks to its times.
//
//go:nowritebarrierrec
func (t *perfTimes) fold() {
	if t.ticks > 0 {
		nanos := uint64(perfTicksNanos(t.ticks, perfTickRate()))
		t.enabled += nanos
		t.running += nanos
	}
	t.ticks = 0
}

// since returns the times since o, neither of which has ticks. The clocks of both are
// the same only about, so it is not below 0.
//
//go:nowritebarrierrec
func (t perfTimes) since(o perfTimes) perfTimes {
	return perfTimes{enabled: t.enabled - min(o.enabled, t.enabled), running: t.running - min(o.running, t.running)}
}

// add folds t, and adds o, which has no ticks.
//
//go:nowritebarrierrec
func (t *perfTimes) add(o perfTimes) {
	t.fold()
	t.enabled += o.enabled
	t.running += o.running
}

// addGroup adds what r has of the group that event l leads to dst.
//
//go:nowritebarrierrec
func (r *perfReading) addGroup(s *perfCountSet, l int, dst []perf.Count) {
	for i := l; i < s.n; i++ {
		if int(s.leader[i]) == l {
			dst[i].Add(r.count(s, i))
		}
	}
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
func (t *perfCountThread) readGroup(l int, r *perfReading) perf.Failure {
	var g perfCountGroup
	if n := read(t.fd[l], noescape(unsafe.Pointer(&g)), int32(unsafe.Sizeof(g))); n < 0 {
		return perf.Failure{Slot: l, Op: perf.OpControl, Errno: -n}
	}
	// The group's values are in the order in which it was opened.
	k := 0
	for i := l; i < t.set.n; i++ {
		if int(t.set.leader[i]) == l {
			r.value[i] = g.values[k]
			k++
		}
	}
	r.times[l] = perfTimes{enabled: g.enabled, running: g.running}
	return perf.Failure{}
}

// readChecked is readGroup for a program that may have closed the descriptor.
//
//go:nowritebarrierrec
func (t *perfCountThread) readChecked(l int, r *perfReading) perf.Failure {
	if !perfFDIsEvent(t.fd[l], t.id[l]) {
		return perf.Failure{Slot: l, Op: perf.OpControl, Errno: _EBADF}
	}
	return t.readGroup(l, r)
}

// readIdle reads a group whose pages can be trusted. It also notes whether the reading
// stays current until the thread runs again.
func (t *perfCountThread) readIdle(l int, read func(t *perfCountThread, l int, r *perfReading) perf.Failure) perf.Failure {
	t.known &^= perfSlotBit(l)
	seq, idle := t.page[l].idle()
	f := read(t, l, &t.last)
	// An event that has had to share its counter could be without one while the
	// thread runs, and its page would not show that time goes on.
	if times := t.last.times[l]; idle && f.Op == perf.OpNone && times.running == times.enabled {
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
func (t *perfCountThread) readRegisters(l int, r *perfReading) bool {
	for i := l; i < t.set.n; i++ {
		if int(t.set.leader[i]) == l {
			value, ok := t.page[i].read()
			if !ok {
				return false
			}
			r.value[i] = value
		}
	}
	times, ok := t.page[l].times()
	r.times[l] = times
	return ok
}

// registersReadable reports whether the current thread can read all groups of the
// PMU's events in user mode.
func (t *perfCountThread) registersReadable() bool {
	var r perfReading
	some := false
	for l := range t.set.n {
		if t.set.leads(l) && t.set.attrs[l].OnPMU() {
			if !t.readRegisters(l, &r) {
				return false
			}
			some = true
		}
	}
	return some
}
