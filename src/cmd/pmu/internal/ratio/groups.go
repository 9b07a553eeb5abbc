// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"cmd/pmu/internal/prof"
	"internal/profile"
)

// Groups are two groups of a profile's samples that are compared by one event: what it was for the
// one, per what it was for the other.
type Groups struct {
	Column int                         // of the event
	Period float64                     // what a sample of it stands for
	Names  [2]string                   // of the event for the groups
	Of     func(s *profile.Sample) int // the group of a sample: 0, 1, or -1 for neither
	Title  string
	Factor float64  // of the ratio
	Notes  []string // for the reader
}

// Compare returns a profile of two groups.
func Compare(raw *prof.File, g *Groups) (*Profile, error) {
	p := &Profile{raw: raw, groups: g, maxError: DefaultMaxError, notes: g.Notes}
	for i, name := range g.Names {
		p.events[i] = event{name: clean(name), unit: raw.SampleType[g.Column].Unit, column: g.Column, scale: 1, mean: g.Period}
	}
	var err error
	if p.total, err = p.sum(); err != nil {
		return nil, err
	}
	p.kind = kind{short: "ratio", long: g.Title, factor: g.Factor}
	p.scale = newScale(p.ratio(&p.total))
	return p, nil
}
