// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math"
	"slices"
)

// This file has what the genetic search is compared with.

// A branch is a node of branch and bound: an explanation, and what may still be added.
type branch struct {
	genes   []gene
	support float64
	left    []gene
	mu      float64
}

// branchAndBound returns the best pattern that the search of Krushevskaja and Sandler
// (Understanding Latency Variations of Black Box Services, 2013) finds, as Traini and
// Cortellessa have it in the code of their evaluation: conditions are single clusters; a node
// is given up unless its recall is at least F*/(2-F*), and its support falls by at least
// its share of what is above mu.
func (s *space) branchAndBound(iv interval, count func(genes []gene, iv interval, buf bitset) (tp, fp int)) []gene {
	buf := newBitset(s.n)
	pos := float64(iv.hi - iv.lo)
	measure := func(genes []gene) (f, precision, recall, support float64) {
		tp, fp := count(genes, iv, buf)
		precision, recall, f = score(float64(tp), float64(fp), pos)
		return f, precision, recall, float64(tp + fp)
	}
	var features []gene
	for j, a := range s.attrs {
		for i := range len(a.ends) - 1 {
			features = append(features, gene{uint16(j), uint16(i), uint16(i + 1)})
		}
	}
	best, precision, _, support := measure(nil)
	var solution []gene
	queue := []branch{{nil, support, features, pos / precision}}
	for len(queue) > 0 {
		node := queue[0]
		queue = queue[1:]
		left := slices.Clone(node.left)
		for _, g := range node.left {
			genes := append(slices.Clone(node.genes), g)
			f, precision, recall, support := measure(genes)
			if recall < best/(2-best) || node.support-support < (node.support-node.mu)/float64(len(left)) {
				continue
			}
			if f > best || f == best && len(genes) < len(solution) {
				best, solution = f, genes
			}
			left = slices.DeleteFunc(left, func(h gene) bool { return h == g })
			child := branch{genes, support, nil, math.Min(node.mu, pos/precision)}
			for _, h := range left {
				if h.attr != g.attr {
					child.left = append(child.left, h)
				}
			}
			queue = append(queue, child)
		}
	}
	return solution
}

// scan is count by looking at each request, as the authors' code has it for branch and bound.
func (s *space) scan(genes []gene, iv interval, _ bitset) (tp, fp int) {
next:
	for k := range s.n {
		for _, g := range genes {
			if a, v := s.attrs[g.attr], s.attrs[g.attr].Values[s.rows[k]]; !(a.ends[g.lo] <= v && v < a.ends[g.hi]) {
				continue next
			}
		}
		if iv.lo <= k && k < iv.hi {
			tp++
		} else {
			fp++
		}
	}
	return tp, fp
}

// splitAll is split as the authors have it: it searches all intervals.
func (s *space) splitAll(from float64, splits []float64, best func(iv interval) []gene) []Pattern {
	d := s.newDivision(from, splits)
	s.parallel(d.k*(d.k+1)/2, func(n int) {
		i, j := pair(n, d.k)
		c, iv := d.at(i, j), d.interval(i, j)
		c.genes = best(iv)
		c.worth = s.worth(s.f(c.genes, iv, newBitset(s.n)), iv, d.price)
	})
	_, last := chain(d.k, func(i, j int) float64 { return d.at(i, j).worth })
	points := append([]float64{from}, splits...)
	var list []Pattern
	for j := d.k; j > 0; j = last[j] {
		if iv := d.interval(last[j], j); iv.lo < iv.hi {
			list = append(list, s.pattern(d.at(last[j], j).genes, points[last[j]], points[j], iv))
		}
	}
	slices.Reverse(list)
	return list
}

// pair returns the n-th pair i < j <= k.
func pair(n, k int) (i, j int) {
	for i = 0; n >= k-i; i++ {
		n -= k - i
	}
	return i, i + 1 + n
}

// points returns the degraded requests as points: a coordinate for each RPC.
func (s *session) points() (list [][]float64) {
	for _, i := range s.degraded {
		p := make([]float64, len(s.Columns))
		for j := range p {
			p[j] = s.Columns[j].Values[i]
		}
		list = append(list, p)
	}
	return list
}

