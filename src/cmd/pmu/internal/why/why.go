// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package why says why some requests are slow. It is given a table of thousands of
// requests, of records of package runtime/task or from elsewhere, and finds
//
//   - which events make the tail of their latency, and by how much it would be lower
//     without those requests in which they are high, as VarMRI does
//     (github.com/t1mch0w/varmri);
//   - which conditions on attributes describe each group of slow requests (Cortellessa and
//     Traini, Detecting Latency Degradation Patterns in Service-based Systems, ICPE 2020).
//
// It finds what occurs together; that one causes the other is a conclusion, of which it says
// what speaks against it.
package why

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"
)

// Options are how to analyze. The zero Options are the defaults.
type Options struct {
	P         float64 // the percentile that is called the tail; 0 means 0.99
	Bandwidth float64 // of clusters, in the unit of a column; 0 has it estimated for each
	Seed      uint64  // of what is drawn at random: the same seed gives the same report
	Procs     int     // the most goroutines that work at once; 0 means GOMAXPROCS
	Groups    *Groups // what is known of events by their names; nil means what is known of all

	// Done stops the analysis when it is closed, so that Analyze returns an error. A nil
	// channel never does.
	Done <-chan struct{}
}

// A Report says why some requests are slow.
type Report struct {
	P          float64
	Unit       string // of latencies
	Requests   int    // that have a latency
	Left       int    // that have none, and were left out
	LeftBiased int    // that were left out since they were not chosen at random

	// Latencies by percentile: P50, P90, that of P, and the greatest one.
	P50, P90, Tail, Max float64

	Latencies CDF // of all of them

	// Notes are sentences on the requests for people to read: what was recorded in some of
	// them only. The caller may add what was chosen or left out. They follow the numbers.
	Notes []string

	Impacts  []Impact // of all events, the greatest first
	First    []string // the event that makes the tail; several if no rule says which of them does
	Pairs    []Pair
	Together *Joint    // if no event makes the tail by itself; nil if none do together
	Patterns []Pattern // that are not by chance, by latency
}

const (
	// searched is among how many requests patterns are searched for. What is found is then
	// counted in all.
	searched = 20_000

	// leastF is below which a pattern describes nothing.
	leastF = 0.5

	// leastPrecision and mostConds are of patterns of what others do not describe.
	leastPrecision, mostConds = 0.8, 3

	// chance is the probability above which there may be such a pattern, or impact, by chance,
	// in any place where it could have been found.
	chance = 1e-3
)

// Analyze says why requests are slow.
func Analyze(t *Table, o Options) (*Report, error) { return analyze(t, o, nil) }

