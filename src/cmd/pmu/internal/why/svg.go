// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// This file draws. A drawing is as wide as there is room. So x is in percent, and curves are
// in a space 1000 wide and 1000 high that is stretched, but not the width of lines. Reports may
// be of any numbers: no NaN or infinity gets into a drawing.

// A scale says where values are on an axis.
type scale struct {
	lo, hi float64
	log    bool
	zero   bool // what is below lo is at 0, and lo at zeroRoom
}

const (
	zeroRoom = 0.1
	wide     = 20   // how many times the least value the greatest has to be for a scale of logarithms
	decades  = 1e-4 // how small a value may be on it, beside the greatest
	maxTicks = 7    // of a linear scale
)

// Pixels that a drawing has at least, in a window that is 400 wide.
const (
	wideRoom  = 280
	smallRoom = 200
)

// newScale returns a scale for values, of which those that are no numbers do not count.
func newScale(lists ...[]float64) scale {
	lo, hi, least := math.Inf(1), math.Inf(-1), math.Inf(1)
	for _, list := range lists {
		for _, v := range list {
			if bad(v) {
				continue
			}
			lo, hi = min(lo, v), max(hi, v)
			if v > 0 {
				least = min(least, v)
			}
		}
	}
	if lo > hi {
		return scale{lo: 0, hi: 1}
	}
	if from := max(least, hi*decades); lo >= 0 && hi/wide > from && hi < math.MaxFloat64/10 && from > 1e-300 {
		return scale{lo: roundDown(from), hi: -roundDown(-hi), log: true, zero: lo < from}
	}
	return linearScale(lo, hi)
}

// linearScale returns a scale with round ends. It begins at 0 unless that were a waste.
func linearScale(lo, hi float64) scale {
	if lo > 0 && lo < 0.7*hi {
		lo = 0
	}
	if !(hi/2-lo/2 > max(hi, -lo)*1e-12) { // all the same, as far as ticks can say
		lo, hi = min(lo, 0), max(hi, 0)
		if hi == lo {
			hi = 1
		}
	}
	s := scale{lo: lo, hi: hi}
	if step := s.step(); !bad(hi/step) && !bad(lo/step) {
		if lo, hi := math.Floor(lo/step+1e-9)*step, math.Ceil(hi/step-1e-9)*step; !bad(lo) && !bad(hi) {
			s.lo, s.hi = lo, hi
		}
	}
	return s
}

// roundDown returns the greatest of 1, 2, 5, 10, ... that is not above v, or, of a negative v,
// the one whose amount isn't below v's.
func roundDown(v float64) float64 {
	a := math.Abs(v)
	unit := math.Pow(10, math.Floor(math.Log10(a)))
	factors := []float64{0.5, 1, 2, 5, 10, 20}
	if v > 0 {
		at := factors[0]
		for _, f := range factors {
			if f*unit <= a*(1+1e-9) {
				at = f
			}
		}
		return at * unit
	}
	for _, f := range factors {
		if f*unit >= a*(1-1e-9) {
			return -f * unit
		}
	}
	return v
}

// step returns the step of the ticks of a linear scale.
func (s scale) step() float64 {
	least := s.hi/(maxTicks-1) - s.lo/(maxTicks-1)
	if bad(least) || least <= 0 {
		return 1
	}
	return -roundDown(-least)
}

// pos returns where v is, from 0 to 1.
func (s scale) pos(v float64) float64 {
	x := 0.0
	switch {
	case s.log && v > 0:
		x = math.Log(v/s.lo) / math.Log(s.hi/s.lo)
		if s.zero && x >= 0 {
			x = zeroRoom + x*(1-zeroRoom)
		}
	case !s.log:
		x = (v/2 - s.lo/2) / (s.hi/2 - s.lo/2)
	}
	if x != x {
		return 0
	}
	return min(max(x, 0), 1)
}

// ticks returns round values.
func (s scale) ticks() (list []float64) {
	if !s.log {
		step := s.step()
		for i := range 2 * maxTicks {
			if v := s.lo + float64(i)*step; v <= s.hi+step/1e6 {
				if math.Abs(v) < step/1e6 {
					v = 0
				}
				list = append(list, v)
			}
		}
		return list
	}
	lo, hi := math.Floor(math.Log10(s.lo)+1e-9), math.Log10(s.hi)
	factors, by := []float64{1, 2, 5}, 1.0
	if math.Log10(s.hi/s.lo) > 2.5 {
		factors = factors[:1]
		by = math.Ceil((hi - lo) / (maxTicks - 1))
	}
	if s.zero {
		list = append(list, 0)
	}
	for d := lo; d <= hi+1e-9; d += by {
		for _, f := range factors {
			if v := f * math.Pow(10, d); v >= s.lo*(1-1e-9) && v <= s.hi*(1+1e-9) {
				list = append(list, v)
			}
		}
	}
	return list
}

