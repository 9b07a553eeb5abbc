// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"encoding/binary"
	"fmt"
	"internal/abi"
	"internal/perfevent"
	"internal/runtime/perf"
	"slices"
	"time"
	"unsafe"
)

// A perfBuilder is what a profileBuilder has for profiles of events, and for tasks.
type perfBuilder struct {
	perf       *perfProfile // if it is a profile of an event
	stringBase int          // number of strings that perf has written
	tasks      taskTags
}

// begin prepares p for records.
func (p *perfProfile) begin() {
	p.b = newProfileBuilder(p.w)
	p.b.perf = p
	p.stacks.width = 1 + len(p.events)
	if p.data != nil {
		p.stacks.width += p.data.latencies
	}
	p.locator.b = p.b
	p.stacks.limit = stacksChunks
	p.maxStrings = maxStrings
	p.written = make([]uint64, p.stacks.width)
	p.scales = make([]float64, p.stacks.width)
}

// add adds records of the runtime's buffer for event e to its profile. Each is 5+n words:
//
//	data[0] = 5+n
//	data[1] = the kind of the goroutine's task; see taskTags
//	data[2] = number of samples
//	data[3] = number of events that they stand for
//	data[4] = number of the goroutine's task, for whose end they wait, or 0; see perfWaiting
//	data[5:5+n] = stack, as perfLocator.appendStack wants it
//
// Zero samples with a stack of length 1 are an overflow record: the stack is
// the number of samples that did not fit. See addCPUData.
func (p *perfProfile) add(e *perfEvent, data []uint64, tags []unsafe.Pointer) error {
	for len(data) > 0 {
		if len(data) < 5 || data[0] < 5 || data[0] > uint64(len(data)) {
			return fmt.Errorf("truncated profile")
		}
		if len(tags) < 1 {
			return fmt.Errorf("mismatched profile records and tags")
		}
		kind, samples, events, task := data[1], data[2], data[3], data[4]
		stk := data[5:data[0]]
		tag := tags[0]
		data = data[data[0]:]
		tags = tags[1:]

		if samples == 0 && len(stk) == 1 {
			samples, events = stk[0], 0 // weighed by weighLost
			e.lostBuffer += samples
			stk, tag = pseudoStack(lostProfileEvent), nil
		}
		access, _ := splitData(stk)
		if p.data != nil && (access == nil || access[perf.DataAddr] == 0) {
			e.noAddress += samples
		}
		if access != nil && e.Kind == perfevent.Breakpoint && e.Attrs[0].BPType == perf.BreakpointW {
			access[perf.DataSource] |= memOpStore // the kernel does not say
		}
		if task != 0 {
			s := e.session.waiting.add(task, stk)
			s.event, s.samples, s.events, s.labels, s.kind = e, samples, events, tag, uint16(kind)
			continue
		}
		e.verdicts[verdictNone] += samples
		p.commit(e, samples, events, stk, tag)
	}
	if len(tags) != 0 {
		return fmt.Errorf("mismatched profile records and tags")
	}
	return nil
}

// commit enters samples of e in the profile.
func (p *perfProfile) commit(e *perfEvent, samples, events uint64, stk []uint64, tag unsafe.Pointer) {
	values := p.stacks.values(stk, tag, p.write)
	if e.column == 1 {
		values[0] += samples // see header
	}
	values[e.column] += events
	if access, _ := splitData(stk); access != nil && e.latency != 0 {
		values[e.latency] += events * dataUint64(access, perf.DataWeight)
	}
	e.recorded += events
}

// pseudoStack returns the stack of a function that stands for samples without one.
func pseudoStack(f func()) []uint64 {
	return []uint64{0, uint64(abi.FuncPCABIInternal(f) + 1)}
}

// weighLost makes the samples that did not fit in the runtime's buffers stand for the
// events that no other sample stands for. Their own periods, which the overhead bound
// may have changed, were lost with them.
func (p *perfProfile) weighLost(e *perfEvent) {
	if e.lostBuffer == 0 {
		return
	}
	ledger := e.ledger()
	p.stacks.values(pseudoStack(lostProfileEvent), nil, p.write)[e.column] += ledger.Sampled + ledger.Lost - e.recorded
}

// scaleProfileEvent is the function that has what scaling adds to samples that were
// written before the factor was known.
func scaleProfileEvent() { scaleProfileEvent() }

// scale has the counts of e corrected if the kernel multiplexed its counters; see
// perf.Count.Scale. That is known at the end. Stacks that had to make place for others
// (perfStacks) have been written by then, so what they lack gets a stack of its own.
func (p *perfProfile) scale(e *perfEvent, factor float64) {
	if factor == 1 {
		return
	}
	for _, column := range [...]int{e.column, e.latency} {
		if column == 0 {
			continue // there is no latency
		}
		if n := p.written[column]; n != 0 {
			p.stacks.values(pseudoStack(scaleProfileEvent), nil, p.write)[column] += uint64(float64(n)*(factor-1)/factor + 0.5)
		}
		p.scales[column] = factor
	}
}

