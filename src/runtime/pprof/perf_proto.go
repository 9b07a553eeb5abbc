// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"internal/abi"
	"internal/runtime/perf"
	"unsafe"
)

// addPerfData adds records of the runtime's buffer for one of p's events to the
// profile. Each is 4+n words:
//
//	data[0] = 4+n
//	data[1] = time stamp (ignored)
//	data[2] = number of samples
//	data[3] = number of events that they stand for
//	data[4:4+n] = stack
//
// Zero samples with a stack of length 1 are an overflow record: the stack is
// the number of samples that did not fit. See addCPUData.
func (b *profileBuilder) addPerfData(p *perfProfile, data []uint64, tags []unsafe.Pointer) error {
	for len(data) > 0 {
		if len(data) < 4 || data[0] < 4 || data[0] > uint64(len(data)) {
			return fmt.Errorf("truncated profile")
		}
		if len(tags) < 1 {
			return fmt.Errorf("mismatched profile records and tags")
		}
		samples, events := data[2], data[3]
		stk := data[4:data[0]]
		data = data[data[0]:]
		tag := tags[0]
		tags = tags[1:]

		if samples == 0 && len(stk) == 1 {
			samples, events = stk[0], stk[0]*p.period
			p.lostBuffer += samples
			stk = []uint64{uint64(abi.FuncPCABIInternal(lostProfileEvent) + 1)}
		}
		e := b.m.lookup(stk, tag)
		if e.values == nil {
			e.values = make([]int64, 2)
		}
		e.values[0] += int64(samples)
		e.values[1] += int64(events)
	}
	if len(tags) != 0 {
		return fmt.Errorf("mismatched profile records and tags")
	}
	return nil
}

// header writes what the profile says of itself.
func (p *perfProfile) header(b *profileBuilder) {
	typ, unit := p.event.Type, p.event.Unit
	b.pbValueType(tagProfile_SampleType, "samples", "count")
	b.pbValueType(tagProfile_SampleType, typ, unit)
	b.pb.int64Opt(tagProfile_DurationNanos, b.end.Sub(b.start).Nanoseconds())
	b.pbValueType(tagProfile_PeriodType, typ, unit)
	b.pb.int64Opt(tagProfile_Period, int64(p.period))
	for _, c := range p.comments() {
		b.pb.int64(tagProfile_Comment, b.stringIndex(c))
	}
	b.pb.int64Opt(tagProfile_DefaultSampleType, b.stringIndex(typ))
}

// comments returns lines of the form "key: value" that say what was asked for,
// what the kernel gave, and what became of every overflow.
func (p *perfProfile) comments() []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }

	add("event: %s", p.event.Name)
	if p.asked != 0 && p.asked != p.period {
		add("period: %d (nearest prime to the %d asked for)", p.period, p.asked)
	} else {
		add("period: %d", p.period)
	}
	if p.event.KernelIncluded() {
		add("kernel: included")
	} else {
		add("kernel: excluded")
	}
	for i, slot := range p.slots {
		st := runtime_perfStats(slot)
		if len(p.slots) > 1 {
			add("PMU: %s", p.event.Attrs[i].PMU)
		}
		add("precise_ip: %d", st.Precise)
		add("threads: %d armed", st.Threads)
		if st.ThreadsFailed != 0 {
			add("warning: %d threads were not sampled: %s", st.ThreadsFailed,
				perfCause(perf.Failure{Op: st.FailedOp, Errno: st.FailedErrno}))
		}
		if st.NoRing != 0 {
			add("warning: %d threads had no ring buffer: %s", st.NoRing, perfCause(perf.Failure{Op: perf.OpRing}))
		}
		add("counted: %d %s", st.Events, p.event.Type)
		add("time: %d ns enabled, %d ns running", st.Enabled, st.Running)
		if st.Running < st.Enabled {
			add("warning: counter ran %.1f %% of the time, as more events were requested than there are counters",
				100*float64(st.Running)/float64(st.Enabled))
		}
		add("samples: %d", st.Samples)
		for _, l := range []struct {
			n    uint64
			what string
		}{
			{st.Delayed, "samples with leaf only: signal was blocked or late (runtime._PerfDelayed)"},
			{st.InHandler, "samples in the profiler's own handler (runtime._PerfHandler)"},
			{st.LostRing, "samples lost: ring buffer full (runtime._PerfLostRing)"},
			{st.LostUnwind, "samples lost: in code where none can be recorded (runtime._PerfLostState)"},
			{st.Throttled, "times throttled by the kernel (kernel.perf_event_max_sample_rate)"},
			{st.Replayed, "breakpoint hits not sampled: the same call, resumed after preemption"},
			{st.MissedReads, "counters could not be read at the end: the program closed their descriptors"},
		} {
			if l.n != 0 {
				add("%s: %d", l.what, l.n)
			}
		}
	}
	if p.lostBuffer != 0 {
		add("samples lost: profile buffer full (runtime/pprof.lostProfileEvent): %d", p.lostBuffer)
	}
	return lines
}
