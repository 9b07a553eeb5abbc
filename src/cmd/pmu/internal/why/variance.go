// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// This file finds the events whose extremes make the tail: the analysis of VarMRI
// (github.com/t1mch0w/varmri).

const (
	// proportional is the least R² of a line through the origin by which a child is taken
	// to follow its parent.
	proportional = 0.99

	// sampled is how many requests are looked at to find an event's threshold. A part of
	// 1 % is exact to 2 % of itself then. The rest of the analysis looks at all of them.
	sampled = 200_000

	// reach says how common what is called high may be, for how rare the tail is: in up to 20
	// times as many requests as the tail has, as what is high in more is no extreme, and in one in
	// 20 of them.
	reach = 20

	// resamples is the number of a bootstrap's.
	resamples = 200
)

// An Impact is what an event has to do with the tail.
type Impact struct {
	Event     string
	Unit      string
	N         int     // requests that recorded it
	High      int     // of them, in which it was above Threshold
	Threshold float64 // NaN if no value is high

	// Only says that those that recorded it seem not to be any requests. Then impacts are on the
	// tail of these, which is Tail, and not on that of all.
	Only bool
	Tail float64

	// Raw is by how much the tail's latency is lower without those requests, as part of the
	// latency; Low and Above bound it in 95 of 100 cases (by bootstrap).
	Raw, Low, Above float64

	// Adjusted is what is left of it without what is likely to be another event's impact,
	// Cause's, which occurs together with this one: Jaccard is how much of both sets of
	// requests is in both. It is at most Own: by how much the tail were lower if the event took
	// no time. Own is 1 if the event is no part of the latency.
	Adjusted float64
	Own      float64
	Known    bool // the event's time is known: it is a part of the latency
	Beside   bool // it is a cost, which is beside the latency
	Cause    string
	Jaccard  float64

	// Chance bounds the probability that an event that has nothing to do with latency is high in
	// as many of the slow requests, for any threshold that was tried and any event.
	Chance float64

	// Remark says why the event is out of the question, if it is. Parent is the event that it
	// is in proportion to, if that is why.
	Remark, Parent string

	// CDF is the distribution of the event's values, of those that have a threshold.
	// Without is that of the latencies of the requests in which it was not high: it has the
	// percentile of which Raw says by how much it is lower. It is of events that may make the
	// tail.
	CDF, Without CDF
}

// mostHigh returns the part of requests in which an event may be high, or which may be
// called slow: no more than half of them, unless the percentile is lower than that.
func mostHigh(p float64) float64 { return min(reach*(1-p), max(0.5, 1-0.8*p)) }

// Remarks.
const (
	remarkConstant = "always the same"
	remarkNoStep   = "no step"
	remarkFew      = "too few"
)

// A Pair is of events that are high together, without a rule that says which one causes
// the other.
type Pair struct {
	Events  [2]string
	Jaccard float64
}

// An event is a column under analysis. In its sets, rows are counted by their rank: 0 is the
// slowest request.
type event struct {
	*Column
	recorded, high bitset
	within         bitset // those that are looked at; nil for all
	first          *event // the first one with the same sets
	tried          int    // thresholds
	knots          []knot // that were tried
	Impact
}

