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
// So each thread compares what its samples cost with the time between them,
// and where that is too much takes the next longer period of the event, and
// a shorter one again when that is possible. A sample is recorded with the
// number of events that it stands for, so totals stay right; only the
// resolution is what the program can bear.
//
// The cost is measured, not assumed: it is more than ten times as much in a
// virtual machine as on bare metal.

const (
	// perfWindow is how many samples are looked at together.
	perfWindow = 16

	// The part of the time, in percent, that samples may take by the estimate
	// below before the period is lengthened, and below which it is shortened
	// again. The estimate sees neither the interrupt's way into the kernel nor
	// sigreturn, so this is a good deal less than the half that the program
	// is to keep. A step changes the cost by a factor of two: the two limits
	// must differ by more.
	// A program can ask for less.
	perfCostHigh = perf.MaxCost
	perfCostLow  = 6

	// perfIdleFactor limits how much a gap between two samples, during which
	// the thread may have slept, counts for the program: in costs of a sample,
	// where perfCostHigh is the limit, and more where it is less. It is just
	// enough for perfCostLow to be reached.
	perfIdleFactor = 17
)

// A perfBound is one thread's account of what its samples cost. Owned by the
// thread's signal handler, with perfThread.lock held.
type perfBound struct {
	n    int32 // samples in the window
	hits [perf.MaxEvents]int32
	cost int64 // ns, least cost of a sample in the window: what is more was spent off the CPU
	gaps [perfWindow]int64
	exit int64 // nanotime at the end of the last handler; 0 before the first
	sum  int64 // ns, cost of the samples of all windows that have ended

	extra     int64  // interrupts in the window besides one for each sample
	inHandler uint64 // overflows in handlers until the last one, of events with interrupts

	stuck int32 // see perfThread.stuck

	// The event whose period is to change when it next overflows, and the
	// direction: 1 for a longer period, -1 for a shorter one, 0 for no change.
	event, direction int
}

// account is called at the end of a signal handler that recorded the overflows
// in hits. It returns the event whose period should change now, and in which
// direction, or 0. The event has just overflowed: later, the change would drop
// what the counter has counted since then (see restart).
//
//go:nowritebarrierrec
func (t *perfThread) account(hits *perfHits, entry, now int64) (event, direction int) {
	b := &t.load
	t.interrupts(hits)
	b.add(hits.time, entry, now)
	if h := &hits.ev[b.event]; b.direction == 0 || h.n+h.kernel == 0 {
		return 0, 0
	}
	direction, b.direction = b.direction, 0
	return b.event, direction
}

// interrupts adds a handler's hits to the window, and how many interrupts besides
// one there were for the signal: a handler can find records of several events,
// and some that overflowed while it ran.
//
//go:nowritebarrierrec
func (t *perfThread) interrupts(hits *perfHits) {
	b := &t.load
	n := int64(-1)
	inHandler := uint64(0)
	for i := range t.ctr[:t.n] {
		h := hits.ev[i].n + hits.ev[i].kernel
		if h > 0 {
			b.hits[i]++
		}
		if perfInterrupts(&perfProf.slots[i].cfg) {
			n += int64(h)
			inHandler += t.ctr[i].inHandler
		}
	}
	n += int64(inHandler - b.inHandler)
	b.inHandler = inHandler
	b.extra += max(n, 0)
}

// perfInterrupts reports whether each overflow of the event is an interrupt.
// Those of other events than clocks and the PMU's are noticed where they are
// counted.
//
//go:nowritebarrierrec
func perfInterrupts(c *perf.Config) bool {
	return c.Clock || c.Type != _PERF_TYPE_SOFTWARE && c.Type != _PERF_TYPE_BREAKPOINT && c.Type != _PERF_TYPE_TRACEPOINT
}

// add adds the time of a handler's run to the window, and at the window's end
// decides. overflow is when its latest event overflowed, or 0.
//
//go:nowritebarrierrec
func (b *perfBound) add(overflow, entry, now int64) {
	start := overflow
	if start == 0 || start > entry {
		start = entry
	}
	cost := max(now-start, 1)
	gap := int64(1) << 62 // no gap is known before the first sample
	if b.exit != 0 {
		gap = max(start-b.exit, 0)
	}
	b.exit = now
	if b.n == 0 || cost < b.cost {
		b.cost = cost
	}
	b.gaps[b.n] = gap
	if b.n++; b.n < perfWindow {
		return
	}

	b.sum += perfWindow * b.cost
	// An interrupt costs about what the rest does, and is not in that.
	spent := (perfWindow + b.extra) * b.cost
	total := spent
	for _, g := range b.gaps {
		total += min(g, perfIdleFactor*perfCostHigh/perfLinux.cost*b.cost)
	}
	// The event with the most samples is the one that costs.
	b.event, b.direction = 0, 0
	for i := range b.hits {
		if b.hits[i] > b.hits[b.event] {
			b.event = i
		}
	}
	b.n, b.extra = 0, 0
	b.hits = [perf.MaxEvents]int32{}
	switch {
	case spent*100 > total*perfLinux.cost:
		b.direction = 1
	case spent*100*perfCostHigh < total*perfLinux.cost*perfCostLow:
		b.direction = -1
	}
}

// step takes the next longer or shorter period of event i, if there is one and
// the event may have it. The handler of t's thread calls it, or whoever drains
// the ring of a thread that runs C, with t.lock held.
//
//go:nowritebarrierrec
func (t *perfThread) step(i, direction int) {
	c := &t.ctr[i]
	cfg := &perfProf.slots[i].cfg
	rung := max(int(c.rung)+direction, int(c.minRung))
	if cfg.Exact || !c.phased || t.stopped || rung < 0 || rung == int(c.rung) || rung >= len(cfg.Periods) || cfg.Periods[rung] == 0 || !c.ours() {
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
	c.throttled++
	if n := c.rung + 1; int(n) < len(perfProf.slots[i].cfg.Periods) {
		c.minRung = n
		t.load.event, t.load.direction = i, 1
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
// does not move any more. Such a hit comes before the end of the handler before,
// or soon after it and not where the signal came: that many of them, and no other
// in between, are not the program's.
const (
	perfStuckHits = 1000
	perfStuckGap  = 50e3 // ns; a signal takes 24 us in a virtual machine
)

// stuck stops the breakpoints at period 1 of a thread that makes no progress
// with them. It is called with the ring's latest hits, and where the signal came.
//
//go:nowritebarrierrec
func (t *perfThread) stuck(hits *perfHits, pc uintptr) {
	own := false
	for i := range t.ctr[:t.n] {
		if h := &hits.ev[i]; h.n > 0 && perfProf.slots[i].cfg.Exact {
			if gap := hits.time - t.load.exit; gap > perfStuckGap || gap > 0 && h.ip == pc {
				t.load.stuck = 0
				return
			}
			own = true
		}
	}
	if !own {
		return
	}
	if t.load.stuck++; t.load.stuck < perfStuckHits {
		return
	}
	t.load.stuck = 0
	for i := range t.ctr[:t.n] {
		if c := &t.ctr[i]; perfProf.slots[i].cfg.Exact && hits.ev[i].n > 0 {
			c.control(_PERF_EVENT_IOC_DISABLE)
			c.stuck = 1
		}
	}
}
