// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"internal/profile"
	"io"
	"iter"
	"math"
	"runtime/pprof"
	"slices"
	"strings"
)

// maxProfileEvents is how many events can be in a profile. Each sample has a value for
// each.
const maxProfileEvents = 256

var errProfileEvents = fmt.Errorf("task: tasks with more than %d different events do not fit into a profile: convert fewer files at a time", maxProfileEvents)

// WriteProfile writes where the time of tasks went as a profile for go tool pprof. It
// reads all tasks first, and keeps their sums.
//
// The stacks of samples are, the root first: the kind of task, the region if it was in
// one, the part of the time, and, as far as timelines say, what was waited for as in
// stack traces, and where. For runnable goroutines of which it is known behind what task
// they were, that is the leaf. The values are the tasks (which have a sample of their own
// whose stack is just the kind), the events that were counted, as they were (not scaled), the
// time of goroutines on a thread ("cpu"; see [pprof.GoroutineTime] for when it is that), and
// the time of goroutines in all ("wall"). That is last because pprof shows the last one,
// unless told otherwise. Samples have the label kind, and slow=yes if the task was slow.
//
// The wall values of a kind are in sum exactly Usage.Parts of its tasks, and those of an
// event exactly its counts. Where regions overlap or are in others, their goroutines' time
// is in several of them, so that in sum they may have more than the task. Then the task's
// is given to the regions with the least of it first, and others get what is left: of a
// region within another one, the outer one gets what the inner one has not. If there are
// further regions beside these two, the outer one may get some of theirs. In the same
// way what timelines say is not more than what accounts say.
func WriteProfile(w io.Writer, tasks iter.Seq[*Record]) error {
	b := profileBuilder{
		events:  make(map[string]int),
		samples: make(map[string]*profileSample),
	}
	for t := range tasks {
		if err := b.add(t); err != nil {
			return err
		}
	}
	return b.profile().Write(w)
}

// A profileBuilder sums up samples.
type profileBuilder struct {
	first, last int64 // ns since 1970, of tasks
	any         bool

	event   []string // in the order of their first use
	events  map[string]int
	samples map[string]*profileSample
	order   []*profileSample
	key     []byte // scratch

	paths bool // wall is the latency, and there is neither cpu nor an event
}

// A profileSample is a sum. Its stack is the root first.
type profileSample struct {
	kind  string
	stack []Frame
	slow  bool

	tasks     int64
	cpu, wall int64
	counts    []int64 // by event; may be shorter
}

// noRegion is the number of what is in no region among budgets.
const noRegion = 0

// add adds a task.
func (b *profileBuilder) add(t *Record) error {
	b.during(t)
	if err := b.addEvents(t); err != nil {
		return err
	}
	b.sample(t, Frame{Func: t.Kind}).tasks++
	x := b.begin(t)
	x.timeline()
	x.left()
	return nil
}

// during notes when a task was.
func (b *profileBuilder) during(t *Record) {
	end := t.Start + int64(max(t.Wall, 0))
	if !b.any || t.Start < b.first {
		b.first = t.Start
	}
	if !b.any || end > b.last {
		b.last = end
	}
	b.any = true
}

// addEvents adds the events of a task that are new.
func (b *profileBuilder) addEvents(t *Record) error {
	if len(t.Events) > maxProfileEvents {
		return errProfileEvents
	}
	for _, e := range t.Events[:min(len(t.Events), len(t.Count))] {
		if _, ok := b.events[e]; ok {
			continue
		}
		if len(b.event) == maxProfileEvents {
			return errProfileEvents
		}
		b.events[e] = len(b.event)
		b.event = append(b.event, e)
	}
	return nil
}

// A taskSamples is a task that becomes samples.
type taskSamples struct {
	b *profileBuilder
	t *Record

	// By region, from 1 on, and noRegion: its stack, and what it has of each part and event
	// that is not in samples yet. That is the task's, dealt out.
	root   [][]Frame
	time   [][NumParts]int64
	counts [][]int64

	number map[string]int // of regions
}

func (b *profileBuilder) begin(t *Record) *taskSamples {
	x := &taskSamples{b: b, t: t, number: make(map[string]int)}
	x.time, x.counts = deal(t)
	kind := Frame{Func: t.Kind}
	x.root = [][]Frame{noRegion: {kind}}
	for i := range t.Regions {
		name := t.Regions[i].Name
		if _, ok := x.number[name]; !ok {
			x.number[name] = 1 + i
		}
		x.root = append(x.root, []Frame{kind, {Func: name}})
	}
	return x
}

