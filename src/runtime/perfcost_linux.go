// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What a sample costs, and what counting an event costs, measured where the program
// runs. The overhead bound needs it (perfbound_linux.go).
//
// A handler sees the time from the overflow, which is in the ring's record, to its
// own end. It does not see the way into the interrupt, before the record, nor
// sigreturn: a quarter to a half of the whole, depending on the machine. The
// interrupted code sees all of it, as a gap in time. So when a session starts, its
// thread looks at the time again and again while a clock interrupts it, and compares
// the gaps with what the handler saw. Later, the handler's part is taken to be the
// same part of the whole: where interrupts become dearer, so does what is seen of
// them.
//
// The kernel's software events cost time even without a sample: where a page fault
// takes 1.6 us, counting it takes 0.2 us more. So that is measured as well.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
)

// perfCost is what a sample of a clock cost, in ns, when it was last measured, and
// what counting a software event did. (A sample that needs no interrupt costs less.)
// It is written while no other thread is armed, and read by handlers. The first values are
// for machines on which it can't be measured.
var perfCost = struct {
	whole     int64 // to the interrupted code
	seen      int64 // what the handler saw of it
	interrupt int64 // to the interrupted code, without a signal
	bare      int64 // to the interrupted code, if the record waits until the thread reads it
	chain     int64 // what it is more for each KiB of a record with its stack
	count     int64 // to the code that causes the event
}{30e3, 20e3, 15e3, 15e3, 0, 200}

const (
	perfCostPeriod = 100e3 // ns, to leave some time between samples
	perfCostRuns   = 9     // the first of them sets the period, see endFirst
)

// perfMeasureCost measures perfCost on the current thread, whose M is mp. It borrows
// the session ss, which is about to start while no other one samples. It takes some
// milliseconds. SIGPROF's handler is Go's.
func perfMeasureCost(mp *m, ss *perfSession) {
	chains := ss.chainRing() != 0
	perfMeasureWith(mp, ss, perf.SWTaskClock, perfCostPeriod, false, (*perfThread).measureSample)
	if perfCost.bare, perfCost.chain = perfCost.interrupt, 0; chains {
		perfMeasureWith(mp, ss, perf.SWTaskClock, perfCostPeriod, true, (*perfThread).measureChain)
	}
	// Sessions that start while this one runs may have such events.
	with, without := int64(0), perfPageFault()
	perfMeasureWith(mp, ss, perf.SWPageFaults, 1<<40, false, func(*perfThread) { with = perfPageFault() })
	if without = min(without, perfPageFault()); with != 0 {
		// More than half of a fault is something else.
		perfCost.count = max(min(with, without+without/2)-without, 0)
	}
}

// perfMeasureWith calls f while this thread is sampled by an event of its own, in
// place of the session's. chain says whether its samples are to bring their stacks.
func perfMeasureWith(mp *m, ss *perfSession, event, period uint64, chain bool, f func(t *perfThread)) {
	// For the handler its samples are like any other, of the session's only event.
	s := &perfTables.slots[ss.slots[0]]
	cfg, rung, log, n, mask, chained := s.cfg, s.rung, s.log, ss.n, ss.mask, s.chain
	s.cfg = perf.SampleConfig{Attr: perf.Attr{Type: perf.TypeSoftware, Config: event, ExcludeKernel: true}, Period: period}
	s.cfg.Periods[0] = period
	s.rung = 0
	s.chain = chain
	s.log = newProfBuf(perfHdrWords, 1<<10, 1<<5)
	ss.n, ss.mask = 1, 1<<ss.slots[0]

	var t *perfThread
	systemstack(func() {
		t = perfNewThread()
		lock(&perfProf.lock)
		perfProf.active = ss.mask // new threads look at perfProf.state first
		t.assign(mp, int32(mp.procid))
		if f := t.arm(ss); f.Op != perf.OpNone {
			t = nil // it has been released, and the session will fail as well
		}
		perfProf.active = 0
		unlock(&perfProf.lock)
	})
	if t != nil {
		f(t)
		systemstack(func() {
			lock(&perfProf.lock)
			t.stop(ss.mask)
			t.disarm(ss.mask)
			unlock(&perfProf.lock)
		})
	}
	s.cfg, s.rung, s.log, ss.n, ss.mask = cfg, rung, log, n, mask
	s.chain = chained
	s.stats = perf.EventLedger{Precise: cfg.Precise}
}

