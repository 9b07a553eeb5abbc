// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// How an account follows its goroutine's status.
//
// Time changes from one part to another at each change of status. Counters belong to
// a thread, so counts change hands where a goroutine gets its thread and where it
// leaves it: execute, dropg, coroswitch, needm and dropm. That is not at each change:
// a goroutine that marks for the garbage collector waits by its status, but keeps its
// thread, and so does one in a system call.

package runtime

import "internal/runtime/perf"

// perfWaits says what a goroutine that waits is in. It has an element for each value of
// the type, so that the index needs no check.
var perfWaits = [256]perfWait{
	waitReasonZero:                  {perf.PartOther, false},
	waitReasonGCAssistMarking:       {perf.PartGC, true},
	waitReasonIOWait:                {perf.PartNetwork, false},
	waitReasonChanReceiveNilChan:    {perf.PartChan, false},
	waitReasonChanSendNilChan:       {perf.PartChan, false},
	waitReasonDumpingHeap:           {perf.PartStopTheWorld, true},
	waitReasonGarbageCollection:     {perf.PartGC, true},
	waitReasonGarbageCollectionScan: {perf.PartGC, true},
	waitReasonPanicWait:             {perf.PartOther, false},
	waitReasonSelect:                {perf.PartSelect, false},
	waitReasonSelectNoCases:         {perf.PartSelect, false},
	waitReasonGCAssistWait:          {perf.PartGC, false},
	waitReasonGCSweepWait:           {perf.PartGC, false},
	waitReasonGCScavengeWait:        {perf.PartGC, false},
	waitReasonChanReceive:           {perf.PartChan, false},
	waitReasonChanSend:              {perf.PartChan, false},
	waitReasonFinalizerWait:         {perf.PartOther, false},
	waitReasonForceGCIdle:           {perf.PartOther, false},
	waitReasonUpdateGOMAXPROCSIdle:  {perf.PartOther, false},
	waitReasonSemacquire:            {perf.PartSync, false},
	waitReasonSleep:                 {perf.PartSleep, false},
	waitReasonSyncCondWait:          {perf.PartSync, false},
	waitReasonSyncMutexLock:         {perf.PartMutex, false},
	waitReasonSyncRWMutexRLock:      {perf.PartMutex, false},
	waitReasonSyncRWMutexLock:       {perf.PartMutex, false},
	waitReasonSyncWaitGroupWait:     {perf.PartSync, false},
	waitReasonTraceReaderBlocked:    {perf.PartOther, false},
	waitReasonWaitForGCCycle:        {perf.PartGC, false},
	waitReasonGCWorkerIdle:          {perf.PartGC, false},
	waitReasonGCWorkerActive:        {perf.PartGC, true},
	waitReasonPreempted:             {perf.PartGC, false},
	waitReasonDebugCall:             {perf.PartOther, false},
	waitReasonGCMarkTermination:     {perf.PartGC, true},
	waitReasonStoppingTheWorld:      {perf.PartStopTheWorld, true},
	waitReasonFlushProcCaches:       {perf.PartStopTheWorld, true},
	waitReasonTraceGoroutineStatus:  {perf.PartOther, true},
	waitReasonTraceProcStatus:       {perf.PartOther, true},
	waitReasonPageTraceFlush:        {perf.PartOther, true},
	waitReasonCoroutine:             {perf.PartCoroutine, false},
	waitReasonGCWeakToStrongWait:    {perf.PartGC, false},
	waitReasonSynctestRun:           {perf.PartSync, false},
	waitReasonSynctestWait:          {perf.PartSync, false},
	waitReasonSynctestChanReceive:   {perf.PartChan, false},
	waitReasonSynctestChanSend:      {perf.PartChan, false},
	waitReasonSynctestSelect:        {perf.PartSelect, false},
	waitReasonSynctestWaitGroupWait: {perf.PartSync, false},
	waitReasonCleanupWait:           {perf.PartOther, false},
}

type perfWait struct {
	part  perf.Part
	keeps bool // its thread: it works, and its status only lets others scan its stack
}

