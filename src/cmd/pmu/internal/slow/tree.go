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
	maxNodes  = 1_000_000 // of all trees
	maxTraces = 1024
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
	root    *node
	nodes   *int // of all trees
	kids    map[child]*node
	traces  map[string]int // of slow requests
	unknown float64        // value, of requests that are of neither group
}

type child struct {
	of   *node
	name string
}

func newTree(nodes *int) *tree {
	return &tree{root: &node{name: "all"}, nodes: nodes, kids: make(map[child]*node), traces: make(map[string]int)}
}

// add adds a sample.
func (t *tree) add(s *profile.Sample, e *event) {
	v := s.Value[e.column]
	verdict := verdictOf(s)
	switch {
	case verdict == "unknown":
		t.unknown += float64(v)
		return
	case v == 0 || verdict != "yes" && verdict != "no":
		return
	}
	samples := float64(v) / e.period
	if e.first {
		samples = float64(s.Value[0])
	}
	g, trace := isUsual, -1
	if verdict == "yes" {
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
				if n.depth == maxDepth || *t.nodes == maxNodes {
					return
				}
				kid = &node{name: name, up: n, depth: n.depth + 1}
				t.kids[child{n, name}] = kid
				n.kids = append(n.kids, kid)
				*t.nodes++
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

// rows returns the nodes whose share of slow requests is more than that of usual ones, beyond the error. If one
// within another says nearly as much, it is the inner one that is returned, as it is more precise; else the outer
// one. There are so many comparisons, and the errors hold for all of them together.
func (t *tree) rows(c *Comparison, comparisons int) []Row {
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
	quantile := quantile(1-0.025/float64(max(all, 1)*comparisons), c.Traces-1)
	var visit func(n *node) []Row
	visit = func(n *node) (rows []Row) {
		for _, kid := range n.kids {
			if kid.worth(t.root) {
				rows = append(rows, visit(kid)...)
			}
		}
		r, ok := t.row(n, c, quantile)
		if !ok || slices.ContainsFunc(rows, func(in Row) bool { return in.more() >= only*r.more() }) {
			return rows
		}
		return []Row{r}
	}
	rows := visit(t.root)
	slices.SortStableFunc(rows, func(a, b Row) int { return cmp.Compare(b.more(), a.more()) })
	return rows
}

// worth reports whether n is looked at.
func (n *node) worth(root *node) bool { return n.share(root, isSlow)+n.share(root, isUsual) >= 2*least }

func (n *node) share(root *node, group int) float64 {
	return float64(n.value[group]) / float64(root.value[group])
}

// row returns a node's row. ok reports whether its share is more for slow requests, beyond the error.
func (t *tree) row(n *node, c *Comparison, quantile float64) (r Row, ok bool) {
	if n == t.root {
		return r, false
	}
	r = Row{Slow: t.slowShare(n), Usual: n.share(t.root, isUsual)}
	r.Error = quantile * math.Sqrt(t.variance(n, c.Usual.Requests))
	if r.more() <= r.Error {
		return r, false
	}
	for x := n; x != t.root; x = x.up {
		r.Stack = append(r.Stack, x.name)
	}
	if v, ok := c.Slow.PerRequest(); ok {
		r.PerSlow = r.Slow * v
	}
	if v, ok := c.Usual.PerRequest(); ok {
		r.PerUsual = r.Usual * v
	}
	return r, true
}

// slowShare returns the share of n of slow requests: of those with a trace, as only these say how far to trust
// it. A path that few take may be in none of them, and have many samples of the others nevertheless.
func (t *tree) slowShare(n *node) float64 { return sum(n.traces) / sum(t.root.traces) }

func sum(values []int64) (s float64) {
	for _, v := range values {
		s += float64(v)
	}
	return s
}

// variance returns the variance of the difference of n's shares. usual is the number of usual requests, or 0.
func (t *tree) variance(n *node, usual int64) float64 {
	traces := float64(len(t.traces))
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
	between := squares / (all * all) * traces / (traces - 1)
	// Of the traced requests there are nearly so many samples.
	m := t.root.samples[isSlow] * all / float64(t.root.value[isSlow])
	alone := variance1(share*m, m)
	effect := max(between/alone, 1)

	// What is known of usual requests has no traces. They may differ from each other as much as slow ones, or
	// have nothing in common: then a request is one observation, whatever its number of samples.
	all, of := t.root.samples[isUsual], n.samples[isUsual]
	each := m / traces // as if they had as many samples as slow ones
	if usual > 0 {
		each = all / float64(usual)
	}
	return effect*alone + max(effect, each)*variance1(of, all)
}

// variance1 returns the variance of a share of x of n samples, if these are independent. It is not 0 if
// x is 0, or n.
func variance1(x, n float64) float64 {
	p := (x + 1) / (n + 2)
	return p * (1 - p) / n
}
