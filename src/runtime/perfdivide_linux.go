// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// How what a thread counts is divided among goroutines.
//
// A thread reads its counters where an accounted goroutine gets the thread and where it
// leaves it. What was counted in between is the goroutine's. All else is nobody's: the
// scheduler's and that of goroutines that are not accounted. What the goroutine gets at
// the end is added to the thread's sum too, so that the sums, and what is nobody's, make
// up what the threads have counted.

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

// A perfDivision is how what a thread has counted is divided. The thread writes it, while
// its meter is busy.
type perfDivision struct {
	// user is the goroutine that has the thread, or nil. It got it, or was last given what
	// it had counted, at ticks (perfReadTime).
	user  *perfAccountCounts
	ticks int64

	used bool        // user has been non-nil
	ours perfReading // what the thread has counted for goroutines, up to ticks

	// The latest reading of the times, at lastTicks. steady says that the set is read
	// directly, and that its group has counted without a break since then as long as the
	// page of its leader has the sequence seq.
	last      [perf.MaxEvents]perfTimes // by leader
	lastTicks int64
	steady    bool
	seq       uint32
}

// enterCounts is called when a goroutine has got mp's thread.
//
// For counters that are steady it does what perfCountThread.enter does, in as few
// instructions as possible, and so does leaveCounts.
//
//go:nowritebarrierrec
func (a *perfAccount) enterCounts(mp *m) {
	meter := mp.meter.ptr()
	for c := a.counts.ptr(); c != nil; c = c.next.ptr() {
		c.fresh = false
		if meter == nil {
			continue
		}
		meter.busy.Store(1)
		if t := meter.counters(c.set); t != nil {
			d := &t.division
			if d.steady && t.page[0].info().lock == d.seq && perfReadCounters(&t.page[0], &c.counted.value[0], &c.base[0], t.n) {
				d.user, d.used, c.thread = c, true, t
				d.ticks = perfReadTime()
			} else {
				t.enter(c)
			}
		}
		meter.busy.Store(0)
	}
}

// leaveCounts is called when a goroutine leaves mp's thread.
//
//go:nowritebarrierrec
func (a *perfAccount) leaveCounts(mp *m) {
	meter := mp.meter.ptr()
	for c := a.counts.ptr(); c != nil; c = c.next.ptr() {
		counted := false
		if meter != nil {
			meter.busy.Store(1)
			if t := meter.counters(c.set); t != nil {
				d := &t.division
				if d.user == c && d.steady && t.page[0].info().lock == d.seq &&
					perfSumCounters(&t.page[0], &c.base[0], &c.counted.value[0], &d.ours.value[0], t.n) {
					counted = true
					more := perfReadTime() - d.ticks
					c.counted.times[0].ticks += more
					d.ours.times[0].ticks += more
				} else {
					counted = t.give(c)
				}
				d.user = nil
			}
			meter.busy.Store(0)
		}
		c.thread = nil
		if !counted {
			c.miss(a)
		}
	}
}

// counters returns the set's counters on the thread, which is the current one, or nil.
// busy is set.
//
//go:nosplit
//go:nowritebarrierrec
func (t *perfMeter) counters(set perf.SetID) *perfCountThread {
	c := (*perfCountThread)(unsafe.Pointer(t.sets[set.Set&(perf.MaxCounterSets-1)].Load()))
	if c != nil && c.gen.Load() == set.Gen {
		return c
	}
	return nil
}

// enter gives the thread to c.
//
//go:nowritebarrierrec
func (t *perfCountThread) enter(c *perfAccountCounts) (ok bool) {
	var now perfReading
	if !t.readNow(c, &now) {
		return false
	}
	d := &t.division
	for i := range t.n {
		c.base[i] = now.value[i] - c.counted.value[i]
	}
	d.last = now.times
	d.ticks = d.lastTicks
	d.user, d.used, c.thread = c, true, t
	return true
}

// give gives c what has been counted, if it has the thread. It keeps that. Otherwise c gets
// it, and give reports false.
//
//go:nowritebarrierrec
func (t *perfCountThread) give(c *perfAccountCounts) (ok bool) {
	d := &t.division
	if d.user != c {
		t.enter(c)
		return false
	}
	began := t.began()
	var now perfReading
	if !t.readNow(c, &now) {
		return false
	}
	for i := range t.n {
		value := now.value[i] - c.base[i]
		d.ours.value[i] += value - c.counted.value[i]
		c.counted.value[i] = value
		if t.set.leads(i) {
			diff := now.times[i].since(began[i])
			c.counted.times[i].add(diff)
			d.ours.times[i].add(diff)
		}
	}
	d.last = now.times
	d.ticks = d.lastTicks
	return true
}

