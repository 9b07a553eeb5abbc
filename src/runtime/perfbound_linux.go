// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

// The overhead bound. Nothing in the kernel stops a profile from eating its
// program: with a period that is shorter than what a sample costs, the thread
// goes from one signal handler to the next. (A loop took 64 times as long with
// a clock at 10 us, and page faults at period 1 never got anywhere: the fault
// is taken again after each signal.)
//
// So each thread compares what its samples cost with its CPU time, and where
// that is too much takes a longer period of the event, and a shorter one again
// when that is possible. A sample is recorded with the number of events that it
// stands for, so totals stay right; only the resolution is what the program can
// bear.
//
// Neither side of the comparison is assumed. A sample costs from 3 us on bare
// metal to 100 us in a virtual machine on a busy host; what a handler sees of
// that is measured for each sample, and the rest in proportion to it (see
// perfCost). The thread's CPU time leaves out what it slept or waited for a CPU.

const (
	// perfWindow is how many handlers' runs are looked at together.
	perfWindow = 16

	// The part of the CPU time, in percent, that samples may take before the
	// period is lengthened, and below which it is shortened again. A step to a
	// shorter period can treble the cost (from 3 to 1), so the two limits must
	// differ by more. A program can ask for less than perfCostHigh.
	perfCostHigh = perf.MaxCost
	perfCostLow  = 6

	// perfMaxLonger is how many steps to longer periods are taken at once.
	perfMaxLonger = 4

	// perfMaxOutlier is what one run of the handler may count, in parts of the
	// window's least. Several interrupts in a row make one that much dearer;
	// what is more is time in which the thread was off the CPU.
	perfMaxOutlier = 4
)

// A perfBound is one thread's account of what its samples cost. Owned by the
// thread's signal handler, with perfThread.lock held.
type perfBound struct {
	n    int32             // handlers' runs in the window
	seen [perfWindow]int64 // ns, what each saw of its cost; at least 1
	hits [perf.MaxEvents]int32
	exit int64 // nanotime at the end of the last handler; 0 before the first
	cpu  int64 // ns, the thread's CPU time at the start of the window
	sum  int64 // ns, cost of all windows that have ended
	inC  int64 // ns, the thread's CPU time when boundForeign last looked

	// Runs that found hits of breakpoints at period 1 only, which no period can
	// make fewer. They have a window of their own.
	exact perfExact

	// How each event's period is to change when it next overflows: steps to a
	// longer one, or -1 for a shorter one. Later than right after an overflow, the
	// change would drop what the counter has counted since (see restart).
	change [perf.MaxEvents]int8
}

// A perfExact is perfBound's account of hits of breakpoints at period 1.
type perfExact struct {
	n    int32 // handlers' runs in the window
	seen int64 // ns, what they saw of their cost
	cpu  int64 // ns, the thread's CPU time at the start of the window

	runs int32 // hits, and later runs of the handler, in a row; see perfThread.watchProgress
}

// account is called at the end of a signal handler that found the overflows
// in hits. entry is when the handler began, if the ring does not say when the
// first of them was.
//
//go:nowritebarrierrec
func (t *perfThread) account(hits *perfHits, entry, now int64) {
	b := &t.load
	start := hits.first
	switch {
	case start != 0:
	case entry != 0:
		start = entry - perfCost.seen
	default:
		start = now - perfCost.seen
	}
	// From the first overflow on there were only interrupts, and the signal. One
	// in the handler before has been counted there up to its end.
	seen := max(now-max(start, b.exit), 1)
	if hits.odd != 0 {
		// They were interrupts, some time ago.
		seen += hits.odd * perfCost.interrupt * perfCost.seen / perfCost.whole
	}
	b.exit = now
	any, exact := false, true
	for i := range t.ctr[:t.n] {
		if hits.ev[i].all > 0 {
			b.hits[i]++
			any = true
			exact = exact && perfProf.slots[i].cfg.Exact()
		}
	}
	if any && exact {
		b.exact.seen += seen
		if b.exact.n++; b.exact.n == perfWindow {
			cpu := t.cpuTime(now)
			b.sum += min(perfWhole(b.exact.seen), cpu-b.exact.cpu)
			b.exact = perfExact{cpu: cpu, runs: b.exact.runs}
		}
		return
	}
	b.seen[b.n] = seen
	if b.n++; b.n == perfWindow {
		t.decide(now)
	}
	for i := range t.ctr[:t.n] {
		if d := b.change[i]; d != 0 && hits.ev[i].all > 0 {
			b.change[i] = 0
			t.step(i, int(d))
		}
	}
}

// decide ends a window.
//
//go:nowritebarrierrec
func (t *perfThread) decide(now int64) {
	b := &t.load
	cost := b.cost()
	cpu := t.cpuTime(now)
	total := max(cpu-b.cpu, cost)
	b.cpu = cpu
	cost += t.silent(cost/int64(b.n), total)
	counting := t.counting()
	b.sum += min(cost+counting, total)
	b.choose(t, perfDirection(cost, counting, max(total, cost)))
	b.n = 0
	b.hits = [perf.MaxEvents]int32{}
}