func analyze(t *Table, o Options, w *work) (*Report, error) {
	if o.P == 0 {
		o.P = 0.99
	}
	if !(o.P > 0 && o.P < 1) {
		return nil, fmt.Errorf("the percentile has to be between 0 and 1, and is %v", o.P)
	}
	if o.Bandwidth < 0 || bad(o.Bandwidth) {
		return nil, fmt.Errorf("the bandwidth has to be positive, and is %v", o.Bandwidth)
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	c := *t
	c.Columns = slices.Clone(t.Columns)
	c.Sort()
	c.Describe(o.Groups) // which names parents in order of the columns
	random, biased := t.countRandom()
	// Among those that are there for being slow, all else is as among slow ones. Without them there
	// is no tail but that of all.
	enough := biased > 0 && random >= Needed(o.P, 1)
	r := rank(&c, enough)
	r.crew = crew{o.Procs, o.Done, w}
	n := len(r.rows)
	if n == 0 {
		return nil, fmt.Errorf("none of %d requests has a latency", len(t.Latency))
	}
	at := func(p float64) float64 { return r.worst[above(p, n)] }
	rep := &Report{P: o.P, Unit: t.Unit, Requests: n, Left: len(t.Latency) - random - biased, P50: at(0.5), P90: at(0.9), Tail: at(o.P), Max: at(1)}
	if r.worst[0] < 0 || at(0) < 0 {
		return nil, fmt.Errorf("there are latencies below 0: %v", at(0))
	}
	if enough {
		rep.LeftBiased = biased
	}
	if note := biasNote(o.P, enough, biased); note != "" {
		rep.Notes = append(rep.Notes, note)
	}
	if note := coverage(r); note != "" {
		rep.Notes = append(rep.Notes, note)
	}
	rep.Notes = append(rep.Notes, wordNotes(r)...)
	rep.Latencies = newCDF(n, o.P, func(k int) float64 { return r.worst[k] })
	if at(0) == at(1) {
		return rep, nil
	}
	var events []*event
	ok := false
	if rep.Impacts, rep.Pairs, events, ok = variance(r, o.P, o.Seed); !ok {
		return nil, errStopped
	}
	if !rep.few() {
		rep.First = first(r, rep.causes(), events, o.P)
	}
	if !rep.few() && rep.hasTail() && len(rep.causes()) == 0 {
		if rep.Together = jointly(r, o.P, o.Seed, events); r.stopped() {
			return nil, errStopped
		}
	}
	// What only follows another event describes nothing, nor does a cost, nor what takes less time.
	c.Columns = slices.DeleteFunc(c.Columns, func(col Column) bool {
		i := slices.IndexFunc(rep.Impacts, func(e Impact) bool { return e.Event == col.Name })
		return col.Cost || i >= 0 && (rep.Impacts[i].follows() || rep.Impacts[i].short())
	})
	var also map[string][]string
	if rep.Patterns, also = describeSlow(r, o); r.stopped() {
		return nil, errStopped
	}
	for _, name := range slices.Sorted(maps.Keys(also)) {
		rep.Notes = append(rep.Notes, alsoNote(name, also[name]))
	}
	return rep, nil
}

// countRandom returns how many requests with a latency were chosen at random, and how many were not.
func (t *Table) countRandom() (random, biased int) {
	for i, v := range t.Latency {
		switch {
		case bad(v):
		case t.isBiased(i):
			biased++
		default:
			random++
		}
	}
	return random, biased
}

// biasNote says what was done with requests that were not chosen at random, if there are any: if
// enough were, they are left out.
func biasNote(p float64, enough bool, biased int) string {
	switch {
	case biased == 0:
		return ""
	case enough:
		return fmt.Sprintf("%d others are left out: they were recorded for being slow, or others of their time are gone. These were chosen at random, so percentiles are those of all", biased)
	}
	return fmt.Sprintf("%d of them were recorded for being slow, or others of their time are gone: percentiles are those of the records. Those of all take %d that were chosen at random", biased, Needed(p, 1))
}

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
func describeSlow(r *ranked, o Options) (list []Pattern, also map[string][]string) {
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
func (r *ranked) describe(o Options, also map[string][]string, before []Pattern) (list []Pattern) {
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
func (r *ranked) beside(o Options) int {
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
func (r *ranked) describeFirst(slow int, o Options, also map[string][]string, before []Pattern) (list []Pattern) {
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
				if i := slices.IndexFunc(s.attrs, func(a *attr) bool { return a.Name == c.Column }); len(s.attrs[i].also) > 0 {
					also[c.Column] = s.attrs[i].also
				}
			}
		}
	}
	return list
}

// without returns the requests that meet none of the patterns.
func (r *ranked) without(list []Pattern) *ranked {
	rest := &ranked{Table: r.Table, crew: r.crew}
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

// follows reports whether the event's impact is likely to be another one's.
func (e *Impact) follows() bool {
	return e.Parent != "" || e.Remark == "" && e.Raw >= leastCause && e.Adjusted < leastImpact
}

// short reports whether the event is high in slow requests, but took less than half of the time by which these are
// slow: what nobody waited for is counted, too.
func (e *Impact) short() bool {
	return e.Remark == "" && e.Raw >= leastCause && e.Own < e.Raw/2
}

// causes returns the events that make the tail.
func (r *Report) causes() (list []Impact) {
	if !r.hasTail() {
		return nil
	}
	for _, e := range r.Impacts {
		if e.makesTail() && !e.Beside {
			list = append(list, e)
		}
	}
	return list
}

// leastTail is how many times the median the tail has to be to be one.
const leastTail = 1.25

// hasTail reports whether there is something to explain.
func (r *Report) hasTail() bool { return r.P <= 0.5 || r.Tail >= leastTail*r.P50 }

// leastCause is the least impact that is worth a word.
const leastCause = 0.05

// Top returns the event that makes the tail, or "" if there is none or no rule says which one does.
func (r *Report) Top() string {
	if len(r.First) == 1 {
		return r.First[0]
	}
	return ""
}

// first returns the event that makes the tail, or several if it is one of them, in order of their names:
// they are high in the same slow requests, their impacts are alike, and no rule says which of them is
// the cause.
//
// An event whose time is known is part of the latency, and it comes before one that is only counted.
func first(r *ranked, list []Impact, events []*event, p float64) (names []string) {
	if len(list) == 0 {
		return nil
	}
	find := func(name string) *event {
		return events[slices.IndexFunc(events, func(e *event) bool { return e.Name == name })]
	}
	top := &list[0]
	t := find(top.Event)
	names = []string{top.Event}
	least, _ := top.bounds()
	slow := above(p, len(r.rows)) + 1
	words := (slow + 63) / 64 // those on the last one's word are nearly as slow
	for i := range list[1:] {
		x := &list[1+i]
		e := find(x.Event)
		if _, most := x.bounds(); x.Known != top.Known || x.Only != top.Only || most < least || t.mayCause(e.Column) || e.mayCause(t.Column) {
			continue
		}
		if jaccard(t.high[:words], t.recorded[:words], e.high[:words], e.recorded[:words]) >= together {
			names = append(names, x.Event)
		}
	}
	slices.Sort(names)
	return names
}
