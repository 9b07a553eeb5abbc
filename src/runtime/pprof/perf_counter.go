// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"fmt"
	"internal/perfevent"
	"internal/runtime/perf"
	"sync"
	"time"
)

// Provided by package runtime; see perfcount.go there.

func runtime_perfCountStart(attrs []perf.Attr) (set int, f perf.Failure)
func runtime_perfCountRead(set int, dst []perf.Count) (missed uint64, f perf.Failure)
func runtime_perfCountStop(set int)

// Counters counts events on all threads of the process: those that a profile
// would sample (see [PerfEvent]), but exactly, and without a profile.
//
// It is the runtime that counts, so the counts include every thread from
// before it runs Go code, and those of threads that have ended: what
// goroutines do is counted wherever they run. The garbage collector's work,
// and other background work of the runtime, is included.
//
// Counters and CPU profiles can be used together, and several Counters.
// They share the processor's counters, of which there are few. When more are
// asked for than there are, the kernel lets them take turns; see
// [CounterValue].
//
// The methods may be called by several goroutines at once.
type Counters struct {
	events []*perfevent.Event

	mu   sync.Mutex
	set  int          // of the runtime; -1 when closed
	raw  []perf.Count // per slot: one or several for each event, in order
	slot []int        // slot[i]:slot[i+1] are the slots of event i
}

// A CounterEvent describes an event of [Counters].
type CounterEvent struct {
	Name string // as in "perf list", with those modifiers that matter
	Unit string // "nanoseconds" for clocks, else "count"
}

// A CounterValue is the count of one event.
//
// Enabled and Running are sums over all threads of the time that the thread
// ran with the event's counter open, and of the part of it in which it
// counted. They are the same unless events of the processor had to share
// a counter; then Value is what was counted in the time Running.
type CounterValue struct {
	Value   uint64
	Enabled time.Duration
	Running time.Duration
}

// Sub returns the difference between two values of the same event, u being the
// earlier one.
func (v CounterValue) Sub(u CounterValue) CounterValue {
	return CounterValue{v.Value - u.Value, v.Enabled - u.Enabled, v.Running - u.Running}
}

// Scaled returns the number of events, which is Value if the event was counted
// all the time. If it was counted for a part of the time, Scaled extrapolates;
// if it never was, Scaled returns NaN.
func (v CounterValue) Scaled() float64 {
	return float64(v.Value) * v.count().Scale()
}

// Exact reports whether the event was counted all the time, so that Value is
// the exact number.
func (v CounterValue) Exact() bool { return v.count().Exact() }

func (v CounterValue) count() perf.Count {
	return perf.Count{Value: v.Value, Enabled: uint64(v.Enabled), Running: uint64(v.Running)}
}

// OpenCounters starts counting the named events; see [PerfEvent] for the names.
// The modifiers :p to :ppp have no meaning here and are ignored. Up to eight
// events can be in Counters, and up to eight Counters open at once. Each takes
// a file descriptor per thread and event, until [Counters.Close].
//
// An error says what is wrong and what would help. Then nothing has been
// opened: an event that can't be counted is never left out or replaced.
func OpenCounters(events ...string) (*Counters, error) {
	if len(events) > perf.MaxEvents { // before names are looked at
		return nil, tooManyCounters(len(events))
	}
	c := &Counters{set: -1, slot: []int{0}}
	var attrs []perf.Attr
	var owner []*perfevent.Event // of each slot
	for _, name := range events {
		e, err := perfParse(name, nil)
		if err != nil {
			return nil, counterError(err)
		}
		if e.KernelOptional {
			// Clocks are counted in all modes whatever they exclude, and this
			// needs no permission.
			e.UserOnly()
		}
		if breakpointDead(e) {
			return nil, counterError(deadError(e))
		}
		for _, o := range c.events {
			if o.Name == e.Name {
				return nil, fmt.Errorf("counters: event %s is there twice", e.Name)
			}
		}
		c.events = append(c.events, e)
		for _, a := range e.Attrs {
			attrs = append(attrs, a.Attr)
			owner = append(owner, e)
		}
		c.slot = append(c.slot, len(attrs))
	}
	switch {
	case len(attrs) == 0:
		return nil, errors.New("counters: no events")
	case len(attrs) > perf.MaxEvents:
		return nil, tooManyCounters(len(attrs))
	}
	set, f := runtime_perfCountStart(attrs)
	switch f.Op {
	case perf.OpNone:
	case perf.OpBusy:
		return nil, fmt.Errorf("counters: %d are open already; close one", perf.MaxCounterSets)
	default:
		return nil, counterError(perfError(owner[f.Slot].Name, f))
	}
	c.set = set
	c.raw = make([]perf.Count, len(attrs))
	return c, nil
}

func tooManyCounters(n int) error {
	return fmt.Errorf("counters: %d events at once; at most %d can be counted", n, perf.MaxEvents)
}

// A counterOpError is a perfOpError, with the same diagnosis, of counters.
type counterOpError struct{ *perfOpError }

func (e counterOpError) Error() string { return "counters: event " + e.event + ": " + e.cause }

// counterError returns err as an error of counters.
func counterError(err error) error {
	if e, ok := err.(*perfOpError); ok {
		return counterOpError{e}
	}
	return fmt.Errorf("counters: %w", err)
}

// Events returns the events that are counted, in the order in which they were
// given to [OpenCounters].
func (c *Counters) Events() []CounterEvent {
	events := make([]CounterEvent, len(c.events))
	for i, e := range c.events {
		events[i] = CounterEvent{e.Name, e.Unit}
	}
	return events
}

// Read stores in dst what has been counted since [OpenCounters]: dst[i] is the
// count of the i'th event, and dst must have room for all events. To count
// over a part of a program, read before and after it and use
// [CounterValue.Sub].
//
// All counts of one thread are from the same point in time, those of different
// threads from within the few microseconds that reading takes: at most one or two
// system calls per thread, and none for the processor's events of threads that
// have not run since the last Read, where programs may read its counters (rdpmc
// and kernel.perf_user_access in perf_event_open(2) and the kernel's
// Documentation/arch/arm64/perf.rst). Read does not allocate.
//
// An error says that threads are missing from the counts and why, or that the
// counters are closed. In the first case dst is valid apart from that.
func (c *Counters) Read(dst []CounterValue) error {
	if len(dst) < len(c.events) {
		return fmt.Errorf("counters: room for %d of %d values", len(dst), len(c.events))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set < 0 {
		return errCountersClosed
	}
	missed, f := runtime_perfCountRead(c.set, c.raw)
	for i := range c.events {
		dst[i] = counterValue(c.raw[c.slot[i]:c.slot[i+1]])
	}
	if missed != 0 {
		return fmt.Errorf("counters: %d threads are not in the counts: %s", missed, perfCause(f))
	}
	return nil
}

var errCountersClosed = errors.New("counters: already closed")

// counterValue combines the counts of one event by several PMUs, of which
// a thread uses one at a time, that of the core it is on. The others' counters
// are enabled in that time too, but do not run.
func counterValue(raw []perf.Count) CounterValue {
	v := CounterValue{Enabled: time.Duration(raw[0].Enabled)}
	for _, r := range raw {
		v.Value += r.Value
		v.Running += time.Duration(r.Running)
	}
	return v
}

// Close stops counting and gives the file descriptors back.
func (c *Counters) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set < 0 {
		return errCountersClosed
	}
	runtime_perfCountStop(c.set)
	c.set = -1
	return nil
}