// emit moves up to d of the part from what a region has left to a sample, and the rest of d
// from what is in none.
func (x *taskSamples) emit(region int, p Part, d int64, stack func([]Frame) []Frame) {
	for _, i := range [...]int{region, noRegion} {
		n := min(d, x.time[i][p])
		if n > 0 {
			x.time[i][p] -= n
			d -= n
			x.b.sample(x.t, stack(append(slices.Clip(x.root[i]), Frame{Func: p.String()}))...).wall += n
		}
		if i == noRegion {
			break
		}
	}
}

// timeline emits what the timeline says.
func (x *taskSamples) timeline() {
	in := make(map[uint64][]*Stretch) // regions of goroutines, the inner ones last
	for i := range x.t.Timeline {
		s := &x.t.Timeline[i]
		open := in[s.Goroutine]
		for len(open) > 0 && open[len(open)-1].End <= s.Start {
			open = open[:len(open)-1]
		}
		if s.Region != "" {
			open = append(open, s)
		}
		if len(open) > 0 {
			in[s.Goroutine] = open
		} else {
			delete(in, s.Goroutine)
		}
		if s.Region != "" || s.Part >= NumParts {
			continue
		}
		region := noRegion
		if len(open) > 0 {
			region = x.number[open[len(open)-1].Region]
		}
		if s.Part != pprof.TimeRunning { // that has no reason, and its own value
			x.emit(region, s.Part, int64(s.Wake-s.Start), func(stack []Frame) []Frame {
				if s.Reason != "" {
					stack = append(stack, Frame{Func: s.Reason})
				}
				for i := len(s.Stack) - 1; i >= 0; i-- {
					stack = append(stack, s.Stack[i])
				}
				return stack
			})
		}
		if s.BehindKind != "" {
			x.emit(region, pprof.TimeRunnable, int64(min(s.Behind, s.End-s.Wake)), func(stack []Frame) []Frame {
				return append(stack, Frame{Func: "behind " + s.BehindKind})
			})
		}
	}
}

// left emits what is left. Counts are of goroutines that are running, and so is what is
// counted in the system calls between.
func (x *taskSamples) left() {
	for i := range x.root {
		for p := range NumParts {
			d := x.time[i][p]
			run := p == pprof.TimeRunning
			if d == 0 && !(run && slices.ContainsFunc(x.counts[i], func(n int64) bool { return n != 0 })) {
				continue
			}
			s := x.b.sample(x.t, append(slices.Clip(x.root[i]), Frame{Func: p.String()})...)
			s.wall += d
			if run {
				s.cpu += d
				for e, n := range x.counts[i] {
					at := x.b.events[x.t.Events[e]]
					for len(s.counts) <= at {
						s.counts = append(s.counts, 0)
					}
					s.counts[at] += n
				}
			}
		}
	}
}

// deal deals out the time and the counts of a task to its regions (from 1 on), the least
// first, and to what is in none of them (number 0). The sums are those of the task.
func deal(t *Record) (time [][NumParts]int64, counts [][]int64) {
	n := 1 + len(t.Regions)
	time = make([][NumParts]int64, n)
	counts = make([][]int64, n)
	least := make([]*RegionSum, len(t.Regions))
	number := make(map[*RegionSum]int)
	for i := range t.Regions {
		least[i] = &t.Regions[i]
		number[least[i]] = 1 + i
	}
	for p := range NumParts {
		left := int64(t.Parts[p])
		leastFirst(least, func(g *RegionSum) int64 { return int64(g.Parts[p]) })
		for _, g := range least {
			d := min(max(int64(g.Parts[p]), 0), max(left, 0))
			time[number[g]][p] = d
			left -= d
		}
		time[noRegion][p] = left
	}
	with := make([][]*RegionSum, min(len(t.Events), len(t.Count))) // regions, by event
	for _, g := range least {
		n := min(len(with), len(g.Count))
		counts[number[g]] = make([]int64, n)
		for e := range n {
			with[e] = append(with[e], g)
		}
	}
	counts[noRegion] = make([]int64, len(with))
	for e, regions := range with {
		left := clampCount(t.Count[e].Value)
		of := func(g *RegionSum) int64 { return clampCount(g.Count[e].Value) }
		leastFirst(regions, of)
		for _, g := range regions {
			n := min(of(g), left)
			counts[number[g]][e] = n
			left -= n
		}
		counts[noRegion][e] = left
	}
	return time, counts
}

