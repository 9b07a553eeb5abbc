// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Threads that are sampled without signals: when they read their rings, what that
// costs, and when they are better off with signals. See perfchain_linux.go.

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

// A perfChain is what a thread has for counters whose samples bring their stacks.
// Protected by perfThread.lock.
type perfChain struct {
	slots   perfSlots // those of these counters
	quiet   bool      // these counters send no signals, but for the first overflow
	began   bool      // they have been quiet
	growing bool      // newstack runs on the thread, and reads the ring
	full    bool      // the ring was full, and the bell can hardly ring sooner
	bell    perfBell

	// The window of the overhead bound. It begins and ends where the thread begins to read
	// its ring: what overflows meanwhile is read next time.
	before uint64                // the ring's head when the thread's counters changed; older records are of no window
	n      int64                 // samples
	bytes  int64                 // of their records
	seen   int64                 // of the samples, those that spent is about
	spent  int64                 // ns, reading them
	least  int64                 // ns, the least for one, of all windows; it rises slowly. 0 before the first
	cpu    int64                 // ns, the thread's CPU time at the start
	hits   [perf.MaxEvents]int32 // samples, by slot
	sum    int64                 // ns, cost of all windows that have ended

	// How good the stacks are.
	judged int64 // samples, but for the window's
	broken int64 // of these and the window's, those with incomplete stacks

	away uint8 // how often the thread has gone back to signals
	wait int64 // runs of the handler until it does without them; < 0 for never
}

const (
	perfChainJudged = 64 // samples
	perfChainBroken = 2  // the most of these whose stacks may be incomplete
)

// perfLeave is called on the system stack of mp's thread when its goroutine is about to
// leave it, or its labels are about to change, or newstack ends.
//
//go:nowritebarrierrec
func perfLeave(mp *m, grown bool) {
	if mp.perf.Load() != 0 {
		perfHooks.leave(mp, grown)
	}
}

// perfSessionLeave reads the ring of mp's thread, which is the calling one.
//
// It holds the thread's lock, so its handler does not wait for a slot's. What overflows
// meanwhile is read at the next occasion: it has its stack.
//
//go:nowritebarrierrec
func perfSessionLeave(mp *m, grown bool) {
	t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	if t == nil || !t.chain.bell.exists {
		return // that another thread may set it meanwhile does not matter
	}
	t.acquire()
	// A page fault that is an overflow is taken again after its signal, whose handler
	// gives up while the lock is held: for ever, with one sample per fault. Sessions
	// join with the lock held, and start their counters afterwards.
	loud := t.slots != t.chain.slots
	var mask sigset
	if loud {
		sigsave(&mask)
		sigblock(false)
	}
	if t.mp.ptr() == mp && t.chain.quiet && t.ring.base != 0 && t.ring.head() != t.ring.tail {
		gp := mp.curg
		// If it is preempted, newstack does not return.
		t.chain.growing = grown || gp != nil && gp.syncSafePoint
		start := nanotime()
		getg().m.mallocing++ // see sigprof
		t.drainLeafs(t.ring.head(), perfLeafDelayed)
		getg().m.mallocing--
		t.chain.growing = false
		t.chain.read(t, start)
	}
	t.lock.Store(0)
	if loud {
		msigrestore(mask)
	}
}

// read enters that the ring has been read since start.
//
//go:nowritebarrierrec
func (c *perfChain) read(t *perfThread, start int64) {
	k, took := max(c.n-c.seen, 1), nanotime()-start
	// What is much more than usual is time in which the thread was off the CPU, as it is
	// if its reader preempts it. See perfMaxOutlier.
	if c.least == 0 {
		c.least = perfCost.whole / perfMaxOutlier
	}
	c.least = min(max(took/k, 1), c.least+c.least/8)
	c.seen = c.n
	took = min(took, k*c.least*perfMaxOutlier)
	c.spent += took
	if c.n >= perfWindow || c.broken > perfChainBroken || c.full {
		c.endWindow(t, took)
	}
	for i := range t.ctr[:t.n] {
		if k := &t.ctr[i]; k.chain && k.rung < k.minRung {
			t.step(i, 0) // as throttle wants it
			c.bell.ring(perfBellFirst)
		}
	}
}

