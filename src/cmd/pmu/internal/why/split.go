// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math"
	"math/rand/v2"
	"slices"
)

// maxSplits bounds the points at which a range of latency may be split.
const maxSplits = 24

// patterns describes the requests that took more than from: it splits their range of latency
// into intervals, by dynamic programming, such that what their patterns are worth is the
// greatest in sum. Worth is by how much F is above that of the pattern without conditions,
// times the number of requests, less the price of a pattern more. It returns nil if the crew was
// stopped.
//
// In the paper the sum is of F alone. That favours many intervals: one group of slow requests,
// which a condition describes with F 1, is split into four with 0.6 each.
func (s *space) patterns(from float64, splits []float64, seed uint64) []Pattern {
	return s.split(from, splits, func(iv interval, n uint64) []gene {
		return s.prune(s.best(iv, rand.New(rand.NewPCG(seed, n))), iv)
	})
}

// prune removes conditions, and ends of conditions, that F hardly needs: people have to read
// them. Then it moves ends to where there are wider gaps between values, as those tell apart what
// differs, and others what happens to be on either side.
func (s *space) prune(genes []gene, iv interval) []gene {
	buf := newBitset(s.n)
	least := s.f(genes, iv, buf) - needed
	for {
		best, better := 0.0, []gene(nil)
		try := func(i int, with ...gene) {
			other := slices.Replace(slices.Clone(genes), i, i+1, with...)
			if f := s.f(other, iv, buf); len(other) > 0 && f >= max(best, least) {
				best, better = f, other
			}
		}
		for i, g := range genes {
			try(i)
			if a := s.attrs[g.attr]; !a.words && g.lo > 0 && g.hi < a.last() {
				try(i, gene{g.attr, 0, g.hi})
				try(i, gene{g.attr, g.lo, a.last()})
			}
		}
		if better == nil {
			for i, g := range genes {
				a := s.attrs[g.attr]
				for end := uint16(1); !a.words && end < a.last(); end++ {
					if g.lo > 0 && end < g.hi && a.gaps[end] > a.gaps[g.lo] {
						try(i, gene{g.attr, end, g.hi})
					}
					if g.hi < a.last() && end > g.lo && a.gaps[end] > a.gaps[g.hi] {
						try(i, gene{g.attr, g.lo, end})
					}
				}
			}
		}
		if better == nil {
			return genes
		}
		genes = better
	}
}

const (
	// needed is by how much F may fall, in all, for conditions that are easier to read, or hold
	// more likely for other requests.
	needed = 0.02

	// price is what a pattern more has to be worth, as a part of the requests. Between 0.03
	// and 0.08 synthetic sessions with two causes get two patterns; at 0.01 they get a third
	// one every other time, of a few requests.
	price = 0.05
)

// A division is the ways to divide a range of requests into intervals, from one of k+1 points
// to another.
type division struct {
	k     int
	ranks []int   // of the first request above each point
	price float64 // of an interval
	cells []cell  // by the points where an interval begins and ends
}

// A cell is what is known of an interval.
type cell struct {
	genes []gene
	worth float64 // at most, until it is searched
	known bool
}

func (d *division) at(i, j int) *cell { return &d.cells[i*(d.k+1)+j] }

func (d *division) interval(i, j int) interval { return interval{d.ranks[i], d.ranks[j]} }

func (s *space) newDivision(from float64, splits []float64) *division {
	d := &division{k: len(splits), ranks: []int{upperBound(s.latency, from)}}
	for _, p := range splits {
		d.ranks = append(d.ranks, upperBound(s.latency, p))
	}
	d.price = price * float64(d.ranks[d.k]-d.ranks[0])
	d.cells = make([]cell, (d.k+1)*(d.k+1))
	for j := range d.k + 1 {
		for i := range j {
			d.at(i, j).worth = s.worth(1, d.interval(i, j), d.price)
		}
	}
	return d
}

// worth returns what an interval is worth with a pattern of that F.
func (s *space) worth(f float64, iv interval, price float64) float64 {
	if iv.lo >= iv.hi {
		return 0
	}
	return (f-s.f(nil, iv, nil))*float64(iv.hi-iv.lo) - price
}

// chain returns the greatest sum of what intervals are worth from the first point to each, and
// where the last of them begins.
func chain(k int, worth func(i, j int) float64) (sum []float64, last []int) {
	sum, last = make([]float64, k+1), make([]int, k+1)
	for j := 1; j <= k; j++ {
		sum[j] = math.Inf(-1)
		for i := range j {
			if v := sum[i] + worth(i, j); v > sum[j] {
				sum[j], last[j] = v, i
			}
		}
	}
	return sum, last
}

// split is patterns with a search, which is called several times at once, each with another
// number.
//
// It searches short intervals first, and no interval with which the sum can't be as great as
// one that there is, whatever F it had: often long ones that need two patterns.
func (s *space) split(from float64, splits []float64, best func(iv interval, n uint64) []gene) []Pattern {
	d := s.newDivision(from, splits)
	k := d.k
	for length := 1; length <= k; length++ {
		least, _ := chain(k, func(i, j int) float64 {
			if c := d.at(i, j); c.known {
				return c.worth
			}
			return math.Inf(-1)
		})
		most, _ := chain(k, func(i, j int) float64 { return d.at(i, j).worth })
		rest, _ := chain(k, func(i, j int) float64 { return d.at(k-j, k-i).worth })
		var begin []int
		for i := range k - length + 1 {
			if most[i]+d.at(i, i+length).worth+rest[k-i-length] >= least[k] {
				begin = append(begin, i)
			}
		}
		ok := s.parallel(len(begin), func(n int) {
			i, j := begin[n], begin[n]+length
			c, iv := d.at(i, j), d.interval(i, j)
			c.genes = best(iv, uint64(i*(k+1)+j))
			c.worth = s.worth(s.f(c.genes, iv, newBitset(s.n)), iv, d.price)
			c.known = true
		})
		if !ok {
			return nil
		}
	}
	_, last := chain(k, func(i, j int) float64 {
		if c := d.at(i, j); c.known {
			return c.worth
		}
		return math.Inf(-1)
	})
	points := append([]float64{from}, splits...)
	var list []Pattern
	for j := k; j > 0; j = last[j] {
		i := last[j]
		if iv := d.interval(i, j); iv.lo < iv.hi {
			list = append(list, s.pattern(d.at(i, j).genes, points[i], points[j], iv))
		}
	}
	slices.Reverse(list)
	return list
}

// splitPoints returns the points at which the range of sorted latencies may be split: the
// starts of their clusters, without the first one, and the last latency.
//
// A point is the greatest latency below a cluster, as intervals do not include their lower
// end.
func splitPoints(sorted []float64, bandwidth float64) []float64 {
	if len(sorted) == 0 {
		return nil
	}
	starts := thresholds(sorted, bandwidth)
	var points []float64
	for _, v := range starts[1:] {
		points = append(points, sorted[lowerBound(sorted, v)-1])
	}
	for len(points) >= maxSplits {
		for i := 0; i < len(points); i++ {
			points = append(points[:i], points[i+1:]...)
		}
	}
	return append(points, sorted[len(sorted)-1])
}
