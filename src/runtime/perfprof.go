// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Sampling of performance-monitoring events: the part that every OS shares.
//
// A session samples up to perf.MaxEvents events at once. Each event has a slot
// with a profile buffer of its own (proposal 36821, section 4.2). The OS layer
// (perfprof_linux.go) arms counters on every thread and calls perfSlot.add
// from the signal handler; one goroutine in runtime/pprof calls perfRead and
// drains all buffers.
//
// The session's state moves idle -> sampling -> draining -> idle:
//
//	perfStart   idle -> sampling
//	perfStop    sampling -> draining   (all counters closed, buffers at EOF)
//	perfDone    draining -> idle       (everything was read)

package runtime

import (
	"internal/abi"
	"internal/goarch"
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"internal/runtime/sys"
	"unsafe"
)

// perfHdrWords is the size of a sample's header in a slot's profBuf: the
// number of samples and the number of events they stand for. They are recorded
// apart, so that a sample may stand for another number of events than the
// period (the session may lengthen it, the kernel may multiplex counters).
const perfHdrWords = 2

// The size of one event's buffer. Events are sampled at up to thousands of Hz
// per thread, so it is twice the timer's: 3,800 samples of full depth, 18,000 of
// depth 10, and at most 32,000. Half of it has to last until the reader runs.
const (
	perfBufWords = 2 * profBufWordCount
	perfBufTags  = 2 * profBufTagCount
)

// A perfSlot is one event of the session.
type perfSlot struct {
	// cfg is written by perfStart before any thread is armed and not again
	// until the session is idle; the handler reads it without a lock.
	cfg perf.Config

	// rung is the index in cfg.Periods of the period that threads start with.
	// It is written with cfg.
	rung uint8

	// log is the event's profile buffer. It has the same life as cfg.
	log *profBuf

	// lock serializes writers of log: a profBuf has one writer. It is taken
	// in signal handlers, so normal code may take it only on a thread whose
	// own counters are not running.
	lock atomic.Uint32

	// stats is the ledger. Written under perfProf.lock only: the handler
	// counts in its thread's perfThread, which is added here at disarm.
	stats perf.Stats
}

const (
	perfIdle = iota
	perfSampling
	perfDraining
)

var perfProf struct {
	// lock protects state changes, the lists of threads and the slots' stats.
	// It is never taken in a signal handler. It is held for the system calls
	// that arm or disarm one thread, never for all of them.
	lock mutex

	// state is written under lock and read without it by threads that start
	// (perfInitThread) and by the signal handler.
	state atomic.Uint32

	// used is set by the first session, after perfHooks. A program that never
	// sampled an event keeps upstream's treatment of SIGPROF in full.
	used atomic.Bool

	session uint8 // number of the session, modulo 64; see perfPreempted

	n     int  // slots in use
	watch bool // some slot is an execution breakpoint that samples every hit
	exact bool // some slot samples every hit of a breakpoint
	slots [perf.MaxEvents]perfSlot

	// The reader sleeps on wait. Whoever changes sleeping from 1 to 0 owns
	// the one wakeup (notewakeup on a set note throws).
	sleeping atomic.Uint32
	wait     note
	next     int // slot that perfRead looks at first; owned by the reader
}

// Frames that stand in for what could not be unwound or recorded. They appear
// in profiles by name, like _ExternalCode and friends in proc.go.

func _PerfDelayed()   { _PerfDelayed() }   // SIGPROF was blocked or pending when the event overflowed
func _PerfHandler()   { _PerfHandler() }   // the profiler's own signal handler
func _PerfLostRing()  { _PerfLostRing() }  // the kernel's ring was full
func _PerfLostLate()  { _PerfLostLate() }  // the processor's or the kernel's interrupt came late; see perfCounter.late
func _PerfLostStart() { _PerfLostStart() } // due before the thread's counter could interrupt; see perfFirstPeriod
func _PerfLostState() { _PerfLostState() } // interrupted code in which no sample can be written

// perfStart starts sampling the events in cfg on all threads of the process,
// those that exist and those that come. On failure nothing is left armed.
//
//go:linkname perfStart runtime/pprof.runtime_perfStart
func perfStart(cfg []perf.Config, limits perf.Limits) perf.Failure {
	lock(&perfProf.lock)
	idle := perfProf.state.Load() == perfIdle
	unlock(&perfProf.lock)
	// Sessions are serialized by runtime/pprof's lock; this is a check, not a lock.
	if !idle || len(cfg) == 0 || len(cfg) > perf.MaxEvents {
		return perf.Failure{Op: perf.OpBusy}
	}
	perfProf.session = (perfProf.session + 1) % 64
	perfProf.watch = false
	perfProf.exact = false
	for i := range cfg {
		s := &perfProf.slots[i]
		s.cfg = cfg[i]
		s.stats = perf.Stats{Period: cfg[i].Period, Precise: cfg[i].Precise}
		s.log = newProfBuf(perfHdrWords, perfBufWords, perfBufTags)
	}
	perfProf.n = len(cfg)
	perfProf.next = 0
	if f := perfosStart(limits); f.Op != perf.OpNone {
		perfDone()
		return f
	}
	return perf.Failure{}
}

