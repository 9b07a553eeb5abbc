// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The period of a thread's counter: a random first one, the event's own from the
// first overflow on, and longer ones where samples cost too much.

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

const (
	// perfMinClock is the least first period of a clock, in ns, unless a sample costs more
	// (see perfLinux.minClock). With one that is shorter than an interrupt the thread
	// would go from one interrupt to the next. Its handler would not get to set
	// the event's period, nor its own code to unblock the signal.
	perfMinClock = 50 * 1000

	// perfThreadStart is what a new thread takes from arming itself to the first
	// goroutine, in ns. It was 5 to 8 us in a virtual machine.
	perfThreadStart = 6 * 1000
)

// perfStartRungs chooses the periods that threads start with for the session.
// Clocks interrupt a thread even in the kernel and in another clock's interrupt.
// With four of 10 us, at 12 us for an interrupt, a thread never got as far as the
// signal handler, where the overhead bound would have acted. So clocks start with
// periods that together cost no more than the bound allows. The bound shortens
// them where samples are cheap enough.
//
// Clocks of other sessions keep the periods with which those have started, until the
// handler comes to it. Where an owner allows samples half of the time, they may have
// taken that already. So the session's get no more than half of what all may take at
// the start. That leaves room for interrupts that become dearer. (With half of what was
// left of all the time, a fourth session left nothing for the handler where they cost a
// few percent more than when they were measured.)
func perfStartRungs(ss *perfSession) {
	const (
		whole = 10000 // of a thread's time
		start = whole * 6 / 10
	)
	clocks, own, taken := int64(0), int64(0), int64(0)
	for i := range perfTables.slots[:perfProf.n] {
		switch s := &perfTables.slots[i]; {
		case !s.cfg.Clock():
		case ss.mask.has(i):
			clocks++
			own++
		default:
			clocks++
			taken += perfCost.whole * whole / int64(s.cfg.Periods[s.rung])
		}
	}
	most := int64(perfLinux.maxPercent.Load()) * (whole / 100)
	room := start - taken
	if taken != 0 {
		room /= 2
	}
	share := max(min(most*own/max(clocks, 1), room), 1)
	least := uint64(own * perfCost.whole * whole / share)
	for _, slot := range ss.slots[:ss.n] {
		s := &perfTables.slots[slot]
		s.rung = 0
		for ps := &s.cfg.Periods; s.cfg.Clock() && ps[s.rung] < least && ps[s.rung+1] != 0; s.rung++ {
		}
	}
	// Until the first handler has run, their interrupts take half of the time.
	perfLinux.minClock = max(perfMinClock, uint64(clocks*perfCost.whole))
}

// perfFirstPeriod returns where the first overflow of an event is due on a thread
// that starts with the given period: uniformly random in [1, period]. A fresh
// thread has just begun.
//
// Users expect one sample for every period's worth of events, also from threads
// that are too short to see a whole period: such a thread gets a sample with the
// probability of the part of a period that it ran. setThreadCPUProfiler does the
// same for the timer; see go.dev/issue/40435.
//
// The kernel has no separate first period. So the counter starts with the random
// one, and the handler sets the event's own at the first overflow.
//
// An overflow that is due before an interrupt can be taken is put off until it can
// be, and start says where it was due. Code that runs a little later gets the
// sample then. On a new thread that would blame one thing for another's time: the
// first microseconds are the scheduler's, and what the thread was created for had
// 10 % too many samples where it took 80 us. So an overflow due there is not
// sampled at all, and the thread begins with the one after it. lostStart enters it
// in the ledger.
//
// A thread that runs C has no handler that would set the event's period. It overflows with
// its first one until somebody looks at its ring, which is full by then if that period is
// short. So its first overflow is put off, too. Such a thread has been found at a random
// moment of its life anyway.
func perfFirstPeriod(c *perf.SampleConfig, period uint64, fresh, inC bool) (start, first uint64) {
	const minInterrupts = 1 << 14 // of a hardware counter; see perfMinClock
	first = 1 + uint64(cheaprand64())%period
	least := uint64(0)
	switch {
	case c.Clock():
		least = perfLinux.minClock
	case c.Interrupts():
		least = minInterrupts
	}
	if inC {
		least = max(least, period-period/4)
	}
	switch {
	case first >= least:
		return 0, first
	case c.Clock() && fresh && first < perfThreadStart:
		return first, first + period
	}
	return first, min(least, period)
}

