// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"math"
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

// space begins a space for curves, of the height of an axis.
func (p *page) space(d depth) {
	p.put(`<svg width="100%" height="%s" viewBox="0 0 1000 1000" preserveAspectRatio="none">`, num(d.h))
}

func (p *page) curve(class, path string) {
	if path != "" {
		p.put(`<path class="%s" d="%s" vector-effect="non-scaling-stroke"/>`, class, path)
	}
}

// xAxis draws the ticks of a scale below a drawing, and its grid.
func (p *page) xAxis(s scale, h, room float64, name string) {
	ticks := s.ticks()
	labels := s.labels(ticks, room)
	for i, v := range ticks {
		p.put(`<line class="grid" x1="%s" x2="%s" y1="0" y2="%s"/>`, s.at(v), s.at(v), num(h))
		p.put(`<text x="%s" y="%s" text-anchor="middle">%s</text>`, s.at(v), num(h+16), labels[i])
	}
	p.put(`<line class="base" x1="0" x2="100%" y1="%s" y2="%s"/>`, num(h), num(h))
	p.put(`<text x="100%" y="%s" text-anchor="end">%s</text>`+"\n", num(h+33), name)
}

// yAxis draws percentiles, the first ones in any case, and others where there is room.
func (p *page) yAxis(d depth, parts ...float64) {
	const room = 14
	var drawn []float64
	draw := func(part float64, name string) {
		y := d.y(part)
		for _, other := range drawn {
			if math.Abs(y-other) < room {
				return
			}
		}
		drawn = append(drawn, y)
		p.put(`<line class="grid" x1="0" x2="100%" y1="%s" y2="%s"/>`, num(y), num(y))
		p.put(`<text x="0" dx="-6" y="%s" text-anchor="end">%s</text>`, num(y+4), name)
	}
	for _, part := range parts {
		if !bad(part) {
			draw(part, percentName(part))
		}
	}
	draw(1, "max")
	for left := 0.1; left*d.n > 1; left /= 10 {
		draw(1-left, percentName(1-left))
	}
	draw(0.5, "p50")
	p.put("\n")
}

func (p *page) latencyScale() scale {
	lists := [][]float64{p.r.Latencies.Values}
	if first := p.first(); first != nil {
		lists = append(lists, first.Without.Values)
	}
	return newScale(lists...)
}

// drawLatencies draws the distribution of latencies, and that without what the first event
// makes slow.
func (p *page) drawLatencies(first *Impact) {
	r := p.r
	s, d := p.latencyScale(), depth{float64(r.Requests), 280}
	label := fmt.Sprintf("Distribution of latencies: p50 %s, %s %s", p.latency(r.P50), percentName(r.P), p.latency(r.Tail))
	p.put(`<div class="chart"><svg width="100%" height="%s" role="img" aria-label="%s">`+"\n", num(d.h), label)
	p.yAxis(d, r.P)
	p.xAxis(s, d.h, wideRoom, axisName("latency", r.Unit, s))
	all := path(r.Latencies, s, d)
	without := ""
	if first != nil {
		without = path(first.Without, s, d)
	}
	p.space(d)
	if without != "" {
		p.put(`<path class="between" d="%sL%sZ"/>`, all, reverse(without))
		p.curve("less", without)
	}
	p.curve("all", all)
	p.put("</svg>\n")
	y := d.y(r.P)
	for _, q := range []struct{ part, v float64 }{{0.5, r.P50}, {0.9, r.P90}, {r.P, r.Tail}} {
		p.put(`<circle class="dot" cx="%s" cy="%s" r="4"/>`, s.at(q.v), num(d.y(q.part)))
	}
	p.put(`<line class="mark" x1="%s" x2="%s" y1="%s" y2="%s"/>`, s.at(r.Tail), s.at(r.Tail), num(y), num(d.h))
	if without != "" {
		low := first.Without.at(r.P)
		p.put(`<line class="mark" x1="%s" x2="%s" y1="%s" y2="%s"/>`, s.at(low), s.at(low), num(y), num(d.h))
		p.put(`<line class="whisker" x1="%s" x2="%s" y1="%s" y2="%s"/>`, s.at(low), s.at(r.Tail), num(y), num(y))
		p.put(`<circle class="ring" cx="%s" cy="%s" r="4"/>`, s.at(low), num(y))
		if from, to := s.pos(low), s.pos(r.Tail); to-from > 0.18 {
			p.put(`<text class="halo" x="%s" y="%s" text-anchor="middle">%s</text>`, num(50*(from+to))+"%", num(y-8), percent(first.Raw)+" less")
		}
	}
	p.put("\n</svg></div>\n")
}

// reverse returns the points of a path the other way round, without the first letter.
func reverse(path string) string {
	points := strings.Split(strings.TrimPrefix(path, "M"), "L")
	for i, j := 0, len(points)-1; i < j; i, j = i+1, j-1 {
		points[i], points[j] = points[j], points[i]
	}
	return strings.Join(points, "L")
}

