// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math"
	"slices"
)

// turn returns the knot of the event's CDF that is the threshold. values are in order of rank.
//
// VarMRI takes the last knot below the percentile. But there are knots that are no step,
// where the CDF of the requests that the event hit bends, or wanders; a threshold there
// splits these requests, and the impact of one half is nothing, as the other half still
// make the tail. And several events that are each rarer than the tail can make it together. So
// of the knots that are in reach we take one whose impact is about the greatest, less by 4 % at
// most, or by half of the percentile's own error: of these, the one with the widest gap to
// the next value, which is where a step is.
func (e *event) turn(r *ranked, values []float64, p float64) (knot, string) {
	if e.N < Needed(p, 1) || e.N < 2*minRange {
		return knot{}, remarkFew
	}
	s := e.sample(r, values)
	n := len(s.sorted)
	if s.sorted[0] == s.sorted[n-1] {
		return knot{}, remarkConstant
	}
	e.CDF = newCDF(n, p, func(k int) float64 { return s.sorted[n-1-k] })
	var found []knot
	for _, k := range knots(s.sorted) {
		if k.part >= 1-mostHigh(p) && k.part <= 1-(1-p)/reach {
			found = append(found, k)
		}
	}
	if e.tried, e.knots = len(found), found; len(found) == 0 {
		return knot{}, remarkNoStep
	}
	return s.choose(found, p), ""
}

// A sample is an event's values in some of the requests that recorded it.
type sample struct {
	e      *event
	r      *ranked
	values []float64 // of all requests, by rank
	ranks  []int32   // of those in the sample
	sorted []float64 // their values
}

func (e *event) sample(r *ranked, values []float64) *sample {
	s := &sample{e: e, r: r, values: values}
	limit := sampleLimit(e.N)
	for k, v := range values {
		if e.recorded.has(k) && mix(uint64(r.rows[k])) <= limit {
			s.ranks, s.sorted = append(s.ranks, int32(k)), append(s.sorted, v)
		}
	}
	slices.Sort(s.sorted)
	return s
}

// without returns the percentile of those below the threshold of a knot, by the sample.
func (s *sample) without(p float64, t knot) float64 {
	var low float64
	n, size := float64(len(s.sorted)), float64(s.e.size(s.r))
	above := (1 - p) * size * float64(upperBound(s.sorted, t.value)) / n
	for j, k := range s.ranks {
		if s.values[k] <= t.value {
			low++
		}
		met := float64(j + 1)
		all := met * size / n
		if s.e.within == nil {
			all = float64(k + 1)
		}
		if all*low/met > above {
			return s.r.worst[k]
		}
	}
	return s.r.worst[s.ranks[len(s.ranks)-1]]
}

// choose returns the knot with the widest gap, of those whose impact is about the greatest.
func (s *sample) choose(found []knot, p float64) knot {
	n := len(s.sorted)
	all := knot{value: math.Inf(1)}
	sigma := math.Sqrt(p * (1 - p) / float64(n))
	wrong := (s.without(min(p+sigma, 1), all) - s.without(max(p-sigma, 0), all)) / 2
	drops := make([]float64, len(found))
	best := math.Inf(-1)
	for j, k := range found {
		drops[j] = s.without(p, all) - s.without(p, k)
		best = max(best, drops[j])
	}
	chosen, widest := knot{}, -1.0
	for j, k := range found {
		if drops[j] >= best-max(wrong/2, best/25) {
			gap := 0.0
			if next := upperBound(s.sorted, k.value); next < n {
				gap = s.sorted[next] - k.value
			}
			if gap >= widest {
				chosen, widest = k, gap
			}
		}
	}
	return chosen
}
