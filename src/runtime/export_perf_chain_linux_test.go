// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/abi"
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

// PerfHasChains is perfHasChains.
const PerfHasChains = perfHasChains

// PerfHasAccount reports whether the goroutine has an account, or what stands for one.
func PerfHasAccount() bool { return getg().account != 0 }

// PerfUnfollowed returns how many goroutines have neither, and how many of those that there
// are mark for the garbage collector.
func PerfUnfollowed() (n int, workers int32) {
	forEachGRace(func(gp *g) {
		if gp.account == 0 && readgstatus(gp) != _Gdead {
			n++
		}
	})
	return n, gcBgMarkWorkerCount
}

// PerfChainGrows reports whether newstack is to read a record whose stack has the functions,
// from the leaf to morestack.
func PerfChainGrows(funcs ...string) bool {
	pcs := map[string]uintptr{
		"scanblock":   abi.FuncPCABIInternal(scanblock),
		"copystack":   abi.FuncPCABIInternal(copystack),
		"schedule":    abi.FuncPCABIInternal(schedule),
		"gopreempt_m": abi.FuncPCABIInternal(gopreempt_m),
		"preemptPark": abi.FuncPCABIInternal(preemptPark),
		"newstack":    abi.FuncPCABIInternal(newstack),
		"morestack":   abi.FuncPCABI0(morestack),
	}
	words := make([]uint64, 64)
	r := perfRing{data: uintptr(unsafe.Pointer(&words[0])), mask: uint64(len(words))*8 - 1}
	rec := perfRecord{chain: perfChainRecord{first: 4, user: 5, last: 5}}
	for _, name := range funcs {
		words[rec.chain.last] = uint64(pcs[name]) + 1
		rec.chain.last++
	}
	grows := r.grows(&rec)
	KeepAlive(words)
	return grows
}

// PerfChainCost returns what a record whose stack has no bytes was found to cost, and what
// each KiB does, in ns.
func PerfChainCost() (bare, chain int64) { return perfCost.bare, perfCost.chain }

// PerfChainSpent returns what a thread counts for reading 10 samples if it was at that for
// so many ns, and reading one has cost least before.
func PerfChainSpent(ns, least int64) int64 {
	t := (*perfThread)(persistentalloc(unsafe.Sizeof(perfThread{}), 0, &memstats.other_sys))
	t.chain.n, t.chain.least = 10, least
	t.chain.read(t, nanotime()-ns)
	return t.chain.spent
}

// PerfChainWindow ends the calling thread's window after its ring has been read for ns, and
// returns how much later than the new one's beginning it is by the thread's CPU time.
func PerfChainWindow(ns int64) (late int64) {
	systemstack(func() {
		t := (*perfThread)(unsafe.Pointer(getg().m.perf.Load()))
		t.acquire()
		c := &t.chain
		c.n, c.least = perfWindow, ns // so much is not more than usual
		c.read(t, nanotime()-ns)
		late = t.cpuTime() - c.cpu
		t.lock.Store(0)
	})
	return late
}

// PerfChainBefore begins a new window for the calling thread while its ring has records, and
// returns how many it had, how many of these the window counts, and how many of them the
// bound has charged for.
func PerfChainBefore() (records, counted, charged int64) {
	systemstack(func() {
		t := (*perfThread)(unsafe.Pointer(getg().m.perf.Load()))
		t.acquire()
		c := &t.chain
		var rec perfRecord
		tail, head := t.ring.tail, t.ring.head()
		for t.ring.tail != head {
			if t.ring.next(&rec, head) && rec.typ == perf.RecordSample {
				records++
			}
		}
		t.ring.tail = tail
		c.newWindow(t, t.cpuTime())
		sum := c.sum
		t.drainLeafs(head, perfLeafDelayed)
		counted, charged = c.n, (c.sum-sum)/perfCost.bare
		t.lock.Store(0)
	})
	return records, counted, charged
}

// PerfCostStopped returns what the calling thread counts, in ns, for samples that it sees
// after its counters were stopped, for the windows of handlers, of reading its ring, and of
// a thread that runs C. It is less than most.
func PerfCostStopped() (cost, most int64) {
	systemstack(func() {
		t := (*perfThread)(unsafe.Pointer(getg().m.perf.Load()))
		t.stop(t.slots)
		t.acquire()
		cost = t.cost()
		var hits perfHits
		for range perfWindow {
			t.load.account(t, &hits, 0, nanotime())
		}
		t.chain.n += perfWindow
		t.chain.read(t, nanotime())
		t.boundForeign(1)
		cost = t.cost() - cost
		t.lock.Store(0)
		most = 3 * 2 * perfWindow * perfCost.whole
	})
	return cost, most
}

