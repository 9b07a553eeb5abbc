// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"internal/perfevent"
)

// An EventInfo says of an event that [PerfEvent] can name whether this process
// can sample it.
type EventInfo struct {
	Name    string   // as PerfEvent takes it
	Aliases []string // other names that PerfEvent takes
	Kind    string   // its source: hardware, hardware cache, clock, software or PMU
	Desc    string   // one line; for an event of a PMU, its encoding
	Unit    string   // of the period: count, or nanoseconds for clocks
	Period  uint64   // preset for the number of events between two samples

	// Sampled reports that samples of the event were taken.
	Sampled bool

	// Err is why the event can't be sampled, and what would help. It wraps
	// the kernel's errno, or errors.ErrUnsupported where there are no events
	// at all. If Err is nil and Sampled false, the kernel accepts the event,
	// but it did not occur: nothing that a probe may do makes a page come
	// from the disk or a thread change its CPU.
	Err error
}

// Events returns the events that have a name here, in the order of "perf list"
// (perf-list(1)): those of the hardware, of the kernel, of the caches, and of
// each PMU in /sys/bus/event_source/devices. Raw events, breakpoints and
// tracepoints have no such list.
//
// Events finds out whether an event can be sampled by causing it and taking a sample
// of it on the calling thread. Opening it would not be enough: some machines, most of
// all virtual ones, open events that never occur or never interrupt. That takes
// fractions of a millisecond for an event that can be sampled or is refused,
// milliseconds for one that does not occur, and at most some hundredths of a second
// for one that counts without interrupting. Other threads are not affected, and CPU
// profiles may be running.
func Events() []EventInfo { return perfEvents() }

// newEventInfo returns what is known of an event before it is tried.
func newEventInfo(l *perfevent.Listing) EventInfo {
	info := EventInfo{
		Name:    l.Name,
		Aliases: l.Aliases,
		Kind:    l.Kind.String(),
		Desc:    l.Desc,
		Unit:    "count",
		Period:  l.Period,
	}
	if l.Err != nil {
		info.Err = newEventError(l.Err)
	}
	if l.Kind == perfevent.Clock {
		info.Unit = "nanoseconds"
	}
	return info
}

// An eventError is an error of an EventInfo. Unlike those of
// StartCPUProfileWithConfig it does not name the event: a table that prints it has the
// name already, and can group events that have the same cause.
type eventError struct {
	cause string
	err   error
}

func (e *eventError) Error() string { return e.cause }
func (e *eventError) Unwrap() error { return e.err }

// newEventError returns err, of an event, without the event's name.
func newEventError(err error) error {
	if e, ok := errors.AsType[*perfOpError](err); ok {
		return &eventError{e.cause, e.err}
	}
	if e, ok := errors.AsType[*perfevent.Error](err); ok {
		return &eventError{e.Reason, err}
	}
	return err
}
