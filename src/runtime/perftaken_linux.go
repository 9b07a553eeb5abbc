// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// How much of a task's running time its threads had no CPU for, without asking at each switch.
//
// A thread that loses its CPU for longer than a millisecond does so within a stretch of running
// that is longer than that. So the thread's CPU clock is read at the end of such a stretch. It
// has to have been read before: where a goroutine gets the thread, if the latest reading is
// older than a millisecond, and where it comes back from a system call or the like so long after
// it. That is two readings a millisecond at most, and most often one: of the clock, and of how often the
// thread has slept.
//
// Between two readings the thread may have slept, or have been in a system call. For how long it
// did not run an accounted goroutine is therefore summed up: so much of the time without a CPU
// may be of that. Only the rest is said to have been taken, and what may or may not have been is
// not said to be measured. It is little, as a long stretch begins soon after a reading. So is what
// shorter stretches lost meanwhile, which is taken off this one. If the thread ran no other goroutine
// since, these were its own, and what they lost is known without a long one.
//
// But the kernel counts how often a thread has slept. If it has not, all of the time without a CPU
// was taken: also what was in system calls, at whose ends the kernel likes to do that.
//
// A thread that waits for the system without telling the scheduler has no CPU either: for a lock
// of the runtime's, in syscall.RawSyscall, for a page, or for a new process to begin.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/syscall/linux"
	"unsafe"
)

// A perfTaken is a thread's latest reading of its CPU clock. Only the thread uses it, and not in
// signal handlers. Times are in ticks, but for wall and cpu.
type perfTaken struct {
	until int64  // when the next reading is due
	at    int64  // of the latest one; 0 if there was none
	from  int64  // since when it is not known whether the thread has had its CPU: at, or later
	wall  int64  // nanotime then
	cpu   int64  // the thread's CPU time then, in ns
	away  int64  // for how long it has run no accounted goroutine since
	left  int64  // when one has last left the thread, or at
	tid   uint64 // m.procid then: an M moves between threads of C
	slept int64  // how often the thread had slept then, or -1
	paged bool   // cpu is what a page has: the time of its event, which began later
	awake bool   // it is known not to have slept before, since the reading before that
}

var _ [unsafe.Sizeof(perfM{}.taken) - unsafe.Sizeof(perfTaken{})]byte // it fits

// perfTakenOf returns mp's.
//
//go:nosplit
//go:nowritebarrierrec
func perfTakenOf(mp *m) *perfTaken { return (*perfTaken)(unsafe.Pointer(&mp.taken)) }

// perfTakenDue returns when a reading is due after one at now, in ticks.
//
//go:nowritebarrierrec
func perfTakenDue(now int64) int64 {
	if every := perfTaskConfig.every; every > 0 {
		return now + every
	}
	const first = 1 << 20 // if tasks have never been followed
	return now + first
}

// perfGotThread notes that the goroutine of a gets mp's thread, the current one.
//
//go:nosplit
//go:nowritebarrierrec
func perfGotThread(a *perfAccount, mp *m, now int64) {
	t := perfTakenOf(mp)
	t.away += now - t.left
	if now >= t.until {
		perfGotLate(a, mp, now)
	}
}

// perfTakenIsDue reports whether a reading of the clocks of mp's thread is due.
//
//go:nosplit
//go:nowritebarrierrec
func perfTakenIsDue(mp *m, now int64) bool { return now >= perfTakenOf(mp).until }

// perfLeftThread notes that a goroutine leaves mp's thread.
//
//go:nosplit
//go:nowritebarrierrec
func perfLeftThread(mp *m, now int64) { perfTakenOf(mp).left = now }

// perfGap notes that so many ticks of an accounted goroutine on mp's thread were not running.
//
//go:nosplit
//go:nowritebarrierrec
func perfGap(mp *m, ticks int64) { perfTakenOf(mp).away += ticks }

// perfAccounted notes that the goroutine that has mp's thread is accounted from now on.
//
//go:nosplit
//go:nowritebarrierrec
func perfAccounted(mp *m, now int64) {
	t := perfTakenOf(mp)
	t.away += now - t.left
}

// perfGotLate is perfGotThread where a reading is due. It stays so until the goroutine of a task
// gets the thread: of others nobody wants to know.
//
//go:nowritebarrierrec
func perfGotLate(a *perfAccount, mp *m, now int64) {
	if a.member != 0 {
		perfFresh(mp, now)
	}
}

// perfFresh reads the thread's clocks if a reading is due.
//
//go:nowritebarrierrec
func perfFresh(mp *m, now int64) {
	t := perfTakenOf(mp)
	if now < t.until && t.at != 0 {
		return
	}
	var c *perfCPU
	if meter := mp.meter.ptr(); meter != nil {
		c = &meter.cpu
		if c.undisturbed() && t.at != 0 {
			t.undisturbed(now)
			return
		}
	}
	perfReadTaken(mp, c, now)
}

