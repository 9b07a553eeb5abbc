// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

// Knots of a distribution: where it turns. An event that occurs in some requests only, or
// much more often in some, has a knot at their part of all; so it shows what "high" is.
//
// The CDF is cut into ranges of as many points each, and neighbouring ranges become one
// line while a line describes both (VarMRI's algorithm).

const (
	// maxRanges is how many ranges a CDF is cut into: knots are exact to 0.1 %.
	maxRanges = 1000

	// minRange is the least number of points in a range. The sorted values of any
	// distribution wander about its CDF, and with few points in a range the wandering is more
	// than the turns are: R² of ten sorted values of a uniform distribution is below 0.95 in
	// every second range, of twenty in one of 5, and of fifty in one of 86. With more points, a
	// table of 1,000 requests would have few ranges. Knots that are no turns do little harm; see
	// event.turn.
	minRange = 20

	// straight is the least R² of ranges that one line describes.
	straight = 0.95
)

// A knot is a point of a CDF where one line ends and the next one begins.
type knot struct {
	part  float64 // of the values that are at or below
	value float64 // the greatest of them
}

// knots returns the knots of a distribution, of which it is given sorted values.
func knots(sorted []float64) []knot {
	n := len(sorted)
	ranges := min(maxRanges, n/minRange)
	if ranges < 2 {
		return nil
	}
	// The ranges differ by one point at most.
	bound := func(i int) int { return int(int64(i) * int64(n) / int64(ranges)) }
	type segment struct {
		sums
		end int // the index after its last value
	}
	var list []segment
	for i := range ranges {
		s := segment{end: bound(i + 1)}
		for j := bound(i); j < s.end; j++ {
			s.add(float64(j), sorted[j])
		}
		// A line that goes on ends the search at once: most do. Where a range has begun a line
		// of its own, the two before it may be one now, as it was only the wandering of a
		// range that kept them apart.
		for len(list) > 0 {
			last := &list[len(list)-1]
			both := last.merge(s.sums)
			a, b := both.line()
			if last.r2(a, b) < straight || s.r2(a, b) < straight {
				break
			}
			s.sums = both
			list = list[:len(list)-1]
		}
		list = append(list, s)
	}
	var found []knot
	for _, s := range list[:len(list)-1] {
		// A step is in a range, and the knot at an end of it. Where the gap is widest, the step is.
		width := n / ranges
		at := s.end
		for i := max(s.end-width, 1); i <= min(s.end+width, n-1); i++ {
			if sorted[i]-sorted[i-1] > sorted[at]-sorted[at-1] {
				at = i
			}
		}
		k := knot{float64(at) / float64(n), sorted[at-1]}
		if sorted[at] == k.value { // no threshold divides them
			continue
		}
		if len(found) == 0 || found[len(found)-1].value < k.value {
			found = append(found, k)
		}
	}
	return found
}

// upperBound returns the index of the first of sorted values that is above v.
func upperBound(sorted []float64, v float64) int {
	i, j := 0, len(sorted)
	for i < j {
		if h := int(uint(i+j) >> 1); sorted[h] <= v {
			i = h + 1
		} else {
			j = h
		}
	}
	return i
}

// lowerBound returns the index of the first of sorted values that is not below v.
func lowerBound(sorted []float64, v float64) int {
	i, j := 0, len(sorted)
	for i < j {
		if h := int(uint(i+j) >> 1); sorted[h] < v {
			i = h + 1
		} else {
			j = h
		}
	}
	return i
}
