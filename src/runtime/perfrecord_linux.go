// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Reading a thread's ring, or its counters where there is no ring: what becomes of
// each overflow. All of it may run in a signal handler; see perfsig_linux.go.

package runtime

import (
	"internal/goarch"
	"internal/runtime/perf"
)

// perfHits are the overflows that one signal announced, by slot.
type perfHits struct {
	any         bool  // some belong to the interrupted stack
	first, time int64 // nanotime of the first and of the latest of these; 0 if there is none, or it is not known
	strays      int64 // overflows that don't
	ev          [perf.MaxEvents]perfHit
}

// A perfHit is what perfHits has of one event.
type perfHit struct {
	all   uint64  // overflows, wherever they belong
	n     uint64  // overflows in user mode that belong to the interrupted stack
	ip    uintptr // instruction of the latest; 0 if not known
	exact bool    // ip is the instruction that caused the event

	kernel   uint64  // overflows in the kernel, which the interrupted stack entered
	kernelIP uintptr // their instruction, or perfKernelIP
}

// reset empties the entries of the first n slots, which are all that are used.
//
//go:nowritebarrierrec
func (h *perfHits) reset(n int) {
	h.any = false
	h.first, h.time, h.strays = 0, 0, 0
	clear(h.ev[:n])
}

// nextSample reads the next sample record before head into rec, and returns its
// slot, or -1 if there is none. Records of other types are entered in the ledger.
//
//go:nowritebarrierrec
func (t *perfThread) nextSample(rec *perfRecord, head uint64) int {
	for t.ring.tail != head {
		if !t.ring.next(rec, head) {
			continue
		}
		i := t.slotOf(rec)
		switch {
		case i < 0:
		case rec.typ != perf.RecordSample:
			t.noteRecord(i, rec)
		default:
			rec.hide(i)
			return i
		}
	}
	return -1
}

// slotOf returns the slot of the event that the record is about, or -1 if its
// counter has been closed.
//
//go:nowritebarrierrec
func (t *perfThread) slotOf(rec *perfRecord) int {
	if t.chain.slots|t.dataSlots != 0 && rec.typ == perf.RecordSample {
		if t.dataSlots != 0 {
			if i := t.dataSlot(rec); i >= 0 {
				return i
			}
		}
		id := t.ring.word(rec.chain.off, 1)
		for i := range t.ctr[:t.n] {
			if t.chain.slots.has(i) && t.ctr[i].id == id {
				if !t.ring.readChain(rec) {
					return -1
				}
				return i
			}
		}
	}
	for i := range t.ctr[:t.n] {
		if t.ctr[i].id == rec.id && t.slots.has(i) {
			return i
		}
	}
	for i := range t.lead[:t.n] {
		if t.lead[i].id == rec.id && t.slots.has(i) && rec.typ != perf.RecordSample {
			return i // its group has been throttled
		}
	}
	return -1
}

// hide removes the address from a record of slot i if it is the kernel's and the
// event excludes the kernel. The counter stopped on the way into the kernel, and
// the interrupt found the thread there (skid). exclude_kernel in
// perf_event_open(2) would have withheld this address.
//
//go:nowritebarrierrec
func (rec *perfRecord) hide(i int) {
	if rec.kernel() && perfTables.slots[i].cfg.ExcludeKernel {
		rec.ip = 0
		rec.misc &^= perf.MiscCpumodeMask | perf.MiscExactIP
	}
}

// noteRecord enters a record that is not a sample in the ledger.
//
//go:nowritebarrierrec
func (t *perfThread) noteRecord(i int, rec *perfRecord) {
	switch rec.typ {
	case perf.RecordLost:
		t.ctr[i].LostRing += rec.n
		t.chain.full = t.chain.quiet && t.chain.bell.interval <= 2*perfBellLeast
	case perf.RecordThrottle:
		t.throttle(i)
	}
}

// drain reads the ring up to head and counts in hits the overflows of each event
// that belong to the stack that c interrupted.
//
// A record may be there because SIGPROF was blocked, or pending from the timer, and
// the thread has moved on since. Such a record does not belong to the interrupted
// stack, and is recorded with its leaf only.
//
//go:nowritebarrierrec
func (t *perfThread) drain(hits *perfHits, gp *g, c *sigctxt, head uint64, delayed bool) {
	if t.ring.tail == head {
		return
	}
	pc, sp := c.sigpc(), c.sigsp()
	onG0 := gp != nil && gp == gp.m.g0 && gp.m.curg != nil
	var rec perfRecord
	for {
		i := t.nextSample(&rec, head)
		if i < 0 {
			break
		}
		if t.chain.quiet && t.ctr[i].chain {
			if onG0 && t.ring.grows(&rec) {
				t.ring.tail = rec.chain.off // newstack will read it
				break
			}
			if t.ctr[i].takesPeriod(t) {
				t.addChain(i, &rec)
			}
			continue
		}
		fits := rec.pc == pc && rec.sp == sp || rec.fits(i, c)
		if !fits {
			hits.strays++
		} else if hits.first == 0 {
			hits.first = rec.time
		}
		if perfProf.watch != 0 && perfWatches(i, rec.ip) && perfReplayed(gp) {
			t.ctr[i].Replayed++
			continue
		}
		if !t.ctr[i].takesPeriod(t) {
			continue
		}
		h := &hits.ev[i]
		h.all++
		if !fits {
			kind := perfLeafDelayed
			if perfInHandler(&rec) {
				kind = perfLeafHandler
			}
			t.run.add(i, &t.ctr[i], &rec, kind)
			continue
		}
		if t.dataSlots.has(i) && !delayed {
			t.addData(i, &rec, c, gp)
			continue
		}
		hits.any = true
		hits.time = rec.time
		if rec.kernel() {
			h.kernel++
			if h.kernel == 1 && goarch.PtrSize == 8 {
				h.kernelIP = rec.ip
			} else if h.kernelIP != rec.ip {
				h.kernelIP = perfKernelIP
			}
			continue
		}
		h.n++
		h.ip = rec.ip
		h.exact = rec.misc&perf.MiscExactIP != 0
	}
	t.ring.consume()
	if t.run.n != 0 {
		t.run.flush()
	}
}

