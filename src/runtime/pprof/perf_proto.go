// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"internal/abi"
	"internal/perfevent"
	"unsafe"
)

// addPerfData adds records of the runtime's buffer for event e to its profile. Each is 4+n words:
//
//	data[0] = 4+n
//	data[1] = time stamp (ignored)
//	data[2] = number of samples
//	data[3] = number of events that they stand for
//	data[4:4+n] = stack, as expand wants it
//
// Zero samples with a stack of length 1 are an overflow record: the stack is
// the number of samples that did not fit. See addCPUData.
func (b *profileBuilder) addPerfData(e *perfEvent, data []uint64, tags []unsafe.Pointer) error {
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
			samples, events = stk[0], 0 // weighed by weighLost
			e.lostBuffer += samples
			stk, tag = lostStack(), nil
		}
		m := b.m.lookup(stk, tag)
		if m.values == nil {
			m.values = make([]int64, 1+len(e.profile.events))
		}
		if e.column == 1 {
			m.values[0] += int64(samples) // see header
		}
		m.values[e.column] += int64(events)
	}
	if len(tags) != 0 {
		return fmt.Errorf("mismatched profile records and tags")
	}
	return nil
}

// values returns the values of a sample: those of upstream, which are given, if
// p is nil and the profile is not of an event.
func (p *perfProfile) values(m *profMapEntry, upstream []int64) []int64 {
	if p == nil {
		return upstream
	}
	return m.values
}

// header writes the profile's sample types, period and comments. The first sample type
// is the number of samples, and the default one is the first event. A profile that is
// not of an event has a nil p, and upstream's header.
//
// A profile has one period type with one period. So both, and the number of samples,
// are those of the first event. The number can't mean anything else: programs multiply
// it by the period (Parca does), or take it for the weight of a call (the go command
// for PGO).
func (p *perfProfile) header(b *profileBuilder) {
	if p == nil {
		return
	}
	types := p.sampleTypes()
	first := p.events[0]
	b.pbValueType(tagProfile_SampleType, "samples", "count")
	for i, e := range p.events {
		b.pbValueType(tagProfile_SampleType, types[i], e.Unit)
	}
	b.pb.int64Opt(tagProfile_DurationNanos, b.end.Sub(b.start).Nanoseconds())
	b.pbValueType(tagProfile_PeriodType, types[0], first.Unit)
	b.pb.int64Opt(tagProfile_Period, int64(first.period))
	for _, e := range p.events {
		for _, c := range e.comments() {
			b.pb.int64(tagProfile_Comment, b.stringIndex(c))
		}
	}
	b.pb.int64Opt(tagProfile_DefaultSampleType, b.stringIndex(types[0]))
}

// lostStack is the stack of samples that did not fit in the runtime's buffers.
func lostStack() []uint64 {
	return []uint64{0, uint64(abi.FuncPCABIInternal(lostProfileEvent) + 1)}
}

// weighLost makes the samples that did not fit in the runtime's buffers stand for the
// events that no other sample stands for. Their own periods, which the overhead bound
// may have changed, were lost with them.
func (b *profileBuilder) weighLost(e *perfEvent) {
	if e.lostBuffer == 0 {
		return
	}
	ledger := e.ledger()
	n := int64(ledger.Sampled + ledger.Lost)
	for m := b.m.all; m != nil; m = m.nextAll {
		n -= m.values[e.column]
	}
	b.m.lookup(lostStack(), nil).values[e.column] += n
}

// scale corrects the counts of events whose counters the kernel multiplexed; see
// perf.Count.Scale.
func (p *perfProfile) scale(b *profileBuilder) {
	for _, e := range p.events {
		r := e.scale()
		if r == 1 {
			continue
		}
		for m := b.m.all; m != nil; m = m.nextAll {
			m.values[e.column] = int64(float64(m.values[e.column])*r + 0.5)
		}
	}
}

// sampleTypes returns the names of the events' sample types.
func (p *perfProfile) sampleTypes() []string {
	events := make([]*perfevent.Event, len(p.events))
	for i, e := range p.events {
		events[i] = e.Event
	}
	return perfevent.SampleTypes(events)
}
