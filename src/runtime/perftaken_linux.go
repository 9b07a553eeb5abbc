// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// How much of a task's running time its threads had no CPU for, without asking at each switch.
//
// A thread that loses its CPU for longer than a millisecond does so within a stretch of running
// that is longer than that. So the thread's CPU clock is read at the end of such a stretch. It
// has to have been read before: where a goroutine gets the thread, if the latest reading is
// older than a millisecond. That is two system calls a millisecond at most, and most often one.
//
// Between two readings the thread may have slept, or have been in a system call. For how long it
// did not run an accounted goroutine is therefore summed up: so much of the time without a CPU
// may be of that. Only the rest was taken, of a time in which a goroutine was running. What was
// taken is never overstated by this. It is understated by the time in which a thread that had
// another one's work to do, no account of which there is, lost its CPU as well.

package runtime

import "internal/runtime/perf"

// A perfTaken is a thread's latest reading of its CPU clock. Only the thread uses it, and not in
// signal handlers. Times are in ticks, but for wall and cpu.
type perfTaken struct {
	until int64  // when the next reading is due
	at    int64  // of the latest one; 0 if there was none
	wall  int64  // nanotime then
	cpu   int64  // the thread's CPU time then, in ns
	away  int64  // for how long it has run no accounted goroutine since
	left  int64  // when one has last left the thread, or at
	tid   uint64 // m.procid then: an M moves between threads of C
}

// perfTakenFirst is how long after the end of a goroutine's stretch of running, in ticks, a
// reading is due if tasks have never been followed.
const perfTakenFirst = 1 << 20

// perfGotThread notes that the goroutine of a gets mp's thread, the current one.
//
//go:nosplit
//go:nowritebarrierrec
func perfGotThread(a *perfAccount, mp *m, now int64) {
	t := &mp.taken
	t.away += now - t.left
	if now >= t.until {
		perfGotLate(a, mp, now)
	}
}

// perfLeftThread notes that a goroutine leaves mp's thread.
//
//go:nosplit
//go:nowritebarrierrec
func perfLeftThread(mp *m, now int64) { mp.taken.left = now }

// perfGap notes that so many ticks of an accounted goroutine on mp's thread were not running.
//
//go:nosplit
//go:nowritebarrierrec
func perfGap(mp *m, ticks int64) { mp.taken.away += ticks }

// perfAccounted notes that the goroutine that has mp's thread is accounted from now on.
//
//go:nosplit
//go:nowritebarrierrec
func perfAccounted(mp *m, now int64) { mp.taken.away += now - mp.taken.left }

// perfGotLate is perfGotThread where a reading is due.
//
//go:nowritebarrierrec
func perfGotLate(a *perfAccount, mp *m, now int64) {
	if a.member != 0 {
		perfFresh(mp, now)
	} else {
		// Nobody wants to know. What follows is not known to have been running.
		mp.taken.until = now + max(perfTaskConfig.every, perfTakenFirst)
		mp.taken.at = 0
	}
}

// perfFresh reads the thread's clocks if a reading is due.
//
//go:nowritebarrierrec
func perfFresh(mp *m, now int64) {
	t := &mp.taken
	if now < t.until && t.at != 0 {
		return
	}
	var c *perfCPU
	if meter := mp.meter.ptr(); meter != nil {
		c = &meter.cpu
		if c.undisturbed() && t.at != 0 {
			t.until = now + perfTaskConfig.every
			return // it has had its CPU, so that the latest reading is as good
		}
	}
	perfReadTaken(mp, c, now)
}

// perfReadTaken reads the clocks of mp's thread, the current one. c is the thread's, or nil. It
// returns for how long the thread has had no CPU since the latest reading, which may be less than
// 0, and for how much of that it did not run an accounted goroutine. That is all if there is no
// reading of this thread.
//
//go:nowritebarrierrec
func perfReadTaken(mp *m, c *perfCPU, now int64) (off, away int64) {
	// Whatever happens after this shows at the next look at the page.
	if c != nil && c.page != 0 {
		c.seq = c.page.state()
	}
	wall := nanotime()
	cpu, ok := int64(0), false
	if c != nil && c.page != 0 && c.page.timely() {
		var times perfTimes
		times, ok = c.page.times()
		cpu = int64(times.enabled)
	}
	if !ok {
		cpu = perfThreadTime()
	}
	return mp.taken.read(now, wall, cpu, mp.procid)
}

// read is perfReadTaken for the clocks that it is given.
//
//go:nowritebarrierrec
func (t *perfTaken) read(now, wall, cpu int64, tid uint64) (off, away int64) {
	off = wall - t.wall - (cpu - t.cpu)
	away = perfTicksToNanos(t.away)
	if t.at == 0 || t.at > now || t.tid != tid {
		away = max(off, 0)
	}
	*t = perfTaken{now + max(perfTaskConfig.every, perfTakenFirst), now, wall, cpu, 0, now, tid}
	return off, away
}

// take finds out for how much of the stretch of running of a, which ends now or goes on, mp's
// thread had no CPU. It is called for stretches that are longer than perfTaskConfig.every, on
// the goroutine's thread.
//
//go:nowritebarrierrec
func (a *perfAccount) take(mp *m, now int64) {
	began := max(a.since, a.settled)
	if a.part != perf.PartRunning || a.cpuSince || now-began <= perfTaskConfig.every || a.least == perfNeverLog {
		return
	}
	t := &mp.taken
	if t.at == 0 || t.tid != mp.procid {
		perfFresh(mp, now)
		return // it is not known, but will be
	}
	var off, away int64
	var c *perfCPU
	if meter := mp.meter.ptr(); meter != nil {
		c = &meter.cpu
	}
	if c == nil || !c.undisturbed() {
		off, away = perfReadTaken(mp, c, now)
	}
	a.known += now - max(began, a.shown)
	a.lost(off-away, now-max(began, a.shown))
}
