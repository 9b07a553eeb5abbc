// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math"
	"math/bits"
	"slices"
)

// A Cond is a condition on a request: that a number is in [Lo, Hi), or that a word is Word.
// Lo may be -Inf, and Hi +Inf. A request without a value does not meet it.
type Cond struct {
	Column string
	Unit   string
	Lo, Hi float64
	Word   string
	IsWord bool
}

// Meets reports whether a row meets conditions, by column.
func (t *Table) Meets(row int, conds map[string]Cond) bool {
	n := 0
	for i := range t.Columns {
		c := &t.Columns[i]
		cond, ok := conds[c.Name]
		if !ok {
			continue
		}
		v := c.Values[row]
		if bad(v) || cond.IsWord && c.Words[int(v)] != cond.Word || !cond.IsWord && (v < cond.Lo || v >= cond.Hi) {
			return false
		}
		n++
	}
	return n == len(conds)
}

// A Pattern is the joint conditions that describe the requests that took from From to To
// (exclusive and inclusive), best of those that were tried.
type Pattern struct {
	From, To float64
	Conds    []Cond
	Pos      int // requests in (From, To]
	TP, FP   int // requests that meet all conditions, in (From, To] and elsewhere

	// Precision is TP/(TP+FP), Recall TP/Pos, and F their harmonic mean.
	Precision, Recall, F float64

	// Round is how many rounds of patterns are before it. All numbers are of the requests that none
	// of these describes.
	Round int
}

// score returns precision, recall and F.
func score(tp, fp, pos float64) (precision, recall, f float64) {
	if tp == 0 {
		return 0, 0, 0
	}
	precision, recall = tp/(tp+fp), tp/pos
	return precision, recall, 2 * precision * recall / (precision + recall)
}

// An attr is a column as conditions see it: a number by the thresholds that conditions may
// have for ends, a word by what words there are.
type attr struct {
	*Column
	ends  []float64 // the last one is +Inf; for words, their indexes
	words bool
	gaps  []float64 // by end: how far the greatest value below it is, as a part of it
	from  []bitset  // by end: the requests at or above it; for words, those that have it
	also  []string  // columns on which conditions tell the same requests apart
}

// last returns the index of the last end, of numbers.
func (a *attr) last() uint16 { return uint16(len(a.ends) - 1) }

// conds returns how many conditions there are on a.
func (a *attr) conds() int {
	if a.words {
		return len(a.ends)
	}
	return len(a.ends) * (len(a.ends) - 1) / 2
}

// space is what patterns are made of: attributes, and in their sets the requests in order of
// latency. So those of an interval of latency are a range of bits.
type space struct {
	crew
	attrs   []*attr
	rows    []int32   // of the table
	latency []float64 // in ascending order
	n       int
	none    bitset

	// The first requests are a sample: each stands for so many.
	first int
	each  float64
}

const (
	// maxEnds bounds an attribute's thresholds, maxWords its words: the most frequent ones
	// of those that are in the range that is to be described.
	maxEnds  = 64
	maxWords = 64

	// equal is by which part of themselves values may differ and are still equal.
	equal = 1e-9

	// binPart is the part of the values that a bin has to have to be a seed of mean shift.
	binPart = 0.01

	// neighbours is the part of all values by which mean shift's bandwidth is estimated.
	neighbours = 0.1
)

// newSpace returns the space of the rows of a table that are given in ascending order of
// latency, to describe those from the first on. It is nil if the crew was stopped.
func newSpace(c crew, t *Table, rows []int32, first int, bandwidth float64) *space {
	s := &space{crew: c, n: len(rows), rows: rows, latency: make([]float64, len(rows)), none: newBitset(len(rows)), each: 1}
	for k, i := range rows {
		s.latency[k] = t.Latency[i]
	}
	attrs := make([]*attr, len(t.Columns))
	ok := c.parallel(len(attrs), func(j int) {
		a := &attr{Column: &t.Columns[j]}
		values := make([]float64, len(rows))
		for k, i := range rows {
			values[k] = a.Values[i]
		}
		if a.Words != nil {
			a.encodeWords(values, first)
		} else {
			a.encode(values, first, bandwidth)
		}
		attrs[j] = a
	})
	if !ok {
		return nil
	}
	for _, a := range attrs {
		// As in the authors' code, those of which there is one cluster are never drawn.
		if a.words && len(a.ends) > 1 || !a.words && len(a.ends) > 2 {
			s.attrs = append(s.attrs, a)
		}
	}
	s.distinct()
	return s
}

