// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perf

// A Ledger says what counters of one event counted, and what became of every
// overflow. For each thread
//
//	Counted.Value = Sampled + Lost + a residual
//
// where the residual is below one period for the first and one for the last
// sample.
type Ledger struct {
	Counted Count  // at disarm
	Sampled uint64 // events that Samples, Delayed and InHandler stand for
	Lost    uint64 // events that LostRing, LostLate and LostStart stand for

	Samples   uint64 // overflows recorded with the stack they interrupted
	Delayed   uint64 // overflows recorded with their leaf only: the signal came late
	Broken    uint64 // of Samples, those of which the kernel's callchain was incomplete
	Moved     uint64 // of Samples, precise ones that have the instruction of the interrupt, as theirs was in another frame
	InHandler uint64 // overflows in the profiler's own handler, recorded with their leaf only

	LostRing  uint64 // overflows that did not fit in the kernel's ring
	LostLate  uint64 // overflows without a record: one interrupt, or none, for several of them
	LostStart uint64 // overflows that were due before the thread's counter could interrupt

	Throttled   uint64 // times the kernel throttled the event
	Replayed    uint64 // hits of a breakpoint that were the same execution again, resumed after preemption
	Stuck       uint64 // threads on which a breakpoint was stopped, as the signal handler hit it
	MissedReads uint64 // counters that could not be read at disarm

	Cost      uint64 // ns of CPU time that samples took, interrupts and signals included, of all events of the threads
	MaxPeriod uint64 // the longest period that a thread had
}

// Add adds to l what o says of another counter of the event.
//
//go:norace
func (l *Ledger) Add(o *Ledger) {
	l.Counted.Add(o.Counted)
	l.Sampled += o.Sampled
	l.Lost += o.Lost
	l.Samples += o.Samples
	l.Delayed += o.Delayed
	l.Broken += o.Broken
	l.Moved += o.Moved
	l.InHandler += o.InHandler
	l.LostRing += o.LostRing
	l.LostLate += o.LostLate
	l.LostStart += o.LostStart
	l.Throttled += o.Throttled
	l.Replayed += o.Replayed
	l.Stuck += o.Stuck
	l.MissedReads += o.MissedReads
	l.Cost += o.Cost
	l.MaxPeriod = max(l.MaxPeriod, o.MaxPeriod)
}

// An EventLedger is the ledger of one event of a session, and says which threads it is of.
type EventLedger struct {
	Ledger
	Precise int8   // precise_ip obtained
	Threads uint64 // threads that were armed
	NoRing  uint64 // of these, threads without a ring: coincident overflows come from counter reads
	Quiet   uint64 // of these, threads whose stacks the kernel recorded, without signals

	// Failed are the threads that were not armed, by cause. Causes beyond
	// these are counted with the last one.
	Failed [4]FailedThreads
}

// FailedThreads are threads that could not be armed for the same reason.
type FailedThreads struct {
	Threads uint64
	Op      Op
	Errno   int32
}

// Fail counts a thread that could not be armed because of f.
//
//go:norace
func (s *EventLedger) Fail(f Failure) {
	k := 0
	for k < len(s.Failed)-1 && s.Failed[k].Threads != 0 && (s.Failed[k].Op != f.Op || s.Failed[k].Errno != f.Errno) {
		k++
	}
	if s.Failed[k].Threads == 0 {
		s.Failed[k].Op, s.Failed[k].Errno = f.Op, f.Errno
	}
	s.Failed[k].Threads++
}