// measureSample measures what a sample costs with t, the current thread, which a
// clock samples.
func (t *perfThread) measureSample() {
	if t.ring.base == 0 {
		return // the handler would not see much
	}
	var gaps, seen [perfCostRuns]int64
	n := perfGaps(gaps[:], func() uint64 { return uint64(atomic.Loadint32(&t.load.n)) })
	copy(seen[:], t.load.seen[:n]) // nobody else writes there: a window is longer
	if n == len(gaps) {
		// Whatever else happens on the machine only adds to either. The first
		// sample has set the period.
		whole, visible := perfLeast(gaps[1:]), perfLeast(seen[1:])
		// Of an overflow at the end of the previous handler, less than its own
		// cost is seen.
		perfCost.whole, perfCost.seen = max(whole, visible), max(visible, whole/4)
	}
	t.setSignals(false)
	if g := gaps[:perfCostRuns/2]; perfGaps(g, t.ring.head) == len(g) {
		perfCost.interrupt = min(perfLeast(g), perfCost.whole)
	}
}

// measureChain measures what a sample costs that brings its stack: two depths tell what
// the stack costs and what the interrupt does. A ring that is polled does not, as the
// kernel sends itself one more interrupt there, which may be dearer than a stack.
func (t *perfThread) measureChain() {
	if t.ring.base == 0 {
		return
	}
	// The first sample is signalled, and sets the period.
	var first [1]int64
	if perfGaps(first[:], t.ring.head) != len(first) || !t.chain.quiet {
		return
	}
	shallow, size := t.measureRecord(0)
	if size == 0 {
		return
	}
	perfCost.bare = shallow
	const apart = 200 // bytes, between two records whose costs can be told apart
	deep, more := t.measureRecord(maxCPUProfStack)
	if more-size < apart {
		return // the starter's stack is deep: any record costs what its does
	}
	// Interrupts may differ by more than stacks do. At least half of what the shallow one
	// has cost is the interrupt's.
	perfCost.chain = min(max(deep-shallow, 0)<<10/(more-size), shallow<<9/size)
	perfCost.bare -= size * perfCost.chain >> 10
}

// measureRecord returns what a sample costs this many calls further down, in ns, and the
// bytes of its record, or zeros.
//
//go:noinline
func (t *perfThread) measureRecord(depth int) (cost, size int64) {
	if depth > 0 {
		cost, size = t.measureRecord(depth - 1)
		return cost, size
	}
	var gaps [perfCostRuns / 2]int64
	head := t.ring.head()
	if perfGaps(gaps[:], t.ring.head) != len(gaps) {
		return 0, 0
	}
	return perfLeast(gaps[:]), int64(t.ring.head()-head) / int64(len(gaps))
}

// perfGaps stores how long this thread was interrupted each time the value of done
// changed, and returns the number of gaps it found.
func perfGaps(gaps []int64, done func() uint64) int {
	const (
		wait = 20e6 // ns, after which to do without: SIGPROF is blocked, or there is no CPU
		spin = 500  // some hundred ns
	)
	begin := nanotime()
	last, now, gap, least := done(), begin, int64(0), int64(1)<<62
	n := 0
	for n < len(gaps) && now-begin < wait {
		// Unwinding is much dearer in the vDSO, which reads the clock, than in most
		// code. So most of the time is spent here.
		perfSpin(spin)

		// The interrupt came between the last reading of the time and this one, or
		// in the interval before, if that was after the last look at the value.
		v := done()
		lastGap, then := gap, now
		now = nanotime()
		gap = now - then
		least = min(least, gap)
		if v != last {
			last = v
			gaps[n] = max(gap, lastGap)
			n++
		}
	}
	for i := range gaps[:n] {
		gaps[i] -= least
	}
	return n
}

//go:noinline
func perfSpin(n int) (x int) {
	for i := range n {
		x += i * i
	}
	return x
}

// perfPageFault returns the least time that one of some page faults took, in ns.
func perfPageFault() int64 {
	p, err := mmap(nil, physPageSize, _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE, -1, 0)
	if err != 0 {
		return 0
	}
	least := int64(1) << 62
	for range 64 {
		madvise(p, physPageSize, _MADV_DONTNEED)
		start := nanotime()
		*(*byte)(p) = 1
		least = min(least, nanotime()-start)
	}
	munmap(p, physPageSize)
	return least
}

func perfLeast(s []int64) int64 {
	least := s[0]
	for _, v := range s {
		least = min(least, v)
	}
	return least
}