// axisName returns what is below an axis: it has to fit.
func axisName(what, unit string, s scale) string {
	const most = 16
	if r := []rune(unit); len(r) > most {
		unit = string(r[:most-1]) + "…"
	}
	if what != "" && unit != "" {
		what += ", "
	}
	what += unit
	if s.log {
		what = strings.TrimLeft(what+" (log scale)", " ")
	}
	return what
}

// labels returns the texts of ticks, of which some are empty if there is no room for all of
// them, as an axis may be that many pixels long.
func (s scale) labels(ticks []float64, room float64) []string {
	const digit, space = 6.5, 8
	fit := func(list []string) bool {
		end := math.Inf(-1)
		for i, text := range list {
			at, half := room*s.pos(ticks[i]), digit*float64(len(text))/2
			if text != "" && at-half < end {
				return false
			}
			if text != "" {
				end = at + half + space
			}
		}
		return true
	}
	// Of numbers, every k-th one has a label, and of logarithms every power of ten, or every
	// k-th of them.
	list := make([]string, len(ticks))
	for k := 1; ; k++ {
		n := 0
		for i, v := range ticks {
			list[i] = ""
			d := math.Log10(v)
			if s.log && k > 1 && v > 0 && math.Abs(d-math.Round(d)) > 1e-9 {
				continue
			}
			if !s.log && n%k == 0 || s.log && n%max(k-1, 1) == 0 {
				list[i] = tickText(v)
			}
			n++
		}
		if k > len(ticks) || fit(list) {
			return list
		}
	}
}

// tickText formats a round number in few characters.
func tickText(v float64) string {
	for i, unit := range []float64{1e12, 1e9, 1e6, 1e3} {
		if a := math.Abs(v); a >= unit && a < 1e15 && a >= 1e4 {
			return strconv.FormatFloat(v/unit, 'g', 4, 64) + "TGMk"[i:i+1]
		}
	}
	return number(v)
}