// PerfChainStopped has another thread, which stops the session once stop is 1, wait before it has
// read the first of the calling thread's records. It reports whether there are records, whether
// the other thread reads them, and whether the calling one would then wait for it before its
// goroutine gets other labels.
func PerfChainStopped(stop *uint32) (records, reads, waits bool) {
	systemstack(func() {
		mp := getg().m
		t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
		s := &perfTables.slots[0]
		var mask sigset
		sigsave(&mask)
		sigblock(false) // the handler reads the ring, and wants the slot's lock
		for !s.lock.CompareAndSwap(0, 1) {
			osyield()
		}
		if records = t.ring.head() != t.ring.tail; records {
			atomic.Store(stop, 1)
			const long, most = 20e6, 1e9 // ns; a thread that just looks has the lock for less
			start := nanotime()
			for since, next, now := start, start+long, start; !reads && now < start+most; now = nanotime() {
				if t.lock.Load() == 0 {
					since = now
				}
				reads = now > since+long
				if now > next && since == now {
					// It waits for the slot's lock with a record of another thread.
					s.lock.Store(0)
					for osyield(); !s.lock.CompareAndSwap(0, 1); osyield() {
					}
					next = now + long/100
				}
				osyield()
			}
			waits = mp.perf.Load() != 0
		}
		s.lock.Store(0)
		msigrestore(mask)
	})
	return records, reads, waits
}

// PerfChainOf returns the calling thread, for PerfChainOwns.
func PerfChainOf() unsafe.Pointer { return unsafe.Pointer(getg().m) }

// PerfInSyscall reports whether a thread's goroutine is in a system call.
func PerfInSyscall(thread unsafe.Pointer) bool {
	gp := (*m)(thread).curg
	return gp != nil && readgstatus(gp)&^_Gscan == _Gsyscall
}

// PerfChainOwns reports whether a thread's goroutine, which is in no call of C, has its records
// and is taken to be in a call, by what the calling thread may look at.
func PerfChainOwns(thread unsafe.Pointer) (owns, calls bool) {
	mp := (*m)(thread)
	t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	systemstack(func() {
		t.acquire()
		owns = t.ownsRecords(mp)
		gp, _, _ := t.cgoCall(mp)
		calls = gp != nil
		t.lock.Store(0)
	})
	return owns, calls
}

// PerfChainQuiet reports whether the calling thread is sampled without signals.
func PerfChainQuiet() bool {
	t := (*perfThread)(unsafe.Pointer(getg().m.perf.Load()))
	return t != nil && t.chain.quiet
}

// PerfChainThread returns the size of the calling thread's ring, and whether it has a timer to
// read it.
func PerfChainThread() (ring uint64, timer bool) {
	t := (*perfThread)(unsafe.Pointer(getg().m.perf.Load()))
	return t.ring.mask + 1, t.chain.bell.exists
}

// A PerfChainTap compares, at each overflow that the handler of a session sees while
// its stack is still there, the stack that the kernel has recorded with the one that
// the unwinder finds. Handlers of all threads write to it, with lock held.
type PerfChainTap struct {
	lock           atomic.Uint32
	Compared       int // samples
	Kernel, Late   int // samples that are not compared: in the kernel; of another instruction
	Equal          int
	Explained      [4]int                  // not equal, for a reason that is known; see perfExplain
	Different      [64]PerfChainDifference // the first of them
	NDifferent     int
	chain, unwound [maxCPUProfStack + 2]uintptr
	calls          [2 * maxCPUProfStack]uintptr
	walk           perfWalk
	sigprof        func(c *sigctxt, gp *g, mp *m, delayed bool) bool
}

// A PerfChainDifference is two stacks that should be equal, as return addresses.
type PerfChainDifference struct {
	chain, unwound   [2 * maxCPUProfStack]uintptr
	nChain, nUnwound int // arrays, as a handler must not store a slice
}

func (d *PerfChainDifference) Chain() []uintptr   { return d.chain[:d.nChain] }
func (d *PerfChainDifference) Unwound() []uintptr { return d.unwound[:d.nUnwound] }

var perfChainTap *PerfChainTap

// Start has handlers compare. A session runs, and one comparison at a time.
func (tap *PerfChainTap) Start() {
	tap.sigprof = perfHooks.sigprof
	perfChainTap = tap
	perfHooks.sigprof = perfTapSigprof
}

// Stop ends that.
func (tap *PerfChainTap) Stop() { perfHooks.sigprof = tap.sigprof }

func perfTapSigprof(c *sigctxt, gp *g, mp *m, delayed bool) bool {
	tap := perfChainTap
	t := (*perfThread)(unsafe.Pointer(mp.perf.Load()))
	if t != nil && gp != nil && perfDoorbell(c) && t.acquireInHandler(mp) {
		if t.mp.ptr() == mp && t.ring.base != 0 {
			if t.chain.quiet {
				t.setQuiet(false)
			}
			t.chain.wait = 1 << 62
			for !tap.lock.CompareAndSwap(0, 1) {
				osyield()
			}
			tap.compare(t, c, gp, mp)
			tap.lock.Store(0)
		}
		t.lock.Store(0)
	}
	return tap.sigprof(c, gp, mp, delayed)
}

