// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Sampling of performance-monitoring events: the part that every OS shares.
//
// The process has perf.MaxEvents slots. Each samples one event, into a profile
// buffer of its own (proposal 36821, section 4.2). A session is the slots taken by
// one call of perfStart and given back by one of perfDone. Sessions come and go
// independently of each other. The OS layer (perfarm_linux.go) arms counters on
// every thread and calls perfSlot.add from the signal handler; a goroutine of each
// session in runtime/pprof calls perfRead and drains the session's buffers
// (perfbuf.go).
//
//	perfStart   takes slots, and arms all threads for them
//	perfStop    closes their counters on all threads, and ends their buffers
//	perfDone    gives the slots back, once everything has been read
//
// A thread's counters share one ring, one signal handler and one overhead bound,
// whichever sessions they belong to: neither the cost of a signal nor what samples
// may cost the program depends on who asked.
//
// Which type is which:
//
//   - A perfSlot is one event that is sampled, in the process. A perfSession is the slots
//     that were started together: a profile's. A perfBuf is a slot's profile buffer.
//   - A perfThread is what sampling has of one thread: its counters, its ring, its bell and
//     its bound. A perfCounter is a slot's counter on that thread: a descriptor.
//   - A perfRing is the memory into which the kernel writes the samples of all counters of a
//     thread. A perfRecord is one of these samples, or another record there, decoded.
//   - A perfHit is the overflows of one slot that a signal has announced. perfHits are those
//     of all slots.
//   - A perfChain is what a thread has for samples that bring their stacks. These send no
//     signals: the thread is quiet. A perfBell is the timer that has it read its ring then.
//   - A perfBound is a thread's account of what its samples cost.
//   - A perfCountSet is events that are counted, not sampled, on all threads: pprof.Counters. A
//     perfCountThread is their counters on one thread.
//   - A perfMeter is what counting and accounts have of one thread: a perfCountThread of each
//     set, and how its CPU time is read. A perfAccount is a goroutine's, and a perfTask a
//     task's; internal/taskrecord says which types these have elsewhere.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	_ "unsafe" // for linkname
)

// A perfSlot is one event of a session.
type perfSlot struct {
	// cfg is written by perfStart before any thread is armed for the slot, and
	// again after the last has been disarmed. The handler reads it without a lock.
	cfg perf.SampleConfig

	// rung is the index in cfg.Periods of the period that threads start with.
	// It is written with cfg.
	rung uint8

	// session is the index of the slot's session. It is written with cfg.
	session uint8

	// chain says that the samples' records bring their stacks, where a thread has
	// room for such a ring; see perfchain_linux.go. It is written with cfg.
	chain bool

	// ring is the least size of such a ring, in bytes. It is written with cfg.
	ring uintptr

	// buf is the event's profile buffer, and log the part of it that handlers write
	// to. They have the same life as cfg.
	buf *perfBuf
	log *profBuf

	// lock serializes writers of log: a profBuf has one writer. It is taken in
	// signal handlers. So normal code may take it only on a thread that has no
	// running counter of the slot, blocks SIGPROF, or holds the lock of its own
	// perfThread: then the handler gives up before it gets here.
	lock atomic.Uint32

	// stats is the ledger. It is written under perfProf.lock only: the handler
	// counts in its thread's perfCounter, whose ledger is added here at disarm.
	stats perf.EventLedger
}

const (
	perfIdle     = iota // no session
	perfSampling        // some session samples
	perfDraining        // the last one that did is being stopped, or read
)

// A perfSession is the events that were started together.
type perfSession struct {
	// Written by perfStart and perfDone under perfProf.lock.
	n     int                   // events; 0 if the session is free
	slots [perf.MaxEvents]uint8 // the slot of each
	mask  perfSlots             // the same as a set
	cost  int                   // perf.Limits.Cost
	quiet bool                  // counted in perfQuiet

	// The reader sleeps on wait. Whoever changes sleeping from 1 to 0 owns
	// the one wakeup (notewakeup on a set note throws).
	sleeping atomic.Uint32
	wait     note
	next     int // event that perfRead looks at first; owned by the reader

	// Numbers of entries of perfTaskEnds: the reader has read those before ends, and can read those
	// before ripe. Owned by the reader.
	ends, ripe uint64
}

