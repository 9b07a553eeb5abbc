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
	"sync/atomic"
	"time"
	"unsafe"
)

// Provided by package runtime; see perfcount.go there.

func runtime_perfCountStart(attrs []perf.Attr) (set perf.SetID, f perf.Failure)
func runtime_perfCountRead(set perf.SetID, dst []perf.Count) (missed uint64, f perf.Failure)
func runtime_perfCountStop(set perf.SetID)

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

	layout counterLayout
	slots  int           // in layout
	attrs  []perf.Attr   // of each slot
	set    atomic.Uint64 // setID; written with mu

	mu  sync.Mutex
	raw []perf.Count // per slot
}

// A counterLayout says which slots of a set in the runtime are of which event: one or
// several of each, in order. Slot i is of event layout[i]-1; 0 ends it.
type counterLayout [perf.MaxEvents]uint8

// slots returns how many there are.
func (l *counterLayout) slots() int {
	n := 0
	for n < len(l) && l[n] != 0 {
		n++
	}
	return n
}

// events returns how many there are.
func (l *counterLayout) events() int { return int(l[l.slots()-1]) }

// values stores in dst the counts of events. They combine the counts of one event by
// several PMUs, of which a thread uses one at a time, that of the core it is on. The
// others' counters are enabled in that time too, but do not run.
func (l *counterLayout) values(dst []CounterValue, raw []perf.Count) {
	clear(dst[:l.events()])
	for i, r := range raw {
		v := &dst[l[i]-1]
		v.Value += r.Value
		v.Enabled = time.Duration(r.Enabled)
		v.Running += time.Duration(r.Running)
	}
}

// setID returns the name of c's set, or the zero SetID if c is closed.
func (c *Counters) setID() perf.SetID {
	set := c.set.Load()
	return perf.SetID{Set: int32(set >> 32), Gen: uint32(set)}
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

// runtime returns v as the runtime fills it. The two types have the same fields.
func (v *CounterValue) runtime() *perf.Count { return (*perf.Count)(unsafe.Pointer(v)) }

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
	c, err := newCounters(events)
	if err == nil {
		err = c.open()
	}
	if err != nil {
		return nil, err
	}
	return c, nil
}

// newCounters is OpenCounters without the opening.
func newCounters(events []string) (*Counters, error) {
	if len(events) > perf.MaxEvents { // before names are looked at
		return nil, tooManyCounters(len(events))
	}
	c := new(Counters)
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
			if len(c.attrs) < len(c.layout) {
				c.layout[len(c.attrs)] = uint8(len(c.events))
			}
			c.attrs = append(c.attrs, a.Attr)
		}
	}
	switch {
	case len(c.attrs) == 0:
		return nil, errors.New("counters: no events")
	case len(c.attrs) > perf.MaxEvents:
		return nil, tooManyCounters(len(c.attrs))
	}
	c.slots = len(c.attrs)
	c.raw = make([]perf.Count, c.slots)
	return c, nil
}

// open starts counting, from 0. c is new, or closed.
func (c *Counters) open() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	set, f := runtime_perfCountStart(c.attrs)
	switch f.Op {
	case perf.OpNone:
	case perf.OpBusy:
		return fmt.Errorf("counters: %d are open already; close one", perf.MaxCounterSets)
	default:
		return counterError(perfError(c.events[c.layout[f.Slot]-1].Name, f))
	}
	c.set.Store(uint64(set.Set)<<32 | uint64(set.Gen))
	return nil
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
// given to [OpenCounters]: of each its Name, as in "perf list" and with those modifiers
// that matter, and its Unit, which is "nanoseconds" for clocks and else "count".
func (c *Counters) Events() []EventInfo {
	events := make([]EventInfo, len(c.events))
	for i, e := range c.events {
		events[i] = EventInfo{Name: e.Name, Unit: e.Unit}
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
		return errNoRoom(len(dst), len(c.events))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	set := c.setID()
	if set.Gen == 0 {
		return errCountersClosed
	}
	missed, f := runtime_perfCountRead(set, c.raw)
	c.layout.values(dst, c.raw)
	return errMissed(missed, f)
}

func errNoRoom(have, want int) error {
	return fmt.Errorf("counters: room for %d of %d values", have, want)
}

// errMissed is the error if so many threads are not counted.
func errMissed(missed uint64, f perf.Failure) error {
	if missed == 0 {
		return nil
	}
	return fmt.Errorf("counters: %d threads are not in the counts: %w", missed, cause(f))
}

var errCountersClosed = errors.New("counters: already closed")

// Goroutine stores in dst what the calling goroutine has counted since its first call of
// Goroutine, or since its start if an accounted goroutine has started it (see
// [GoroutineTime]): the events in which it was on a thread, whichever that was, and also
// those in system calls, in C, and in what the runtime did for it there, such as
// allocating memory. It does not allocate, except for the account in the first call.
//
// Wherever a goroutine that is accounted for c gets a thread or leaves it, the thread's
// counters are read: from the processor's registers where programs may, otherwise by
// system calls; see [Counters.Read]. To count over a part of a goroutine's execution, use
// an [Interval].
//
// An error says that stretches on some threads are missing from the counts and why, or
// that the counters are closed. In the first case dst is valid apart from that.
func (c *Counters) Goroutine(dst []CounterValue) error {
	if len(dst) < len(c.events) {
		return errNoRoom(len(dst), len(c.events))
	}
	set := c.setID()
	if set.Gen == 0 {
		return errCountersClosed
	}
	var counts [perf.MaxEvents]perf.Count
	n := c.slots
	unread, f, err := runtime_perfAccountCount(set, counts[:n])
	switch err {
	case perf.IntervalClosed:
		return errCountersClosed
	case perf.IntervalUnread:
		c.layout.values(dst, counts[:n])
		return errUnread(unread, f)
	}
	c.layout.values(dst, counts[:n])
	return nil
}

// Close stops counting and gives the file descriptors back.
func (c *Counters) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	set := c.setID()
	if set.Gen == 0 {
		return errCountersClosed
	}
	c.set.Store(0)
	runtime_perfCountStop(set)
	return nil
}
