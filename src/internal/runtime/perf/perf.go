// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package perf holds the plain data that package runtime and its users
// (runtime/pprof) exchange about performance-monitoring events: what to sample,
// why it could not be sampled, and the ledger of what was. It has no code that
// runs in a signal handler and no dependencies, so that both sides can share
// one definition instead of two that must match.
package perf

// MaxEvents is how many events a process can sample at once, in one profiling
// session or in several. A slot belongs to a request, not to a kind of event:
// several raw events may run together. (EV_MAX in proposal 36821, section 4.2.)
const MaxEvents = 8

// MaxCost is the part of a thread's time, in percent, above which the overhead
// bound lengthens periods, unless the program asks for less.
const MaxCost = 25

// Limits are what a session must not exceed.
type Limits struct {
	FD   int // least descriptor not to take
	Cost int // percent, at most MaxCost
}

// A Config says what to sample. It corresponds to cpuProfileConfig in
// proposal 36821, section 4.2, and is the part of struct perf_event_attr in
// perf_event_open(2) that a profile may choose.
type Config struct {
	Type    uint32 // PERF_TYPE_*, or a PMU's dynamic type
	BPType  uint32 // HW_BREAKPOINT_* for PERF_TYPE_BREAKPOINT
	Config  uint64
	Config1 uint64 // also bp_addr
	Config2 uint64 // also bp_len
	Config3 uint64
	Period  uint64 // events between two samples, > 0

	ExcludeUser   bool
	ExcludeKernel bool
	ExcludeHV     bool
	ExcludeIdle   bool
	ExcludeHost   bool
	ExcludeGuest  bool

	// Precise is the skid constraint precise_ip (0 arbitrary skid, 1 constant,
	// 2 requested zero, 3 required zero), or -1 for the best level that opens.
	Precise int8

	// Periods are Period and longer ones, each about twice the one before, to
	// be taken where samples cost too much; 0 ends the list. They are given
	// because they must not lock onto loops, which takes primes.
	Periods [32]uint64

	// Exact forbids other periods than Period.
	Exact bool

	// Clock marks an event whose counter advances while its samples are
	// filtered out (task-clock and cpu-clock with the kernel excluded), so
	// that counter / period says nothing about how many samples were due.
	Clock bool
}

// Watch reports whether each execution of an instruction is sampled: PERF_TYPE_BREAKPOINT
// and HW_BREAKPOINT_X, with period 1.
func (c *Config) Watch() bool {
	return c.Type == 5 && c.BPType == 4 && c.Period == 1
}

// An Op is a step of arming a thread that the kernel can refuse.
type Op uint8

const (
	OpNone    Op = iota
	OpSupport    // this GOOS has no perf events
	OpOpen       // perf_event_open(2)
	OpSignal     // fcntl(2) F_SETOWN_EX, F_SETSIG, O_ASYNC
	OpRing       // sharing the thread's ring, PERF_EVENT_IOC_SET_OUTPUT
	OpControl    // PERF_EVENT_IOC_ID, PERF_EVENT_IOC_ENABLE
	OpBusy       // other sessions have taken the slots
	OpWatch      // another session samples the same executions
)

// A Failure says which step failed for which event. The zero Failure is success.
type Failure struct {
	Slot  int // index of the event in the request
	Op    Op
	Errno int32 // errno from the kernel
}

// Stats is one event's ledger: what the counters counted and what became of
// every overflow.
//
// For each thread, Events = Samples x Period + what the Lost fields stand for
// + a residual below one period for the first and for the last sample.
type Stats struct {
	Threads uint64 // threads that were armed

	// Threads that were not, by cause. Causes beyond these are counted with
	// the last one.
	Failed [4]struct {
		Threads uint64
		Op      Op
		Errno   int32
	}

	Period      uint64 // events between samples
	Precise     int8   // precise_ip obtained
	NoRing      uint64 // threads without a ring: coincident overflows come from counter reads
	Events      uint64 // sum of the counters' values at disarm
	Enabled     uint64 // ns, sum of time enabled
	Running     uint64 // ns, sum of time running; less than Enabled when the kernel multiplexed counters
	Samples     uint64 // overflows recorded with the stack they interrupted
	Delayed     uint64 // overflows recorded with their leaf only: the signal came late
	InHandler   uint64 // overflows in the profiler's own handler, recorded with their leaf only
	LostRing    uint64 // overflows that did not fit in the kernel's ring
	LostBuffer  uint64 // samples that did not fit in the profile buffer
	Sampled     uint64 // events that Samples, Delayed and InHandler stand for
	LostLate    uint64 // overflows without a record: one interrupt, or none, for several of them
	LostStart   uint64 // overflows that were due before the thread's counter could interrupt
	Cost        uint64 // ns of CPU time that samples took, interrupts and signals included, of all events of the threads
	Lost        uint64 // events that LostRing, LostLate and LostStart stand for
	MaxPeriod   uint64 // the longest period that the overhead bound made a thread take
	Throttled   uint64 // times the kernel throttled the event
	Replayed    uint64 // hits of a breakpoint that were the same execution again, resumed after preemption
	Stuck       uint64 // threads on which a breakpoint was stopped, as the signal handler hit it
	MissedReads uint64 // counters that could not be read at disarm
}