// write writes the samples of the stacks in a chunk.
func (p *perfProfile) write(chunk []uint64, tags []unsafe.Pointer) {
	for len(chunk) > 0 {
		tag, n := tags[chunk[1]>>32], int(uint32(chunk[1]))
		values := chunk[stackHeader:][:p.stacks.width]
		stk := chunk[stackHeader+p.stacks.width:][:n]
		chunk = chunk[stackHeader+p.stacks.width+n:]
		p.writeSample(values, stk, tag)
	}
	if len(p.b.strings) >= p.maxStrings {
		p.writeStrings()
	}
}

// maxStrings bounds the strings in memory. Each request may have labels of its own.
const maxStrings = 1 << 15

// writeStrings writes the strings, and forgets them. If one is needed again, the profile
// has it twice.
func (p *perfProfile) writeStrings() {
	p.b.pb.strings(tagProfile_StringTable, p.b.strings)
	p.b.flush()
	p.b.stringBase += len(p.b.strings)
	p.b.strings = slices.Delete(p.b.strings, 0, len(p.b.strings))
	clear(p.b.stringMap)
	p.b.stringMap[""] = 0
}

// writeSample writes a sample. Unlike pbSample, it knows how long the message is before
// it writes it.
func (p *perfProfile) writeSample(values, stk []uint64, tag unsafe.Pointer) {
	data, stk := splitData(stk)
	p.locs = p.locator.appendStack(p.locs[:0], stk)
	p.values = p.values[:0]
	for i, v := range values {
		if r := p.scales[i]; r != 0 {
			v = uint64(int64(float64(int64(v))*r + 0.5))
		}
		p.written[i] += v
		p.values = binary.AppendUvarint(p.values, v)
	}
	if tag != p.tag {
		p.tag = tag
		p.labels = p.appendLabels(p.labels[:0], tag)
	}
	p.message = appendBytes(p.message[:0], tagSample_Value, p.values)
	if len(p.locs) > 0 {
		p.message = appendBytes(p.message, tagSample_Location, p.locs)
	}
	p.message = append(p.message, p.labels...)
	if data != nil {
		p.message = p.data.appendLabels(p, p.message, data)
	}
	p.b.pb.data = appendBytes(p.b.pb.data, tagProfile_Sample, p.message)
	p.b.flush()
}

// appendBytes appends a field of a message that has a length.
func appendBytes(dst []byte, tag int, x []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(tag)<<3|2)
	dst = binary.AppendUvarint(dst, uint64(len(x)))
	return append(dst, x...)
}

// appendLabels appends the fields of a sample that are its labels.
func (p *perfProfile) appendLabels(dst []byte, tag unsafe.Pointer) []byte {
	if tag == nil {
		return dst
	}
	pb := &p.b.pb
	n := len(pb.data)
	for _, lbl := range (*labelMap)(tag).Set.List {
		p.b.pbLabel(tagSample_Label, lbl.Key, lbl.Value, 0)
	}
	dst = append(dst, pb.data[n:]...)
	pb.data = pb.data[:n]
	return dst
}

// end writes what has not been written.
func (p *perfProfile) end() {
	p.stopped = time.Now()
	for _, e := range p.events {
		p.weighLost(e)
	}
	for _, e := range p.events {
		p.scale(e, e.scale())
	}
	p.stacks.end(p.write)
	p.b.build()
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
	for i, e := range p.events {
		switch {
		case e.latency == 0:
		case p.data.latencies == 1:
			b.pbValueType(tagProfile_SampleType, "latency", "cycles")
		default:
			b.pbValueType(tagProfile_SampleType, types[i]+"_latency", "cycles")
		}
	}
	b.pb.int64Opt(tagProfile_DurationNanos, p.stopped.Sub(b.start).Nanoseconds())
	b.pbValueType(tagProfile_PeriodType, types[0], first.Unit)
	b.pb.int64Opt(tagProfile_Period, int64(first.period))
	for _, e := range p.events {
		for _, c := range e.comments() {
			b.pb.int64(tagProfile_Comment, b.stringIndex(c))
		}
	}
	b.pb.int64Opt(tagProfile_DefaultSampleType, b.stringIndex(types[0]))
}

// sampleTypes returns the names of the events' sample types.
func (p *perfProfile) sampleTypes() []string {
	events := make([]*perfevent.Event, len(p.events))
	for i, e := range p.events {
		events[i] = e.Event
	}
	return perfevent.SampleTypes(events)
}
