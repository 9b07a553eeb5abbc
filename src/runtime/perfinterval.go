// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What a goroutine reads of its own account: all of it, or the difference over an
// interval. Nothing here is allocated in the heap.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

var perfAccountsReady atomic.Bool // the first account has been prepared

// perfOwnAccount returns the calling goroutine's account, which begins now if there is
// none. The caller has called acquirem.
func perfOwnAccount() *perfAccount {
	gp := getg()
	if a := perfAccountOf(gp); a != nil {
		return a
	}
	if !perfAccountsReady.Load() {
		perfClockInit()
		perfSetAccountHooks()
		perfAccountsReady.Store(true)
	}
	a := perfNewAccount(perf.PartRunning)
	a.onThread = true
	a.mid = gp.m.id
	a.calls = gp.m.ncgocall
	a.turn = a.since
	a.bubbled = gp.account == perfBubbled.ref()
	perfAccounted(gp.m, a.since)
	gp.account = a.ref()
	return a
}

// steady returns what a's usage is more than at the beginning of its epoch: that much
// time on the clock, running, and known to be on a CPU. ok is false if it is not as simple.
// a is the current goroutine's, and mp the current M.
//
//go:nosplit
func (a *perfAccount) steady(mp *m) (more int64, ok bool) {
	if !a.cpuSince || a.since > a.settled || !perfCPUUndisturbed(mp) {
		return 0, false
	}
	nanos, ticks := perfNow(mp)
	a.latest, a.shown = max(a.latest, nanos), ticks
	return a.latest - a.nanos, true
}

// settleNow brings the usage of a, which is that of the current goroutine and thread, up
// to now. From now on it is known for how long the thread has no CPU, if the effort
// allows.
func (a *perfAccount) settleNow(mp *m, effort uint8) {
	if a.settleSteady(mp) {
		return
	}
	if a.perfAccountEpoch.intervals > 0 {
		a.keepEpoch()
	}
	nanos, ticks := perfNow(mp)
	a.lose(mp, ticks, effort)
	a.settle(nanos, ticks)
	if !a.cpuSince {
		if a.cpuSince = perfCPUKnown(effort); !a.cpuSince && perfTaskConfig.every > 0 {
			perfFresh(mp, ticks)
		}
	}
	a.judge()
}

// settleSteady is settleNow if all that it would do is to add time that was spent running, and
// known to be so. It reports false, and does nothing, if it is not as simple. A task that waits for
// nothing begins and ends so.
func (a *perfAccount) settleSteady(mp *m) bool {
	if !a.cpuSince || a.since > a.settled || a.perfAccountEpoch.intervals > 0 || a.ticks[perf.PartPreempted] != 0 {
		return false
	}
	nanos, ticks := perfNow(mp)
	if !perfCPUUndisturbed(mp) { // up to then
		return false
	}
	perfSeqBegin(&a.seq)
	a.latest = max(a.latest, nanos)
	wall := a.latest - a.nanos
	a.nanos = a.latest
	a.number++
	a.usage.Wall += wall
	a.usage.Parts[perf.PartRunning] += wall
	a.usage.Measured += wall
	a.known = 0
	a.settled = ticks
	a.ticks[perf.PartRunning] = a.since - ticks
	perfSeqEnd(&a.seq)
	return true
}

// keepEpoch keeps a's epoch for the intervals that began in it.
func (a *perfAccount) keepEpoch() {
	e := (*perfAccountEpoch)(perfFreeEpoch.pop())
	if e == nil {
		e = (*perfAccountEpoch)(persistentalloc(unsafe.Sizeof(perfAccountEpoch{}), tagAlign, &memstats.other_sys))
	}
	node := e.node
	*e = a.perfAccountEpoch
	e.node = node
	e.next = a.epochs
	a.epochs = e
	a.perfAccountEpoch.intervals = 0
}

// leaveEpoch notes that an interval ends that began in the epoch with that number.
// usage, unless it is nil, is what a has used up to now; what it had used at the
// beginning of the epoch is subtracted. ok is false if no interval is open that began
// then: it is a copy of one that has ended.
func (a *perfAccount) leaveEpoch(number uint64, usage *perf.GoroutineTime) (began int64, ok bool) {
	if number == a.number {
		if a.perfAccountEpoch.intervals == 0 {
			return 0, false
		}
		a.perfAccountEpoch.intervals--
		return a.nanos, true
	}
	for p := &a.epochs; *p != nil; p = &(*p).next {
		e := *p
		if e.number != number {
			continue
		}
		if usage != nil {
			usage.Sub(&e.usage)
		}
		if e.intervals--; e.intervals == 0 {
			*p = e.next
			perfFreeEpoch.push(&e.node)
		}
		return e.nanos, true
	}
	return 0, false
}

// leaveInterval notes that an interval ends that counts in c, unless c is nil.
func (a *perfAccount) leaveInterval(c *perfAccountCounts) {
	a.intervals--
	if c != nil && c.intervals > 0 { // 0 if the set is closed; see miss
		c.intervals--
	}
	a.judge()
}

