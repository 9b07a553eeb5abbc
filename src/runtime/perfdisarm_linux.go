// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Disarming threads, and completing the ledger.

package runtime

import "internal/runtime/perf"

// perfosStop disarms all threads of the session's counters, and gives SIGPROF back
// if it was the last session.
func perfosStop(ss *perfSession) {
	perfStopThreads(ss)
	perfDozeEnd() // a poll(2) keeps counters in existence
	if ss.quiet {
		ss.quiet = false
		perfQuietStop()
	}
	perfLimitCost(ss)
	perfRestoreHandler()
}

// perfStopThreads ends the session on all threads.
//
// It goes over them twice. Stopping all counters first makes the end of the profile
// the same for all threads, to some microseconds for each of them.
func perfStopThreads(ss *perfSession) {
	systemstack(func() {
		lock(&perfProf.lock)
		if perfProf.active &^= ss.mask; perfProf.active == 0 {
			perfProf.state.Store(perfDraining)
		}
		unlock(&perfProf.lock)
	})
	perfEachThread(func(t *perfThread) bool {
		t.stop(ss.mask)
		return true
	})
	// A running thread takes its signal at once. Give it the time, so that its
	// last samples have stacks. One that does not run, or blocks SIGPROF, is not
	// waited for.
	const most = 500 * 1000 // ns
	deadline := nanotime() + most
	perfEachThread(func(t *perfThread) bool {
		if t.pending(ss.mask) && nanotime() < deadline {
			return false
		}
		// disarm writes to the buffers. This thread's handler must not want to
		// write to them meanwhile; see perfSlot.lock.
		var mask sigset
		sigsave(&mask)
		sigblock(false)
		t.disarm(ss.mask)
		msigrestore(mask)
		return true
	})
}

// stop stops t's counters of the given slots. When it returns none of them can
// overflow.
//
//go:nowritebarrierrec
func (t *perfThread) stop(slots perfSlots) {
	t.acquire() // not between the two steps of endFirst
	for i := range t.ctr[:t.n] {
		if c := &t.ctr[i]; slots.has(i) {
			c.stopped = true
			c.control(perf.IoctlDisable)
		}
	}
	if t.ring.base != 0 {
		head := t.ring.head()
		for i := range t.ctr[:t.n] {
			if slots.has(i) {
				t.ctr[i].stopHead = head
			}
		}
	}
	if t.slots&^slots != 0 {
		t.load.newWindow(t)
	}
	t.lock.Store(0)
}

// pending reports whether t's ring has records that its handler has not seen, from
// before the counters of the given slots were stopped.
func (t *perfThread) pending(slots perfSlots) bool {
	t.acquire()
	p := false
	for i := range t.ctr[:t.n] {
		p = p || t.ring.base != 0 && slots.has(i) && t.ring.tail < t.ctr[i].stopHead
	}
	t.lock.Store(0)
	return p
}

// disarm completes the ledger from t's counters of the given slots, which are
// stopped, and closes them. If t has no others it is released. The caller holds
// perfProf.lock, and no signal handler of this thread can run that takes a
// perfSlot.lock.
func (t *perfThread) disarm(slots perfSlots) {
	slots &= t.slots
	last := slots == t.slots
	if last {
		perfForeignRemove(t)
	}
	t.drainForeign()
	t.acquire()
	// What the thread's handler has not seen, because the signal is still pending
	// or was blocked until the end. Its stack is gone.
	if t.ring.base != 0 {
		if last {
			t.drainLeafs(t.ring.head(), perfLeafDelayed)
		} else {
			t.takeLeafs(slots)
		}
	}
	for i := range t.ctr[:t.n] {
		if !slots.has(i) {
			continue
		}
		if t.chain.began && t.ctr[i].chain {
			perfTables.slots[i].stats.Quiet++
		}
		t.ctr[i].settle(&perfTables.slots[i], t.cost())
		if !last {
			t.closeCounter(i)
		}
	}
	t.slots &^= slots
	t.dropChains(slots)
	if !last {
		t.load.newWindow(t)
	} else if mp := t.mp.ptr(); mp != nil {
		// Until now the thread, which runs, waits for t.lock before its goroutine gets
		// other labels, or is another: the records are its own. See addChain.
		mp.perf.Store(0)
	}
	t.lock.Store(0)
	if last {
		t.unlink()
		t.release()
	}
}