// encode finds the thresholds of a number: the starts of the clusters of its values. What only
// slow requests have may be too rare to be a cluster of all, so those of their values count,
// too.
func (a *attr) encode(values []float64, first int, bandwidth float64) {
	var ends, all []float64
	for _, part := range [][]float64{values, values[first:]} {
		sorted := make([]float64, 0, len(part))
		for _, v := range part {
			if !bad(v) {
				sorted = append(sorted, v)
			}
		}
		if len(sorted) == 0 {
			continue
		}
		slices.Sort(sorted)
		if all == nil {
			all = sorted
		}
		ends = append(ends, thresholds(sorted, bandwidth)...)
	}
	slices.Sort(ends)
	// Values that are equal but for the rounding of what they are made of are equal.
	ends = slices.CompactFunc(ends, func(x, y float64) bool { return math.Abs(y-x) <= equal*math.Abs(x) })
	ends = slices.DeleteFunc(ends, func(e float64) bool {
		k := lowerBound(all, e)
		return k > 0 && e-all[k-1] <= equal*math.Abs(e)
	})
	for len(ends) >= maxEnds {
		// Thin out, but keep the first one.
		for i := 1; i < len(ends); i++ {
			ends = slices.Delete(ends, i, i+1)
		}
	}
	if len(ends) == 0 {
		return
	}
	a.ends = append(ends, math.Inf(1))
	for _, e := range ends {
		a.gaps = append(a.gaps, (e-all[max(0, lowerBound(all, e)-1)])/math.Abs(e))
	}
	for _, e := range a.ends[:len(a.ends)-1] {
		b := newBitset(len(values))
		for k, v := range values {
			if v >= e && !bad(v) {
				b.set(k)
			}
		}
		a.from = append(a.from, b)
	}
	a.from = append(a.from, newBitset(len(values)))
}

// thresholds returns the starts of the clusters of sorted values.
func thresholds(sorted []float64, bandwidth float64) []float64 {
	if bandwidth == 0 {
		bandwidth = estimateBandwidth(thin(sorted, 5000), neighbours)
	}
	if bandwidth == 0 {
		// A tenth of the values is the same as each value. What there is beside them are
		// clusters of their own if they are few.
		return distinct(sorted)
	}
	minFreq := max(1, int(binPart*float64(len(sorted))))
	centers := meanShift(sorted, bandwidth, minFreq)
	return clusterStarts(sorted, centers)
}

// distinct returns the different ones of sorted values, thinned out by rank if they are many.
func distinct(sorted []float64) []float64 {
	d := slices.Compact(slices.Clone(sorted))
	return thin(d, maxEnds/4)
}

// thin returns about n of sorted values, evenly, with the first and the last one.
func thin(sorted []float64, n int) []float64 {
	if len(sorted) <= n {
		return sorted
	}
	list := make([]float64, n)
	for i := range list {
		list[i] = sorted[i*(len(sorted)-1)/(n-1)]
	}
	return list
}

// encodeWords finds the words that are to be told apart: the most frequent ones of slow
// requests.
func (a *attr) encodeWords(values []float64, first int) {
	a.words = true
	counts := make([]int, len(a.Words))
	for _, v := range values[first:] {
		if v == v {
			counts[int(v)]++
		}
	}
	var list []int
	for w, n := range counts {
		if n > 0 {
			list = append(list, w)
		}
	}
	slices.SortStableFunc(list, func(x, y int) int { return counts[y] - counts[x] })
	list = list[:min(len(list), maxWords)]
	all := 0
	for _, v := range values {
		if v == v {
			all++
		}
	}
	for _, w := range list {
		b := newBitset(len(values))
		for k, v := range values {
			if v == float64(w) {
				b.set(k)
			}
		}
		if b.count() == all && len(list) == 1 {
			return // always the same
		}
		a.ends = append(a.ends, float64(w))
		a.from = append(a.from, b)
	}
	if len(a.ends) == 1 {
		// The other words are not among slow requests. There is still something to tell apart.
		a.ends = append(a.ends, -1)
		a.from = append(a.from, newBitset(len(values)))
	}
}