// choose chooses the events whose periods change in the given direction: those that
// cost the most, or the one that has lost the most. They have samples, at which the
// change can be made.
//
//go:nowritebarrierrec
func (b *perfBound) choose(t *perfThread, direction int) {
	most, longest := int32(0), -1
	for i, n := range b.hits[:t.n] {
		if perfProf.slots[i].cfg.Exact() {
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
			b.change[i] = 1 // as throttled has it
		}
	}
}

// silent returns what interrupts have cost in the window that were not samples, in
// ns, and enters them in hits. each is what a sample has cost. A clock
// interrupts the thread in what is filtered out of its samples, too.
//
//go:nowritebarrierrec
func (t *perfThread) silent(each, total int64) int64 {
	n := int64(0)
	for i := range t.ctr[:t.n] {
		if all := t.interrupts(i, total); all > int64(t.load.hits[i]) {
			n += all - int64(t.load.hits[i])
			t.load.hits[i] = int32(all)
		}
	}
	return n * each * perfCost.interrupt / perfCost.whole
}

// interrupts returns how often a clock whose samples are filtered has interrupted
// the thread in ns of CPU time, and 0 for other events.
//
//go:nowritebarrierrec
func (t *perfThread) interrupts(i int, ns int64) int64 {
	if !t.slots.has(i) || !perfProf.slots[i].cfg.FilteredClock() {
		return 0
	}
	return ns / int64(t.ctr[i].period)
}

