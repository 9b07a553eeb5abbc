// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math/rand/v2"
	"slices"
)

// A search is one for the pattern that describes an interval best.
type search struct {
	*space
	iv  interval
	rnd *rand.Rand
	buf bitset

	genes []gene // that a pattern better than the best known one may have, by attribute

	// Fitness by the genes, as many individuals are alike.
	known map[[maxGenes]gene]float64
}

func (s *space) newSearch(iv interval, rnd *rand.Rand) *search {
	return &search{space: s, iv: iv, rnd: rnd, buf: newBitset(s.n), known: make(map[[maxGenes]gene]float64)}
}

// best returns the best pattern for an interval, as far as it can be found: the best of all, if
// few patterns have to be looked at to know it, else the best of a genetic search that begins with
// what join finds.
func (s *space) best(iv interval, rnd *rand.Rand) []gene {
	if len(s.attrs) == 0 || iv.lo >= iv.hi {
		return nil
	}
	x := s.newSearch(iv, rnd)
	best := x.reduce()
	if !x.prove(&best) {
		best = x.evolve(x.join(best))
	}
	return slices.Clone(best.list())
}

// reduce returns the best pattern of one condition, or without any, and leaves in x.genes those
// conditions that a better one may have. Further conditions only lower recall, so that no pattern
// with a condition of recall r has more than 2r/(1+r) for F.
//
// It doesn't look at each condition's requests: those of an attribute are differences of sets
// each of which is in the one before.
func (x *search) reduce() (best individual) {
	pos := x.iv.hi - x.iv.lo
	best.f = x.f(nil, x.iv, x.buf)
	type counts struct{ tp, all, first int }
	var met []int // as tp, by index in x.genes
	add := func(g gene, n counts) {
		i := individual{n: 1, genes: [maxGenes]gene{g}, f: x.weighted(n.tp, n.all-n.tp, n.first, pos)}
		if i.better(&best) {
			best = i
		}
		x.genes, met = append(x.genes, g), append(met, n.tp)
	}
	var from []counts
	for j, a := range x.attrs {
		from = from[:0]
		for _, b := range a.from {
			from = append(from, counts{countRange(b, x.iv.lo, x.iv.hi), b.count(), countRange(b, 0, x.first)})
		}
		for lo, m := range from {
			if a.words {
				add(gene{attr: uint16(j), lo: uint16(lo)}, m)
				continue
			}
			for hi, n := range from[lo+1:] {
				g := gene{uint16(j), uint16(lo), uint16(lo + 1 + hi)}
				if !x.whole(g) {
					add(g, counts{m.tp - n.tp, m.all - n.all, m.first - n.first})
				}
			}
		}
	}
	k := 0
	for i, g := range x.genes {
		if r := float64(met[i]) / float64(pos); 2*r/(1+r) > best.f {
			x.genes[k] = g
			k++
		}
	}
	x.genes = x.genes[:k]
	return best
}

// proofs bounds how many patterns are looked at to prove that one is the best. As many take about
// as long as a genetic search.
const proofs = 5000

// A proof looks at all patterns that may be better than the best one that is known. It adds
// conditions in the order of their attributes, and none from which nothing better can come:
//   - recall is too low, see reduce;
//   - it excludes no request outside the interval that others don't exclude, so that the
//     pattern is as good without it;
//   - too many of those requests meet all the conditions that may still be added.
type proof struct {
	*search
	best   *individual
	starts []int    // of each attribute's conditions in genes, and the end of the last one's
	rest   []bitset // those that meet all conditions from there on
	met    [maxGenes + 1]bitset
	left   int
}

// prove makes best the best of all patterns and reports true, if it takes few to be looked at.
// Else best is at least as good as before.
func (x *search) prove(best *individual) bool {
	p := &proof{search: x, best: best, left: proofs}
	for i, g := range x.genes {
		if i == 0 || g.attr != x.genes[i-1].attr {
			p.starts = append(p.starts, i)
		}
	}
	if len(p.starts) < 2 {
		return true // there is nothing to be joined
	}
	p.starts = append(p.starts, len(x.genes))
	for i := range p.met {
		p.met[i] = newBitset(x.n)
	}
	for i := range x.n {
		p.met[0].set(i)
	}
	p.rest = make([]bitset, len(p.starts))
	p.rest[len(p.starts)-1] = p.met[0]
	for i := len(p.starts) - 2; i >= 0; i-- {
		in, out := x.all(x.genes[p.starts[i]:p.starts[i+1]])
		p.rest[i] = newBitset(x.n)
		for k, w := range p.rest[i+1] {
			p.rest[i][k] = w & in[k] &^ out[k]
		}
	}
	return p.extend(individual{}, x.n-(x.iv.hi-x.iv.lo), 0)
}

// all returns the two sets whose difference meets all of an attribute's conditions.
func (s *space) all(genes []gene) (in, out bitset) {
	all := genes[0]
	if s.attrs[all.attr].words {
		if len(genes) > 1 {
			return s.none, s.none
		}
		return s.bits(all)
	}
	for _, g := range genes {
		all.lo, all.hi = max(all.lo, g.lo), min(all.hi, g.hi)
	}
	return s.bits(all)
}

// extend adds conditions to i, which so many requests outside the interval meet, from the
// attribute on that is given. It reports whether it has looked at all that it had to.
func (p *proof) extend(i individual, fp, attr int) bool {
	pos := p.iv.hi - p.iv.lo
	met, next := p.met[i.n], p.met[i.n+1]
	for ; attr < len(p.starts)-1; attr++ {
		for _, g := range p.genes[p.starts[attr]:p.starts[attr+1]] {
			if p.left--; p.left < 0 {
				return false
			}
			p.work.try()
			in, out := p.bits(g)
			in, out, next := in[:len(met)], out[:len(met)], next[:len(met)]
			for k, w := range met {
				next[k] = w & in[k] &^ out[k]
			}
			tp := countRange(next, p.iv.lo, p.iv.hi)
			j := i
			j.add(g)
			if j.f = p.weighted(tp, 0, 0, pos); !j.better(p.best) {
				continue
			}
			n := next.count() - tp
			if n == fp {
				continue
			}
			if j.f = p.weighted(tp, n, countRange(next, 0, p.first), pos); j.better(p.best) {
				*p.best = j
			}
			if int(j.n) == len(j.genes) {
				continue
			}
			// What is the most that can come of it?
			rest := p.rest[attr+1][:len(next)]
			for k, w := range next {
				p.buf[k] = w & rest[k]
			}
			most := j
			most.n++
			most.f = p.weighted(tp, p.buf.count()-countRange(p.buf, p.iv.lo, p.iv.hi), countRange(p.buf, 0, p.first), pos)
			if most.better(p.best) && !p.extend(j, n, attr+1) {
				return false
			}
		}
	}
	return true
}
