// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// One event's counter on one thread.

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

// A perfCounter is one event's counter on one thread. Protected by the thread's
// perfThread.lock.
type perfCounter struct {
	perfFD
	stopped       bool // for good
	firstDone     bool // it runs with the event's period
	rung, maxRung uint8
	minRung       uint8 // the kernel throttles the event below it
	chain         bool  // its samples bring their stacks; see perfchain_linux.go

	stopHead uint64 // the ring's head when it was stopped: its records are before it
	joined   int64  // ns, what samples had cost on the thread before it

	// The counter starts with a random first period, and runs with the event's
	// own from the first overflow on; see perfFirstPeriod.
	start    uint64 // where the first overflow was due if it could not come so soon; or 0
	first    uint64 // the first period
	firstEnd uint64 // ring records before it were written with the first period,
	firstSum uint64 // and stand for these events that are not recorded yet

	period uint64 // events between samples: cfg.Periods[rung], once firstDone
	base   uint64 // the counter's value when it began to run with that period; 0 before
	carry  uint64 // events of unfinished periods, for the next sample; of threads that get no signals
	due    uint64 // without a ring: the counter's value at the next overflow

	perf.Ledger // of this counter, completed and added to its slot's at disarm

	// It has 256 bytes on 64-bit machines, so that handlers find one by a shift.
}

// open makes c the counter of slot i on t's thread, stopped, and lead the one that leads
// it, if the event has a Leader. ring is the first counter that is opened with it. If that
// fails, the caller closes c and lead. The caller holds perfProf.lock.
func (c *perfCounter) open(t *perfThread, i int, lead *perfFD, ring *perfCounter) (perf.Op, int32) {
	s := &perfTables.slots[i]
	period := s.cfg.Periods[s.rung]
	start, first := perfFirstPeriod(&s.cfg, period, t.fresh, t.mp == 0)
	*c = perfCounter{firstDone: first == period, due: first, start: start, first: first, period: period, rung: s.rung, maxRung: s.rung}

	group := int32(-1)
	if s.cfg.Leader != 0 {
		if op, errno := lead.take(perfOpenLeader(&s.cfg.Attr, t.tid)); op != perf.OpNone {
			return op, errno
		}
		group = lead.fd
	}
	chain := t.takesChains(s)
	if op, errno := c.take(perfOpen(s, t.tid, group, first, &chain)); op != perf.OpNone {
		return op, errno
	}
	c.chain = chain
	if r := c.requestSignals(t); r < 0 {
		return perf.OpSignal, -r
	}
	switch {
	case c == ring && t.slots == 0:
		// Going without a ring costs accuracy, not the profile: see
		// drainCounters. It is counted as NoRing.
		t.ring.open(c.fd, t.wants)
	case t.ring.base != 0:
		if op, errno := c.shareRing(t, ring); op != perf.OpNone {
			return op, errno
		}
	}
	if lead.id != 0 && t.ring.base != 0 {
		// Since Linux 6.16, a counter that overflows too often has its whole group
		// throttled, and only the leader's record says so (commits 9734e25fbf5a and
		// e800ac51202f). See slotOf.
		if r := ioctl(lead.fd, perf.IoctlSetOutput, uintptr(c.fd)); r < 0 {
			return perf.OpRing, -r
		}
	}
	return perf.OpNone, 0
}

// requestSignals has the kernel send t's thread a SIGPROF for each overflow of c, if
// it is to get any. It returns a negated errno, or 0.
func (c *perfCounter) requestSignals(t *perfThread) int32 {
	own := fOwnerEx{typ: _F_OWNER_TID, pid: t.tid}
	if r := fcntlPtr(c.fd, _F_SETOWN_EX, uintptr(unsafe.Pointer(&own))); r < 0 {
		return r
	}
	if r := fcntlPtr(c.fd, _F_SETSIG, _SIGPROF); r < 0 {
		return r
	}
	if t.getsSignals() {
		if r := fcntlPtr(c.fd, _F_SETFL, _O_ASYNC); r < 0 {
			return r
		}
	}
	return 0
}

// shareRing has c write to t's ring, for which the kernel wants the descriptor of
// a counter that does already: first, unless that is c, or another one.
func (c *perfCounter) shareRing(t *perfThread, first *perfCounter) (perf.Op, int32) {
	other := first
	if c == first {
		// The mapping keeps the event for which it was made in existence after
		// its descriptor is closed, so any counter may end first.
		other = nil
		for k := range t.ctr[:t.n] {
			if t.ctr[k].isOpen() {
				other = &t.ctr[k]
				break
			}
		}
		if other == nil {
			return perf.OpRing, _EBADF // the program has closed them all
		}
	}
	if r := ioctl(c.fd, perf.IoctlSetOutput, uintptr(other.fd)); r < 0 {
		return perf.OpRing, -r
	}
	return perf.OpNone, 0
}