// endWindow decides which of t's periods change, whether the thread goes back to
// signals, and begins a new window. The ring has been read in the last took ns.
//
//go:nowritebarrierrec
func (c *perfChain) endWindow(t *perfThread, took int64) {
	b := &t.load
	cost := c.cost()
	cpu := t.cpuTime() - took
	total := max(cpu-c.cpu, cost)
	b.hits = c.hits
	cost += b.silentCost(t, perfCost.whole, total)
	c.sum += min(cost, total)
	b.choose(t, perfDirection(cost, 0, max(total, cost)))
	b.hits = [perf.MaxEvents]int32{}
	c.judged += c.n
	c.n, c.bytes, c.seen, c.spent, c.cpu = 0, 0, 0, 0, cpu
	c.hits = [perf.MaxEvents]int32{}
	for i := range t.ctr[:t.n] {
		if d := b.change[i]; d != 0 && t.ctr[i].chain {
			b.change[i] = 0
			t.step(i, int(d))
		}
	}
	if c.broken > perfChainBroken || c.full {
		c.goBack(t)
	}
	if c.judged >= perfChainJudged || !c.quiet {
		c.judged, c.broken = 0, 0
	}
}

// cost returns what the samples of the window have cost until now, in ns.
//
//go:nowritebarrierrec
func (c *perfChain) cost() int64 {
	return c.n*perfCost.bare + c.bytes*perfCost.chain>>10 + c.spent
}

// goBack has t's thread get signals again, whose handler unwinds the stacks. After
// ever more of them it tries without again.
//
//go:nowritebarrierrec
func (c *perfChain) goBack(t *perfThread) {
	const least = 10 // 1<<10 signals before the next try
	c.wait = 1 << (least + c.away)
	c.away = min(c.away+1, 10)
	t.setQuiet(false)
}

// setQuiet sets whether t's counters whose samples bring their stacks send no signals.
//
//go:nowritebarrierrec
func (t *perfThread) setQuiet(on bool) {
	t.chain.quiet, t.chain.full = on, false
	flags, interval := uintptr(_O_ASYNC), int64(0)
	if on {
		flags, interval = 0, perfBellFirst
	}
	if t.ring.base != 0 {
		t.chain.bell.since(&t.ring, t.cpuTime())
	}
	t.chain.bell.ring(interval)
	for i := range t.ctr[:t.n] {
		if c := &t.ctr[i]; c.chain && c.firstDone && c.isOpen() {
			fcntlPtr(c.fd, _F_SETFL, flags)
		}
	}
}

// perfChooseChains chooses the events of the session whose samples are to bring their
// stacks: those whose overflows are interrupts. Others are noticed by the thread itself,
// which can be signalled at little cost. C code that is unwound by the program's own
// means has to be so in a signal handler.
func perfChooseChains(ss *perfSession, limits perf.Limits) {
	for _, slot := range ss.slots[:ss.n] {
		s := &perfTables.slots[slot]
		s.chain = perfHasChains && limits.Chains && s.cfg.Interrupts() && cgoTraceback == nil && !s.cfg.Data
	}
	perfChooseRing(ss)
	if ss.chainRing() == 0 {
		return
	}
	call := mcall
	perfLinux.mcall = **(**uintptr)(unsafe.Pointer(&call)) // its ABI differs between ports
	f := findfunc(perfLinux.mcall)
	perfLinux.mcallSize = 0
	for findfunc(perfLinux.mcall+perfLinux.mcallSize) == f && perfLinux.mcallSize < 1<<10 {
		perfLinux.mcallSize++
	}
}

