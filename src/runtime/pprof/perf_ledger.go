// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"internal/perfevent"
	"internal/runtime/perf"
	"strings"
)

// The ledger of an event, as the comments of its profile state it. Each line is
//
//	key: value
//
// with a key from this file. Where the value is a number, a space or the end of
// the line follows it. Programs may rely on the keys; the text after a number is
// for people. A line that needs attention begins with "warning: ".

// A ledgerLine is a line whose value is a number from the ledger.
type ledgerLine struct {
	key   string
	value func(st *perf.EventLedger) uint64
	text  string // what follows the number; %s is the type of the event
}

// ledgerTotals are the lines of every event. ledgerCauses are lines for overflows that
// are not ordinary samples; those whose number is 0 are left out.
var (
	ledgerTotals = []ledgerLine{
		{"threads", func(st *perf.EventLedger) uint64 { return st.Threads }, "armed"},
		{"counted", func(st *perf.EventLedger) uint64 { return st.Counted.Value }, "%s"},
		{"time enabled", func(st *perf.EventLedger) uint64 { return st.Counted.Enabled }, "ns"},
		{"time running", func(st *perf.EventLedger) uint64 { return st.Counted.Running }, "ns"},
		{"samples", func(st *perf.EventLedger) uint64 { return st.Samples }, ""},
		{"sampled", func(st *perf.EventLedger) uint64 { return st.Sampled }, "%s"},
		{"lost", func(st *perf.EventLedger) uint64 { return st.Lost }, "%s"},
	}
	ledgerCauses = []ledgerLine{
		{"delayed", func(st *perf.EventLedger) uint64 { return st.Delayed },
			"samples with their leaf only, as the signal was blocked or late (runtime._PerfDelayed)"},
		{"incomplete", func(st *perf.EventLedger) uint64 { return st.Broken },
			"samples whose stack the kernel could not follow to its first function (runtime._PerfBroken)"},
		{"moved", func(st *perf.EventLedger) uint64 { return st.Moved },
			"precise samples at the instruction of the interrupt, as their own was in another frame"},
		{"in handler", func(st *perf.EventLedger) uint64 { return st.InHandler },
			"samples in the profiler's own handler (runtime._PerfHandler)"},
		{"lost in ring", func(st *perf.EventLedger) uint64 { return st.LostRing },
			"samples, as the ring buffer was full (runtime._PerfLostRing)"},
		{"lost late", func(st *perf.EventLedger) uint64 { return st.LostLate },
			"samples, as interrupts came later than a period (runtime._PerfLostLate)"},
		{"lost at start", func(st *perf.EventLedger) uint64 { return st.LostStart },
			"samples, due before the thread's counter could interrupt (runtime._PerfLostStart)"},
		{"throttled", func(st *perf.EventLedger) uint64 { return st.Throttled },
			"times by the kernel (kernel.perf_event_max_sample_rate)"},
		{"replayed", func(st *perf.EventLedger) uint64 { return st.Replayed },
			"breakpoint hits not sampled: the same call, resumed after preemption"},
		{"unread", func(st *perf.EventLedger) uint64 { return st.MissedReads },
			"counters at the end, as the program closed their descriptors"},
	}
)

// A ledgerWriter collects an event's comments.
type ledgerWriter struct{ lines []string }