// counting returns what counting the events has cost in the window, in ns. To be
// counted by several of the session's events costs less for each but the first:
// 0.2 us for one kind of page faults, 0.3 for four.
//
//go:nowritebarrierrec
func (t *perfThread) counting() int64 {
	most, sum := int64(0), int64(0)
	for i := range t.ctr[:t.n] {
		if perfProf.slots[i].cfg.Software() {
			n := int64(t.load.hits[i]) * int64(t.ctr[i].period)
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

// rebase begins a new window, as the thread's counters have become others: the CPU
// time is that of one of them.
//
//go:nowritebarrierrec
func (t *perfThread) rebase() {
	cpu := t.cpuTime(nanotime())
	t.load = perfBound{exit: t.load.exit, sum: t.load.total(), cpu: cpu, inC: cpu, exact: perfExact{cpu: cpu, runs: t.load.exact.runs}}
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

// perfWhole returns the cost of samples of which handlers have seen so much.
//
//go:nowritebarrierrec
func perfWhole(seen int64) int64 {
	return seen * perfCost.whole / perfCost.seen
}

// perfDirection returns how many steps to longer periods samples should take
// that cost so many of total nanoseconds, or -1 for one to a shorter period.
// A step halves the cost, about. Counting costs the program too, but periods do
// not change that; so that there are samples at all, they may always cost a fifth
// of what the program allows.
//
//go:nowritebarrierrec
func perfDirection(cost, counting, total int64) int {
	most := int64(perfLinux.cost.Load())
	limit := max(most-100*counting/max(total, 1), most/5, 1)
	if cost*100*perfCostHigh < total*limit*perfCostLow {
		return -1
	}
	n := 0
	for program := total - cost; n < perfMaxLonger && cost*(100-limit) > program*limit; n++ {
		cost /= 2
	}
	return n
}

// cpuTime returns the thread's CPU time since one of its counters was opened, in ns:
// that is what the kernel calls the time for which it has been enabled. When the
// counters change, so does that; see rebase. now is nanotime, which has to do if no
// counter can be read.
//
//go:nowritebarrierrec
func (t *perfThread) cpuTime(now int64) int64 {
	for i := range t.ctr[:t.n] {
		c := &t.ctr[i]
		var v perfCounterValue
		if c.Stuck == 0 && !c.stopped && v.read(c) {
			return int64(v.enabled)
		}
	}
	return now
}

// step takes a longer or shorter period of event i, if there is one and the event
// may have it. direction is the number of periods to go. The handler of t's
// thread calls it, or whoever drains the ring of a thread that runs C, with
// t.lock held.
//
//go:nowritebarrierrec
func (t *perfThread) step(i, direction int) {
	if !t.slots.has(i) {
		return // the slot's cfg is nobody's
	}
	c := &t.ctr[i]
	cfg := &perfProf.slots[i].cfg
	rung := min(max(int(c.rung)+direction, int(c.minRung), 0), len(cfg.Periods)-1)
	for cfg.Periods[rung] == 0 {
		rung--
	}
	if cfg.Exact() || !c.phased || c.stopped || rung == int(c.rung) || !c.ours() {
		return
	}
	ioctl(c.fd, _PERF_EVENT_IOC_DISABLE, 0)
	if t.ring.base != 0 {
		t.drainLeafs(t.ring.head(), !t.inC()) // these are of the old period
	}
	c.rung = uint8(rung)
	c.maxRung = max(c.maxRung, c.rung)
	t.restart(c, cfg.Periods[rung])
}

// throttled takes note that the kernel has stopped event i until the next tick,
// because it has overflowed more often than kernel.perf_event_max_sample_rate
// allows. What happens in the rest of a tick would be missing, so the event gets
// a longer period for good. Called with t.lock held.
//
//go:nowritebarrierrec
func (t *perfThread) throttled(i int) {
	c := &t.ctr[i]
	c.Throttled++
	if n := c.rung + 1; int(n) < len(perfProf.slots[i].cfg.Periods) {
		c.minRung = n
		t.load.change[i] = 1
	}
}

// restart sets c's period and starts the stopped counter. See phase for why it
// must be stopped.
//
// The kernel begins a full period. What the counter has counted of the last one
// is next to nothing if it has just overflowed. A thread that runs C can be
// anywhere in it, so there the next sample stands for that part, too.
//
//go:nowritebarrierrec
func (t *perfThread) restart(c *perfCounter, period uint64) {
	var v perfCounterValue
	if v.read(c) {
		if t.inC() && c.base != 0 {
			c.carry += (v.value - c.base) % c.period
		}
		c.base = v.value
		c.due = v.value + period
	}
	c.period = period
	ioctl(c.fd, _PERF_EVENT_IOC_PERIOD, uintptr(unsafe.Pointer(&period)))
	ioctl(c.fd, _PERF_EVENT_IOC_ENABLE, 0)
}

// A breakpoint at period 1 has no bound: each hit is a sample. But one that the
// signal handler itself hits makes each sample cause the next, and the thread
// does not move any more. It is stopped there.
//
// Neither time nor place tells such a thread from one whose program hits the
// breakpoint. The machine may be busy, or other signals come; and where the program
// blocks SIGPROF around its hits, as another signal's handler does, it can be in
// the same place for each signal. What tells is a signal between whose handler and
// the last one's the program has not run. So after a number of the handler's runs in a
// row that found hits, each of them sends the thread a SIGPROF. It is blocked
// while the handler runs, and comes when that returns, before the program's next
// instruction. If the handler finds nothing then, the hits before were the
// program's, and the count starts anew. (A run can find many hits, one for each that
// it records.)
const (
	perfStuckHits  = 1000 // hits, in runs of the handler in a row, until the breakpoints are stopped
	perfStuckProof = 100  // of these, the last runs, which must have followed at once
)

// watchProgress stops the breakpoints at period 1 of a thread that makes no
// progress with them. It is called with the hits that a run of the handler has
// found, and its signal's context.
//
//go:nowritebarrierrec
func (t *perfThread) watchProgress(hits *perfHits, c *sigctxt, delayed bool) {
	e := &t.load.exact
	hit, n := 0, uint64(0) // events, a bit for each, and their hits
	for i := range t.ctr[:t.n] {
		if all := hits.ev[i].all; perfProf.slots[i].cfg.Exact() && all > 0 {
			hit |= 1 << i
			n += all
		}
	}
	// The thread sanitizer calls the handler when the program has gone on. And who
	// waited for a signal with another mask goes on with SIGPROF blocked.
	if hit == 0 || delayed || perfBlocked(c) {
		e.runs = 0
		return
	}
	if e.runs < perfStuckHits-perfStuckProof {
		e.runs = int32(min(uint64(e.runs)+n, perfStuckHits-perfStuckProof))
	} else {
		e.runs++
	}
	switch {
	case e.runs < perfStuckHits-perfStuckProof:
	case e.runs < perfStuckHits:
		t.knock()
	default:
		e.runs = 0
		for i := range t.ctr[:t.n] {
			if hit>>i&1 != 0 {
				t.ctr[i].control(_PERF_EVENT_IOC_DISABLE)
				t.ctr[i].Stuck = 1
			}
		}
	}
}

// knock sends t's thread, which is the calling one, a SIGPROF that no overflow
// causes, for its handler to look at the ring. The caller holds t.lock or
// perfProf.lock, so that t stays its. It is
// tgkill, which the runtime needs for preemption, so that no seccomp filter is met
// that would not have been met anyway.
//
//go:nowritebarrierrec
func (t *perfThread) knock() {
	t.knocked.Store(1)
	tgkill(getpid(), int(t.tid), _SIGPROF)
}

// isKnock reports whether the signal is knock's, and not one of the program's.
// (The timer's profile takes the latter for samples.) If the kernel had one of
// SIGPROF pending, that one stands for both.
//
//go:nowritebarrierrec
func (t *perfThread) isKnock(c *sigctxt) bool {
	return t.knocked.Load() != 0 && int32(c.sigcode()) == _SI_TKILL
}