// perfStatus is what casgstatus calls for a goroutine with an account, when its status
// has changed. It reports whether the goroutine is in a bubble.
//
// For a plain account it does what perfStatusFull does, in as few instructions as
// possible. It is long because it repeats what wake, enter and leave do.
//
//go:nosplit
//go:nowritebarrierrec
func perfStatus(gp *g, old, new uint32) (bubbled bool) {
	if perfQuiet.Load() != 0 {
		perfStatusQuiet(old, new)
	}
	a := gp.account.ptr()
	if !a.plain {
		switch a {
		case &perfFollowed:
			perfUnfollow(gp, new)
		case &perfBubbled:
			if new == _Gdead {
				gp.account = 0
			}
		default:
			perfStatusFull(gp, a, old, new)
		}
		return gp.bubble != nil
	}
	// This is no switch, to save instructions, too.
	var part perf.Part
	if new == _Gwaiting {
		w := &perfWaits[gp.waitreason]
		part = w.part
		if !w.keeps {
			if a.counts != 0 && a.onThread { // else it is born parked
				a.leaveCounted(getg().m)
			}
			a.onThread = false
			a.leaves(part, perfReadTime())
			return false
		}
	} else if new == _Grunnable {
		if !a.onThread {
			if by := getg().m.curg; by == nil {
				a.waker = 0
			} else if by != gp {
				a.waker = by.goid
			}
			a.begin(perf.PartRunnable, perfReadTime())
			if a.since-a.turn > a.least {
				perfWake(a)
			}
			return false
		}
		if a.counts != 0 {
			a.leaveCounted(getg().m)
		}
		a.onThread = false
		if gp.preempt {
			a.preemptions++
		}
		now := perfReadTime()
		if a.part != perf.PartRunning {
			perfGap(getg().m, now-a.since)
			a.back(gp, now)
		}
		a.leaves(perf.PartRunnable, now)
		return false
	} else if new == _Grunning {
		now := perfReadTime()
		if a.onThread {
			if a.part != perf.PartRunning {
				perfGap(getg().m, now-a.since)
			}
			a.back(gp, now)
			a.begin(perf.PartRunning, now)
			return false
		}
		a.onThread = true
		a.switches++
		mp := getg().m
		a.calls = mp.ncgocall
		perfGotThread(a, mp, now) // before what may wait for a lock
		if now-a.turn > a.least {
			perfLogAway(gp, a, now)
		}
		a.begin(perf.PartRunning, now)
		a.turn = now
		if a.mid != mp.id {
			a.otherThread(mp)
		}
		return false
	} else if new == _Gsyscall {
		part = a.away(getg().m)
	} else {
		perfStatusFull(gp, a, old, new)
		return false
	}
	now := perfReadTime()
	if now-a.since > a.least {
		perfBack(gp, a, now)
	}
	a.begin(part, now)
	return false
}

// perfStatusFull is perfStatus for any account.
//
//go:nosplit
//go:nowritebarrierrec
func perfStatusFull(gp *g, a *perfAccount, old, new uint32) {
	if new == _Gsyscall || old == _Gsyscall && new == _Grunning {
		a.cross(gp, new)
	} else if getg() == getg().m.g0 {
		a.follow(gp, old, new)
	} else {
		systemstack(func() { a.follow(gp, old, new) })
	}
}

// cross follows a change between Go and a system call or C. It is called on the
// goroutine's stack, which can't grow then.
//
//go:nosplit
//go:nowritebarrierrec
func (a *perfAccount) cross(gp *g, new uint32) {
	part := perf.PartRunning
	if new == _Gsyscall {
		part = a.away(getg().m)
	}
	if a.cpu || a.cpuSince {
		a.crossAsking(gp, part)
		return
	}
	now := perfTicks()
	if new != _Gsyscall {
		perfGap(getg().m, now-a.since)
		a.back(gp, now)
	} else if now-a.since > a.least {
		perfBack(gp, a, now)
	}
	a.begin(part, now)
}

// crossAsking is the part of cross that may have to ask the kernel, for which there is not
// enough stack here. reentersyscall relies on sched, which systemstack changes. (It is a
// function of its own for the sake of the stack that perfBack has.)
//
//go:nosplit
//go:nowritebarrierrec
func (a *perfAccount) crossAsking(gp *g, part perf.Part) {
	pc, sp, bp, lr := gp.sched.pc, gp.sched.sp, gp.sched.bp, gp.sched.lr
	systemstack(func() {
		if part == perf.PartRunning {
			now := perfTicks()
			perfGap(getg().m, now-a.since)
			if now-a.since > a.least {
				perfLogKept(gp, a, gp.syscallbp, now)
			}
		}
		a.change(part)
	})
	gp.sched.pc, gp.sched.sp, gp.sched.bp, gp.sched.lr = pc, sp, bp, lr
}