// perfStop stops sampling. When it returns no counter runs, no file descriptor
// is open and no signal is on its way; what was sampled can still be read.
//
//go:linkname perfStop runtime/pprof.runtime_perfStop
func perfStop() {
	if perfProf.state.Load() != perfSampling {
		return
	}
	perfosStop()
	// No thread is armed: nobody else writes the logs.
	for i := range perfProf.slots[:perfProf.n] {
		perfProf.slots[i].log.close()
	}
	perfWake()
}

// perfDone ends the session after the reader has seen the end of all buffers.
//
//go:linkname perfDone runtime/pprof.runtime_perfDone
func perfDone() {
	for i := range perfProf.slots[:perfProf.n] {
		perfProf.slots[i].log = nil
	}
	perfProf.n = 0
	perfProf.state.Store(perfIdle)
}

// perfStats returns the ledger of the event in the given slot. It is complete
// between perfStop and perfDone.
//
//go:linkname perfStats runtime/pprof.runtime_perfStats
func perfStats(slot int) perf.Stats {
	lock(&perfProf.lock)
	st := perfProf.slots[slot].stats
	unlock(&perfProf.lock)
	return st
}

// perfRead returns the next chunk of some slot's buffer, blocking until there
// is one. eof means that sampling was stopped and everything has been read.
// The data are valid until the next call. There must be one reader.
//
// It polls every buffer before it sleeps, so that a busy event cannot make
// another one's buffer overflow. (A reader of each buffer in turn, blocking,
// was what the prototype of 2020 did.)
//
//go:linkname perfRead runtime/pprof.runtime_perfRead
func perfRead() (slot int, data []uint64, tags []unsafe.Pointer, eof bool) {
	n := perfProf.n
	for {
		ended := 0
		for range n {
			i := perfProf.next
			perfProf.next = (i + 1) % n
			data, tags, eof := perfProf.slots[i].log.read(profBufNonBlocking)
			if len(data) > 0 {
				return i, data, tags, false
			}
			if eof {
				ended++
			}
		}
		if ended == n {
			return 0, nil, nil, true
		}
		perfProf.sleeping.Store(1)
		// Look again: a writer that saw sleeping == 0 did not wake us.
		due := false
		for i := range n {
			due = due || perfProf.slots[i].due()
		}
		if due && perfProf.sleeping.CompareAndSwap(1, 0) {
			continue
		}
		// Nothing is due, or a waker is on its way.
		notetsleepg(&perfProf.wait, -1)
		noteclear(&perfProf.wait)
	}
}

// perfWake wakes the reader if it sleeps. It may run in a signal handler.
//
//go:nowritebarrierrec
func perfWake() {
	if perfProf.sleeping.Load() == 1 && perfProf.sleeping.CompareAndSwap(1, 0) {
		notewakeup(&perfProf.wait)
	}
}

// due reports whether the reader should drain the slot's buffer now: its data
// or its tags are half full, or it is complete. Like profBuf.write's own
// wakeup, but for a reader that waits for all buffers at once, and for stacks
// so short that the tags run out first.
func (s *perfSlot) due() bool {
	b := s.log
	r, w := b.r.load(), b.w.load()
	data := countSub(w.dataCount(), r.dataCount())
	tags := countSub(w.tagCount(), r.tagCount())
	return data < 0 || data >= len(b.data)/2 || tags >= len(b.tags)/2 || b.eof.Load() != 0
}

// profBufStack stores stk in data, for profBuf.write. Where words are of the same
// size that is a copy: of a stack of ten frames, in 125 instructions and not 190.
//
//go:nowritebarrierrec
func profBufStack(data []uint64, stk []uintptr) {
	if goarch.PtrSize == 8 {
		copy(data[:len(stk)], unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(stk))), len(stk)))
		return
	}
	for i, pc := range stk {
		data[i] = uint64(pc)
	}
}

// add records samples overflows, together standing for events events, at stk.
// It is called from signal handlers and, at disarm, from normal code on a
// thread whose counters are stopped; see perfSlot.lock.
//
// The tag must be &gp.labels of the interrupted goroutine, or nil; see
// profBuf.write. The stack is as in perfStack.
//
//go:nowritebarrierrec
func (s *perfSlot) add(tagPtr *unsafe.Pointer, stk []uintptr, samples, events uint64) {
	hdr := [perfHdrWords]uint64{samples, events}
	for !s.lock.CompareAndSwap(0, 1) {
		osyield()
	}
	s.log.write(tagPtr, 0, hdr[:], stk) // no profile has the time of a sample
	due := perfProf.sleeping.Load() == 1 && s.due()
	s.lock.Store(0)
	if due {
		perfWake()
	}
}

// addLeaf records overflows of which only the instruction is known, under the
// frame of why, one of the functions above. ip may be 0.
//
//go:nowritebarrierrec
func (s *perfSlot) addLeaf(ip uintptr, why func(), samples, events uint64) {
	// ip+1 and why+1: stacks hold return addresses. See tracebackPCs.
	stk := [3]uintptr{0, ip + 1, abi.FuncPCABIInternal(why) + sys.PCQuantum}
	if ip == 0 {
		stk[1] = stk[2]
		s.add(nil, stk[:2], samples, events)
		return
	}
	s.add(nil, stk[:], samples, events)
}
