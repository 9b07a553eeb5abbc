// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math"
	"slices"
	"sync"
)

// The search for the pattern that describes an interval best is a genetic algorithm of the kind
// (mu + lambda): that of Cortellessa and Traini, Detecting Latency Degradation Patterns in
// Service-based Systems, ICPE 2020, with its parameters, but for patience.

const (
	population  = 100 // mu and lambda
	generations = 400
	tournament  = 20
	mutate      = 0.2 // the other children are crossed
	maxGenes    = 8

	// patience is after how many generations without anything better the search ends.
	patience = 20
)

// An individual is a pattern with its fitness.
type individual struct {
	n     uint8
	genes [maxGenes]gene // with different attributes, in their order
	f     float64        // F, or 0 if a condition is of no use
}

func (x *individual) list() []gene { return x.genes[:x.n] }

func (x *individual) has(attr uint16) bool {
	for _, g := range x.list() {
		if g.attr == attr {
			return true
		}
	}
	return false
}

func (x *individual) add(g gene) {
	i := int(x.n)
	for i > 0 && x.genes[i-1].attr > g.attr {
		x.genes[i] = x.genes[i-1]
		i--
	}
	x.genes[i] = g
	x.n++
}

func (x *individual) remove(i int) {
	copy(x.genes[i:], x.genes[i+1:x.n])
	x.n--
	x.genes[x.n] = gene{}
}

// better reports whether x is to be preferred to y: it has the greater F, or the fewer
// conditions.
func (x *individual) better(y *individual) bool {
	return x.f > y.f || x.f == y.f && x.n < y.n
}

// key returns a number by which individuals are sorted: the better one's is less. Below F and
// the number of conditions it has the index, for which it leaves out the last 10 bits of F.
func (x *individual) key(i int) uint64 {
	f := math.Float64bits(1) - math.Float64bits(x.f)
	return f<<2&^(1<<12-1) | uint64(x.n)<<8 | uint64(i)
}

const keyIndex = 1<<8 - 1

// evolve returns the best pattern that it finds, of those conditions that a pattern better than
// best may have, or best.
func (x *search) evolve(best individual) individual {
	rnd := x.rnd
	pop := make([]individual, population, 2*population)
	pop[0] = best
	for i := range pop[1:] {
		i := &pop[1+i]
		for range 2 {
			if g := x.random(); !i.has(g.attr) {
				i.add(g)
			}
		}
		x.evaluate(i)
	}
	next, ranks, winners := make([]individual, population, 2*population), make([]uint64, 2*population), winners()
	for n, since := 0, 0; n < generations && since < patience; n, since = n+1, since+1 {
		for range population / 2 {
			a, b := pop[rnd.IntN(population)], pop[rnd.IntN(population)]
			if rnd.Float64() < mutate {
				x.mutate(&a)
				x.mutate(&b)
			} else {
				x.cross(&a, &b)
			}
			x.evaluate(&a)
			x.evaluate(&b)
			pop = append(pop, a, b)
		}
		// A tournament of k among n is won by the rank r or a better one with the
		// probability 1-(1-r/n)^k. So with the ranks a draw is one random number.
		for i := range pop {
			ranks[i] = pop[i].key(i)
		}
		slices.Sort(ranks)
		if first := &pop[ranks[0]&keyIndex]; first.better(&best) {
			best, since = *first, 0
		}
		for i := range next {
			next[i] = pop[ranks[winners[rnd.IntN(len(winners))]]&keyIndex]
		}
		pop, next = next, pop[:population]
	}
	return best
}

// winners returns ranks as often as they win tournaments. Programs that never search don't
// make the table.
var winners = sync.OnceValue(func() *[4096]uint8 {
	list := new([4096]uint8)
	for i := range list {
		u := (float64(i) + 0.5) / float64(len(list))
		list[i] = uint8(2 * population * (1 - math.Pow(1-u, 1.0/tournament)))
	}
	return list
})

// random returns a condition.
func (x *search) random() gene { return x.genes[x.rnd.IntN(len(x.genes))] }

// mutate adds a condition, removes one, or moves one end of one.
func (x *search) mutate(i *individual) {
	switch kind := x.rnd.IntN(3); {
	case kind == 0:
		if g := x.random(); i.n < maxGenes && !i.has(g.attr) {
			i.add(g)
		}
	case i.n == 0:
	case kind == 1:
		i.remove(x.rnd.IntN(int(i.n)))
	default:
		g := &i.genes[x.rnd.IntN(int(i.n))]
		a := x.attrs[g.attr]
		end := uint16(x.rnd.IntN(len(a.ends)))
		switch {
		case a.words:
			g.lo = end
		case x.rnd.IntN(2) == 0 && end != g.hi:
			g.lo, g.hi = min(end, g.hi), max(end, g.hi)
		case end != g.lo:
			g.lo, g.hi = min(end, g.lo), max(end, g.lo)
		}
	}
}

// cross unites two individuals and divides the conditions at random: one gets a subset that is
// not empty, the other one the rest. Of two conditions on one attribute only one can stay.
func (x *search) cross(a, b *individual) {
	var all [2 * maxGenes]gene
	n := copy(all[:], a.list())
	for _, g := range b.list() {
		if !slices.Contains(a.list(), g) {
			all[n] = g
			n++
		}
	}
	*a, *b = individual{}, individual{}
	if n == 0 {
		return
	}
	x.rnd.Shuffle(n, func(i, j int) { all[i], all[j] = all[j], all[i] })
	k := 1 + x.rnd.IntN(n)
	for i, g := range all[:n] {
		to := a
		if i < k {
			to = b
		}
		if to.n < maxGenes && !to.has(g.attr) {
			to.add(g)
		}
	}
}

// evaluate sets the fitness.
func (x *search) evaluate(i *individual) {
	remember := len(x.buf) > 64 // else counting is no slower
	if remember {
		if f, ok := x.known[i.genes]; ok {
			i.f = f
			return
		}
	}
	i.f = 0
	useless := false
	for _, g := range i.list() {
		useless = useless || x.whole(g)
	}
	if !useless {
		i.f = x.f(i.list(), x.iv, x.buf)
	}
	if remember {
		x.known[i.genes] = i.f
	}
}