// away returns what the goroutine, which leaves Go with its thread, will be in.
//
//go:nosplit
//go:nowritebarrierrec
func (a *perfAccount) away(mp *m) perf.Part {
	// cgocall counts its calls just before it leaves, and cgocallbackg sets incgo
	// before it goes back to C. (Windows makes its system calls by cgocall.)
	if !iscgo || !mp.incgo && mp.ncgocall == a.calls {
		return perf.PartSyscall
	}
	a.calls = mp.ncgocall
	return perf.PartC
}

// follow follows the other changes, on the system stack.
//
//go:nowritebarrierrec
func (a *perfAccount) follow(gp *g, old, new uint32) {
	mp := getg().m
	switch new {
	case _Grunning:
		if !a.onThread {
			a.enter(gp, mp)
			return
		}
		now := perfTicks()
		if a.part != perf.PartRunning {
			perfGap(mp, now-a.since)
		}
		a.back(gp, now)
		a.change(perf.PartRunning)
	case _Grunnable:
		if a.onThread {
			if gp.preempt {
				a.preemptions++
			}
			a.leave(gp, perf.PartRunnable)
			return
		}
		if gp.waitreason != waitReasonPreempted || old != _Gwaiting {
			a.wake(gp, mp)
		}
		a.change(perf.PartRunnable)
		if a.since-a.turn > a.least {
			perfWake(a)
		}
	case _Gwaiting:
		w := &perfWaits[gp.waitreason]
		if a.onThread && !w.keeps {
			a.leave(gp, w.part)
			return
		}
		a.change(w.part) // or it is born parked
	case _Gdead, _Gdeadextra:
		a.pinned, a.intervals = false, 0
		if a.member != 0 {
			a.endMember(mp)
		}
		if a.onThread {
			a.leave(gp, perf.PartOther)
		} else {
			a.free(gp)
		}
		gp.account = 0
	}
}

// wake notes who makes the goroutine runnable. In a switch of a coroutine that would be
// the goroutine itself, which coroswitch_m has made current; that wakes nobody.
//
//go:nosplit
//go:nowritebarrierrec
func (a *perfAccount) wake(gp *g, mp *m) {
	var id uint64
	if by := mp.curg; by != nil {
		if by == gp {
			return
		}
		id = by.goid
	}
	a.waker = id
}

// perfPark is called by preemptPark, which changes the status by itself, before the
// goroutine leaves its thread.
//
//go:nowritebarrierrec
func perfPark(gp *g) {
	if gp.account != 0 {
		perfAccountHooks.park(gp)
	}
}

//go:nowritebarrierrec
func perfParkAccounted(gp *g) {
	if perfQuiet.Load() != 0 {
		perfLeave(getg().m, false)
	}
	a := perfAccountOf(gp)
	if a == nil {
		return
	}
	a.preemptions++
	a.leave(gp, perfWaits[waitReasonPreempted].part)
	if gp.account != a.ref() {
		return // it has gone
	}
	a.plain = false // follow knows not to name who has suspended it as its waker
}

// enter notes that the goroutine has got mp's thread.
//
//go:nowritebarrierrec
func (a *perfAccount) enter(gp *g, mp *m) {
	a.onThread = true
	a.switches++
	a.calls = mp.ncgocall
	if now := perfTicks(); now-a.turn > a.least {
		perfLogAway(gp, a, now)
	}
	if a.change(perf.PartRunning); !a.cpuSince {
		perfGotThread(a, mp, a.since)
	}
	a.turn = a.since
	if a.mid != mp.id {
		a.otherThread(mp)
	}
}

// otherThread notes that the goroutine has got another thread than the one before, or
// that its counters have to be read, for which leaveCounted has made mid different.
//
//go:nowritebarrierrec
func (a *perfAccount) otherThread(mp *m) {
	if a.mid < perfNoThread {
		a.mid = perfNoThread - a.mid - 1
	}
	if a.mid != mp.id && a.mid != perfNoThread {
		a.migrations++
	}
	a.mid = mp.id
	if a.counts != 0 {
		a.enterCounts(mp)
	}
}

// leaveCounted notes that the goroutine, which counts, leaves mp's thread.
//
//go:nowritebarrierrec
func (a *perfAccount) leaveCounted(mp *m) {
	a.leaveCounts(mp)
	a.mid = perfNoThread - a.mid - 1
}

