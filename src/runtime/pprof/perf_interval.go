// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"fmt"
	"internal/runtime/perf"
)

// Provided by package runtime; see perfinterval.go there.

//go:noescape
func runtime_perfAccountCount(set perf.SetID, dst []perf.Count) (unread uint64, f perf.Failure, err perf.IntervalError)

//go:noescape
func runtime_perfIntervalStart(iv *perf.OpenInterval, set perf.SetID, n int) perf.IntervalError

//go:noescape
func runtime_perfIntervalEnd(iv *perf.OpenInterval, u *perf.GoroutineTime, counts *perf.Count, n int, more bool) (unread uint64, f perf.Failure, err perf.IntervalError)

// An Interval is a stretch of one goroutine's execution, from [Interval.Start] to
// [Interval.Stop]: where its time went, and what it counted, wherever it ran. What other
// goroutines do meanwhile, those it has started included, is not in it.
//
// The zero Interval is ready to use, and is a value: nothing is allocated for it, except
// an account in a goroutine's first interval. It must not be copied while it is open.
// Intervals of a goroutine may be nested or overlap. The methods must not be called in
// signal handlers, nor by several goroutines at once.
type Interval struct {
	_      noCopy
	iv     perf.OpenInterval
	layout counterLayout
	slots  int // in layout
	events int // in layout
}

// A noCopy has go vet report copies of what it is in.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Start opens the interval for the calling goroutine. With counters it also counts their
// events; c may be nil.
//
// It is an error if the interval is open, which it stays, or if c is closed. If the
// goroutine's thread can't be counted, [Interval.Stop] says so.
func (iv *Interval) Start(c *Counters) error {
	if c == nil {
		return startError(runtime_perfIntervalStart(&iv.iv, perf.SetID{}, 0))
	}
	set := c.setID()
	if set.Gen == 0 {
		return errCountersClosed
	}
	err := runtime_perfIntervalStart(&iv.iv, set, c.slots)
	if err != perf.IntervalOpen {
		iv.layout, iv.slots, iv.events = c.layout, c.slots, len(c.events)
	}
	return startError(err)
}

func startError(err perf.IntervalError) error {
	if err == perf.IntervalOK || err == perf.IntervalUnread { // that is Stop's to say
		return nil
	}
	return intervalError(0, 0, perf.Failure{}, err)
}

// Stop ends the interval. It stores where the time went in t, which may be nil, and the
// counts of the counters that Start was given in dst, which must have room for them or
// be empty: dst[i] is the count of the i'th event.
//
// If counts are missing, the error says how many and why, and t and dst are valid apart
// from that. If the counters have been closed, t is valid. A value of which Running is
// less than Enabled is an estimate; see [CounterValue]. Stop on another goroutine than
// Start's is an error. After Stop the interval is not open, whatever it returns; so
// deferring Stop(nil, nil) ends an interval that a panic would leave open, and does nothing else.
func (iv *Interval) Stop(t *GoroutineTime, dst []CounterValue) error { return iv.end(t, dst, false) }

// Checkpoint is [Interval.Stop] and [Interval.Start] at the same moment: the counters
// are read once, so that nothing comes between one interval and the next. If the error
// is that the goroutine is not Start's, or that the counters have been closed, the
// interval is not open any more.
func (iv *Interval) Checkpoint(t *GoroutineTime, dst []CounterValue) error {
	return iv.end(t, dst, true)
}

func (iv *Interval) end(t *GoroutineTime, dst []CounterValue, more bool) error {
	if t == nil {
		t = new(GoroutineTime)
	}
	var into *perf.Count
	n := 0
	if iv.iv.Set.Gen != 0 {
		if n = iv.slots; len(dst) < n || n != iv.events {
			return iv.endElsewhere(t, dst, more)
		}
		into = dst[0].runtime()
	}
	unread, f, err := runtime_perfIntervalEnd(&iv.iv, t.usage(), into, n, more)
	if err != perf.IntervalOK {
		return intervalError(iv.iv.Goid, unread, f, err)
	}
	return nil
}

// endElsewhere is end with counters whose counts can't be stored in dst as they are.
func (iv *Interval) endElsewhere(t *GoroutineTime, dst []CounterValue, more bool) error {
	var counts [perf.MaxEvents]perf.Count
	unread, f, err := runtime_perfIntervalEnd(&iv.iv, t.usage(), &counts[0], iv.slots, more)
	if err == perf.IntervalOK || err == perf.IntervalUnread {
		if len(dst) >= iv.events {
			iv.layout.values(dst, counts[:iv.slots])
		} else if len(dst) > 0 {
			return errNoRoom(len(dst), iv.events)
		}
	}
	if err != perf.IntervalOK {
		return intervalError(iv.iv.Goid, unread, f, err)
	}
	return nil
}

var (
	errIntervalOpen    = errors.New("interval: Start of an interval that is open; Stop it first")
	errIntervalNotOpen = errors.New("interval: the end of an interval that is not open; Start it first")
)

func intervalError(goid, unread uint64, f perf.Failure, err perf.IntervalError) error {
	switch err {
	case perf.IntervalOK:
		return nil
	case perf.IntervalOpen:
		return errIntervalOpen
	case perf.IntervalNotOpen:
		return errIntervalNotOpen
	case perf.IntervalOther:
		return fmt.Errorf("interval: it was started by goroutine %d and ended by another one; "+
			"an interval is of one goroutine, start one on each", goid)
	case perf.IntervalClosed:
		return errCountersClosed
	}
	return errUnread(unread, f)
}

// errUnread is the error if so many stretches of a goroutine's execution, between one
// reading of its thread's counters and the next, have not been counted.
func errUnread(n uint64, f perf.Failure) error {
	return fmt.Errorf("counters: %d stretches of the goroutine's execution are not in the counts: %w", n, cause(f))
}