// drainLeafs reads the ring up to head and records every overflow with what its record
// has: mostly the leaf, or the kernel's stack. These are overflows of the signal handler
// that calls it, or those that no handler will read any more.
//
//go:nowritebarrierrec
func (t *perfThread) drainLeafs(head uint64, kind perfLeaf) {
	if t.ring.tail == head {
		return
	}
	var rec perfRecord
	for {
		i := t.nextSample(&rec, head)
		if i < 0 {
			break
		}
		if !t.ctr[i].takesPeriod(t) {
			continue
		}
		if kind == perfLeafDelayed && t.ctr[i].chain && t.mp != 0 {
			t.addChain(i, &rec)
			continue
		}
		t.run.add(i, &t.ctr[i], &rec, kind)
	}
	t.ring.consume()
	t.run.flush()
}

// takeLeafs records the overflows of some stopped counters that the thread's
// handler has not read in time. It leaves the ring as it is, with what the handler
// will want to know of the other counters. By then the counters are closed, and the
// handler passes over their records. (The records can't be marked: writing to the
// ring's data is a SIGBUS, perf_mmap_pfn_mkwrite in kernel/events/core.c.)
//
//go:nowritebarrierrec
func (t *perfThread) takeLeafs(slots perfSlots) {
	tail := t.ring.tail
	head := t.ring.head()
	var rec perfRecord
	for t.ring.tail != head {
		if !t.ring.next(&rec, head) {
			continue
		}
		switch i := t.slotOf(&rec); {
		case i < 0 || !slots.has(i):
		case rec.typ != perf.RecordSample:
			t.noteRecord(i, &rec)
		case t.ctr[i].takesPeriod(t):
			rec.hide(i)
			if t.ctr[i].chain && t.mp != 0 {
				t.addChain(i, &rec)
				continue
			}
			t.run.add(i, &t.ctr[i], &rec, perfLeafDelayed)
		}
	}
	t.ring.tail = tail
	t.run.flush()
}

// A perfLeaf says why an overflow is recorded with its leaf only.
type perfLeaf uint8

const (
	perfLeafDelayed perfLeaf = iota // the signal came late: _PerfDelayed
	perfLeafHandler                 // it was in the profiler's own handler: _PerfHandler
)

// A perfLeafRun is overflows in a row that are recorded with their leaf only and
// are of the same event and instruction. They become one sample: otherwise a
// breakpoint in the code that records them would fill the ring anew while it is
// read.
type perfLeafRun struct {
	n, events uint64 // overflows, and what they stand for
	slot      int
	ip        uintptr
	kind      perfLeaf
}

// add records an overflow of c, which is slot i's, with its leaf only. The caller
// calls flush after the last one.
//
//go:nowritebarrierrec
func (r *perfLeafRun) add(i int, c *perfCounter, rec *perfRecord, kind perfLeaf) {
	if ip := rec.leaf(); r.n == 0 || r.slot != i || r.ip != ip || r.kind != kind {
		r.flush()
		r.slot, r.ip, r.kind = i, ip, kind
	}
	r.n++
	r.events += c.period
	c.Sampled += c.period
	if kind == perfLeafHandler {
		c.InHandler++
	} else {
		c.Delayed++
	}
}

// flush writes what add has gathered to the profile's buffer.
//
//go:nowritebarrierrec
func (r *perfLeafRun) flush() {
	if r.n == 0 {
		return
	}
	why := _PerfDelayed
	if r.kind == perfLeafHandler {
		why = _PerfHandler
	}
	perfTables.slots[r.slot].addLeaf(r.ip, why, r.n, r.events)
	r.n, r.events = 0, 0
}

// drainCounters counts overflows without a ring: fd is the event that the signal
// names, and each counter's value says how often it has overflowed. So events that
// overflow together are told apart. But a clock's count includes what was filtered
// out of its samples; for clocks the signal must be trusted.
//
//go:nowritebarrierrec
func (t *perfThread) drainCounters(hits *perfHits, gp *g, fd int32) {
	for i := range t.ctr[:t.n] {
		if !t.slots.has(i) {
			continue
		}
		c, cfg := &t.ctr[i], &perfTables.slots[i].cfg
		n := c.overflows(cfg, fd)
		if n == 0 {
			continue
		}
		if !c.firstDone {
			c.endFirst(t)
		}
		for pc := uintptr(cfg.Config1); n > 0 && perfWatches(i, pc) && perfReplayed(gp); {
			c.Replayed++
			n--
		}
		hits.ev[i].all, hits.ev[i].n = n, n
		hits.any = hits.any || n > 0
	}
}

// overflows returns how often a counter without a ring, of the event cfg, has
// overflowed since the last signal, which names fd: by the counter's value.
//
//go:nowritebarrierrec
func (c *perfCounter) overflows(cfg *perf.SampleConfig, fd int32) (n uint64) {
	var v perfCounterValue
	switch {
	case cfg.Clock():
		if c.fd == fd {
			n = 1
		}
	case !v.read(c) || v.value < c.due:
	case c.firstDone:
		n = 1 + (v.value-c.due)/c.period
		c.due += n * c.period
	default:
		n = 1
		c.due = v.value + c.period
	}
	return n
}
