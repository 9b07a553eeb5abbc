// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"fmt"
	"math"
	"strings"
)

// A kind is what a ratio of two events is called.
type kind struct {
	short  string // in front of a number
	long   string // of the ratio of the whole profile
	unit   string // after a number
	factor float64
}

// kinds are those of known events. The first row that matches decides; an event "" is any,
// and %s is its name.
var kinds = []struct {
	first, second string
	kind
}{
	{"cycles", "instructions", kind{short: "CPI", long: "cycles per instruction (CPI)", factor: 1}},
	{"", "instructions", kind{short: "per 1,000", long: "%s per 1,000 instructions", factor: 1000}},
	{"", "", kind{short: "ratio", long: "%s per %s", factor: 1}},
}

// kindOf returns the kind of the events' ratio.
func kindOf(events *[2]event) kind {
	a, b := &events[0], &events[1]
	for _, k := range kinds {
		if (k.first == "" || k.first == base(a.name)) && (k.second == "" || k.second == base(b.name)) {
			known := k.kind
			switch strings.Count(known.long, "%s") {
			case 1:
				known.long = fmt.Sprintf(known.long, a.name)
			case 2:
				known.long = fmt.Sprintf(known.long, a.name, b.name)
			}
			if a.unit == "nanoseconds" && b.unit != a.unit {
				known.unit = " ns"
			}
			return known
		}
	}
	panic("unreachable: the last row matches")
}

// base returns an event's name without its modifiers, or those of its sample type.
func base(name string) string {
	name, _, _ = strings.Cut(name, ":")
	for _, known := range []string{"cycles", "instructions"} {
		if rest, ok := strings.CutPrefix(name, known+"_"); ok && strings.Trim(rest, "ukhGHIp_") == "" {
			return known
		}
	}
	return name
}

// A number is a ratio with its relative standard error. Without samples of both events there
// is none.
type number struct {
	value float64
	err   float64
	none  bool
	least bool // it is so much at least

	missing []string // the events without samples
}

// ratio returns the ratio of some events.
func (p *Profile) ratio(v *values) number {
	_, n1 := p.events[0].count(v.events[0], v.samples)
	_, n2 := p.events[1].count(v.events[1], v.samples)
	if p.groups != nil && n1 > 0 && n2 == 0 && p.total.events[1] > 0 {
		return p.atLeast(v, n1)
	}
	r := number{none: n1 == 0 || n2 == 0}
	if n1 == 0 {
		r.missing = append(r.missing, p.events[0].name)
	}
	if n2 == 0 {
		r.missing = append(r.missing, p.events[1].name)
	}
	if r.none {
		return r
	}
	return number{
		value: p.kind.factor * float64(v.events[0]) / float64(v.events[1]),
		err:   math.Sqrt(1/n1 + 1/n2),
	}
}

// rare is how many samples there may have been, at most, of what has none: nineteen times of twenty.
const rare = 3

// atLeast returns the ratio of what the second group never does. What a group never does tells most, if it would
// have more than a few samples otherwise; else the ratio is as good as unknown.
func (p *Profile) atLeast(v *values, n1 float64) number {
	second := &p.events[1]
	r := number{value: p.kind.factor * float64(v.events[0]) / (rare * second.mean), err: math.Sqrt(1 / n1), least: true}
	if expected := float64(v.events[0]) / float64(p.total.events[0]) * float64(p.total.events[1]) / second.mean; expected < rare {
		r.err = max(r.err, 1)
	}
	return r
}

// text returns the ratio with its error, as in "CPI 1.23 ±4.2 %".
func (p *Profile) text(r number) string {
	if r.none {
		return "no ratio, without samples of " + strings.Join(r.missing, " and ")
	}
	return p.kind.short + " " + r.bound() + p.quantity(r.value) + " " + percentError(r.err)
}

// bound returns what is before a ratio that may be larger.
func (r *number) bound() string {
	if r.least {
		return "at least "
	}
	return ""
}

// quantity returns a ratio with its unit.
func (p *Profile) quantity(v float64) string { return digits(v) + p.kind.unit }

// percentError returns a relative error, as in "±4.2 %".
func percentError(err float64) string {
	if err >= 10 {
		return "±1,000 % or more"
	}
	return "±" + digits2(100*err) + " %"
}