// perfSlots is a set of slots: bit i is slot i.
type perfSlots uint8

// perfSlotBit returns the set of slot i. (The remainder saves checks of the shift,
// in handlers.)
//
//go:nosplit
func perfSlotBit(i int) perfSlots { return 1 << (uint(i) % perf.MaxEvents) }

//go:nosplit
func (m perfSlots) has(i int) bool { return m&perfSlotBit(i) != 0 }

var perfProf struct {
	// lock protects state changes, the lists of threads and the slots' stats.
	// It is never taken in a signal handler. It is held for the system calls
	// that arm or disarm one thread, never for all of them. Who holds it is on the
	// system stack: a goroutine might have to grow its own.
	lock mutex

	// state is written under lock and read without it by threads that start
	// (perfInitThread) and by the signal handler.
	state atomic.Uint32

	// used is set by the first session, after perfHooks. A program that never
	// sampled an event keeps upstream's treatment of SIGPROF in full.
	used atomic.Bool

	// handler says that sessions need SIGPROF's handler. Protected by prof.signalLock.
	handler bool

	generation uint8 // of what is watched, modulo 64; see perfPreempted

	// Written under lock, and read by handlers without it: a thread that is
	// armed for a slot has been so after the slot was entered here.
	n     int       // slots that may be in use are below it
	watch perfSlots // execution breakpoints that sample every hit
	exact perfSlots // breakpoints that sample every hit

	active perfSlots // slots for which threads are to be armed; protected by lock
}

// perfTables is apart from perfProf so that a program that has no way to start a session
// has neither these nor their types; see perfHooks.
var perfTables struct {
	slots    [perf.MaxEvents]perfSlot
	sessions [perf.MaxEvents]perfSession
}

// perfStart starts a session, which samples the events in cfg on all threads of the
// process, those that exist and those that come. On failure nothing of it is left
// armed. Calls of perfStart, perfStop and perfDone come one after the other:
// runtime/pprof has a lock for that.
//
//go:linkname perfStart runtime/pprof.runtime_perfStart
func perfStart(cfg []perf.SampleConfig, limits perf.Limits) (session int, f perf.Failure) {
	systemstack(func() { session, f = perfTake(cfg, limits) })
	if f.Op != perf.OpNone {
		return 0, f
	}
	ss := &perfTables.sessions[session]
	for i, slot := range ss.slots[:ss.n] {
		s := &perfTables.slots[slot]
		if s.buf = newPerfBuf(int(slot)); s.buf == nil {
			perfDone(session)
			return 0, perf.Failure{Slot: i, Op: perf.OpBuffer}
		}
		s.log = &s.buf.log
	}
	if f = perfosStart(ss, limits); f.Op != perf.OpNone {
		perfDone(session)
		return 0, f
	}
	return session, perf.Failure{}
}

