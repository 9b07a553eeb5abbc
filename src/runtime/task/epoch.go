// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"cmp"
	"context"
	"fmt"
	"internal/runtime/perf"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	_ "unsafe" // for go:linkname
)

// This file says which events are counted for tasks, and when.
//
// A task counts the events of the epoch in which it begins. If that has ended when the
// task does, its counts are dropped: they are of a part of it.

// An eventSet is events that are counted together. Sets stay, as records in rings name them.
type eventSet struct {
	number uint64          // from 1
	layout *pprof.Counters // some with these events
	names  []string
	index  []uint16 // of each event: its place in events.names
	slots  []uint8  // of which event each is
}

// An epoch is a time in which one set of events is counted.
type epoch struct {
	*eventSet
	id perf.SetID
}

// counting is the present epoch, nil while nothing is counted.
var counting atomic.Pointer[epoch]

// events are all events that have ever been counted for tasks.
var events struct {
	mu    sync.Mutex
	names []string
	sets  atomic.Pointer[[]*eventSet] // set i has number i+1; replaced with mu
}

const (
	maxEventSets = 4096 // ever
	maxEvents    = 1024 // ever
	eventChunk   = 8    // events whose sums a kind allocates together
)

// newEventSet returns the set of events that c counts.
func newEventSet(c *pprof.Counters) (*eventSet, error) {
	s := &eventSet{layout: c, slots: pprof_counterSlots(c)}
	for _, e := range c.Events() {
		s.names = append(s.names, e.Name)
	}
	events.mu.Lock()
	defer events.mu.Unlock()
	var sets []*eventSet
	if p := events.sets.Load(); p != nil {
		sets = *p
	}
	for _, o := range sets {
		if slices.Equal(o.names, s.names) {
			return o, nil
		}
	}
	more := 0
	for _, name := range s.names {
		if !slices.Contains(events.names, name) {
			more++
		}
	}
	if len(sets) == maxEventSets || len(events.names)+more > maxEvents {
		return nil, fmt.Errorf("task: more than %d sets of events, or %d events, in the life of the program", maxEventSets, maxEvents)
	}
	for _, name := range s.names {
		i := slices.Index(events.names, name)
		if i < 0 {
			i = len(events.names)
			events.names = append(events.names, name)
		}
		s.index = append(s.index, uint16(i))
	}
	s.number = uint64(len(sets)) + 1
	sets = append(slices.Clip(sets), s)
	events.sets.Store(&sets)
	return s, nil
}

// eventSetOf returns the set with a number, or nil.
func eventSetOf(number uint64) *eventSet {
	p := events.sets.Load()
	if p == nil || number == 0 || number > uint64(len(*p)) {
		return nil
	}
	return (*p)[number-1]
}

// values returns the counts of events from those of slots.
func (s *eventSet) values(raw []perf.Count) []pprof.CounterValue {
	v := make([]pprof.CounterValue, len(s.names))
	pprof_counterValues(s.layout, v, raw)
	return v
}

// present returns e if it is the present epoch, and nil if not. It ends before its counters are
// closed. So what was read before is complete.
func (e *epoch) present() *epoch {
	if e == nil || e != counting.Load() {
		return nil
	}
	return e
}

// set returns what the runtime is to count: nothing if e is nil.
func (e *epoch) set() (id perf.SetID, slots int) {
	if e == nil {
		return id, 0
	}
	return e.id, len(e.slots)
}

// count begins an epoch in which a set of events is counted by open counters.
func (s *eventSet) count(c *pprof.Counters) {
	id, _ := pprof_counterSet(c)
	counting.Store(&epoch{s, id})
}

