// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The overhead bound. Nothing in the kernel keeps a profile from eating its
// program: with a period that is shorter than what a sample costs, the thread goes
// from one signal handler to the next. (A loop took 64 times as long with a clock
// at 10 us, and page faults at period 1 made no progress at all: the fault is taken
// again after each signal.)
//
// So each thread compares what its samples cost with its CPU time. Where that is
// too much it takes a longer period of the event, and a shorter one again when that
// is possible. A sample is recorded with the number of events that it stands for,
// so totals stay right; only the resolution is limited to what the program can
// bear.
//
// Neither side of the comparison is assumed. A sample costs from 3 us on bare metal
// to 100 us in a virtual machine on a busy host; what a handler sees of that is
// measured for each sample, and the rest is taken in proportion to it (see
// perfCost). The thread's CPU time leaves out what it slept or waited for a CPU.

package runtime

import "internal/runtime/perf"

const (
	// perfWindow is how many runs of the handler are looked at together.
	perfWindow = 16

	// perfCostMost is the most that samples may take of the CPU time, in percent,
	// before the period is lengthened, whatever the program's owner allows. Where
	// they take nearly all of it the program makes no progress: a page fault at
	// period 1 is taken again after each signal, and a clock whose period is
	// shorter than its interrupt keeps the thread in interrupts. Then the signal
	// handler, which could lengthen the period, does not run either. (In a virtual
	// machine with 46 to 54 us for an interrupt, a clock of 18 us stopped its
	// thread for 10 s, until it was killed.) The estimate of the cost can be a
	// third off.
	perfCostMost = 80

	// perfMaxOutlier limits what one run of the handler counts, as a multiple of
	// the least in the window. Several interrupts in a row make a run that much
	// dearer; what is more is time in which the thread was off the CPU.
	perfMaxOutlier = 4
)

// A perfBound is one thread's account of what its samples cost. It belongs to the
// thread's signal handler, with perfThread.lock held.
type perfBound struct {
	n    int32                 // runs of the handler in the window
	seen [perfWindow]int64     // ns, what each saw of its cost; at least 1
	hits [perf.MaxEvents]int32 // runs that found overflows, by slot
	exit int64                 // nanotime at the end of the last handler; 0 before the first
	cpu  int64                 // ns, the thread's CPU time at the start of the window
	last int64                 // ns, what cpuTime last returned
	sum  int64                 // ns, cost of all windows that have ended
	inC  int64                 // ns, the thread's CPU time when boundForeign last looked

	// Runs that found only hits of breakpoints at period 1, which no period can
	// make fewer, have a window of their own.
	exact perfExact

	// How each event's period is to change when it next overflows: by steps to
	// longer ones, or -1 for a shorter one. At any other time than right after an
	// overflow, the change would drop what the counter has counted since (see
	// restart).
	change [perf.MaxEvents]int8
}

// A perfExact is perfBound's account of hits of breakpoints at period 1.
type perfExact struct {
	n    int32 // runs of the handler in the window
	seen int64 // ns, what they saw of their cost
	cpu  int64 // ns, the thread's CPU time at the start of the window

	runs int32 // hits, and later runs of the handler, in a row; see perfThread.watchProgress
}

// account is called at the end of a run of t's signal handler that found the
// overflows in hits. entry is when the handler began, if the ring does not say when
// the first of them was.
//
//go:nowritebarrierrec
func (b *perfBound) account(t *perfThread, hits *perfHits, entry, now int64) {
	start := hits.first
	switch {
	case start != 0:
	case entry != 0:
		start = entry - perfCost.seen
	default:
		start = now - perfCost.seen
	}
	// From the first overflow on there were only interrupts and the signal. An
	// overflow in the previous handler has been counted there, up to its end.
	seen := max(now-max(start, b.exit), 1)
	if hits.strays != 0 {
		// They were interrupts, some time ago.
		seen += hits.strays * perfCost.interrupt * perfCost.seen / perfCost.whole
	}
	b.exit = now
	any, exact := false, true
	for i := range t.ctr[:t.n] {
		if hits.ev[i].all > 0 {
			b.hits[i]++
			any = true
			exact = exact && perfTables.slots[i].cfg.Exact()
		}
	}
	if any && exact {
		b.exact.seen += seen
		if b.exact.n++; b.exact.n == perfWindow {
			cpu := t.cpuTime()
			b.sum += min(perfWhole(b.exact.seen), cpu-b.exact.cpu)
			b.exact = perfExact{cpu: cpu, runs: b.exact.runs}
		}
		return
	}
	b.seen[b.n] = seen
	if b.n++; b.n == perfWindow {
		b.endWindow(t)
	}
	for i := range t.ctr[:t.n] {
		if d := b.change[i]; d != 0 && hits.ev[i].all > 0 {
			b.change[i] = 0
			t.step(i, int(d))
		}
	}
}

