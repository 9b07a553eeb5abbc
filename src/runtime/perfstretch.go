// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Where a stretch of a part ends: what is found out then, and told. How an account's ticks become
// times, and how much of running was lost.

package runtime

import "internal/runtime/perf"

// begin begins another part. now is in ticks.
//
//go:nosplit
//go:nowritebarrierrec
func (a *perfAccount) begin(part perf.Part, now int64) {
	perfSeqBegin(&a.seq)
	a.ticks[a.part&perfPartMask] += now - a.since
	a.part, a.since = part, now
	perfSeqEnd(&a.seq)
}

// leaves notes that the goroutine leaves its thread, now, to wait in a part.
//
//go:nosplit
//go:nowritebarrierrec
func (a *perfAccount) leaves(part perf.Part, now int64) {
	if now-a.turn > a.least {
		now = perfLeaves(a, now)
	}
	a.begin(part, now)
	a.turn = now
	perfLeftThread(getg().m, now)
}

// perfLeaves is called when the goroutine leaves its thread, which it has had for longer than
// least, at now, and before its part changes. It returns when the stretch ends; see takeEnd.
//
//go:nowritebarrierrec
func perfLeaves(a *perfAccount, now int64) (end int64) {
	now = a.takeEnd(getg().m, now)
	perfRan(a, now)
	return now
}

// isBackLate reports whether perfBack is to be called where the goroutine, which has kept its
// thread, is back from a system call or the like, now; or from a move of its stack, during
// which it was running. (It is no part of perfBack for the sake of the stack: so it is inlined.)
//
//go:nosplit
//go:nowritebarrierrec
func (a *perfAccount) isBackLate(now int64) bool {
	return now-a.since > a.least || a.member != 0 && perfTakenIsDue(getg().m, now)
}

// perfBack is called when a stretch on the goroutine's thread ends, now, that was longer than
// least, or a reading of the thread's clocks is due, and before the part changes: on the
// goroutine's own stack, or on the system stack. It returns when the stretch ends; see takeEnd.
//
//go:nosplit
//go:nowritebarrierrec
func perfBack(gp *g, a *perfAccount, now int64) (end int64) {
	if a.part == perf.PartRunning && now-a.since <= perfTaskConfig.every {
		return now
	}
	if getg() == getg().m.g0 {
		return perfBackHere(gp, a, now)
	}
	// As in crossAsking.
	pc, sp, bp, lr := gp.sched.pc, gp.sched.sp, gp.sched.bp, gp.sched.lr
	systemstack(func() { end = perfBackHere(gp, a, now) })
	gp.sched.pc, gp.sched.sp, gp.sched.bp, gp.sched.lr = pc, sp, bp, lr
	return end
}

// perfBackHere is perfBack on the system stack.
//
//go:nowritebarrierrec
func perfBackHere(gp *g, a *perfAccount, now int64) (end int64) {
	if a.part == perf.PartRunning {
		return a.takeEnd(getg().m, now)
	}
	part := a.part
	if a.member != 0 {
		part = a.takeKept(getg().m, now) // also so that what is summed up stays short
	}
	if now-a.since > a.least {
		bp := gp.syscallbp
		if a.part != perf.PartSyscall && a.part != perf.PartC {
			bp = gp.sched.bp
		}
		perfLogKept(gp, a, part, bp, now)
	}
	return now
}

// lose adds the time, up to now, for which mp's thread had no CPU to PartPreempted, as far as
// that is known, or can be with the effort (perfCPU*). A stretch that is longer than
// perfTaskConfig.every is worth a system call.
//
//go:nowritebarrierrec
func (a *perfAccount) lose(mp *m, now int64, effort uint8) {
	if !a.cpuSince {
		a.take(mp, now)
		return
	}
	began := max(a.since, a.settled)
	if a.cpu || a.least != perfNeverLog && now-began > perfTaskConfig.every {
		effort = perfCPUAlways
	}
	var nanos int64
	if nanos, a.cpuSince = perfCPUOff(effort); !a.cpuSince {
		a.known += max(a.shown-began, 0) // as steady has said
		return
	}
	a.lost(nanos, now-max(began, a.shown), max(now-began, 0))
}