// turnsOf returns sets of events to be counted in turns: each of at most so many, such that any two
// events are together in one of them, so that what occurs together can be told. That takes about
// 1.5 (n/atOnce)² sets of n events: 148 of 79 events by 8, 592 by 4.
//
// It is a greedy cover. (The least number of sets is known for few n only; see Gordon, Kuperberg
// and Patashnik, New constructions for covering designs, 1995.)
func turnsOf(atOnce int, events ...string) [][]string {
	atOnce = min(max(atOnce, 1), perf.MaxEvents)
	events = slices.Clone(events)
	slices.Sort(events)
	events = slices.Compact(events)
	n := len(events)
	if n <= atOnce {
		if n == 0 {
			return nil
		}
		return [][]string{events}
	}
	together := make([]bool, n*n) // pairs that have been
	alone := make([]int, n)       // events with which an event has not been
	counted := make([]int, n)
	for i := range alone {
		alone[i] = n - 1
		together[i*n+i] = true
	}
	var sets [][]string
	for {
		set := make([]int, 0, atOnce)
		for len(set) < atOnce {
			// The one with the most new pairs, or else that has been counted least.
			best, gain := -1, 0
			for i := range n {
				if slices.Contains(set, i) {
					continue
				}
				g := alone[i]
				if len(set) > 0 {
					g = 0
					for _, j := range set {
						if !together[i*n+j] {
							g++
						}
					}
				}
				if best < 0 || g > gain || g == gain && (alone[i] > alone[best] || alone[i] == alone[best] && counted[i] < counted[best]) {
					best, gain = i, g
				}
			}
			if len(set) == 0 && (gain == 0 || atOnce == 1 && counted[best] > 0) {
				return sets
			}
			set = append(set, best)
		}
		var names []string
		for k, i := range set {
			for _, j := range set[:k] {
				if !together[i*n+j] {
					together[i*n+j], together[j*n+i] = true, true
					alone[i]--
					alone[j]--
				}
			}
			if counted[i]++; atOnce == 1 {
				alone[i] = 0 // it never is with another one
			}
			names = append(names, events[i])
		}
		sets = append(sets, names)
	}
}

const maxTurns = 1000

// For how long a set is counted, and how many events at once, or 0 to find that out. Tests change
// these.
var (
	//go:linkname turnEpoch
	turnEpoch = time.Second

	//go:linkname turnSize
	turnSize int
)

// turns are sets of events that are counted in turns. One set is counted all the time.
type turns struct {
	events []string // of all
	list   []turn
	order  []int // what is left of this round
	epoch  time.Duration
	stop   chan struct{}
	done   chan struct{}
	*numbers
}

type turn struct {
	*eventSet
	counters *pprof.Counters // closed, but in its epoch
}

// newTurns makes turns of events, of as many at once as can be counted.
func newTurns(events []string, n *numbers) (*turns, error) {
	var seen []string
	for _, e := range events {
		c, err := pprof_counterNew([]string{e})
		if err != nil {
			return nil, fmt.Errorf("task: %w", err)
		}
		name := c.Events()[0].Name
		if slices.Contains(seen, name) {
			return nil, fmt.Errorf("task: event %s is there twice", name)
		}
		seen = append(seen, name)
	}
	for size := min(cmp.Or(turnSize, len(events)), perf.MaxEvents); ; size-- {
		t := &turns{events: slices.Clone(events), epoch: turnEpoch, numbers: n}
		sets := [][]string{events}
		if size < len(events) {
			sets = turnsOf(size, events...)
		}
		if len(sets) > maxTurns {
			return nil, fmt.Errorf("task: %d events by %d are %d sets; there can be %d: count fewer events", len(events), size, len(sets), maxTurns)
		}
		all, err := t.add(sets, size == 1 || turnSize != 0)
		if err != nil {
			return nil, err
		}
		if all {
			return t, nil
		}
	}
}

// add adds sets of events. It returns an error if some cannot be counted, and false if not all of a
// set at once, unless some is enough.
func (t *turns) add(sets [][]string, some bool) (all bool, err error) {
	for _, names := range sets {
		c, err := pprof_counterNew(names)
		if err != nil && !some && len(names) > 1 {
			return false, nil // events may take several counters
		}
		if err != nil {
			return false, fmt.Errorf("task: %w", err)
		}
		ok, err := countsAll(c)
		if err != nil {
			return false, fmt.Errorf("task: %w", err)
		}
		if !ok && !some {
			return false, nil
		}
		s, err := newEventSet(c)
		if err != nil {
			return false, err
		}
		t.list = append(t.list, turn{s, c})
	}
	return true, nil
}