// groups returns the clusters that labels make of the degraded requests.
func (s *session) groups(labels []int) [][]int32 {
	list := make([][]int32, slices.Max(labels)+1)
	for k, l := range labels {
		list[l] = append(list[l], s.degraded[k])
	}
	return list
}

func distance2(a, b []float64) (sum float64) {
	for j := range a {
		sum += (a[j] - b[j]) * (a[j] - b[j])
	}
	return sum
}

// kMeans returns the cluster of each point, by Lloyd's algorithm, from centers that are far
// from each other.
func kMeans(points [][]float64, k int) []int {
	centers := [][]float64{points[0]}
	for len(centers) < k {
		far, at := -1.0, 0
		for i, p := range points {
			d := math.Inf(1)
			for _, c := range centers {
				d = math.Min(d, distance2(p, c))
			}
			if d > far {
				far, at = d, i
			}
		}
		centers = append(centers, points[at])
	}
	labels := make([]int, len(points))
	for range 300 {
		moved := false
		for i, p := range points {
			best := 0
			for c := range centers {
				if distance2(p, centers[c]) < distance2(p, centers[best]) {
					best = c
				}
			}
			moved = moved || labels[i] != best
			labels[i] = best
		}
		if !moved {
			break
		}
		for c := range centers {
			sum, n := make([]float64, len(points[0])), 0.0
			for i, p := range points {
				if labels[i] == c {
					n++
					for j := range p {
						sum[j] += p[j]
					}
				}
			}
			if n > 0 {
				for j := range sum {
					sum[j] /= n
				}
				centers[c] = sum
			}
		}
	}
	return labels
}

// ward returns the cluster of each point when clusters have been merged until there are k:
// always those whose merging adds least to the sum of squares (Ward, 1963), by the formula of
// Lance and Williams.
func ward(points [][]float64, k int) []int {
	n := len(points)
	labels, size, d := make([]int, n), make([]float64, n), make([][]float64, n)
	for i := range points {
		labels[i], size[i], d[i] = i, 1, make([]float64, n)
		for j := range points {
			d[i][j] = distance2(points[i], points[j])
		}
	}
	for left := n; left > k; left-- {
		a, b, least := 0, 0, math.Inf(1)
		for i := range n {
			for j := range i {
				if size[i] > 0 && size[j] > 0 && d[i][j] < least {
					a, b, least = j, i, d[i][j]
				}
			}
		}
		for c := range n {
			if c != a && c != b && size[c] > 0 {
				v := ((size[a]+size[c])*d[a][c] + (size[b]+size[c])*d[b][c] - size[c]*least) / (size[a] + size[b] + size[c])
				d[a][c], d[c][a] = v, v
			}
		}
		size[a], size[b] = size[a]+size[b], 0
		for i := range labels {
			if labels[i] == b {
				labels[i] = a
			}
		}
	}
	number := make(map[int]int)
	for i, l := range labels {
		if _, ok := number[l]; !ok {
			number[l] = len(number)
		}
		labels[i] = number[l]
	}
	return labels
}

// shift returns the cluster of each point by mean shift over all coordinates, with a flat
// kernel, from each point.
func shift(points [][]float64, bandwidth float64) []int {
	var centers [][]float64
	labels := make([]int, len(points))
	for i, p := range points {
		c := slices.Clone(p)
		for range 300 {
			sum, n := make([]float64, len(p)), 0.0
			for _, q := range points {
				if distance2(c, q) <= bandwidth*bandwidth {
					n++
					for j := range q {
						sum[j] += q[j]
					}
				}
			}
			for j := range sum {
				sum[j] /= n
			}
			moved := distance2(c, sum)
			c = sum
			if moved < 1e-6*bandwidth*bandwidth {
				break
			}
		}
		labels[i] = slices.IndexFunc(centers, func(d []float64) bool { return distance2(c, d) <= bandwidth*bandwidth/4 })
		if labels[i] < 0 {
			labels[i] = len(centers)
			centers = append(centers, c)
		}
	}
	return labels
}
