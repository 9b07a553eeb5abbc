// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// alsoNote says which columns conditions on one are on, too.
func alsoNote(name string, also []string) string {
	const named = 3
	s := ""
	for _, a := range also[:min(len(also), named)] {
		s += fmt.Sprintf(", %.100q", a)
	}
	if n := len(also) - named; n > 0 {
		s += fmt.Sprintf(" and %d more", n)
	}
	return fmt.Sprintf("conditions on %.100q describe the same requests as some on%s", name, strings.TrimPrefix(s, ","))
}

// maxRounds bounds how often patterns are looked for among what others do not describe.
const maxRounds = 8

// describeSlow returns the patterns of slow requests, or some of them if it is stopped, and by
// column in them which others describe the same requests.
//
// An interval of latency has one pattern, and the slowest requests hide what delays others by less.
// So the requests that a round has described are left out of the next one, whose slow requests are
// those that are slow among the rest.
func describeSlow(r *ranked, o Params) (list []Pattern, also map[string][]string) {
	if above(o.P, len(r.rows))+1 < fewest {
		return nil, nil
	}
	also = make(map[string][]string)
	for round := 0; round < maxRounds && len(r.rows) > 0; round++ {
		found := r.describe(o, also, list)
		if len(found) == 0 || r.stopped() {
			break
		}
		for i := range found {
			found[i].Round = round
		}
		list = append(list, found...)
		r = r.without(found)
	}
	return list, also
}

// describe returns the patterns of a round, after those of others: of the requests above the elbow of the
// latencies, or else of those above their main cluster.
func (r *ranked) describe(o Params, also map[string][]string, before []Pattern) (list []Pattern) {
	elbow := r.slow(o.P)
	if list = r.describeFirst(elbow, o, also, before); len(list) == 0 && !r.stopped() {
		if n := r.beside(o); n > elbow {
			list = r.describeFirst(n, o, also, before)
		}
	}
	return list
}

// tellsMore reports whether a pattern says something that those of rounds before do not. In what is left, many
// conditions describe what is there by chance. Where latency goes with a number all the way, each round has
// a lower threshold of it, which says nothing new, or is less precise.
func (r *ranked) tellsMore(p *Pattern, before []Pattern) bool {
	if len(before) == 0 {
		return true
	}
	same := func(other Pattern) bool {
		return slices.EqualFunc(p.Conds, other.Conds, func(c, d Cond) bool { return c.Column == d.Column && c.Word == d.Word })
	}
	return p.Precision >= leastPrecision && len(p.Conds) <= mostConds && (!slices.ContainsFunc(before, same) || r.apart(p))
}

// apart reports whether values of the requests that a pattern describes are a group of their own: few are just
// below a threshold.
func (r *ranked) apart(p *Pattern) bool {
	const near, few = 0.1, 0.1
	for _, c := range p.Conds {
		if c.IsWord || math.IsInf(c.Lo, -1) {
			continue
		}
		below := *p
		below.Conds = slices.Clone(p.Conds)
		i := slices.IndexFunc(below.Conds, func(d Cond) bool { return d.Column == c.Column })
		below.Conds[i].Lo, below.Conds[i].Hi = c.Lo-near*math.Abs(c.Lo), c.Lo
		if r.count(&below); float64(below.TP+below.FP) > few*float64(p.TP+p.FP) {
			return false
		}
	}
	return true
}

// beside returns how many requests are above the main cluster of latencies, or 0 if they are too many to be
// slow.
func (r *ranked) beside(o Params) int {
	sorted := slices.Clone(thin(r.worst, searched))
	slices.Reverse(sorted)
	most := mostHigh(o.P) * float64(len(sorted))
	for _, start := range thresholds(sorted, o.Bandwidth)[1:] {
		if n := len(sorted) - lowerBound(sorted, start); float64(n) <= most {
			return sort.Search(len(r.worst), func(k int) bool { return r.worst[k] < start })
		}
	}
	return 0
}

// describeFirst returns the patterns of so many slow requests.
func (r *ranked) describeFirst(slow int, o Params, also map[string][]string, before []Pattern) (list []Pattern) {
	n := len(r.rows)
	rows := r.draw(slow)
	slices.Reverse(rows)
	first := len(rows)
	from := r.worst[slow]
	for first > 0 && r.Latency[rows[first-1]] > from {
		first--
	}
	s := newSpace(r.crew, r.Table, rows, first, o.Bandwidth)
	if s == nil {
		return nil
	}
	s.weight(first, n-slow, float64(len(rows)-first)/float64(slow))
	splits := splitPoints(s.latency[first:], o.Bandwidth)
	for _, p := range s.patterns(from, splits, o.Seed) {
		places := s.places(len(p.Conds))
		r.count(&p)
		if p.F >= leastF && len(p.Conds) > 0 && r.tellsMore(&p, before) && places+logChance(p.TP, p.TP+p.FP, p.Pos, n) < math.Log(chance) {
			list = append(list, p)
			for _, c := range p.Conds {
				i := slices.IndexFunc(s.attrs, func(a *attr) bool { return a.Name == c.Column })
				if len(s.attrs[i].also) > 0 && len(before) == 0 { // of all requests, not of the rest
					also[c.Column] = s.attrs[i].also
				}
			}
		}
	}
	return list
}

