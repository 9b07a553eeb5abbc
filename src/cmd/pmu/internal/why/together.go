// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// This file finds events that make the tail together, where none does by itself: where two delay
// more requests than the tail has, for as long, it is there without either.

// A Joint is of events of which each makes the tail where the others don't. Impact is that of the
// requests in which one of them is high, and Event has all their names.
type Joint struct {
	Impact

	// Events are each of them, with its threshold. Their impacts are those of each by itself.
	Events []Impact
}

const (
	// mostTogether bounds how many events there are in a Joint.
	mostTogether = 4

	// lessF is by how much F may be less for an event that may be the cause of the best one.
	lessF = 0.02
)

// A share is what an event, above a threshold, has of the slow requests.
type share struct {
	*event
	threshold knot
	delayed   bitset // the slow requests that it may have delayed, by rank
	f         float64
}

// jointly returns the events that make the tail together, or nil. Slow requests that are left are
// given to the event that describes them best, and again. Then events are left out without which the
// impact of all is as great.
//
// An event has to be recorded in all requests: of others it isn't known whether they are left.
func jointly(r *ranked, p float64, seed uint64, events []*event) *Joint {
	list := divide(r, p, events)
	if len(list) < 2 {
		return nil
	}
	all := join(r, p, list)
	for i := len(list) - 1; i >= 0; i-- {
		rest := slices.Delete(slices.Clone(list), i, i+1)
		if e := join(r, p, rest); all.Adjusted-e.Adjusted < leastCause {
			list, all = rest, e
		}
	}
	if len(list) < 2 {
		return nil
	}
	all.bootstrap(r, p, rand.New(rand.NewPCG(seed, uint64(len(events)))))
	all.Without = all.without(r, p)
	if !all.makesTail() {
		return nil
	}
	j := &Joint{Impact: all.Impact}
	for _, s := range list {
		e := join(r, p, []share{s})
		e.Event, e.Impact.Unit, e.Threshold, e.CDF = s.Name, s.Impact.Unit, s.threshold.value, s.CDF
		j.Events = append(j.Events, e.Impact)
	}
	return j
}

// divide gives slow requests to events, each time the most to one. It returns nil if the crew was stopped.
func divide(r *ranked, p float64, events []*event) (list []share) {
	n := len(r.rows)
	slow := r.slow(p)
	left := newBitset(n)
	for k := range slow {
		left.set(k)
	}
	shares := make([]share, len(events))
	if !r.parallel(len(events), func(i int) {
		if e := events[i]; e.Remark == "" && e.N == n && !e.Beside {
			shares[i] = share{event: e, delayed: e.delayed(r, slow)}
		}
	}) {
		return nil
	}
	shares = slices.DeleteFunc(shares, func(s share) bool { return s.event == nil })
	for len(list) < mostTogether && left.count() > 0 {
		if !r.parallel(len(shares), func(i int) { shares[i].fit(r, slow, left) }) {
			return nil
		}
		best := bestShare(shares)
		if best.f == 0 {
			break
		}
		list = append(list, best)
		for k := range slow {
			if best.isHigh(r, k) && best.delayed.has(k) {
				left[k/64] &^= 1 << (k % 64)
			}
		}
	}
	return list
}

// bestShare returns the event that describes the requests that are left best. An event that may be its cause
// and describes them as well is taken in its place.
func bestShare(shares []share) (best share) {
	for _, s := range shares {
		if s.f > best.f {
			best = s
		}
	}
	if best.f == 0 {
		return best
	}
	for _, s := range shares {
		if s.f >= best.f-lessF && s.mayCause(best.Column) {
			best = s
		}
	}
	return best
}

// makesTail reports whether the impact is worth a word, and not by chance.
func (e *Impact) makesTail() bool {
	return e.Remark == "" && e.Adjusted >= leastCause && e.Low > 0 && e.Chance < chance
}

// delayed returns those of the slow requests that the event may have delayed. Where its time is
// known, it has at least half of what the request took beyond the median: what is high in a request
// that another event has delayed did not.
func (e *event) delayed(r *ranked, slow int) bitset {
	b := newBitset(len(r.rows))
	times := e.times(r)
	time := func(k int) (sum float64) {
		for _, c := range times {
			if v := c.Values[r.rows[k]]; !bad(v) {
				sum += v
			}
		}
		return sum
	}
	n := len(r.rows)
	var some []float64
	for k := 0; times != nil && k < n; k += max(1, n/1000) {
		some = append(some, time(k))
	}
	slices.Sort(some)
	middle := r.worst[above(0.5, n)]
	for k := range slow {
		if times == nil || time(k)-some[len(some)/2] >= (r.worst[k]-middle)/2 {
			b.set(k)
		}
	}
	return b
}

func (s *share) isHigh(r *ranked, k int) bool { return s.Values[r.rows[k]] > s.threshold.value }

// fit finds the threshold above which the event describes best the slow requests that are left, of
// those that it may have delayed. F is 0 if there is none.
func (s *share) fit(r *ranked, slow int, left bitset) {
	var all, some []float64
	for k := range slow {
		if s.delayed.has(k) {
			v := s.Values[r.rows[k]]
			all = append(all, v)
			if left.has(k) {
				some = append(some, v)
			}
		}
	}
	slices.Sort(all)
	slices.Sort(some)
	s.f = 0
	for _, t := range s.knots {
		delayed, tp := len(all)-upperBound(all, t.value), len(some)-upperBound(some, t.value)
		high := (1 - t.part) * float64(len(r.rows))
		if _, _, f := score(float64(tp), max(0, high-float64(delayed)), float64(left.count())); f > s.f {
			s.threshold, s.f = t, f
		}
	}
}

// join returns the event that one of these is high.
func join(r *ranked, p float64, list []share) *event {
	n := len(r.rows)
	e := &event{Column: &Column{}, recorded: newBitset(n), high: newBitset(n)}
	e.N, e.Threshold, e.Own = n, nan, 1
	var names []string
	var times []*Column
	places, known := 0.0, true
	for _, s := range list {
		names = append(names, s.Name)
		places += s.places(r)
		of := s.times(r)
		known = known && of != nil
		for _, c := range of {
			if !slices.Contains(times, c) {
				times = append(times, c)
			}
		}
	}
	for k := range n {
		e.recorded.set(k)
		if slices.ContainsFunc(list, func(s share) bool { return s.isHigh(r, k) }) {
			e.high.set(k)
			e.High++
		}
	}
	if last := len(names) - 1; last > 0 {
		e.Event = strings.Join(names[:last], ", ") + " and " + names[last]
	}
	if e.Raw = e.impact(r, p); known && len(times) > 0 {
		e.Own = e.own(r, times, p)
	}
	e.Adjusted = min(e.Raw, e.Own)
	e.Chance = e.chance(r, p, places)
	return e
}

// places returns the logarithm of in how many places an event could have been found.
func (e *event) places(r *ranked) float64 { return math.Log(float64(e.tried * len(r.Columns))) }