// endWindow decides which of t's periods change, and begins a new window.
//
//go:nowritebarrierrec
func (b *perfBound) endWindow(t *perfThread) {
	cost := b.cost()
	cpu := t.cpuTime()
	total := max(cpu-b.cpu, cost)
	b.cpu = cpu
	cost += b.silentCost(t, cost/int64(b.n), total)
	counting := b.countingCost(t)
	b.sum += min(cost+counting, total)
	b.choose(t, perfDirection(cost, counting, max(total, cost)))
	b.n = 0
	b.hits = [perf.MaxEvents]int32{}
}

// choose chooses the events whose periods change in the given direction. Longer
// periods go to those that cost the most, a shorter one to the event whose period
// has grown the most. They have samples, at which the change can be made.
//
//go:nowritebarrierrec
func (b *perfBound) choose(t *perfThread, direction int) {
	most, longest := int32(0), -1
	for i, n := range b.hits[:t.n] {
		if perfProf.exact.has(i) {
			continue
		}
		most = max(most, n)
		if n > 0 && t.ctr[i].rung > 0 && (longest < 0 || t.ctr[i].rung > t.ctr[longest].rung) {
			longest = i
		}
	}
	for i, n := range b.hits[:t.n] {
		b.change[i] = 0
		switch {
		case direction > 0 && n > 0 && 2*n >= most, direction < 0 && i == longest:
			b.change[i] = int8(direction)
		case t.ctr[i].rung < t.ctr[i].minRung:
			b.change[i] = 1 // as throttle wants it
		}
	}
}

// silentCost returns what interrupts that were not samples have cost in the window,
// in ns, and enters them in hits. each is what a sample has cost. A clock interrupts
// the thread in what is filtered out of its samples, too.
//
//go:nowritebarrierrec
func (b *perfBound) silentCost(t *perfThread, each, total int64) int64 {
	n := int64(0)
	for i := range t.ctr[:t.n] {
		if all := t.interrupts(i, total); all > int64(b.hits[i]) {
			n += all - int64(b.hits[i])
			b.hits[i] = int32(all)
		}
	}
	return n * each * perfCost.interrupt / perfCost.whole
}

// interrupts returns how often a clock whose samples are filtered has interrupted
// the thread in ns of CPU time, and 0 for other events.
//
//go:nowritebarrierrec
func (t *perfThread) interrupts(i int, ns int64) int64 {
	if !t.slots.has(i) || !perfTables.slots[i].cfg.FilteredClock() {
		return 0
	}
	return ns / int64(t.ctr[i].period)
}

// countingCost returns what counting the events has cost in the window, in ns. Being
// counted by several of the session's events costs less for each but the first: 0.2
// us for one kind of page faults, 0.3 for four.
//
//go:nowritebarrierrec
func (b *perfBound) countingCost(t *perfThread) int64 {
	most, sum := int64(0), int64(0)
	for i := range t.ctr[:t.n] {
		if perfTables.slots[i].cfg.Software() {
			n := int64(b.hits[i]) * int64(t.ctr[i].period)
			most = max(most, n)
			sum += n
		}
	}
	return (most + (sum-most)/4) * perfCost.count
}

