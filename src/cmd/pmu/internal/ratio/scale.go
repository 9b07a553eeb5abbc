// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

// Ratios are shown by classes, which are factors of the whole profile's ratio. So what
// differs is seen whatever the events are, and half and twice as much are as far from it.
// The middle class is a factor of √2 to both sides. A limit of the error much above the
// default's 20 % would let chance decide the class.

// factors are the bounds between classes.
var factors = [classes - 1]float64{0.25, 0.5, 0.70710678, 1.41421356, 2, 4}

const (
	classes   = 7
	middle    = 3
	uncertain = classes     // the error is above the limit
	noRatio   = classes + 1 // there are no samples of one of the events
)

// A scale is the bounds between the classes of a profile.
type scale [classes - 1]float64

func newScale(all number) (s scale) {
	for i, f := range factors {
		s[i] = f * all.value
	}
	return s
}

// class returns the class of the ratio of some events.
func (p *Profile) class(v *values) int {
	r := p.ratio(v)
	switch {
	case r.none:
		return noRatio
	case r.err > p.maxError:
		return uncertain
	}
	c := 0
	for c < len(p.scale) && r.value >= p.scale[c] {
		c++
	}
	return c
}

// className returns the name of a class.
func (p *Profile) className(c int) string {
	switch c {
	case noRatio:
		return "no ratio"
	case uncertain:
		return "uncertain"
	case 0:
		return "below " + p.quantity(p.scale[0])
	case classes - 1:
		return p.quantity(p.scale[c-1]) + " or more"
	}
	return digits(p.scale[c-1]) + " to " + p.quantity(p.scale[c])
}
