// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slow

import (
	"cmp"
	"internal/profile"
	"math"
	"slices"
)

// Bounds of what is made of a profile, which may be anybody's. What a stack has beyond them
// is counted where it is cut off.
const (
	maxDepth  = 200
	maxNodes  = 100_000
	maxTraces = 64
)

// The groups.
const (
	isUsual = iota
	isSlow
	groups
)

// A node is a function called by what is above.
type node struct {
	name    string
	up      *node
	depth   int
	kids    []*node
	value   [groups]int64 // of the function and what it calls
	samples [groups]float64
	traces  []int64 // value, of each trace of slow requests
}

// A tree is the stacks of a kind by an event, outermost functions first.
type tree struct {
	root   *node
	nodes  int
	kids   map[child]*node
	traces map[string]int
}

type child struct {
	of   *node
	name string
}

func newTree() *tree {
	return &tree{root: &node{name: "all"}, nodes: 1, kids: make(map[child]*node), traces: make(map[string]int)}
}

// add adds a sample.
func (t *tree) add(s *profile.Sample, e *event, slow bool) {
	v := s.Value[e.column]
	if v == 0 {
		return
	}
	samples := float64(v) / e.period
	if e.first {
		samples = float64(s.Value[0])
	}
	g, trace := isUsual, -1
	if slow {
		g = isSlow
		if id := label(s, labelTrace); id != "" {
			i, ok := t.traces[id]
			if !ok && len(t.traces) < maxTraces {
				i, ok = len(t.traces), true
				t.traces[id] = i
			}
			if ok {
				trace = i
			}
		}
	}
	n := t.root
	n.add(g, v, samples, trace)
	for _, l := range slices.Backward(s.Location) {
		for _, line := range slices.Backward(l.Line) {
			name := "[unknown]"
			if line.Function != nil && line.Function.Name != "" {
				name = line.Function.Name
			}
			kid := t.kids[child{n, name}]
			if kid == nil {
				if n.depth == maxDepth || t.nodes == maxNodes {
					return
				}
				kid = &node{name: name, up: n, depth: n.depth + 1}
				t.kids[child{n, name}] = kid
				n.kids = append(n.kids, kid)
				t.nodes++
			}
			n = kid
			n.add(g, v, samples, trace)
		}
	}
}

func (n *node) add(group int, v int64, samples float64, trace int) {
	n.value[group] += v
	n.samples[group] += samples
	if trace >= 0 {
		for len(n.traces) <= trace {
			n.traces = append(n.traces, 0)
		}
		n.traces[trace] += v
	}
}

// least is the mean of both shares below which a node is not looked at: what is rare in both groups
// makes nobody slow, and each node more makes all intervals wider.
const least = 0.005

// only is the part of a node's difference from which on a node below it says the same, more
// precisely.
const only = 0.8

// rows returns the nodes whose share of slow requests is more than that of usual ones, beyond the error. Of those
// of a path it returns the innermost one that has nearly all of the difference.
func (t *tree) rows(c *Comparison) []Row {
	all := 0
	var count func(n *node)
	count = func(n *node) {
		for _, kid := range n.kids {
			if kid.worth(t.root) {
				if kid.value != n.value { // else it is the same observation
					all++
				}
				count(kid)
			}
		}
	}
	count(t.root)
	var rows []Row
	var visit func(n *node)
	visit = func(n *node) {
		r, ok := t.row(n, all)
		if ok && !t.within(n, r.Slow-r.Usual) {
			if v, ok := c.Slow.PerRequest(); ok {
				r.PerSlow = r.Slow * v
			}
			if v, ok := c.Usual.PerRequest(); ok {
				r.PerUsual = r.Usual * v
			}
			rows = append(rows, r)
			return
		}
		for _, kid := range n.kids {
			if kid.worth(t.root) {
				visit(kid)
			}
		}
	}
	visit(t.root)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.Slow-b.Usual, a.Slow-a.Usual) })
	return rows
}

// worth reports whether n is looked at.
func (n *node) worth(root *node) bool { return n.share(root, isSlow)+n.share(root, isUsual) >= 2*least }

func (n *node) share(root *node, group int) float64 {
	return float64(n.value[group]) / float64(root.value[group])
}

// within reports whether one of the nodes that n calls has nearly all of a difference.
func (t *tree) within(n *node, difference float64) bool {
	return slices.ContainsFunc(n.kids, func(kid *node) bool {
		return t.slowShare(kid)-kid.share(t.root, isUsual) >= only*difference
	})
}

// row returns a node's row. ok reports whether its share is more for slow requests, beyond the error, as one of
// so many nodes.
func (t *tree) row(n *node, all int) (r Row, ok bool) {
	r = Row{Slow: t.slowShare(n), Usual: n.share(t.root, isUsual)}
	for x := n; x != t.root; x = x.up {
		r.Stack = append(r.Stack, x.name)
	}
	variance, degrees := t.variance(n)
	if n == t.root || degrees == 0 {
		return r, false
	}
	r.Error = quantile(1-0.025/float64(max(all, 1)), degrees) * math.Sqrt(variance)
	return r, r.Slow-r.Usual > r.Error
}

// slowShare returns the share of n of slow requests: of those with a trace, as only these say how far to trust
// it. A path that few take may be in none of them, and have many samples of the others nevertheless.
func (t *tree) slowShare(n *node) float64 {
	if len(t.traces) == 0 {
		return n.share(t.root, isSlow)
	}
	return sum(n.traces) / sum(t.root.traces)
}

func sum(values []int64) (s float64) {
	for _, v := range values {
		s += float64(v)
	}
	return s
}

// variance returns the variance of the difference of n's shares, and the degrees of freedom.
// These are 0 if nothing can be said: as all that is known is of one request.
func (t *tree) variance(n *node) (variance float64, degrees int) {
	// As if samples were independent.
	usual := variance1(n.samples[isUsual], t.root.samples[isUsual])
	switch traces := len(t.traces); traces {
	case 0: // the program has a label "trace" of its own
		return variance1(n.samples[isSlow], t.root.samples[isSlow]) + usual, 1 << 20
	case 1:
		return 0, 0
	default:
		all := sum(t.root.traces)
		share := sum(n.traces) / all
		squares := 0.0
		for i, v := range t.root.traces {
			r := -float64(v) * share
			if i < len(n.traces) {
				r += float64(n.traces[i])
			}
			squares += r * r
		}
		between := squares / (all * all) * float64(traces) / float64(traces-1)
		// Of the traced requests there are nearly so many samples.
		m := t.root.samples[isSlow] * all / float64(t.root.value[isSlow])
		alone := variance1(share*m, m)
		// What is known of usual requests has no traces. They may differ from each other as much.
		effect := max(between/alone, 1)
		return effect * (alone + usual), traces - 1
	}
}

// variance1 returns the variance of a share of x of n samples, if these are independent. It is not 0 if
// x is 0, or n.
func variance1(x, n float64) float64 {
	p := (x + 1) / (n + 2)
	return p * (1 - p) / n
}