// total returns what the thread's samples have cost until now, in ns.
//
//go:nowritebarrierrec
func (b *perfBound) total() int64 { return b.sum + b.cost() + perfWhole(b.exact.seen) }

// newWindow begins a new window because t's counters have changed: the thread's CPU
// time is read from one of them.
//
//go:nowritebarrierrec
func (b *perfBound) newWindow(t *perfThread) {
	cpu := t.cpuTime()
	t.chain.newWindow(t, cpu)
	*b = perfBound{exit: b.exit, sum: b.total(), cpu: cpu, last: cpu, inC: cpu, exact: perfExact{cpu: cpu, runs: b.exact.runs}}
}

// cost returns what the samples of the window have cost until now, in ns.
//
//go:nowritebarrierrec
func (b *perfBound) cost() int64 {
	least := int64(1) << 62
	for _, s := range b.seen[:b.n] {
		least = min(least, s)
	}
	sum := int64(0)
	for _, s := range b.seen[:b.n] {
		sum += min(s, perfMaxOutlier*least)
	}
	return perfWhole(sum)
}

// perfWhole returns the whole cost of samples, given what handlers have seen of it.
//
//go:nowritebarrierrec
func perfWhole(seen int64) int64 {
	return seen * perfCost.whole / perfCost.seen
}

// perfDirection returns how many steps to longer periods samples should take that
// cost so many of total nanoseconds, or -1 for one to a shorter period. A step
// halves the cost, about. Counting costs the program too, but periods do not change
// that. So that there are samples at all, they may always cost a fifth of what the
// program allows.
//
//go:nowritebarrierrec
func perfDirection(cost, counting, total int64) int {
	// The part of what samples may cost, for each that the program has, below which the
	// period is shortened again: one in so many. A step to a shorter period can treble the
	// cost (from 3 to 1).
	const low = 5
	most := int64(perfLinux.maxPercent.Load())
	limit := max(most-100*counting/max(total, 1), most/5, 1)
	program := total - cost
	if cost*(100-limit)*low < program*limit {
		return -1
	}
	const longer = 4 // steps at once, at most
	n := 0
	for ; n < longer && cost*(100-limit) > program*limit; n++ {
		cost /= 2
	}
	return n
}

// cpuTime returns the thread's CPU time since one of its counters was opened, in
// ns: the kernel calls that the time for which the counter has been enabled. When
// the counters change, so does it; see newWindow. If none can be read it stands still:
// what is in the ring is read, and paid for, after the last one was stopped, too. (With
// another clock in its place, a filtered one had interrupted the thread for as long as the
// machine had been up.)
//
//go:nowritebarrierrec
func (t *perfThread) cpuTime() int64 {
	for i := range t.ctr[:t.n] {
		c := &t.ctr[i]
		var v perfCounterValue
		if c.Stuck == 0 && !c.stopped && v.read(c) {
			t.load.last = int64(v.enabled)
			break
		}
	}
	return t.load.last
}

// perfLimitCost makes the overhead bound keep to what the strictest session asks
// for. ended is one that does not count any more, or nil.
func perfLimitCost(ended *perfSession) {
	// Of sessions with clocks, in place of perfCostMost. Interrupts can become twice
	// as dear while the host of a virtual machine is busy: 55 us and 121 us were seen,
	// seconds apart. A thread that they stop must go on when they cost what they did
	// before. Otherwise SIGKILL can't end it either: a thread closes its counters itself.
	const clockMost = 50
	systemstack(func() {
		least := perfCostMost
		lock(&perfProf.lock)
		for i := range perfTables.sessions {
			if ss := &perfTables.sessions[i]; ss.n != 0 && ss != ended {
				least = min(least, ss.cost)
				if ss.hasClock() {
					least = min(least, clockMost)
				}
			}
		}
		perfLinux.maxPercent.Store(int32(least))
		unlock(&perfProf.lock)
	})
}

// hasClock reports whether one of the session's events is a clock.
func (ss *perfSession) hasClock() bool {
	for _, slot := range ss.slots[:ss.n] {
		if perfTables.slots[slot].cfg.Clock() {
			return true
		}
	}
	return false
}