// perfAccountRead stores what the calling goroutine has used since it is accounted,
// which it is from now on if it was not.
//
//go:linkname perfAccountRead runtime/pprof.runtime_perfAccountRead
func perfAccountRead(u *perf.GoroutineTime) {
	mp := acquirem()
	perfCPUOpen(mp)
	a := perfOwnAccount()
	a.pinned = true
	more, ok := a.steady(mp)
	if !ok {
		a.settleNow(mp, perfCPUAlways)
	}
	*u = a.usage
	u.Wall += more
	u.Parts[perf.PartRunning] += more
	u.Measured += more
	releasem(mp)
}

// perfAccountRunning returns the time for which the calling goroutine has been running,
// as perfAccountRead does.
//
//go:linkname perfAccountRunning runtime/pprof.runtime_perfAccountRunning
func perfAccountRunning() int64 {
	mp := acquirem()
	a := perfOwnAccount()
	a.pinned = true
	more, ok := a.steady(mp)
	if !ok {
		a.settleNow(mp, perfCPUPaged)
	}
	running := a.usage.Parts[perf.PartRunning] + more
	releasem(mp)
	return running
}

// perfAccountCPU says whether it is always to be known if the thread has a CPU, for the
// calling goroutine and those that it starts.
//
//go:linkname perfAccountCPU runtime/pprof.runtime_perfAccountCPU
func perfAccountCPU(always bool) (supported bool) {
	mp := acquirem()
	if supported = perfCPUOpen(mp); supported {
		a := perfOwnAccount()
		a.pinned = true
		a.cpu = always
		a.settleNow(mp, perfCPUAlways)
	}
	releasem(mp)
	return supported
}

// perfAccountCount stores what the calling goroutine has counted in a set since it is
// accounted for that, which it is from now on if it was not. dst has an element for
// each event of the set.
//
//go:linkname perfAccountCount runtime/pprof.runtime_perfAccountCount
func perfAccountCount(set perf.SetID, dst []perf.Count) (unread uint64, f perf.Failure, err perf.IntervalError) {
	mp := acquirem()
	a := perfOwnAccount()
	a.pinned = true
	c := a.count(set)
	c.pinned = true
	unread, f, err = c.read(a, mp, dst)
	releasem(mp)
	return unread, f, err
}

// perfIntervalStart opens an interval of the calling goroutine, and of n counters of a
// set unless that is zero.
//
// What it does by itself is perfIntervalStartFull, for a goroutine whose account is
// steady, in as few instructions as possible. Nothing here lets others run.
//
//go:linkname perfIntervalStart runtime/pprof.runtime_perfIntervalStart
//go:nosplit
func perfIntervalStart(iv *perf.OpenInterval, set perf.SetID, n int) perf.IntervalError {
	gp := getg()
	a := gp.account.ptr()
	if iv.Account != 0 || a == nil {
		return perfIntervalStartFull(iv, set, n)
	}
	more, ok := a.steady(gp.m)
	if !ok {
		return perfIntervalStartFull(iv, set, n)
	}
	if set.Gen != 0 {
		c := a.counts.ptr()
		if c == nil || c.set != set {
			return perfIntervalStartFull(iv, set, n)
		}
		ok, seq, ticks := c.readSteady(gp.m, &iv.Values)
		if !ok {
			return perfIntervalStartFull(iv, set, n)
		}
		t := &c.counted.times[0]
		iv.Times[0].Enabled, iv.Times[0].Running = t.enabled, t.running
		iv.Ticks, iv.Seq = t.ticks+ticks, seq
		iv.Unread = c.unread
		c.intervals++
	}
	iv.Set = set
	iv.Account, iv.Goid = a.serial, gp.goid
	iv.Epoch, iv.Nanos = a.number, a.nanos+more
	a.perfAccountEpoch.intervals++
	a.intervals++
	return perf.IntervalOK
}

func perfIntervalStartFull(iv *perf.OpenInterval, set perf.SetID, n int) (err perf.IntervalError) {
	if iv.Account != 0 {
		return perf.IntervalOpen
	}
	mp := acquirem()
	perfCPUOpen(mp)
	a := perfOwnAccount()
	a.settleNow(mp, perfCPUAlways)
	if set.Gen != 0 {
		c := a.count(set)
		c.intervals++
		var counts [perf.MaxEvents]perf.Count
		if iv.Unread, _, err = c.read(a, mp, counts[:n]); err == perf.IntervalClosed {
			releasem(mp) // and c goes
			return err
		}
		perfIntervalBase(iv, counts[:n])
	}
	iv.Set = set
	iv.Account, iv.Goid = a.serial, getg().goid
	iv.Epoch, iv.Nanos = a.number, a.nanos
	a.perfAccountEpoch.intervals++
	a.intervals++
	releasem(mp)
	return perf.IntervalOK
}