// countsAll opens counters, reports whether their events are counted at the same time, and closes
// them. If a processor has fewer counters the kernel lets events take turns.
func countsAll(c *pprof.Counters) (bool, error) {
	if err := pprof_counterOpen(c); err != nil {
		return false, err
	}
	defer c.Close()
	values := make([]pprof.CounterValue, len(c.Events()))
	if err := c.Read(values); err != nil {
		return false, err
	}
	for _, v := range values {
		if !v.Exact() {
			return false, nil
		}
	}
	return true, nil
}

// run counts the sets in turns. c are the counters of the present epoch, or nil.
func (t *turns) run(c *pprof.Counters) {
	pprof.SetGoroutineLabels(context.Background()) // those of who has called Start
	timer := time.NewTimer(t.epoch)
	defer timer.Stop()
	defer close(t.done)
	for {
		select {
		case <-t.stop:
			t.end(c)
			return
		case <-timer.C:
			if c == nil || len(t.list) > 1 {
				t.end(c)
				c = t.begin()
			}
			timer.Reset(t.epoch) // what opening takes, which may be long, is not of the epoch
		}
	}
}

// begin begins an epoch. Each set has one before any has its next one: in random order,
// so that what a program does at times is not always in the same set's.
func (t *turns) begin() *pprof.Counters {
	if len(t.order) == 0 {
		for i := range t.list {
			j := int(runtime_rand() % uint64(i+1))
			t.order = append(t.order, i)
			t.order[i], t.order[j] = t.order[j], i
		}
	}
	s := t.list[t.order[0]]
	t.order = t.order[1:]
	t.epochs.Add(1)
	if err := pprof_counterOpen(s.counters); err != nil {
		// It could be when recording began. Another time it may be again.
		t.failed.Add(1)
		t.failure.Store(&err)
		return nil
	}
	s.count(s.counters)
	return s.counters
}

func (t *turns) end(c *pprof.Counters) {
	if c != nil {
		counting.Store(nil)
		c.Close()
	}
}

// start begins them.
func (t *turns) start() {
	t.stop, t.done = make(chan struct{}), make(chan struct{})
	c := t.begin()
	runtime_perfTaskGo(func() { t.run(c) }) // it is not the task's that has called Start, if one has
}

// finish ends the turns, and what they count. They may be nil.
func (t *turns) finish() {
	if t != nil {
		close(t.stop)
		<-t.done
	}
}

// An eventSum is the sum of an event's counts, and of how many tasks.
type eventSum struct {
	value atomic.Uint64
	tasks atomic.Int64
}

// eventSums are those of a kind, by index in events.names.
type eventSums [maxEvents / eventChunk]atomic.Pointer[[eventChunk]eventSum]

// add adds the counts of a task.
func (sums *eventSums) add(s *eventSet, counts *[perf.MaxEvents]perf.Count) {
	for _, i := range s.index {
		sums.at(i).tasks.Add(1)
	}
	for slot, e := range s.slots {
		if v := counts[slot].Value; v != 0 {
			sums.at(s.index[e]).value.Add(v)
		}
	}
}

// at returns an event's sum.
func (sums *eventSums) at(i uint16) *eventSum {
	p := &sums[i/eventChunk]
	c := p.Load()
	if c == nil {
		c = new([eventChunk]eventSum)
		if !p.CompareAndSwap(nil, c) {
			c = p.Load()
		}
	}
	return &c[i%eventChunk]
}

// read returns an event's sum, and of how many tasks it is.
func (sums *eventSums) read(i uint16) (value uint64, tasks int64) {
	if c := sums[i/eventChunk].Load(); c != nil {
		return c[i%eventChunk].value.Load(), c[i%eventChunk].tasks.Load()
	}
	return 0, 0
}