// variance returns the impact of each column of numbers on the percentile p, the greatest
// first, pairs of events of which each could be the cause of the other, and the events. It returns
// false if the crew was stopped.
func variance(r *ranked, p float64, seed uint64) (list []Impact, pairs []Pair, events []*event, ok bool) {
	for i := range r.Columns {
		if r.Columns[i].Words == nil {
			events = append(events, &event{Column: &r.Columns[i], Impact: Impact{Event: r.Columns[i].Name, Unit: r.Columns[i].Unit, Beside: r.Columns[i].Cost}})
		}
	}
	if !r.parallel(len(events), func(i int) { events[i].measure(r, p) }) {
		return nil, nil, nil, false
	}
	byName := make(map[string]*event)
	for _, e := range events {
		byName[e.Name] = e
	}
	// Rule 2: a child that is in proportion to its parent follows it.
	if !r.parallel(len(events), func(i int) { events[i].followParent(r, byName) }) {
		return nil, nil, nil, false
	}
	for i, f := range firstAlike(len(events), func(i int) uint64 { return events[i].high.hash() }, func(i, j int) bool { return events[i].sameSets(events[j]) }) {
		events[i].first = events[f]
	}
	pairs = adjust(events, r.work)
	// What is drawn depends on the first one that is alike, so that all of them have the same bounds.
	needed := make(map[*event]bool)
	for _, e := range events {
		if e.Remark == "" && e.Adjusted >= leastImpact {
			needed[e.first] = true
		}
	}
	ok = r.parallel(len(events), func(i int) {
		if e := events[i]; needed[e] {
			e.bootstrap(r, p, rand.New(rand.NewPCG(seed, uint64(i))))
			e.Without = e.without(r, p)
		}
	})
	for _, e := range slices.Backward(events) { // the first one after all that are alike
		if e.Remark == "" && e.Adjusted >= leastImpact {
			e.Low, e.Above, e.Without = e.first.Low, e.first.Above, e.first.Without
		} else {
			e.Low, e.Above, e.Without = 0, 0, CDF{}
		}
	}
	list = make([]Impact, len(events))
	for i, e := range events {
		list[i] = e.Impact
		list[i].Known = len(e.Within) > 0
	}
	// Of those that are as good as alike, that first whose time is known, and of which more is
	// certain.
	known := func(e Impact) int {
		if e.Known {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(list, func(a, b Impact) int {
		return cmp.Or(cmp.Compare(math.Round(100*b.Adjusted), math.Round(100*a.Adjusted)),
			known(b)-known(a), cmp.Compare(math.Round(100*b.Low), math.Round(100*a.Low)), cmp.Compare(b.Adjusted, a.Adjusted))
	})
	return list, pairs, events, ok
}

// measure finds the event's threshold, and its raw impact.
func (e *event) measure(r *ranked, p float64) {
	values := make([]float64, len(r.rows))
	e.recorded, e.high = newBitset(len(values)), newBitset(len(values))
	for k, i := range r.rows {
		if values[k] = e.Values[i]; !bad(values[k]) {
			e.recorded.set(k)
			e.N++
		}
	}
	if !e.atRandom(r, p) {
		e.within = e.recorded
		if e.N < len(r.rows) {
			e.Only = true
		}
	}
	t, remark := e.turn(r, values, p)
	if remark != "" {
		e.Threshold, e.Remark = nan, remark
		return
	}
	e.Threshold = t.value
	for k, v := range values {
		if e.recorded.has(k) && v > e.Threshold {
			e.high.set(k)
			e.High++
		}
	}
	e.Raw, e.Own = e.impact(r, p), 1
	if e.Only {
		for k, left := 0, above(p, e.N); ; k++ {
			if e.recorded.has(k) {
				if left == 0 {
					e.Tail = r.worst[k]
					break
				}
				left--
			}
		}
	}
	if times := e.times(r); times != nil {
		e.Own = e.own(r, times, p)
	}

	e.Chance = e.chance(r, p, e.places(r))
}

// chance bounds the probability that the event is high in as many of the slow requests, if it had
// nothing to do with latency: it would be so in as many of them as of all. places is the logarithm
// of in how many places it could have been found.
func (e *event) chance(r *ranked, p, places float64) float64 {
	slow, tail := 0, above(p, e.N)+1
	for k, seen := 0, 0; seen < tail; k++ {
		if e.recorded.has(k) {
			seen++
			if e.high.has(k) {
				slow++
			}
		}
	}
	return math.Exp(min(0, places+logChance(slow, tail, e.High, e.N)))
}

// times returns the columns that include the event's time, or nil if it isn't known or one of them
// is not there: then there is no bound.
func (e *event) times(r *ranked) (columns []*Column) {
	for i := range r.Columns {
		if slices.Contains(e.Within, r.Columns[i].Name) {
			columns = append(columns, &r.Columns[i])
		}
	}
	if len(columns) < len(e.Within) {
		return nil
	}
	return columns
}

// tail returns the tail on which the event's impact is.
func (e *Impact) tail(r *Report) float64 {
	if e.Only {
		return e.Tail
	}
	return r.Tail
}

// own returns by which part the percentile were lower if what the columns say took no time.
func (e *event) own(r *ranked, times []*Column, p float64) float64 {
	tail := above(p, e.N) + 1
	signed := slices.ContainsFunc(times, func(c *Column) bool {
		return slices.ContainsFunc(c.Values, func(v float64) bool { return v < 0 })
	})
	// Of those that are looked at, the greatest: tail of them, and some more until these are
	// sorted out. No request that takes less than the least of them is among them.
	var top []float64
	least := math.Inf(-1)
	with, seen := 0.0, 0
	for k, i := range r.rows {
		if !e.recorded.has(k) {
			continue
		}
		left := r.worst[k]
		if seen++; seen == tail {
			with = left
		}
		if seen > tail && left <= least && !signed {
			break
		}
		for _, c := range times {
			if v := c.Values[i]; !bad(v) {
				left -= v
			}
		}
		if left <= least {
			continue
		}
		if top = append(top, left); len(top) == 2*tail {
			slices.Sort(top)
			least = top[tail]
			top = append(top[:0], top[tail:]...)
		}
	}
	slices.Sort(top)
	return max(0, part(with, max(0, top[len(top)-tail])))
}

// sampleLimit returns up to which hash rows are in the sample of n.
func sampleLimit(n int) uint64 {
	if n <= sampled {
		return math.MaxUint64
	}
	return uint64(float64(sampled) / float64(n) * math.MaxUint64)
}

// atRandom reports whether those requests that recorded the event seem to be any ones: about as
// many of the slow ones as of all. Then what they say is true of all, and else only of
// themselves.
//
// They may be so many more or fewer as they are by chance, if each request was chosen by itself, or
// by a quarter: what is recorded in turns is so for some time, in which a program, or a machine
// that is shared, may be slower than at other times.
func (e *event) atRandom(r *ranked, p float64) bool {
	n := len(r.rows)
	part := float64(e.N) / float64(n)
	for _, slow := range []int{n / 2, above(p, n) + 1} {
		got := 0
		for k := range slow {
			if e.recorded.has(k) {
				got++
			}
		}
		want := float64(slow) * part
		if math.Abs(float64(got)-want) > max(4*math.Sqrt(want*(1-part))+1, want/4) {
			return false
		}
	}
	return true
}

// fewest is how many requests must be beyond the percentile, on either side.
const fewest = 10

// followParent removes a child that is in proportion to a parent.
func (e *event) followParent(r *ranked, byName map[string]*event) {
	for _, name := range e.Parents {
		parent := byName[name]
		if parent == nil || parent == e || e.Remark != "" {
			continue
		}
		var s sums
		for k, i := range r.rows {
			if e.recorded.has(k) && parent.recorded.has(k) {
				s.add(parent.Values[i], e.Values[i])
			}
		}
		if _, r2 := s.proportion(); s.n >= fewest && r2 > proportional {
			e.Remark, e.Parent = "in proportion to "+name, name
		}
	}
}

// adjust applies rule 1: what an event shares with one that can be its cause is that one's
// impact.
func adjust(events []*event, w *work) (pairs []Pair) {
	type sets struct{ a, b *event }
	known := make(map[sets]float64)
	shared := func(a, b *event) float64 {
		k := sets{a.first, b.first}
		j, ok := known[k]
		if !ok {
			w.compare()
			j = jaccard(a.high, a.recorded, b.high, b.recorded)
			known[k] = j
		}
		return j
	}
	for _, e := range events {
		if e.Remark != "" {
			continue
		}
		e.Adjusted = e.Raw
		for _, c := range events {
			if c == e || c.Remark != "" || c.Raw <= 0 || !c.mayCause(e.Column) {
				continue
			}
			j := shared(c, e)
			if a := e.Raw - j*min(c.Raw, c.Own); a < e.Adjusted {
				e.Adjusted, e.Cause, e.Jaccard = a, c.Name, j
			}
		}
		if e.Own < e.Adjusted {
			e.Adjusted, e.Cause, e.Jaccard = e.Own, "", 0
		}
	}
	for i, e := range events {
		for _, c := range events[:i] {
			if e.Remark != "" || c.Remark != "" || min(e.Adjusted, c.Adjusted) < leastImpact ||
				e.mayCause(c.Column) || c.mayCause(e.Column) || e.Group == Sum || c.Group == Sum {
				continue
			}
			if j := shared(c, e); j >= together {
				pairs = append(pairs, Pair{[2]string{c.Name, e.Name}, j})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b Pair) int { return cmp.Compare(b.Jaccard, a.Jaccard) })
	return pairs
}

const (
	leastImpact = 0.02 // below which an event has none: decoys reach that
	together    = 0.5  // Jaccard index from which on events occur together
)

// bootstrap bounds the raw impact: it is that of requests drawn anew, as many as there
// are, and again. How often one is drawn is nearly Poisson, of mean 1, and only those in
// the tail matter.
func (e *event) bootstrap(r *ranked, p float64, rnd *rand.Rand) {
	r.work.resample()
	with, without := newWalk(p, e.size(r), e.N, e.N), newWalk(p, e.size(r), e.N, e.N-e.High)
	impacts := make([]float64, resamples)
	for i := range impacts {
		impacts[i] = e.compare(r, with, without, func() float64 { return poisson(rnd) })
	}
	slices.Sort(impacts)
	e.Low, e.Above = impacts[resamples*25/1000], impacts[resamples*975/1000]
}

// poisson draws a number of mean 1.
func poisson(rnd *rand.Rand) float64 {
	u := rnd.Uint32()
	for k, limit := range poissonLimits {
		if u < limit {
			return float64(k)
		}
	}
	return float64(len(poissonLimits))
}

var poissonLimits = func() (list [12]uint32) {
	p, sum := math.Exp(-1), 0.0
	for k := range list {
		sum += p
		list[k] = uint32(min(sum*(1<<32), math.MaxUint32))
		p /= float64(k + 1)
	}
	return list
}()