func (w *ledgerWriter) add(format string, args ...any) {
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// number adds a line of a table.
func (w *ledgerWriter) number(l *ledgerLine, st *perf.EventLedger, unit string) {
	text := l.text
	if text == "%s" {
		text = unit
	}
	w.add("%s", strings.TrimSpace(fmt.Sprintf("%s: %d %s", l.key, l.value(st), text)))
}

// comments returns lines that say what was asked for, what the kernel gave, and
// what became of every overflow.
func (e *perfEvent) comments() []string {
	var w ledgerWriter
	w.add("event: %s", e.Name)
	if e.userOnly.Op != perf.OpNone {
		w.add("warning: user mode only: system calls, page faults and other time in the kernel are missing: %s", perfCause(e.userOnly))
	}
	if e.asked != 0 && e.asked != e.period {
		w.add("period: %d (nearest prime to the %d asked for)", e.period, e.asked)
	} else {
		w.add("period: %d", e.period)
	}
	if e.KernelIncluded() {
		w.add("kernel: included")
	} else {
		w.add("kernel: excluded")
	}
	for i, slot := range e.slots {
		if len(e.slots) > 1 {
			w.add("PMU: %s", e.Attrs[i].PMU)
		}
		e.commentCounters(&w, slot)
	}
	if r := e.scale(); r > 1 {
		w.add("multiplexed: %.4f (counts are scaled by the ratio of time enabled to time running)", r)
		if r > 1.2 {
			w.add("warning: more events than the PMU has counters; sample fewer at once")
		}
	}
	if late := e.session.foundLate.Load(); late != 0 {
		w.add("found late: %d ns, which threads that C created had run before they were found", late)
	}
	if e.lostBuffer != 0 {
		w.add("lost in buffer: %d samples, as the profile's buffer was full (runtime/pprof.lostProfileEvent)", e.lostBuffer)
	}
	if taskKindName.Load() != nil {
		w.add("without a task: %d samples", e.verdicts[verdictNone])
		w.add("slow yes: %d samples, of tasks that were slow, or of children of such", e.verdicts[verdictYes])
		w.add("slow no: %d samples", e.verdicts[verdictNo])
		w.add("slow unknown: %d samples, whose tasks ended after the profile, or later than samples wait", e.verdicts[verdictUnknown])
		e.commentTasks(&w)
	}
	if e.noAddress != 0 {
		w.add("without address: %d samples do not say what was accessed", e.noAddress)
	}
	return append(w.lines, e.remarks()...)
}

// commentCounters adds the ledger of the event's counters in a slot.
func (e *perfEvent) commentCounters(w *ledgerWriter, slot int) {
	st := runtime_perfStats(e.session.id, slot)
	w.add("precise_ip: %d", st.Precise)
	for _, f := range st.Failed {
		if f.Threads != 0 {
			w.add("warning: threads not sampled: %d (%s)", f.Threads, perfCause(perf.Failure{Op: f.Op, Errno: f.Errno}))
		}
	}
	if st.NoRing != 0 {
		w.add("warning: threads without a ring: %d (%s)", st.NoRing, perfCause(perf.Failure{Op: perf.OpRing}))
	}
	if st.Quiet != 0 {
		w.add("stacks: by the kernel on %d threads, and in signal handlers on %d", st.Quiet, st.Threads-st.Quiet)
	}
	if st.Stuck != 0 {
		w.add("warning: threads stopped: %d (the profiler's own signal handler comes here, so that each sample caused the next)", st.Stuck)
	}
	for i := range ledgerTotals {
		w.number(&ledgerTotals[i], &st, e.Type)
	}
	if e.Kind == perfevent.Clock && !e.KernelIncluded() {
		// The clock's interrupt finds the thread in the kernel and takes no
		// sample, but the time counts. Hardware counters stop there.
		w.add("not sampled: %d ns, in the excluded kernel or less than a period",
			st.Counted.Value-min(st.Counted.Value, st.Sampled+st.Lost))
	}
	if st.Cost != 0 && st.Counted.Running != 0 {
		// A part of each sample: what handlers execute is counted too.
		w.add("cost: %d ns, about %.2f %% of the time running", st.Cost, 100*float64(st.Cost)/float64(st.Counted.Running))
	}
	if st.MaxPeriod > e.period {
		w.add("longest period: %d (the overhead bound took it on threads where samples came too fast; each sample is recorded with its own)", st.MaxPeriod)
	}
	for i := range ledgerCauses {
		if l := &ledgerCauses[i]; l.value(&st) != 0 {
			w.number(l, &st, e.Type)
		}
	}
}

// ledger returns the sum over the event's slots.
func (e *perfEvent) ledger() (sum perf.Ledger) {
	for _, slot := range e.slots {
		st := runtime_perfStats(e.session.id, slot)
		sum.Add(&st.Ledger)
	}
	return sum
}

// scale returns what the event's counts must be multiplied by, because it had to
// share the processor's counters; 1 if it had not, or was never counted.
func (e *perfEvent) scale() float64 {
	// On a hybrid machine each of the event's counters runs only while the thread
	// is on a core of its kind.
	var c perf.Count
	for _, slot := range e.slots {
		st := runtime_perfStats(e.session.id, slot)
		c.Running += st.Counted.Running
		c.Enabled = max(c.Enabled, st.Counted.Enabled)
	}
	if c.Running == 0 {
		return 1
	}
	return c.Scale()
}