// without returns the requests that meet none of the patterns.
func (r *ranked) without(list []Pattern) *ranked {
	rest := &ranked{Table: r.Table, crew: r.crew, rows: make([]int32, 0, len(r.rows)), worst: make([]float64, 0, len(r.rows))}
	meets := make([]func(row int32) bool, len(list))
	for k := range list {
		meets[k] = r.meets(&list[k])
	}
	for k, i := range r.rows {
		if !slices.ContainsFunc(meets, func(meets func(int32) bool) bool { return meets(i) }) {
			rest.rows, rest.worst = append(rest.rows, i), append(rest.worst, r.worst[k])
		}
	}
	return rest
}

// slow returns how many requests are slow: those above the elbow of the latencies, which is
// the point farthest below a line from where slow requests may begin to the percentile.
func (r *ranked) slow(p float64) int {
	n := len(r.rows)
	lo, hi := max(int(mostHigh(p)*float64(n)), 1), min(above(p, n)+1, n-1)
	from, to := r.worst[min(lo, n-1)], r.worst[min(hi, n-1)]
	best, at := 0.0, hi
	for k := hi; k < min(lo, n-1); k++ {
		line := to + (from-to)*float64(k-hi)/float64(lo-hi)
		if d := line - r.worst[k]; d > best {
			best, at = d, k
		}
	}
	return at
}

// draw returns some of the rows, of the slow ones as many as of the others if there are so
// many, in order of rank.
func (r *ranked) draw(slow int) []int32 {
	if len(r.rows) <= searched {
		return slices.Clone(r.rows)
	}
	var list []int32
	for _, part := range [][]int32{r.rows[:slow], r.rows[slow:]} {
		limit := uint64(math.MaxUint64)
		if len(part) > searched/2 {
			limit = uint64(searched / 2 / float64(len(part)) * math.MaxUint64)
		}
		for _, i := range part {
			if mix(uint64(i)) <= limit {
				list = append(list, i)
			}
		}
	}
	return list
}

// count counts in all requests what a pattern describes.
func (r *ranked) count(p *Pattern) {
	meets := r.meets(p)
	p.TP, p.FP, p.Pos = 0, 0, 0
	for k, i := range r.rows {
		in := p.From < r.worst[k] && r.worst[k] <= p.To
		if in {
			p.Pos++
		}
		switch {
		case !meets(i):
		case in:
			p.TP++
		default:
			p.FP++
		}
	}
	p.Precision, p.Recall, p.F = score(float64(p.TP), float64(p.FP), float64(p.Pos))
}

// meets returns whether a row meets all conditions of a pattern.
func (r *ranked) meets(p *Pattern) func(row int32) bool {
	columns := make([]*Column, len(p.Conds))
	words := make([]float64, len(p.Conds))
	for j, c := range p.Conds {
		columns[j] = &r.Columns[slices.IndexFunc(r.Columns, func(col Column) bool { return col.Name == c.Column })]
		words[j] = float64(slices.Index(columns[j].Words, c.Word))
	}
	return func(row int32) bool {
		for j := range p.Conds {
			c, v := &p.Conds[j], columns[j].Values[row]
			if c.IsWord && v != words[j] || !c.IsWord && (bad(v) || v < c.Lo || v >= c.Hi) {
				return false
			}
		}
		return true
	}
}

// places returns the logarithm of the number of patterns of some conditions, and of the
// intervals that they may describe.
func (s *space) places(conds int) float64 {
	// The number of sets of conditions on different attributes is the coefficient of
	// x^conds in the product of (1 + c x) over the attributes' numbers c.
	e := make([]float64, conds+1)
	e[0] = 1
	for _, a := range s.attrs {
		for k := conds; k > 0; k-- {
			e[k] += e[k-1] * float64(a.conds())
		}
	}
	return math.Log(max(e[conds], 1)) + math.Log(maxSplits*maxSplits/2)
}

// logChance bounds the logarithm of the probability that of hits requests, which are any of
// n, at least tp are among pos (Hoeffding, Probability Inequalities for Sums of Bounded
// Random Variables, 1963, theorem 1; drawing without replacement is covered by section 6).
func logChance(tp, hits, pos, n int) float64 {
	if hits == 0 || pos == 0 || pos == n {
		return 0
	}
	x, q := float64(tp)/float64(hits), float64(pos)/float64(n)
	if x <= q {
		return 0
	}
	d := x * math.Log(x/q)
	if x < 1 {
		d += (1 - x) * math.Log((1-x)/(1-q))
	}
	return -float64(hits) * d
}