// undisturbed notes that the thread has had its CPU up to now, also while it ran no goroutine: the
// latest reading is as good as one of now.
//
//go:nowritebarrierrec
func (t *perfTaken) undisturbed(now int64) {
	t.until, t.from, t.away, t.left = perfTakenDue(now), now, 0, now
}

// perfReadTaken reads the clocks of mp's thread, the current one. c is the thread's, or nil. It
// returns for how long the thread has had no CPU since the latest reading, and for how long it
// ran no accounted goroutine, in ns. ok is false if there is no earlier reading of this thread.
//
//go:nowritebarrierrec
func perfReadTaken(mp *m, c *perfCPU, now int64) (off, away int64, ok bool) {
	// Whatever happens after this shows at the next look at the page.
	if c != nil && c.page != 0 {
		c.seq = c.page.state()
	}
	wall := nanotime()
	cpu, timely := int64(0), false
	if c != nil && c.page != 0 && c.page.timely() {
		var times perfTimes
		times, timely = c.page.times()
		cpu = int64(times.enabled)
	}
	if !timely {
		cpu = perfThreadTime()
	}
	return perfTakenOf(mp).read(now, wall, cpu, perfSlept(), mp.procid, timely)
}

// read is perfReadTaken for the clocks that it is given.
//
//go:nowritebarrierrec
func (t *perfTaken) read(now, wall, cpu, slept int64, tid uint64, paged bool) (off, away int64, ok bool) {
	// What is away is a part of the time, unless ticks have become those of another clock.
	if ok = t.at != 0 && t.at < now && t.tid == tid && t.paged == paged && 0 <= t.away && t.away <= now-t.at; ok {
		off = max(wall-t.wall-(cpu-t.cpu), 0)
		away = int64(float64(t.away) / float64(now-t.at) * float64(wall-t.wall))
	}
	*t = perfTaken{
		until: perfTakenDue(now), at: now, from: now, wall: wall, cpu: cpu, left: now, tid: tid, paged: paged,
		slept: slept, awake: ok && slept >= 0 && slept == t.slept,
	}
	return off, away, ok
}

// take finds out for how much of the running of a, which is running, mp's thread had no CPU up to
// now, if that is worth a reading of the thread's clocks. That is where a stretch is longer than
// perfTaskConfig.every, and where a reading is due and the thread ran nobody else since the
// latest one. It is called on the goroutine's thread, and reports whether it has read.
//
//go:nowritebarrierrec
func (a *perfAccount) take(mp *m, now int64) (read bool) {
	if a.part != perf.PartRunning || a.cpuSince || a.least == perfNeverLog {
		return false
	}
	own := a.owns(perfTakenOf(mp), now)
	began := max(a.since, a.settled)
	if !own && now-began <= perfTaskConfig.every {
		return false
	}
	a.takeSince(mp, now, began, own)
	return true
}

// takeEnd is take where the stretch ends. It returns the end: the kernel may well take the thread from its
// CPU at the end of a system call, such as that which reads the clocks, and the goroutine is still
// running then.
//
//go:nowritebarrierrec
func (a *perfAccount) takeEnd(mp *m, now int64) (end int64) {
	for range 2 { // not for ever
		if !a.take(mp, now) {
			break
		}
		later := perfTicks()
		if later-now <= perfTaskConfig.every {
			break
		}
		now = later
	}
	return now
}

// takeKept is take where the goroutine is back from a system call or the like, now. It returns what it
// was in for most of that: the system call, or without a CPU.
//
//go:nowritebarrierrec
func (a *perfAccount) takeKept(mp *m, now int64) (part perf.Part) {
	if !a.owns(perfTakenOf(mp), now) || a.least == perfNeverLog {
		perfFresh(mp, now)
		return a.part
	}
	before, shorter := a.ticks[perf.PartSyscall], perfTakenOf(mp).away-(now-a.since)
	a.takeSince(mp, now, now, true)
	lost := before - a.ticks[perf.PartSyscall]
	if a.part == perf.PartSyscall && lost-shorter > (now-a.since)/2 {
		return perf.PartPreempted
	}
	return a.part
}

// owns reports whether a reading is due and the thread of t, which a's goroutine has, has run
// nobody else since the latest one.
//
//go:nowritebarrierrec
func (a *perfAccount) owns(t *perfTaken, now int64) bool {
	return now >= t.until && t.at != 0 && t.from >= a.turn
}