// drawTicks draws an axis above bars.
func (p *page) drawTicks(s scale, name string) {
	p.put(`<svg width="100%" height="24"><text x="100%" y="-4" text-anchor="end">%s</text>`, name)
	ticks := s.ticks()
	labels := s.labels(ticks, wideRoom)
	for i, v := range ticks {
		anchor := "middle"
		if s.pos(v) > 0.98 {
			anchor = "end"
		} else if i == 0 && s.pos(v) < 0.02 {
			anchor = "start"
		}
		p.put(`<text x="%s" y="15" text-anchor="%s">%s</text><line class="base" x1="%s" x2="%s" y1="19" y2="24"/>`, s.at(v), anchor, labels[i], s.at(v), s.at(v))
	}
	p.put("</svg>")
}

// grid draws the grid of a row of bars.
func (p *page) grid(s scale, h float64) {
	for _, v := range s.ticks() {
		p.put(`<line class="grid" x1="%s" x2="%s" y1="0" y2="%s"/>`, s.at(v), s.at(v), num(h))
	}
}

// drawImpact draws a bar from 0 to v, and a whisker.
func (p *page) drawImpact(s scale, v, low, above float64, label string) {
	p.put(`<svg width="100%" height="34" role="img" aria-label="%s">`, label)
	p.grid(s, 34)
	p.put(`<rect class="bar" x="0" y="8" height="18" width="%s"/>`, s.at(v))
	p.put(`<line class="whisker" x1="%s" x2="%s" y1="17" y2="17"/>`, s.at(low), s.at(above))
	for _, x := range []float64{low, above} {
		p.put(`<line class="whisker" x1="%s" x2="%s" y1="11" y2="23"/>`, s.at(x), s.at(x))
	}
	p.put("</svg>")
}

// drawEvent draws the distribution of an event, and where it is high.
func (p *page) drawEvent(e *Impact) {
	s, d := newScale(e.CDF.Values), depth{float64(e.N), 130}
	p.put(`<div class="chart small"><svg width="100%" height="%s" role="img" aria-label="%s">`+"\n", num(d.h), "Distribution of "+e.Event)
	p.put(`<rect class="between" x="%s" y="0" width="%s" height="%s"/>`, s.at(e.Threshold), num(100*(1-s.pos(e.Threshold)))+"%", num(d.h))
	p.yAxis(d, p.r.P)
	p.xAxis(s, d.h, smallRoom, axisName("", e.Unit, s))
	p.space(d)
	p.curve("all", path(e.CDF, s, d))
	p.put("</svg>")
	p.put(`<line class="less" x1="%s" x2="%s" y1="0" y2="%s"/>`, s.at(e.Threshold), s.at(e.Threshold), num(d.h))
	p.put("\n</svg></div>")
}

// drawInterval draws an interval of latency, and where the tail begins.
func (p *page) drawInterval(s scale, from, to float64) {
	p.put(`<svg width="100%" height="30" role="img" aria-label="%s">`, fmt.Sprintf("from %s to %s%s", number(from), number(to), unit(p.r.Unit)))
	p.grid(s, 30)
	p.put(`<line class="base" x1="0" x2="100%" y1="15" y2="15"/>`)
	p.put(`<rect class="bar" x="%s" y="8" width="%s" height="14"/>`, s.at(from), num(100*max(s.pos(to)-s.pos(from), 0.005))+"%")
	p.put(`<line class="mark" x1="%s" x2="%s" y1="0" y2="30"/>`, s.at(p.r.Tail), s.at(p.r.Tail))
	p.put("</svg>")
}

// drawScores draws precision, recall and F.
func (p *page) drawScores(x *Pattern) {
	p.put(`<svg width="100%" height="54" role="img" aria-label="%s">`, fmt.Sprintf("precision %.2f, recall %.2f, F %.2f", x.Precision, x.Recall, x.F))
	for i, v := range []struct {
		name string
		v    float64
	}{{"precision", x.Precision}, {"recall", x.Recall}, {"F", x.F}} {
		y := float64(18 * i)
		class := ""
		if v.name == "F" {
			class = "strong"
		}
		p.put(`<text class="%s" x="0" y="%s">%s</text>`, class, num(y+12), v.name)
		p.put(`<rect class="room" x="30%" y="%s" width="54%" height="10"/><rect class="bar" x="30%" y="%s" width="%s" height="10"/>`, num(y+3), num(y+3), num(54*scale{lo: 0, hi: 1}.pos(v.v))+"%")
		p.put(`<text class="%s" x="100%" y="%s" text-anchor="end">%s</text>`, class, num(y+12), strconv.FormatFloat(v.v, 'f', 2, 64))
	}
	p.put("</svg>")
}