// perfChooseRing chooses the size of the rings of threads that the session samples.
func perfChooseRing(ss *perfSession) {
	rate := uint64(0) // samples in a second, at most
	for _, slot := range ss.slots[:ss.n] {
		s := &perfTables.slots[slot]
		if !s.chain {
			continue
		}
		perSecond := uint64(1e9)
		if !s.cfg.Clock() {
			perSecond *= perfChainGHz
		}
		rate += perSecond / s.cfg.Periods[0]
	}
	size := uintptr(perfChainRingMost)
	if rate <= perfChainSeldom {
		size /= 4
	}
	for _, slot := range ss.slots[:ss.n] {
		perfTables.slots[slot].ring = size
	}
}

// chainRing returns the least size of the ring of a thread for the session's samples that
// bring their stacks, or 0 if it has none.
func (ss *perfSession) chainRing() uintptr {
	for _, slot := range ss.slots[:ss.n] {
		if s := &perfTables.slots[slot]; s.chain {
			return s.ring
		}
	}
	return 0
}

// takesChains reports whether samples of slot s are to bring their stacks on t's thread.
func (t *perfThread) takesChains(s *perfSlot) bool {
	return s.chain && t.wants != 0 && (t.ring.base == 0 || t.ring.mask+1 >= uint64(s.ring))
}

// addChains has t's thread, whose counters of the session have been opened, be quiet if
// it can, from its first signal on. A thread that gets none needs no timer.
func (t *perfThread) addChains(ss *perfSession) {
	for _, slot := range ss.slots[:ss.n] {
		if t.ctr[slot].chain {
			t.chain.slots |= perfSlotBit(int(slot))
		}
	}
	need := uintptr(0)
	for i := range t.ctr[:t.n] {
		if t.chain.slots.has(i) {
			need = max(need, perfTables.slots[i].ring)
		}
	}
	if need != 0 && uint64(need) <= t.ring.mask+1 && !t.chain.bell.exists {
		t.chain.wait = 1
	}
}

// quieten has t's thread, which is the calling one, do without signals, if there is a timer
// for it. The signal handler calls it when it has read the ring, with t.lock held and all
// signals blocked, once for most threads. It makes some system calls, which wait for nothing
// that the interrupted code may hold.
//
//go:nowritebarrierrec
func (t *perfThread) quieten() {
	c := &t.chain
	if !c.bell.exists && !c.bell.make(t) {
		return
	}
	c.began = true
	c.newWindow(t, t.cpuTime())
	t.setQuiet(true)
}

// dropChains forgets counters that have been closed.
func (t *perfThread) dropChains(slots perfSlots) {
	t.dataSlots &^= slots
	if t.chain.slots &^= slots; t.chain.slots == 0 {
		t.chain.quiet, t.chain.began = false, false
		t.chain.bell.delete()
	}
}

// newWindow begins a new window because the thread's counters have changed. cpu is its
// CPU time by them.
//
//go:nowritebarrierrec
func (c *perfChain) newWindow(t *perfThread, cpu int64) {
	c.sum += c.cost()
	if t.ring.base != 0 {
		c.before = t.ring.head()
	}
	c.n, c.bytes, c.seen, c.spent, c.cpu = 0, 0, 0, 0, cpu
	c.hits = [perf.MaxEvents]int32{}
	if t.ring.base != 0 {
		c.bell.since(&t.ring, cpu) // the CPU time is of other counters
	}
}

// handled is called at the end of a run of t's signal handler, which began at entry.
//
//go:nowritebarrierrec
func (c *perfChain) handled(t *perfThread, entry int64) {
	if c.quiet {
		c.spent += perfCost.whole - perfCost.interrupt // the signal
		c.read(t, entry)
		return
	}
	if c.wait--; c.wait == 0 {
		t.quieten()
	}
}

// cost returns what samples have cost the thread until now, in ns.
//
//go:nowritebarrierrec
func (t *perfThread) cost() int64 { return t.load.total() + t.chain.sum + t.chain.cost() }