// A gene is a condition by indexes.
type gene struct {
	attr   uint16
	lo, hi uint16 // of ends; of words hi is not used
}

// bits returns the two sets whose difference meets the condition.
func (s *space) bits(g gene) (in, out bitset) {
	a := s.attrs[g.attr]
	if a.words {
		return a.from[g.lo], s.none
	}
	return a.from[g.lo], a.from[g.hi]
}

// whole reports whether the condition leaves nothing out that has a value.
func (s *space) whole(g gene) bool {
	a := s.attrs[g.attr]
	return !a.words && g.lo == 0 && g.hi == a.last()
}

// An interval is a range of requests by rank.
type interval struct {
	lo, hi int // of ranks: [lo, hi)
}

// f returns F of genes for an interval, with the requests that the sample stands for.
func (s *space) f(genes []gene, iv interval, buf bitset) float64 {
	s.work.try()
	tp, fp := s.count(genes, iv, buf)
	first := 0
	if s.each != 1 {
		first = s.first
		if len(genes) > 0 {
			first = countRange(buf, 0, s.first)
		}
	}
	return s.weighted(tp, fp, first, iv.hi-iv.lo)
}

// weighted returns F, where the first ones of those that meet the conditions are of the sample.
func (s *space) weighted(tp, fp, first, pos int) float64 {
	_, _, f := score(float64(tp), float64(fp)+float64(first)*(s.each-1), float64(pos))
	return f
}

// weight says that the first requests stand for n, in proportion to how many of the others there
// are.
func (s *space) weight(first, n int, part float64) {
	if first > 0 {
		s.first, s.each = first, float64(n)*part/float64(first)
	}
}

// count returns how many requests meet all conditions, in the interval and elsewhere. buf has
// the size of a set, and is that of those that do.
func (s *space) count(genes []gene, iv interval, buf bitset) (tp, fp int) {
	if len(genes) == 0 {
		return iv.hi - iv.lo, s.n - (iv.hi - iv.lo)
	}
	in, out := s.bits(genes[0])
	out = out[:len(in)]
	buf = buf[:len(in)]
	for i, w := range in {
		buf[i] = w &^ out[i]
	}
	for _, g := range genes[1:] {
		in, out := s.bits(g)
		in, out = in[:len(buf)], out[:len(buf)]
		for i := range buf {
			buf[i] &= in[i] &^ out[i]
		}
	}
	all := 0
	for _, w := range buf {
		all += bits.OnesCount64(w)
	}
	tp = countRange(buf, iv.lo, iv.hi)
	return tp, all - tp
}

// countRange returns how many of the bits [lo, hi) are set.
func countRange(b bitset, lo, hi int) (n int) {
	if lo >= hi {
		return 0
	}
	i, j := lo/64, (hi-1)/64
	first := ^uint64(0) << (lo % 64)
	last := ^uint64(0) >> (63 - (hi-1)%64)
	if i == j {
		return bits.OnesCount64(b[i] & first & last)
	}
	n = bits.OnesCount64(b[i]&first) + bits.OnesCount64(b[j]&last)
	for _, w := range b[i+1 : j] {
		n += bits.OnesCount64(w)
	}
	return n
}

// pattern returns genes as a pattern.
func (s *space) pattern(genes []gene, from, to float64, iv interval) Pattern {
	tp, fp := s.count(genes, iv, newBitset(s.n))
	p := Pattern{From: from, To: to, TP: tp, FP: fp, Pos: iv.hi - iv.lo}
	p.Precision, p.Recall, p.F = score(float64(tp), float64(fp), float64(p.Pos))
	for _, g := range genes {
		a := s.attrs[g.attr]
		c := Cond{Column: a.Name, Unit: a.Unit}
		if a.words {
			c.IsWord = true
			if w := int(a.ends[g.lo]); w >= 0 {
				c.Word = a.Words[w]
			}
		} else {
			c.Lo, c.Hi = a.ends[g.lo], a.ends[g.hi]
			if g.lo == 0 {
				c.Lo = math.Inf(-1)
			}
		}
		p.Conds = append(p.Conds, c)
	}
	slices.SortFunc(p.Conds, func(a, b Cond) int {
		if a.Column < b.Column {
			return -1
		}
		return 1
	})
	return p
}
