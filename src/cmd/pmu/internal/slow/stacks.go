// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slow

import (
	"fmt"
	"internal/profile"
	"iter"
	"math"
	"slices"
	"strings"
	"time"
)

// A Clock is the time on a CPU of slow requests and of usual ones: an event of a profile that is a clock.
type Clock struct {
	p  *Profile
	e  event
	of map[group][]*profile.Sample // those that have some of it
}

// A group is the slow requests of a kind, or the usual ones.
type group struct{ kind, verdict string }

// IsClock reports whether an event's name is that of a clock, with whatever modifiers.
func IsClock(event string) bool {
	name, _, _ := strings.Cut(event, ":")
	return name == "task-clock" || name == "cpu-clock"
}

// Clock returns the first event that is a clock, of those that [Options] has chosen.
func (p *Profile) Clock() (*Clock, error) {
	for _, e := range p.events {
		if e.unit == "nanoseconds" {
			c := &Clock{p, e, make(map[group][]*profile.Sample)}
			for _, s := range p.raw.Sample {
				if s.Value[e.column] != 0 {
					g := group{label(s, labelKind), verdictOf(s)}
					c.of[g] = append(c.of[g], s)
				}
			}
			return c, nil
		}
	}
	return nil, fmt.Errorf("the profile is of %s, which is no time: a latency needs a clock, such as task-clock", p.names())
}

// During returns when the profile was taken: until and from are 0 if it does not say that.
func (p *Profile) During() (from, until time.Time) {
	if p.raw.TimeNanos <= 0 || p.raw.DurationNanos <= 0 || p.raw.DurationNanos > math.MaxInt64-p.raw.TimeNanos {
		return time.Time{}, time.Time{}
	}
	return time.Unix(0, p.raw.TimeNanos), time.Unix(0, p.raw.TimeNanos+p.raw.DurationNanos)
}

// Name returns the event's name.
func (c *Clock) Name() string { return c.e.name }

// Requests returns how many requests of a kind, slow or usual ones, the samples are of. It is false if the profile does
// not say that.
func (c *Clock) Requests(kind string, slow bool) (n int64, ok bool) {
	r, ok := c.p.requests[kind]
	if slow {
		return r.slow, ok
	}
	return r.usual, ok
}

// A Stack is what samples have in common.
type Stack struct {
	Functions []string // innermost first; no more than 200, the outermost ones
	Time      time.Duration
	Samples   int64 // nearly, if the clock is not the profile's first event
}

// Stacks returns the stacks of slow requests of a kind, or of usual ones. The sum of their times fits into 64 bits.
func (c *Clock) Stacks(kind string, slow bool) iter.Seq[Stack] {
	verdict := "no"
	if slow {
		verdict = "yes"
	}
	return func(yield func(Stack) bool) {
		for _, s := range c.of[group{kind, verdict}] {
			v := s.Value[c.e.column]
			n := int64(float64(v)/c.e.period + 0.5)
			if c.e.first {
				n = s.Value[0]
			}
			if !yield(Stack{functions(s), time.Duration(v), n}) {
				return
			}
		}
	}
}

// functions returns the functions of a sample.
func functions(s *profile.Sample) (names []string) {
	for _, l := range slices.Backward(s.Location) {
		for _, line := range slices.Backward(l.Line) {
			if len(names) < maxDepth {
				names = append(names, functionOf(&line))
			}
		}
	}
	slices.Reverse(names)
	return names
}