// perfTake takes slots for a session.
func perfTake(cfg []perf.SampleConfig, limits perf.Limits) (session int, f perf.Failure) {
	if len(cfg) == 0 || len(cfg) > perf.MaxEvents {
		return 0, perf.Failure{Op: perf.OpBusy}
	}
	lock(&perfProf.lock)
	defer unlock(&perfProf.lock)
	taken := perfSlots(0)
	for i := range perfTables.sessions {
		taken |= perfTables.sessions[i].mask
	}
	free := 0
	for i := range perfTables.slots {
		if !taken.has(i) {
			free++
		}
	}
	if free < len(cfg) {
		return 0, perf.Failure{Op: perf.OpBusy}
	}
	for i := range cfg {
		if perfWatched(&cfg[i], taken) {
			return 0, perf.Failure{Slot: i, Op: perf.OpWatch}
		}
	}
	if perfProf.watch == 0 {
		perfProf.generation = (perfProf.generation + 1) % 64
	}
	for perfTables.sessions[session].n != 0 {
		session++ // each has a slot, so there are enough
	}
	ss := &perfTables.sessions[session]
	ss.cost = limits.Cost
	ss.next = 0
	perfTaskEnds.wake = perfWakeReaders
	ss.ends = perfTaskEnds.n.Load()
	ss.ripe = ss.ends
	for i := range perfTables.slots {
		if taken.has(i) || ss.n == len(cfg) {
			continue
		}
		s := &perfTables.slots[i]
		s.cfg = cfg[ss.n]
		s.stats = perf.EventLedger{Precise: s.cfg.Precise}
		s.session = uint8(session)
		ss.slots[ss.n] = uint8(i)
		ss.mask |= perfSlotBit(i)
		ss.n++
	}
	perfSurvey()
	return session, perf.Failure{}
}

// perfSurvey enters in perfProf what handlers want to know of all slots. The caller
// holds perfProf.lock.
func perfSurvey() {
	n, watch, exact := 0, perfSlots(0), perfSlots(0)
	for i := range perfTables.sessions {
		ss := &perfTables.sessions[i]
		for _, slot := range ss.slots[:ss.n] {
			c := &perfTables.slots[slot].cfg
			n = max(n, int(slot)+1)
			if c.Watch() {
				watch |= perfSlotBit(int(slot))
			}
			if c.Exact() {
				exact |= perfSlotBit(int(slot))
			}
		}
	}
	perfProf.n, perfProf.watch, perfProf.exact = n, watch, exact
}

// perfWatched reports whether one of the given slots watches the executions that c
// would watch. Which hits of a breakpoint are the same execution again is known by
// goroutine, for one event; see perfPreempted.
func perfWatched(c *perf.SampleConfig, slots perfSlots) bool {
	for i := range perfTables.slots {
		o := &perfTables.slots[i].cfg
		if slots.has(i) && c.Watch() && o.Watch() && o.Config1 == c.Config1 {
			return true
		}
	}
	return false
}

// perfStop stops sampling. When it returns no counter of the session runs, none of
// its file descriptors is open and no signal is on its way; what was sampled can
// still be read.
//
//go:linkname perfStop runtime/pprof.runtime_perfStop
func perfStop(session int) {
	ss := &perfTables.sessions[session]
	perfosStop(ss)
	// No thread is armed: nobody else writes the logs.
	for _, slot := range ss.slots[:ss.n] {
		perfTables.slots[slot].log.close()
	}
	ss.wake()
}

// perfDone ends the session after the reader has seen the end of all buffers.
//
//go:linkname perfDone runtime/pprof.runtime_perfDone
func perfDone(session int) {
	ss := &perfTables.sessions[session]
	for _, slot := range ss.slots[:ss.n] {
		s := &perfTables.slots[slot]
		b := s.buf
		s.buf, s.log = nil, nil
		b.free(int(slot))
	}
	systemstack(func() {
		lock(&perfProf.lock)
		for _, slot := range ss.slots[:ss.n] {
			perfTables.slots[slot].cfg = perf.SampleConfig{}
		}
		ss.n, ss.mask = 0, 0
		perfSurvey()
		if perfProf.n == 0 {
			perfProf.state.Store(perfIdle)
		}
		unlock(&perfProf.lock)
	})
}

// perfStats returns the ledger of an event of the session. It is complete between
// perfStop and perfDone.
//
//go:linkname perfStats runtime/pprof.runtime_perfStats
func perfStats(session, event int) (st perf.EventLedger) {
	systemstack(func() {
		lock(&perfProf.lock)
		st = perfTables.slots[perfTables.sessions[session].slots[event]].stats
		unlock(&perfProf.lock)
	})
	return st
}