// leave notes that the goroutine leaves mp's thread, to wait in a part. It may have no
// account afterwards.
//
//go:nowritebarrierrec
func (a *perfAccount) leave(gp *g, part perf.Part) {
	if a.counts != 0 {
		a.leaveCounted(getg().m)
	}
	if a.part != perf.PartRunning {
		now := perfTicks()
		perfGap(getg().m, now-a.since)
		a.back(gp, now)
	}
	a.change(part)
	a.onThread = false
	if a.since-a.turn > a.least {
		perfRan(a, a.since)
	}
	a.turn = a.since
	perfLeftThread(getg().m, a.since)
	if a.counts != 0 || !a.pinned {
		a.release(gp)
	}
}

// change begins another part, with what that may need.
//
//go:nowritebarrierrec
func (a *perfAccount) change(part perf.Part) {
	now := perfTicks()
	a.lose(getg().m, now, perfCPUFree)
	a.begin(part, now)
	a.cpuSince = a.cpu && part == perf.PartRunning && perfCPUKnown(perfCPUAlways)
	a.judge()
}

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
		perfLeaves(a, now)
	}
	a.begin(part, now)
	a.turn = now
	perfLeftThread(getg().m, now)
}

// perfLeaves is called when the goroutine leaves its thread, which it has had for longer than
// least, at now, and before its part changes.
//
//go:nowritebarrierrec
func perfLeaves(a *perfAccount, now int64) {
	a.take(getg().m, now)
	perfRan(a, now)
}

// back notes that the goroutine, which has kept its thread, is back from a system call or
// the like, now; or from a move of its stack, during which it was running.
//
//go:nosplit
//go:nowritebarrierrec
func (a *perfAccount) back(gp *g, now int64) {
	if now-a.since > a.least || a.member != 0 && perfTakenIsDue(getg().m, now) {
		perfBack(gp, a, now)
	}
}

// perfBack is called when a stretch on the goroutine's thread ends, now, that was longer than
// least, or a reading of the thread's clocks is due, and before the part changes: on the
// goroutine's own stack, or on the system stack.
//
//go:nosplit
//go:nowritebarrierrec
func perfBack(gp *g, a *perfAccount, now int64) {
	if a.part == perf.PartRunning && now-a.since <= perfTaskConfig.every {
		return
	}
	if getg() == getg().m.g0 {
		perfBackHere(gp, a, now)
		return
	}
	// As in crossAsking.
	pc, sp, bp, lr := gp.sched.pc, gp.sched.sp, gp.sched.bp, gp.sched.lr
	systemstack(func() { perfBackHere(gp, a, now) })
	gp.sched.pc, gp.sched.sp, gp.sched.bp, gp.sched.lr = pc, sp, bp, lr
}

// perfBackHere is perfBack on the system stack.
//
//go:nowritebarrierrec
func perfBackHere(gp *g, a *perfAccount, now int64) {
	if a.part == perf.PartRunning {
		a.take(getg().m, now)
		return
	}
	if now-a.since > a.least {
		bp := gp.syscallbp
		if a.part != perf.PartSyscall && a.part != perf.PartC {
			bp = gp.sched.bp
		}
		perfLogKept(gp, a, bp, now)
	}
	if a.member != 0 {
		perfFresh(getg().m, now) // so that what is summed up stays short
	}
}

// endMember ends a's membership, since its goroutine ends.
//
//go:nowritebarrierrec
func (a *perfAccount) endMember(mp *m) {
	if a.counts != 0 && a.onThread {
		a.leaveCounted(mp)
	}
	nanos, ticks := perfNow(mp)
	a.lose(mp, ticks, perfCPUFree)
	a.settle(nanos, ticks)
	a.leaveTask(perfLeaveEnd)
}

// judge finds out whether a is plain: whether nothing has to be asked when its part
// changes, nothing goes when the goroutine leaves its thread, and nobody else watches.
//
//go:nowritebarrierrec
func (a *perfAccount) judge() {
	for c := a.counts.ptr(); c != nil; c = c.next.ptr() {
		if !c.pinned && c.intervals == 0 {
			a.plain = false
			return
		}
	}
	a.plain = (a.pinned || a.member != 0) && !a.cpu && !a.cpuSince && !a.bubbled && perfClockFit()
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