// perfOpenLeader opens the counter that leads the group of a's counter on thread tid. It
// samples nothing and runs until it is closed. perfOpenLeader returns a descriptor or a
// negated errno.
func perfOpenLeader(a *perf.Attr, tid int32) int32 {
	l := *a
	l.Config, l.Config1, l.Config2, l.Config3 = a.Leader, 0, 0, 0
	attr := perfAttr(&l, 0)
	attr.bits &^= perfAttrBit(perf.AttrDisabled)
	return perf_event_open(&attr, tid, -1, -1, perf.FlagFDCloexec)
}

// perfOpen opens a counter of the slot's event for thread tid, stopped, in the group of
// the descriptor group, or in its own if that is -1. It returns a descriptor or a negated
// errno.
//
// The session's first thread finds out what the kernel can do; what it found
// then holds for all threads.
//
// If *chain, samples are to bring their stacks, which it finds out likewise.
func perfOpen(s *perfSlot, tid, group int32, period uint64, chain *bool) int32 {
	best := s.cfg.Precise == perf.PreciseBest && s.stats.Threads == 0
	if best {
		s.stats.Precise = perfMaxPrecise
	}
	for {
		attr := perfAttr(&s.cfg.Attr, s.stats.Precise)
		attr.samplePeriod = period
		attr.readFormat = perfLinux.readFormat
		if perfLinux.regs {
			attr.sampleType |= perf.SampleRegsUser
			attr.sampleRegsUser = perfSampleRegs
		}
		if s.cfg.Software() {
			// The kernel makes one perf_sample_data for an occurrence of the event
			// and uses it for all counters that it makes overflow
			// (do_perf_sw_event in kernel/events/core.c). Since Linux 6.1 or so it
			// fills in only what an earlier counter's record did not have
			// (perf_prepare_sample), so all records have the first counter's ID.
			// But each record has the reading of its own counter.
			attr.sampleType |= perf.SampleRead
		}
		if s.cfg.Data {
			attr.dataAttr(&s.cfg.Attr)
		}
		if *chain {
			attr.chainAttr(&s.cfg.Attr)
		}
		fd := perf_event_open(&attr, tid, -1, group, perf.FlagFDCloexec)
		switch {
		case fd >= 0:
			return fd
		case *chain && s.stats.Threads == 0:
			// Perhaps kernel.perf_event_max_stack is less than we need. If it is
			// another reason, the error comes back.
			*chain, s.chain = false, false
		case fd == -_ENOSYS && perfLinux.regs && perfLinux.armed == nil:
			// Perhaps a kernel without CONFIG_HAVE_PERF_REGS, as mips had until
			// 5.13. If there is no perf_event_open, the error comes back.
			perfLinux.regs = false
		case best && s.stats.Precise > 0:
			// Nobody asked for this precision: take the next lower one.
			s.stats.Precise--
		case fd == -_EINVAL && perfLinux.readFormat&perf.FormatLost != 0 && perfLinux.armed == nil:
			// Perhaps Linux before 6.0. If it is another EINVAL, it comes back.
			perfLinux.readFormat &^= perf.FormatLost
			if best {
				s.stats.Precise = perfMaxPrecise
			}
		default:
			return fd
		}
	}
}

// control performs an ioctl on the counter, if it is still open.
//
//go:nowritebarrierrec
func (c *perfCounter) control(req uintptr) {
	if c.isOpen() {
		ioctl(c.fd, req, 0)
	}
}

// A perfCounterValue is what read(2) returns for perfLinux.readFormat.
type perfCounterValue struct {
	value, enabled, running, id, lost uint64
}

// perfReadSize returns the size of what perfLinux.readFormat asks for, in bytes.
//
//go:nowritebarrierrec
func perfReadSize() int32 {
	n := int32(unsafe.Sizeof(perfCounterValue{}))
	if perfLinux.readFormat&perf.FormatLost == 0 {
		n -= 8
	}
	return n
}

// read reads the counter c. It reports whether that worked; it does not if the
// program has closed the descriptor.
//
//go:nowritebarrierrec
func (v *perfCounterValue) read(c *perfCounter) bool {
	n := perfReadSize()
	return c.isOpen() && read(c.fd, noescape(unsafe.Pointer(v)), n) == n
}