// settle completes the ledger of the stopped counter c, and adds it to that of its
// slot s. cost is what samples have cost the thread, in ns. Losses are samples of the
// profile, so that its total is right.
func (c *perfCounter) settle(s *perfSlot, cost int64) {
	var v perfCounterValue
	if v.read(c) {
		c.Counted = perf.Count{Value: v.value, Enabled: v.enabled, Running: v.running}
		// The ring's own count of what did not fit is shared by all events and
		// reported late; the kernel's count per event is exact.
		if v.lost != 0 || perfLinux.readFormat&perf.FormatLost != 0 {
			c.LostRing = v.lost
		}
	} else {
		c.MissedReads = 1
	}
	c.Cost = uint64(cost - c.joined)
	c.MaxPeriod = s.cfg.Periods[c.maxRung]
	start := c.lostStart(s, v.value)
	if c.LostRing != 0 {
		c.Lost = c.lostRing(s, v.value-min(v.value, start))
		s.addLeaf(0, _PerfLostRing, c.LostRing, c.Lost)
	}
	if late := c.lostLate(s, v.value); late != 0 {
		s.addLeaf(0, _PerfLostLate, late, late*c.period)
		c.LostLate = late
		c.Lost += late * c.period
	}
	if start != 0 {
		s.addLeaf(0, _PerfLostStart, 1, start)
		c.LostStart = 1
		c.Lost += start
	}
	s.stats.Add(&c.Ledger)
}

// lostStart returns what the overflow stands for that was due before the counter
// could interrupt, if it had no sample later either. Whether the thread came so
// far shows in the counter's value. (A filtered clock may have advanced in time
// that was to be left out; its ledger has that as not sampled.)
func (c *perfCounter) lostStart(s *perfSlot, value uint64) uint64 {
	period := s.cfg.Periods[s.rung]
	putOff := c.first < c.start+period
	if c.start == 0 || value < c.start || putOff && value >= c.first || s.cfg.FilteredClock() {
		return 0
	}
	return period
}

// lostRing returns what the c.LostRing overflows that did not fit in the ring stand
// for, of all the events that the counter has counted. They were lost with the
// period of that time, which is not known if there were several: but the events
// that no other sample stands for are. (Of a clock that is an upper limit, as it
// may have counted the kernel's time.)
//
// The overhead bound makes several periods. So does a thread whose handler could
// not run since before the first overflow: it overflows with its first period,
// again and again.
func (c *perfCounter) lostRing(s *perfSlot, counted uint64) uint64 {
	n := c.LostRing
	if counted == 0 {
		return n * c.period
	}
	left := counted - min(counted, c.Sampled)
	// The first sample stands for up to a period more than has been counted.
	if c.maxRung == 0 && n*c.period <= left+c.period {
		return n * c.period
	}
	if s.cfg.Clock() {
		return min(n*c.period, left)
	}
	return left
}

// lostLate returns how many periods there are in what the counter has counted since
// the last overflow that the ledger knows, where there should be none.
//
// The kernel writes one record per interrupt. An interrupt that is held up for
// longer than a period stands for several overflows: a timer's handler skips what
// has passed (hrtimer_forward_now in kernel/events/core.c), and so do the drivers
// of PMUs, whose counter has gone on meanwhile. Interrupts are held up while the
// kernel has them off, and by a hypervisor that runs something else.
func (c *perfCounter) lostLate(s *perfSlot, value uint64) uint64 {
	if s.cfg.FilteredClock() {
		return 0
	}
	known := c.Sampled + c.Lost + c.Replayed
	if known == 0 {
		if value < c.first {
			return 0
		}
		return 1 + (value-c.first)/c.period
	}
	// The first sample stands for the period that the thread started with, and
	// came after c.first events.
	last := known - min(known, s.cfg.Periods[s.rung]) + c.first + c.firstSum
	if value < last {
		return 0
	}
	return (value - last) / c.period
}