// takeSince reads the clocks of mp's thread, and adds what a has lost: of the stretch that began then, or
// of all that the thread has run since the latest reading if that is a's own.
//
//go:nowritebarrierrec
func (a *perfAccount) takeSince(mp *m, now, began int64, own bool) {
	t := perfTakenOf(mp)
	if t.at == 0 || t.tid != mp.procid {
		perfFresh(mp, now)
		return // it is not known, but will be
	}
	most := now - max(began, a.shown, t.from)
	known := most
	if own {
		most = a.ran(now)
		known = now - t.from - t.away
	}
	var c *perfCPU
	if meter := mp.meter.ptr(); meter != nil {
		c = &meter.cpu
	}
	var off, away int64
	wall, undisturbed := t.wall, float64(t.from-t.at)/float64(max(now-t.at, 1))
	if c != nil && c.undisturbed() {
		t.undisturbed(now)
	} else {
		var ok bool
		if off, away, ok = perfReadTaken(mp, c, now); !ok {
			return
		}
	}
	switch {
	case !t.awake || !own:
		// So much may have been asleep, or before the stretch.
		known -= a.nanosTicks(min(off, away))
		off -= away
	case away > 0: // nothing was taken before from
		in := int64(float64(off) * float64(away) / max(float64(t.wall-wall)*(1-undisturbed), float64(away), 1))
		a.lostCall(in)
		off -= in
	}
	known = min(known, a.ran(now)+a.ticks[perf.PartPreempted]-a.known)
	a.lost(off, most, max(known, 0))
}

// lostCall is lost for what was taken in system calls, which have kept the thread.
//
//go:nowritebarrierrec
func (a *perfAccount) lostCall(nanos int64) {
	most := a.ticks[perf.PartSyscall]
	if a.part == perf.PartSyscall {
		most += perfTicks() - a.since
	}
	off := max(min(a.nanosTicks(nanos), most), 0)
	perfSeqBegin(&a.seq)
	a.known += off
	a.ticks[perf.PartPreempted] += off
	a.ticks[perf.PartSyscall] -= off
	perfSeqEnd(&a.seq)
	a.taken(off)
}

// perfTakenTicks is for how long threads had no CPU while their goroutines worked for tasks, and are
// known not to have slept. It is added to no more often than the clocks are read.
var perfTakenTicks atomic.Int64

// taken notes that so much was taken from the current thread, by its latest reading.
//
//go:nowritebarrierrec
func (a *perfAccount) taken(ticks int64) {
	if ticks > 0 && a.member != 0 && perfTakenOf(getg().m).awake {
		perfTakenTicks.Add(ticks)
	}
}

// perfTakenSum returns perfTakenTicks in ns.
//
//go:linkname perfTakenSum runtime/task.runtime_perfTakenSum
func perfTakenSum() int64 { return perfTicksToNanos(perfTakenTicks.Load()) }

// perfSleptWorks says whether the kernel counts how often a thread sleeps: 0 not yet known, 1 yes, 2 no.
var perfSleptWorks atomic.Uint32

// perfSleptInit finds out, with the current thread.
func perfSleptInit() {
	if perfSleptWorks.Load() != 0 {
		return
	}
	perfSleptWorks.Store(1)
	before := perfSlept()
	for usec := uint32(1); usec <= 10_000 && before >= 0; usec *= 10 { // the timer may be there before it sleeps
		if usleep(usec); perfSlept() != before {
			return
		}
	}
	perfSleptWorks.Store(2)
}

// perfSlept returns how often the current thread has given up its CPU to wait for something, or -1.
//
//go:nosplit
//go:nowritebarrierrec
func perfSlept() int64 {
	const (
		// The number of getrusage(2), by asm/unistd.h.
		getrusage = 98*goarch.IsAmd64 + 77*(goarch.Is386+goarch.IsArm+goarch.IsPpc64+goarch.IsPpc64le+goarch.IsS390x) +
			165*(goarch.IsArm64+goarch.IsLoong64+goarch.IsRiscv64) + 4077*(goarch.IsMips+goarch.IsMipsle) + 5096*(goarch.IsMips64+goarch.IsMips64le)

		thread = 1  // RUSAGE_THREAD
		nvcsw  = 16 // of two struct timeval and 14 long
	)
	if perfSleptWorks.Load() != 1 {
		return -1
	}
	var usage [18]uintptr
	_, _, errno := linux.Syscall6(getrusage, thread, uintptr(unsafe.Pointer(&usage)), 0, 0, 0, 0)
	if errno != 0 {
		return -1
	}
	return int64(usage[nvcsw])
}

// ran returns for how many ticks a has run since settle was last called, up to now, but for what steady
// has shown.
//
//go:nowritebarrierrec
func (a *perfAccount) ran(now int64) int64 {
	n := a.ticks[perf.PartRunning] - max(a.shown-a.settled, 0)
	if a.part == perf.PartRunning {
		n += now - a.since
	}
	return max(n, 0)
}