// perfIntervalEnd ends an interval and stores its usage in u and its n counts. If
// more, the next one begins at this moment. After an error but IntervalUnread the
// interval is closed.
//
// It has a short cut as perfIntervalStart has.
//
//go:linkname perfIntervalEnd runtime/pprof.runtime_perfIntervalEnd
//go:nosplit
func perfIntervalEnd(iv *perf.OpenInterval, u *perf.GoroutineTime, counts *perf.Count, n int, more bool) (unread uint64, f perf.Failure, err perf.IntervalError) {
	gp := getg()
	a := gp.account.ptr()
	if iv.Account == 0 || a == nil || a.serial != iv.Account || a.number != iv.Epoch || a.perfAccountEpoch.intervals == 0 || more {
		return perfIntervalEndFull(iv, u, counts, n, more)
	}
	var c *perfAccountCounts
	var values [perf.MaxEvents]uint64
	if iv.Set.Gen != 0 {
		c = a.counts.ptr()
		if c == nil || c.set != iv.Set || c.unread != iv.Unread {
			return perfIntervalEndFull(iv, u, counts, n, more)
		}
		if ok, seq, _ := c.readSteady(gp.m, &values); !ok || seq != iv.Seq {
			return perfIntervalEndFull(iv, u, counts, n, more)
		}
	}
	_, ok := a.steady(gp.m)
	if !ok {
		return perfIntervalEndFull(iv, u, counts, n, more)
	}
	d := a.latest - iv.Nanos
	*u = perf.GoroutineTime{Wall: d, Measured: d, Waker: a.waker}
	u.Parts[perf.PartRunning] = d
	if c != nil {
		dst := (*[perf.MaxEvents]perf.Count)(unsafe.Pointer(counts))
		for i := range n {
			i &= perf.MaxEvents - 1
			dst[i] = perf.Count{Value: values[i] - iv.Values[i], Enabled: uint64(d), Running: uint64(d)}
		}
		if c.intervals > 0 {
			c.intervals--
		}
		if c.intervals == 0 {
			a.plain = false // see judge
		}
	}
	iv.Account = 0
	a.perfAccountEpoch.intervals--
	a.intervals--
	return 0, f, perf.IntervalOK
}

func perfIntervalEndFull(iv *perf.OpenInterval, u *perf.GoroutineTime, counts *perf.Count, n int, more bool) (unread uint64, f perf.Failure, err perf.IntervalError) {
	if iv.Account == 0 {
		return 0, f, perf.IntervalNotOpen
	}
	mp := acquirem()
	a := perfAccountOf(getg())
	if a == nil || a.serial != iv.Account {
		iv.Account = 0
		releasem(mp)
		return 0, f, perf.IntervalOther
	}
	dst := unsafe.Slice(counts, n)
	var totals [perf.MaxEvents]perf.Count
	var c *perfAccountCounts
	if iv.Set.Gen != 0 {
		if c = a.find(iv.Set); c == nil {
			err = perf.IntervalClosed
		} else if unread, f, err = c.read(a, mp, dst); err == perf.IntervalUnread {
			if unread -= iv.Unread; unread == 0 {
				err = perf.IntervalOK // it was before
			}
		}
	}
	a.settleNow(mp, perfCPUAlways)
	*u = a.usage
	began, ok := a.leaveEpoch(iv.Epoch, u)
	if !ok {
		iv.Account = 0
		releasem(mp)
		return 0, f, perf.IntervalNotOpen
	}
	// What was before the interval in its epoch: running, and known.
	before := iv.Nanos - began
	u.Wall -= before
	u.Measured -= before
	u.Parts[perf.PartRunning] -= before
	for i := range dst {
		totals[i] = dst[i]
		dst[i].SubNotBelow(perfIntervalCount(iv, i))
	}
	if more && err != perf.IntervalClosed {
		perfIntervalBase(iv, totals[:n])
		iv.Epoch, iv.Nanos = a.number, a.nanos
		iv.Unread += unread
		a.perfAccountEpoch.intervals++
	} else {
		iv.Account = 0
		a.leaveInterval(c)
	}
	releasem(mp)
	return unread, f, err
}

// perfIntervalBase makes counts what the goroutine has counted before iv.
func perfIntervalBase(iv *perf.OpenInterval, counts []perf.Count) {
	for i, c := range counts {
		iv.Values[i] = c.Value
		iv.Times[i].Enabled, iv.Times[i].Running = c.Enabled, c.Running
	}
	iv.Seq = 0
}

// perfIntervalCount returns what the goroutine has counted before iv of event i.
func perfIntervalCount(iv *perf.OpenInterval, i int) perf.Count {
	t := iv.Times[i]
	if iv.Seq != 0 {
		t = iv.Times[0]
		more := uint64(perfTicksNanos(iv.Ticks, perfTickRate()))
		t.Enabled += more
		t.Running += more
	}
	return perf.Count{Value: iv.Values[i], Enabled: t.Enabled, Running: t.Running}
}