func leastFirst(regions []*RegionSum, of func(*RegionSum) int64) {
	slices.SortStableFunc(regions, func(a, b *RegionSum) int { return cmp.Compare(of(a), of(b)) })
}

func clampCount(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// sample returns the sum of a stack, over tasks of t's kind that are slow like it, or usual.
func (b *profileBuilder) sample(t *Record, stack ...Frame) *profileSample {
	slow := t.Flags&Slow != 0
	key := b.key[:0]
	if slow {
		key = append(key, 1)
	}
	key = appendString(key, t.Kind)
	for _, f := range stack {
		key = appendString(key, f.Func)
		key = appendString(key, f.File)
		key = binary.AppendVarint(key, int64(f.Line))
	}
	b.key = key
	s := b.samples[string(key)]
	if s == nil {
		s = &profileSample{kind: t.Kind, stack: slices.Clone(stack), slow: slow}
		b.samples[string(key)] = s
		b.order = append(b.order, s)
	}
	return s
}

// named returns a name for other formats: valid UTF-8, which protocol buffers demand, and
// not empty, which means that there is none.
func named(s string) string {
	if s == "" {
		return "(no name)"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// eventUnits are the units of events that do not count things.
var eventUnits = map[string]string{
	"cpu-clock":  "nanoseconds",
	"task-clock": "nanoseconds",
}

// profile returns the profile of the samples.
func (b *profileBuilder) profile() *profile.Profile {
	// With a mapping that says so, pprof does not look for a program to take symbols from.
	m := &profile.Mapping{ID: 1, File: "tasks", HasFunctions: true, HasFilenames: true, HasLineNumbers: true, HasInlineFrames: true}
	p := &profile.Profile{
		Mapping:       []*profile.Mapping{m},
		SampleType:    b.types(),
		TimeNanos:     b.first,
		DurationNanos: b.last - b.first,
		Period:        1,
	}
	p.PeriodType = p.SampleType[len(p.SampleType)-1]
	locations := profileLocations{p, make(map[profileFunction]*profile.Function), make(map[Frame]*profile.Location)}
	for _, s := range b.order {
		ps := &profile.Sample{Label: map[string][]string{"kind": {named(s.kind)}}}
		if s.slow {
			ps.Label["slow"] = []string{"yes"}
		}
		ps.Value = append(ps.Value, s.tasks)
		ps.Value = append(ps.Value, s.counts...)
		ps.Value = append(ps.Value, make([]int64, len(b.event)-len(s.counts))...)
		if !b.paths {
			ps.Value = append(ps.Value, s.cpu)
		}
		ps.Value = append(ps.Value, s.wall)
		for _, f := range slices.Backward(s.stack) {
			ps.Location = append(ps.Location, locations.of(f))
		}
		p.Sample = append(p.Sample, ps)
	}
	return p
}

// types returns the types of a sample's values.
func (b *profileBuilder) types() (list []*profile.ValueType) {
	list = append(list, &profile.ValueType{Type: "tasks", Unit: "count"})
	for _, e := range b.event {
		unit := "count"
		if u, ok := eventUnits[e]; ok {
			unit = u
		}
		list = append(list, &profile.ValueType{Type: e, Unit: unit})
	}
	wall := &profile.ValueType{Type: "latency", Unit: "nanoseconds"}
	if !b.paths {
		list = append(list, &profile.ValueType{Type: "cpu", Unit: "nanoseconds"})
		wall.Type = "wall"
	}
	return append(list, wall)
}

// profileLocations has a profile's locations, by frame.
type profileLocations struct {
	p         *profile.Profile
	functions map[profileFunction]*profile.Function
	locations map[Frame]*profile.Location
}

type profileFunction struct{ name, file string }

// of returns the location of a frame.
func (x *profileLocations) of(f Frame) *profile.Location {
	l := x.locations[f]
	if l == nil {
		fn := x.functions[profileFunction{f.Func, f.File}]
		if fn == nil {
			name := named(f.Func)
			fn = &profile.Function{ID: uint64(len(x.p.Function) + 1), Name: name, SystemName: name, Filename: strings.ToValidUTF8(f.File, "\ufffd")}
			x.functions[profileFunction{f.Func, f.File}] = fn
			x.p.Function = append(x.p.Function, fn)
		}
		l = &profile.Location{ID: uint64(len(x.p.Location) + 1), Mapping: x.p.Mapping[0], Line: []profile.Line{{Function: fn, Line: int64(f.Line)}}}
		x.locations[f] = l
		x.p.Location = append(x.p.Location, l)
	}
	return l
}
