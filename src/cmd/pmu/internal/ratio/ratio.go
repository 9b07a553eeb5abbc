// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package ratio shows a CPU profile of two events as the ratio of one to the other,
// such as cycles per instruction, as a page of HTML or as labels of the samples.
//
// Samples of the two events are taken independently of each other, so a single one has
// no ratio. A function has one, or a frame of a flame graph, from the sums over its samples.
// How far it can be trusted depends on how many samples there are of both: its relative
// standard error is about √(1/n₁ + 1/n₂). A ratio with an error above a limit is said, but
// not shown as a colour, and what has no samples of one of the events has no ratio.
package ratio

import (
	"cmd/pmu/internal/prof"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// DefaultMaxError is the limit of the relative standard error unless [Options] have
// another: that of 50 samples of each event.
const DefaultMaxError = 0.2

// Options are what to show of a profile.
type Options struct {
	// Events are the names of the two events, or their sample types. A profile
	// of two events needs none.
	Events []string

	// MaxError is the relative standard error above which a ratio is not shown
	// as a colour, or a class. 0 is [DefaultMaxError].
	MaxError float64
}

// A Profile is a profile of two events.
type Profile struct {
	raw      *prof.File
	events   [2]event
	kind     kind
	maxError float64
	total    values
	scale    scale
	notes    []string
	groups   *Groups // nil if both events are of all samples
}

// Read reads a profile of two events or more in the format of pprof, as
// [runtime/pprof.PerfEvents] writes it. Its bounds are those of [prof.Read].
func Read(r io.Reader, opt Options) (*Profile, error) {
	raw, err := prof.Read(r)
	if err != nil {
		return nil, fmt.Errorf("ratio: %w", err)
	}
	p := &Profile{raw: raw, maxError: opt.MaxError}
	if p.maxError == 0 {
		p.maxError = DefaultMaxError
	}
	if !(p.maxError > 0) {
		return nil, fmt.Errorf("ratio: a standard error of %v: give one above 0, such as %v", opt.MaxError, DefaultMaxError)
	}
	list := eventsOf(raw.Profile)
	if len(list) < 2 {
		return nil, errors.New("ratio: a ratio needs a profile of two events, such as cycles,instructions; this one has " + names(list))
	}
	switch {
	case len(opt.Events) == 0 && len(list) > 2:
		return nil, errors.New("ratio: the profile has more than two events; name two of " + names(list))
	case len(opt.Events) == 0:
		p.events = [2]event{list[0], list[1]}
	case len(opt.Events) != 2:
		return nil, fmt.Errorf("ratio: %d names of events; name two of %s", len(opt.Events), names(list))
	default:
		for i, name := range opt.Events {
			e := find(list, raw.Profile, name)
			if e == nil {
				return nil, fmt.Errorf("ratio: the profile has no event %q; name two of %s", name, names(list))
			}
			p.events[i] = *e
		}
		if p.events[0].column == p.events[1].column {
			return nil, fmt.Errorf("ratio: %q and %q are the same event", opt.Events[0], opt.Events[1])
		}
	}
	if p.total, err = p.sum(); err != nil {
		return nil, err
	}
	for i := range p.events {
		if err := p.events[i].weigh(&p.total, i); err != nil {
			return nil, err
		}
	}
	p.kind = kindOf(&p.events)
	p.scale = newScale(p.ratio(&p.total))
	p.note()
	return p, nil
}

// Known reports whether the whole profile has a ratio within the limit of the error.
// If not, no part of it has one.
func (p *Profile) Known() bool { return p.class(&p.total) < classes }

// maxHandler is by how much the parts of the events in the profiler's handler may differ until
// a note says so.
const maxHandler = 0.02

// note collects what a reader has to know about the profile as a whole.
func (p *Profile) note() {
	a, b := &p.events[0], &p.events[1]
	if a.kernel != "" && b.kernel != "" && a.kernel != b.kernel {
		p.notes = append(p.notes, fmt.Sprintf("Events in the kernel: %s %s, %s %s. What is in the kernel has no ratio, and that of what calls it is not of the same code.",
			a.name, a.kernel, b.name, b.kernel))
	}
	// Overflows of one event may come right after those of the other again and again, where
	// both are in step: as the code's ratio is that of the periods.
	if x, y := a.inHandler(), b.inHandler(); !a.merged && math.Abs(x-y) > maxHandler {
		p.notes = append(p.notes, fmt.Sprintf("Of the samples of %s, %.1f %% are in the profiler's own handler, and %.1f %% of those of %s. The program's functions lack them, and all of their ratios are off by that. The events may be in step: use another period.",
			a.name, 100*x, 100*y, b.name))
	}
	for i := range p.events {
		e := &p.events[i]
		if e.merged && !e.first {
			p.notes = append(p.notes, fmt.Sprintf("The profile was made of several, so its comments do not say how many samples of %s there are. They are taken to be one each %s.", e.name, thousands(e.period)))
		}
		if e.longest > e.period {
			p.notes = append(p.notes, fmt.Sprintf("Samples of %s stand for %s to %s each, because the overhead bound lengthened the period. Errors allow for that.", e.name, thousands(e.period), thousands(e.longest)))
		}
	}
	for _, c := range p.raw.Comments {
		if w, ok := strings.CutPrefix(c, "warning: "); ok {
			p.notes = append(p.notes, "The profile warns: "+w)
		}
	}
}