// lost adds the time for which the thread had no CPU to PartPreempted, of a stretch of running that
// has so many ticks at most. For so many it is known whether the thread had one.
//
// What steady has shown as running stays that: the kernel's clock of CPU time may leave
// out interrupts, and what a hypervisor took, of which the page knows nothing.
//
//go:nowritebarrierrec
func (a *perfAccount) lost(nanos, most, known int64) {
	off := int64(0)
	if nanos > 0 {
		off = max(min(a.nanosTicks(nanos), most), 0)
	}
	perfSeqBegin(&a.seq)
	a.known += known
	a.ticks[perf.PartPreempted] += off
	a.ticks[perf.PartRunning] -= off
	perfSeqEnd(&a.seq)
	a.taken(off)
}

// nanosTicks converts to ticks. The rate may not be known yet; then it is that since
// settle was last called. The result may be hours, hence the floating point.
//
//go:nowritebarrierrec
func (a *perfAccount) nanosTicks(nanos int64) int64 {
	if rate := perfTickRate(); rate > 0 {
		return int64(float64(nanos) * (1 << 32) / float64(rate))
	}
	ticks, since := perfTicks()-a.settled, nanotime()-a.nanos
	return int64(float64(nanos) * float64(ticks) / float64(max(since, 1)))
}

// settle brings usage up to now, in ticks, when perfNow is nanos, and begins an epoch. The
// time on the clock since it was last called is divided among the parts by their ticks.
//
//go:nowritebarrierrec
func (a *perfAccount) settle(nanos, now int64) {
	perfSeqBegin(&a.seq)
	shown := a.latest - a.nanos     // to have been running in this epoch
	a.latest = max(a.latest, nanos) // see perfNow
	wall := a.latest - a.nanos
	a.nanos = a.latest
	a.number++
	a.usage.Wall += wall
	a.usage.Switches, a.usage.Preemptions = a.switches, a.preemptions
	a.usage.Migrations, a.usage.Waker = a.migrations, a.waker
	if a.since > a.settled || a.ticks[perf.PartPreempted] != 0 || a.part >= perf.NumParts {
		a.settleParts(wall, now, shown)
	} else {
		// It was all in one part.
		a.usage.Parts[a.part] += wall
		if a.known > 0 {
			a.usage.Measured += wall
		} else {
			a.usage.Measured += shown
		}
	}
	a.known = 0
	a.settled = now
	a.ticks[a.part&perfPartMask] = a.since - now
	perfSeqEnd(&a.seq)
}

// settleParts divides the time wall. What was shown as running is left to that: the
// clocks are not read at exactly the same time.
//
//go:nowritebarrierrec
func (a *perfAccount) settleParts(wall, now, shown int64) {
	a.ticks[a.part&perfPartMask] += now - a.since
	sum := int64(0)
	for p, t := range a.ticks {
		if t < 0 { // the clocks of two processors differ
			t, a.ticks[p] = 0, 0
		}
		sum += t
	}
	if sum == 0 {
		a.ticks[a.part&perfPartMask], sum = 1, 1
	}
	rate := float64(wall) / float64(sum)
	left, largest := wall, perf.PartRunning
	for p := range perf.NumParts {
		if a.ticks[p] == 0 && p != perf.PartRunning {
			continue
		}
		if a.ticks[p] > a.ticks[largest] {
			largest = p
		}
		d := int64(float64(a.ticks[p]) * rate)
		if p == perf.PartRunning {
			d = max(d, shown)
		}
		d = min(d, left)
		a.usage.Parts[p] += d
		left -= d
	}
	a.usage.Parts[largest] += left // what rounding has left
	a.usage.Measured += max(min(int64(float64(a.known)*rate), wall), shown)
	clear(a.ticks[:])
}

// perfTicksNanos converts ticks by a rate with 32 bits of fraction.
//
//go:nowritebarrierrec
func perfTicksNanos(ticks int64, rate uint64) int64 {
	hi, lo := uint64(ticks)>>32, uint64(ticks)&(1<<32-1)
	return int64(hi*rate + lo*(rate>>32) + lo*(rate&(1<<32-1))>>32)
}