// num formats a coordinate.
func num(x float64) string {
	if bad(x) || math.Abs(x) > 1e6 {
		x = 0
	}
	s := strconv.FormatFloat(x, 'f', 2, 64)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// at is where a value is on a scale, as a coordinate.
func (s scale) at(v float64) string { return num(100*s.pos(v)) + "%" }

// A depth is an axis of parts: the higher, the fewer are above, as the tail is what matters.
type depth struct {
	n float64 // a part of 1/n is at the top
	h float64 // pixels
}

// pos returns where a part is, from 0 at the bottom to 1.
func (d depth) pos(part float64) float64 {
	if !(part > 0) {
		return 0
	}
	if part >= 1 {
		return 1
	}
	return min(-math.Log10(1-part)/math.Log10(max(d.n, 2)), 1)
}

func (d depth) y(part float64) float64 { return d.h * (1 - d.pos(part)) }

// path returns the path of a distribution.
func path(c CDF, s scale, d depth) string {
	var b strings.Builder
	last := ""
	for i, v := range c.Values {
		if i >= len(c.Parts) || bad(v) {
			continue
		}
		at := num(1000*s.pos(v)) + " " + num(1000*(1-d.pos(c.Parts[i])))
		if at == last {
			continue
		}
		if last == "" {
			b.WriteString("M")
		} else {
			b.WriteString("L")
		}
		b.WriteString(at)
		last = at
	}
	return b.String()
}

// A tick is a place on an axis and what is written there.
type tick struct{ At, Anchor, Label string }

// An axis is a scale as it is drawn.
type axis struct {
	Name  string
	Ticks []tick
}

// axis returns the axis of a scale, which may be that many pixels long.
func (s scale) axis(name string, room float64) axis {
	a := axis{Name: name}
	ticks := s.ticks()
	labels := s.labels(ticks, room)
	for i, v := range ticks {
		anchor := "middle"
		if s.pos(v) > 0.98 {
			anchor = "end"
		} else if i == 0 && s.pos(v) < 0.02 {
			anchor = "start"
		}
		a.Ticks = append(a.Ticks, tick{s.at(v), anchor, labels[i]})
	}
	return a
}

// grid returns where the ticks of a scale are.
func (s scale) grid() (at []string) {
	for _, v := range s.ticks() {
		at = append(at, s.at(v))
	}
	return at
}

// A level is a percentile at the left of a distribution.
type level struct {
	Y    float64
	Name string
}

// levels returns the tail's percentile, and others where there is room.
func (d depth) levels(tail float64) (list []level) {
	const room = 14
	add := func(part float64) {
		y, name := d.y(part), percentName(part)
		if part == 1 {
			name = "max"
		}
		if !bad(part) && !slices.ContainsFunc(list, func(l level) bool { return math.Abs(y-l.Y) < room }) {
			list = append(list, level{y, name})
		}
	}
	add(tail)
	add(1)
	for left := 0.1; left*d.n > 1; left /= 10 {
		add(1 - left)
	}
	add(0.5)
	return list
}

// A chart is a distribution, with values below it and percentiles at its left.
type chart struct {
	Class, Label string
	Height       float64
	Levels       []level
	Axis         axis
	All          string // the path of the curve
	High         *shade
	Dots         []point
	Tail         *point
	Less         *overlay
}

// A shade is where an event is high.
type shade struct{ From, Width string }

type point struct {
	X string
	Y float64
}

// An overlay is a second distribution: that of latencies without what an event makes slow.
type overlay struct {
	Path, Between string
	Low           point
	Halo, Text    string // where it says by how much the tail is lower, or ""
}

func (p *page) scale() scale {
	lists := [][]float64{p.Report.Latencies.Values}
	if p.Beside != nil {
		lists = append(lists, p.Beside.Without.Values)
	}
	return newScale(lists...)
}

// Latencies returns the distribution of latencies, and that without what the first event makes
// slow. It returns nil if there is none.
func (p *page) Latencies() *chart {
	r, s := p.Report, p.scale()
	if len(r.Latencies.Parts) == 0 {
		return nil
	}
	d := depth{float64(r.Requests), 280}
	c := &chart{
		Class:  "chart",
		Label:  fmt.Sprintf("Distribution of latencies: p50 %s, %s %s", latency(r.P50, r.Unit), percentName(r.P), latency(r.Tail, r.Unit)),
		Height: d.h,
		Levels: d.levels(r.P),
		Axis:   s.axis(axisName("latency", r.Unit, s), wideRoom),
		All:    path(r.Latencies, s, d),
		Dots:   []point{{s.at(r.P50), d.y(0.5)}, {s.at(r.P90), d.y(0.9)}, {s.at(r.Tail), d.y(r.P)}},
	}
	c.Tail = &c.Dots[2]
	if p.Beside == nil {
		return c
	}
	if without := path(p.Beside.Without, s, d); without != "" {
		low := p.Beside.Without.at(r.P)
		c.Less = &overlay{Path: without, Between: c.All + "L" + reverse(without) + "Z", Low: point{s.at(low), d.y(r.P)}}
		if from, to := s.pos(low), s.pos(r.Tail); to-from > 0.18 {
			c.Less.Halo, c.Less.Text = num(50*(from+to))+"%", percent(p.Beside.Raw)+" less"
		}
	}
	return c
}

// reverse returns the points of a path the other way round, without the first letter.
func reverse(path string) string {
	points := strings.Split(strings.TrimPrefix(path, "M"), "L")
	slices.Reverse(points)
	return strings.Join(points, "L")
}

// Chart returns the distribution of an event, and where it is high. It returns nil if there is none.
func (p *page) Chart(e *Impact) *chart {
	if len(e.CDF.Parts) == 0 {
		return nil
	}
	s, d := newScale(e.CDF.Values), depth{float64(e.N), 130}
	return &chart{
		Class:  "chart small",
		Label:  "Distribution of " + e.Event,
		Height: d.h,
		Levels: d.levels(p.Report.P),
		Axis:   s.axis(axisName("", e.Unit, s), smallRoom),
		All:    path(e.CDF, s, d),
		High:   &shade{s.at(e.Threshold), num(100*(1-s.pos(e.Threshold))) + "%"},
	}
}

// A bar is one from 0 to To, with a whisker.
type bar struct {
	Label   string
	Grid    []string
	To      string
	Whisker [2]string
}

func (s scale) bar(v, low, above float64, label string) *bar {
	return &bar{label, s.grid(), s.at(v), [2]string{s.at(low), s.at(above)}}
}

// A rangeBar is an interval of latencies, beside where the tail begins.
type rangeBar struct {
	Label             string
	Grid              []string
	From, Width, Tail string
}

func (s scale) rangeBar(from, to, tail float64, label string) *rangeBar {
	return &rangeBar{label, s.grid(), s.at(from), num(100*max(s.pos(to)-s.pos(from), 0.005)) + "%", s.at(tail)}
}

// A scoreBar is how good a pattern is, from 0 to 1, and is drawn below Y.
type scoreBar struct {
	Y    float64
	Name string
	V    float64
}

// Width returns how wide its bar is.
func (v scoreBar) Width() string { return num(54*scale{lo: 0, hi: 1}.pos(v.V)) + "%" }