// takesPeriod reports whether the sample record of t's counter c that ends at
// t.ring.tail stands for a period. The first overflow of a counter does, and has the
// counter's period set; see perfFirstPeriod. Of the records that the counter has
// written with its first period since then, only every so many do.
//
//go:nowritebarrierrec
func (c *perfCounter) takesPeriod(t *perfThread) bool {
	return c.firstDone && t.ring.tail > c.firstEnd || c.takesFirst(t)
}

// takesFirst is takesPeriod for records that c has written with its first period.
//
//go:nowritebarrierrec
func (c *perfCounter) takesFirst(t *perfThread) bool {
	if !c.firstDone {
		c.endFirst(t)
		return true
	}
	if c.firstSum += c.first; c.firstSum < c.period {
		return false
	}
	c.firstSum -= c.period
	return true
}

// endFirst sets the event's period on t's counter c, which has overflowed for the
// first time. The signal handler calls it with t.lock held.
//
// The counter is stopped around it because PERF_EVENT_IOC_PERIOD sets the kernel's
// period_left to 0 (__perf_event_period in kernel/events/core.c). A running
// software or breakpoint event takes that for an overflow at its very next
// occurrence; one that is started again with period_left == 0 begins a full period
// (perf_swevent_add calls perf_swevent_set_period), and so do hardware counters
// and clocks.
//
//go:nowritebarrierrec
func (c *perfCounter) endFirst(t *perfThread) {
	c.firstDone = true
	if c.stopped || !c.isOpen() {
		// It is being disarmed, and must not be started again, or the program has
		// closed it. All its records are of the first period.
		c.firstEnd = ^uint64(0)
		return
	}
	ioctl(c.fd, perf.IoctlDisable, 0)
	if t.ring.base != 0 {
		c.firstEnd = t.ring.head()
	}
	c.restart(t, c.period)
	if c.chain && t.chain.quiet {
		fcntlPtr(c.fd, _F_SETFL, 0)
	}
}

// step takes a longer or shorter period of slot i, if there is one that the event
// may have. direction is the number of periods to go. It is called by the handler
// of t's thread, or by whoever drains the ring of a thread that runs C, with
// t.lock held.
//
//go:nowritebarrierrec
func (t *perfThread) step(i, direction int) {
	if !t.slots.has(i) {
		return // the slot's cfg is nobody's
	}
	c := &t.ctr[i]
	cfg := &perfTables.slots[i].cfg
	rung := min(max(int(c.rung)+direction, int(c.minRung), 0), len(cfg.Periods)-1)
	for cfg.Periods[rung] == 0 {
		rung--
	}
	if perfProf.exact.has(i) || !c.firstDone || c.stopped || rung == int(c.rung) || !c.isOpen() {
		return
	}
	ioctl(c.fd, perf.IoctlDisable, 0)
	if t.ring.base != 0 {
		// These are of the old period.
		kind := perfLeafHandler
		if t.inC() || c.chain {
			kind = perfLeafDelayed
		}
		t.drainLeafs(t.ring.head(), kind)
	}
	c.rung = uint8(rung)
	c.maxRung = max(c.maxRung, c.rung)
	c.restart(t, cfg.Periods[rung])
}

// throttle notes that the kernel has stopped the event of slot i until the next
// tick, because it has overflowed more often than
// kernel.perf_event_max_sample_rate allows. What happens in the rest of a tick
// would be missing, so the event gets a longer period for good. The caller holds
// t.lock.
//
//go:nowritebarrierrec
func (t *perfThread) throttle(i int) {
	c := &t.ctr[i]
	c.Throttled++
	n := c.rung + 1
	if c.chain && c.minRung == n {
		n++ // a tick has gone by before anybody read the ring
	}
	if int(n) < len(perfTables.slots[i].cfg.Periods) {
		c.minRung = n
		t.load.change[i] = 1
	}
}

// restart sets the period of t's counter c, which is stopped, and starts it. See
// endFirst for why it must be stopped.
//
// The kernel begins a full period. What the counter has counted of the last one is
// next to nothing if it has just overflowed. A thread that runs C can be anywhere
// in it, and so can one that gets no signals, so there the next sample stands for that
// part, too.
//
//go:nowritebarrierrec
func (c *perfCounter) restart(t *perfThread, period uint64) {
	var v perfCounterValue
	if v.read(c) {
		if (t.inC() || c.chain && t.chain.quiet) && c.base != 0 {
			c.carry += (v.value - c.base) % c.period
		}
		c.base = v.value
		c.due = v.value + period
	}
	c.period = period
	ioctl(c.fd, perf.IoctlPeriod, uintptr(unsafe.Pointer(&period)))
	ioctl(c.fd, perf.IoctlEnable, 0)
}
