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
// times the number of requests.
//
// In the paper the sum is of F alone. That favours many intervals: one group of slow requests,
// which a condition describes with F 1, is split into four with 0.6 each.
func (s *space) patterns(from float64, splits []float64, seed uint64) []Pattern {
	return s.split(from, splits, func(iv interval, n uint64) []gene {
		return s.best(iv, rand.New(rand.NewPCG(seed, n)))
	})
}

// prune removes conditions, and ends of conditions, that F hardly needs: people have to read
// them.
func (s *space) prune(genes []gene, iv interval) []gene {
	buf := newBitset(s.n)
	f := s.f(genes, iv, buf)
	for {
		best, simpler := f-needed, []gene(nil)
		try := func(i int, with ...gene) {
			less := slices.Replace(slices.Clone(genes), i, i+1, with...)
			if g := s.f(less, iv, buf); len(less) > 0 && g >= best {
				best, simpler = g, less
			}
		}
		for i, g := range genes {
			try(i)
			if last := uint16(len(s.attrs[g.attr].ends) - 1); !s.attrs[g.attr].words && g.lo > 0 && g.hi < last {
				try(i, gene{g.attr, 0, g.hi})
				try(i, gene{g.attr, g.lo, last})
			}
		}
		if simpler == nil {
			return genes
		}
		genes = simpler
	}
}

// needed is by how much the conditions that are removed may lower F, in all.
const needed = 0.02

// split is patterns with a search, which is called several times at once, each with another
// number. It returns nil if the crew was stopped.
func (s *space) split(from float64, splits []float64, best func(iv interval, n uint64) []gene) []Pattern {
	points := append([]float64{from}, splits...)
	k := len(points) - 1
	if k < 1 {
		return nil
	}
	ranks := make([]int, len(points)) // of the first request above each point
	for i, p := range points {
		ranks[i] = upperBound(s.latency, p)
	}
	type cell struct {
		genes []gene
		worth float64
	}
	cells := make([]cell, (k+1)*(k+1))
	ok := s.parallel(k*(k+1)/2, func(n int) {
		i, j := pair(n, k)
		iv := interval{ranks[i], ranks[j]}
		c := &cells[i*(k+1)+j]
		c.genes = best(iv, uint64(i*(k+1)+j))
		buf := newBitset(s.n)
		c.worth = (s.f(c.genes, iv, buf) - s.f(nil, iv, buf)) * float64(iv.hi-iv.lo)
	})
	if !ok {
		return nil
	}
	sum, last := make([]float64, k+1), make([]int, k+1)
	for j := 1; j <= k; j++ {
		sum[j] = math.Inf(-1)
		for i := range j {
			if v := sum[i] + cells[i*(k+1)+j].worth; v > sum[j] {
				sum[j], last[j] = v, i
			}
		}
	}
	var list []Pattern
	for j := k; j > 0; j = last[j] {
		i := last[j]
		if ranks[i] < ranks[j] {
			list = append([]Pattern{s.pattern(cells[i*(k+1)+j].genes, points[i], points[j], interval{ranks[i], ranks[j]})}, list...)
		}
	}
	return list
}

// pair returns the n-th pair i < j <= k.
func pair(n, k int) (i, j int) {
	for i = 0; n >= k-i; i++ {
		n -= k - i
	}
	return i, i + 1 + n
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