// began returns the times at division.ticks.
//
//go:nowritebarrierrec
func (t *perfCountThread) began() (times [perf.MaxEvents]perfTimes) {
	d := &t.division
	times = d.last
	times[0].ticks += d.ticks - d.lastTicks // 0 unless it was steady
	times[0].fold()
	return times
}

// readNow reads all counters of t, which is the current thread's. If that is impossible,
// what is counted until the next reading is nobody's.
//
//go:nowritebarrierrec
func (t *perfCountThread) readNow(c *perfAccountCounts, now *perfReading) (ok bool) {
	s, d := t.set, &t.division
	d.steady = false
	if s.direct {
		seq := t.page[0].state()
		if t.readRegisters(0, now) {
			d.lastTicks = perfReadTime()
			d.steady, d.seq = perfClockFit(), seq
			return true
		}
	}
	for l := range s.n {
		if !s.leads(l) || s.user && t.readRegisters(l, now) {
			continue
		}
		if f := t.readChecked(l, now); f.Op != perf.OpNone {
			if c.failure.Op == perf.OpNone {
				c.failure = f
			}
			d.user = nil
			return false
		}
	}
	d.lastTicks = perfReadTime()
	return true
}

// miss notes that c, which is one of a's, was on a thread and was not counted since the
// last reading, unless that is because the set is closed. Then nobody needs c.
//
//go:nowritebarrierrec
func (c *perfAccountCounts) miss(a *perfAccount) {
	if !perfSetOpen(c.set) {
		c.pinned, c.intervals = false, 0
		a.plain = false
		return
	}
	c.unread++
}

// read stores in dst what the calling goroutine, whose account is a, has counted in c's
// set up to now. It is counted from now on if it was not.
func (c *perfAccountCounts) read(a *perfAccount, mp *m, dst []perf.Count) (unread uint64, f perf.Failure, err perf.IntervalError) {
	ok := false
	if meter := mp.meter.ptr(); meter != nil {
		meter.busy.Store(1)
		if t := meter.counters(c.set); t != nil {
			if c.fresh {
				ok = t.enter(c)
				c.fresh = false
			} else {
				ok = t.give(c)
			}
		}
		meter.busy.Store(0)
	}
	if !ok {
		c.miss(a)
	}
	s := perfCount.sets[c.set.Set]
	for i := range dst {
		dst[i] = c.counted.count(s, i)
	}
	if !perfSetOpen(c.set) { // what s was may not be true
		return 0, f, perf.IntervalClosed
	}
	if c.unread == 0 {
		return 0, f, perf.IntervalOK
	}
	if f = c.failure; f.Op == perf.OpNone {
		systemstack(func() {
			lock(&perfCount.lock)
			f = s.failure // why the thread could not be armed
			unlock(&perfCount.lock)
		})
	}
	return c.unread, f, perf.IntervalUnread
}

// total returns what the goroutine has counted of event i of the set, up to the latest
// reading.
//
//go:nowritebarrierrec
func (c *perfAccountCounts) total(i int) perf.Count {
	return c.counted.count(perfCount.sets[c.set.Set], i)
}

// peekCounts stores what a's goroutine, which may be any and run meanwhile, has counted
// in a set of n counters, up to now.
func (a *perfAccount) peekCounts(set perf.SetID, dst *[perf.MaxEvents]perf.Count, n int) (unread uint64) {
	if c := a.find(set); c != nil {
		systemstack(func() { unread = a.peekCountsOf(c, set, dst, n) }) // no stack grows with the lock
	}
	return unread
}

func (a *perfAccount) peekCountsOf(c *perfAccountCounts, set perf.SetID, dst *[perf.MaxEvents]perf.Count, n int) (unread uint64) {
	lock(&perfCount.lock)
	for perfSetOpen(set) {
		seq := a.seq.Load()
		t := c.thread // nil if what is counted does not change before seq does
		var v perfDivisionNow
		if t != nil {
			// Who closes the thread's counters needs the lock.
			if f := t.readDivision(&v); f.Op == perf.OpNone && v.user != c {
				continue // it has just got the thread, or left it
			}
		}
		for i := range n {
			dst[i] = c.total(i)
			if v.user == c {
				times := v.began[t.set.leader[i]]
				more := t.last.count(t.set, i)
				more.SubNotBelow(perf.Count{Value: v.start[i], Enabled: times.enabled, Running: times.running})
				dst[i].Add(more)
			}
		}
		unread = c.unread
		if perfPeeked(&a.seq, seq) && (t == nil || t.meter.busy.Load() == 0 && t.division.ticks == v.ticks && t.division.user == v.user) {
			break
		}
	}
	unlock(&perfCount.lock)
	return unread
}