// compare looks at what is in t's ring, which stays there.
func (tap *PerfChainTap) compare(t *perfThread, c *sigctxt, gp *g, mp *m) {
	tail, head := t.ring.tail, t.ring.head()
	var rec perfRecord
	for t.ring.tail != head {
		if !t.ring.next(&rec, head) || rec.typ != perf.RecordSample {
			continue
		}
		i := t.slotOf(&rec)
		switch {
		case i < 0 || !t.ctr[i].chain:
			continue
		case rec.kernel():
			tap.Kernel++
			continue
		case rec.pc != c.sigpc() || rec.sp != c.sigsp():
			tap.Late++
			continue
		}
		tap.Compared++
		t.chain.growing = true // gp.sched is morestack's while the stack is there
		stk, _ := t.chainStack(&t.ctr[i], &rec, mp)
		t.chain.growing = false
		n := copy(tap.chain[:], stk)
		chain := tap.chain[1:n]
		tap.walk.n = 0
		unwound := tap.unwound[:0]
		if mp.ncgo == 0 && mp.vdsoSP == 0 {
			n = tap.walk.unwind((*[maxCPUProfStack]uintptr)(tap.unwound[:]), rec.pc, rec.sp, c.siglr(), gp)
			unwound = tap.unwound[:n]
		}
		if len(unwound) == 0 {
			n = sigprofStack((*[maxCPUProfStack]uintptr)(tap.unwound[:]), rec.pc, rec.sp, c.siglr(), gp, mp)
			unwound = tap.unwound[:n]
			if tap.chain[0] != logicalStackSentinel {
				chain = tap.calls[:fpunwindExpand(tap.calls[:], stk)]
			}
		}
		if perfSameStack(chain, unwound) {
			tap.Equal++
			continue
		}
		if e := perfExplain(chain, unwound); e >= 0 {
			tap.Explained[e]++
			continue
		}
		if tap.NDifferent < len(tap.Different) {
			d := &tap.Different[tap.NDifferent]
			d.nChain = copy(d.chain[:], chain)
			d.nUnwound = copy(d.unwound[:], unwound)
		}
		tap.NDifferent++
	}
	t.ring.tail = tail
}

// perfSameStack reports whether the stacks are equal, but for where they are cut.
func perfSameStack(a, b []uintptr) bool {
	if len(a) != len(b) && min(len(a), len(b)) < maxCPUProfStack-1 {
		return false
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// perfExplain returns which of the known reasons makes the difference, or -1.
// Three are the unwinder's faults, one the kernel's:
//
//	0  the unwinder gives up in a function that moves the stack pointer by itself, if
//	   that is the innermost one
//	1  it begins at the caller of the function that calls the vDSO, also while that
//	   function is before the call or behind it
//	2  it takes systemstack, called on the system stack, for one that changes stacks
//	3  arm64's kernel does not follow frame pointers to lower addresses (unwind_user_frame
//	   in arch/arm64/kernel/stacktrace.c), and so not from the system stack to the
//	   goroutine's
func perfExplain(chain, unwound []uintptr) int {
	n := len(chain)
	if n == 0 || len(unwound) == 0 {
		return -1
	}
	cut := GOARCH == "arm64" && n > 1 && chain[n-1] == abi.FuncPCABIInternal(_PerfBroken)+1 &&
		findfunc(chain[n-2]-1).funcID == abi.FuncID_systemstack
	if cut {
		chain = chain[:n-1]
	} else if !perfChainEnds(chain[n-1]) {
		return -1
	}
	same := func(chain []uintptr) bool {
		if cut {
			return perfSameStack(chain, unwound[:min(len(unwound), len(chain))])
		}
		return perfSameStack(chain, unwound)
	}
	switch {
	case cut && same(chain):
		return 3
	case len(unwound) == 1 && unwound[0] == chain[0]:
		return 0
	case perfCallsVDSO(chain[0]-1) && same(chain[1:]):
		return 1
	case unwound[0] == chain[0] && findfunc(chain[0]-1).funcID == abi.FuncID_systemstack:
		return 2
	}
	return -1
}

// PerfBellRang returns the interval that the timer of a ring gets, in ns, after it has expired
// so long after it did before, when the ring had been written up to head since and read up to tail, all of it in
// n records.
func PerfBellRang(interval, took int64, size, tail, head, n uint64) int64 {
	b := perfBell{id: -1, exists: true, interval: interval} // the kernel has no such timer
	b.rang(&perfRing{mask: size - 1, tail: tail, read: n}, head, took)
	return b.interval
}
