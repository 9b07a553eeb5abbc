// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"cmp"
	"math/bits"
	"slices"
)

// This file adds conditions to patterns, the best one of an attribute first. A genetic search draws
// conditions, and most are those of numbers: of 64 thresholds there are 2,016. Where two conditions
// describe a group only together, and one of them is a word, it has to draw one in thousands, and
// may end before it does. Each of the two still excludes what the other doesn't, so that either is
// a little better than none.

const (
	// joinWidth is how many patterns of each number of conditions are extended.
	joinWidth = 16

	// joinWords bounds the words of sets that are looked at for each number of conditions, which
	// makes fewer patterns of wide tables. As many take about 5 ms.
	joinWords = 8 << 20
)

// join returns the best pattern that it finds by adding conditions, or best. It extends several
// patterns of as many conditions, each by the best condition on each other attribute, and goes on
// while that makes a better one than all before.
func (x *search) join(best individual) individual {
	var attrs []uint16 // that a better pattern may have
	ends := 0
	for _, g := range x.genes {
		if len(attrs) == 0 || attrs[len(attrs)-1] != g.attr {
			attrs = append(attrs, g.attr)
			ends += len(x.attrs[g.attr].ends)
		}
	}
	if len(attrs) == 0 {
		return best
	}
	width := min(joinWidth, max(2, joinWords/(ends*len(x.buf))))
	list := []individual{{}}
	for n := 0; n < maxGenes; n++ {
		var next []individual
		for _, i := range list {
			x.met(i.list())
			for _, a := range attrs {
				if i.has(a) {
					continue
				}
				if g, f := x.extension(a); f > 0 {
					j := i
					j.add(g)
					j.f = f
					next = append(next, j)
				}
			}
		}
		slices.SortFunc(next, func(a, b individual) int {
			return cmp.Or(cmp.Compare(b.f, a.f), slices.CompareFunc(a.list(), b.list(), compareGenes))
		})
		next = slices.Compact(next)
		if next = next[:min(len(next), width)]; len(next) == 0 || n > 0 && !next[0].better(&best) {
			break
		}
		if next[0].better(&best) {
			best = next[0]
		}
		list = next
	}
	return x.polish(best)
}

// polish replaces conditions by better ones on the same attribute, until there are none.
func (x *search) polish(best individual) individual {
	for again := true; again; {
		again = false
		for k := range int(best.n) {
			rest := best
			rest.remove(k)
			x.met(rest.list())
			g, f := x.extension(best.genes[k].attr)
			rest.add(g)
			if rest.f = f; f > best.f {
				best, again = rest, true
			}
		}
	}
	return best
}

func compareGenes(a, b gene) int {
	return cmp.Or(cmp.Compare(a.attr, b.attr), cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi))
}

// met makes x.buf the set of the requests that meet all conditions.
func (x *search) met(genes []gene) {
	for i := range x.buf {
		x.buf[i] = ^uint64(0)
	}
	if odd := x.n % 64; odd > 0 {
		x.buf[len(x.buf)-1] = 1<<odd - 1
	}
	for _, g := range genes {
		in, out := x.bits(g)
		in, out = in[:len(x.buf)], out[:len(x.buf)]
		for i := range x.buf {
			x.buf[i] &= in[i] &^ out[i]
		}
	}
}

// extension returns the best condition on an attribute for those requests that are in x.buf, and F
// with it. F is 0 if there is none.
func (x *search) extension(attr uint16) (best gene, f float64) {
	type counts struct{ tp, all, first int }
	var from [max(maxEnds, maxWords) + 1]counts
	a := x.attrs[attr]
	pos := x.iv.hi - x.iv.lo
	for k, b := range a.from {
		from[k] = counts{countBoth(x.buf, b, x.iv.lo, x.iv.hi), countBoth(x.buf, b, 0, x.n), 0}
		if x.each != 1 {
			from[k].first = countBoth(x.buf, b, 0, x.first)
		}
	}
	x.work.try()
	try := func(g gene, c counts) {
		if v := x.weighted(c.tp, c.all-c.tp, c.first, pos); v > f && !x.whole(g) {
			best, f = g, v
		}
	}
	for lo := range a.from {
		if a.words {
			try(gene{attr: attr, lo: uint16(lo)}, from[lo])
			continue
		}
		for hi := len(a.from) - 1; hi > lo; hi-- { // without an end above, of those that are as good
			m, n := from[lo], from[hi]
			try(gene{attr, uint16(lo), uint16(hi)}, counts{m.tp - n.tp, m.all - n.all, m.first - n.first})
		}
	}
	return best, f
}

// countBoth returns how many of the bits [lo, hi) are set in both sets.
func countBoth(a, b bitset, lo, hi int) (n int) {
	if lo >= hi {
		return 0
	}
	i, j := lo/64, (hi-1)/64
	first := ^uint64(0) << (lo % 64)
	last := ^uint64(0) >> (63 - (hi-1)%64)
	if i == j {
		return bits.OnesCount64(a[i] & b[i] & first & last)
	}
	n = bits.OnesCount64(a[i]&b[i]&first) + bits.OnesCount64(a[j]&b[j]&last)
	a, b = a[i+1:j], b[i+1:j]
	b = b[:len(a)]
	for k, w := range a {
		n += bits.OnesCount64(w & b[k])
	}
	return n
}