// readSteady stores in values what the calling goroutine, which has mp's thread, has
// counted, if the thread's counters are steady. They have sequence seq then, and the
// times of their group are ticks more than c's. Otherwise ok is false.
//
//go:nosplit
func (c *perfAccountCounts) readSteady(mp *m, values *[perf.MaxEvents]uint64) (ok bool, seq uint32, ticks int64) {
	t, meter := c.thread, mp.meter.ptr()
	if t == nil {
		return false, 0, 0
	}
	// Who closes the set has made gen 0, or waits until busy is.
	meter.busy.Store(1)
	d := &t.division
	if t.gen.Load() == c.set.Gen && d.user == c && d.steady && t.page[0].info().lock == d.seq {
		ok = perfReadCounters(&t.page[0], &c.base[0], &values[0], t.n)
		seq, ticks = d.seq, perfReadTime()-d.ticks
	}
	meter.busy.Store(0)
	return ok, seq, ticks
}

// perfosCountDivision adds how what all threads have counted is divided to d. The
// caller holds perfCount.lock.
func perfosCountDivision(s *perfCountSet, d *perf.Division) {
	for t := s.threads; t != nil; t = t.next {
		var v perfDivisionNow
		f := t.readDivision(&v)
		if f.Op != perf.OpNone {
			s.countMissed(f)
		}
		t.addDivision(&v, d)
	}
}

// A perfDivisionNow is how what a thread has counted is divided at a moment.
type perfDivisionNow struct {
	perfDivision
	start [perf.MaxEvents]uint64    // if it has a user: what it had counted at ticks
	began [perf.MaxEvents]perfTimes // the times then
}

// readDivision reads t.last, and how it is divided at that moment. The caller holds
// perfCount.lock.
//
// A goroutine may get the thread or leave it meanwhile; then it starts again. It gives up
// when that happens all the time, as where the caller hardly gets a CPU. addDivision knows
// what then remains to be done.
func (t *perfCountThread) readDivision(v *perfDivisionNow) (f perf.Failure) {
	for range 100 {
		t.copyDivision(v)
		for l := range t.set.n {
			if !t.set.leads(l) {
				continue
			}
			if f = t.readChecked(l, &t.last); f.Op != perf.OpNone {
				return f
			}
		}
		if t.meter.busy.Load() == 0 && t.division.ticks == v.ticks && t.division.user == v.user {
			break
		}
	}
	return f
}

// copyDivision copies how what has been counted is divided. The caller holds
// perfCount.lock.
//
//go:nowritebarrierrec
func (t *perfCountThread) copyDivision(v *perfDivisionNow) {
	for ok := false; !ok; {
		t.meter.idle()
		v.perfDivision = t.division
		v.began = t.began()
		if v.user != nil {
			for i := range t.n {
				v.start[i] = v.user.base[i] + v.user.counted.value[i]
			}
		}
		ok = t.meter.busy.Load() == 0 && t.division.ticks == v.ticks && t.division.user == v.user
	}
}

// addDivision adds how what t's thread has counted up to t.last is divided, which is v, to
// d. If they are not of the same moment, nobody has less than nothing, or more than there
// is. The sum is right. The caller holds perfCount.lock.
//
//go:nowritebarrierrec
func (t *perfCountThread) addDivision(v *perfDivisionNow, d *perf.Division) {
	for i := range t.n {
		all := t.last.count(t.set, i)
		ours := v.ours.count(t.set, i)
		if v.user != nil {
			times := v.began[t.set.leader[i]]
			more := all
			more.SubNotBelow(perf.Count{Value: v.start[i], Enabled: times.enabled, Running: times.running})
			ours.Add(more)
		}
		ours = ours.Min(all)
		d.Goroutines[i].Add(ours)
		all.Sub(ours)
		if v.used {
			d.Between[i].Add(all)
		} else {
			d.Elsewhere[i].Add(all)
		}
	}
}
