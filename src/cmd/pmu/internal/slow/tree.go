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
	maxDepth = 200
	maxNodes = 1_000_000 // of all trees
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
	traces  [groups]perTrace // value
}

// A tree is the stacks of a kind by an event, outermost functions first.
type tree struct {
	root    *node
	nodes   *int // of all trees
	kids    map[child]*node
	traces  [groups]map[string]int
	unknown float64 // value, of requests that are of neither group
}

type child struct {
	of   *node
	name string
}

func newTree(nodes *int) *tree {
	t := &tree{root: &node{name: "all"}, nodes: nodes, kids: make(map[child]*node)}
	for g := range t.traces {
		t.traces[g] = make(map[string]int)
	}
	return t
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
	g := isUsual
	if verdict == "yes" {
		g = isSlow
	}
	trace := t.trace(g, label(s, labelTrace))
	n := t.root
	n.add(g, v, samples, trace)
	for _, l := range slices.Backward(s.Location) {
		for _, line := range slices.Backward(l.Line) {
			name := functionOf(&line)
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

// functionOf returns the name of a line's function.
func functionOf(l *profile.Line) string {
	if l.Function == nil || l.Function.Name == "" {
		return "[unknown]"
	}
	return l.Function.Name
}

// trace returns the number of a trace in a group, or -1.
func (t *tree) trace(group int, id string) int {
	if id == "" {
		return -1
	}
	traces := t.traces[group]
	i, ok := traces[id]
	if !ok {
		if len(traces) == maxTraces {
			return -1
		}
		i = len(traces)
		traces[id] = i
	}
	return i
}

func (n *node) add(group int, v int64, samples float64, trace int) {
	n.value[group] += v
	n.samples[group] += samples
	if trace >= 0 {
		n.traces[group].add(trace, v)
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
	q := quantiles{p: 1 - 0.025/float64(max(all, 1)*comparisons)}
	var visit func(n *node) []Row
	visit = func(n *node) (rows []Row) {
		for _, kid := range n.kids {
			if kid.worth(t.root) {
				rows = append(rows, visit(kid)...)
			}
		}
		r, ok := t.row(n, c, &q)
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
func (t *tree) row(n *node, c *Comparison, q *quantiles) (r Row, ok bool) {
	if n == t.root {
		return r, false
	}
	r = Row{Slow: t.slowShare(n), Usual: n.share(t.root, isUsual)}
	variance, freedom := t.variance(n, c.Usual.Requests)
	r.Error = q.of(freedom) * math.Sqrt(variance)
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
func (t *tree) slowShare(n *node) float64 {
	return n.traces[isSlow].sum() / t.root.traces[isSlow].sum()
}

// variance returns the variance of the difference of n's shares, and how many degrees of freedom it is known
// with. usual is the number of usual requests, or 0.
func (t *tree) variance(n *node, usual int64) (v float64, freedom int) {
	slow := t.clusters(n, isSlow, t.slowShare(n))
	all, of := t.root.samples[isUsual], n.samples[isUsual]
	known := float64(len(t.traces[isUsual]))
	if known < 2 {
		// What is known of usual requests has no traces. They may differ from each other as much as slow ones, or
		// have nothing in common: then a request is one observation, whatever its number of samples.
		each := slow.samples / slow.n // as if they had as many samples as slow ones
		if usual > 0 {
			each = all / float64(usual)
		}
		return slow.variance() + max(slow.effect, each)*variance1(of, all), int(slow.n) - 1
	}
	// The share is of all usual requests. The traces, which are of some of them, say what a sample is worth.
	x := t.clusters(n, isUsual, n.share(t.root, isUsual))
	a, b := slow.variance(), x.effect*variance1(of, all)
	// Welch and Satterthwaite.
	f := (a + b) * (a + b) / (a*a/(slow.n-1) + b*b/(x.n-1))
	return a + b, max(int(f), 1)
}

// A clustered is what the traces of a group say of a node's share.
type clustered struct {
	n       float64 // traces
	samples float64 // of them, nearly
	alone   float64 // variance of the share, as if samples were independent
	effect  float64 // how many times as large it is, as those of a request are not; 1 at least
}

func (c *clustered) variance() float64 { return c.effect * c.alone }

// clusters returns what the traces of a group say of n, whose share is known. The variance is that of a
// ratio, of the sums over traces.
func (t *tree) clusters(n *node, group int, share float64) clustered {
	root, of := t.root.traces[group].sorted(), n.traces[group].sorted()
	all := root.sum()
	c := clustered{n: float64(len(root)), samples: t.root.samples[group] * all / float64(t.root.value[group])}
	sum, squares := 0.0, 0.0
	for _, x := range root {
		r := -float64(x.value) * share
		if len(of) > 0 && of[0].trace == x.trace {
			r += float64(of[0].value)
			of = of[1:]
		}
		sum += r
		squares += r * r
	}
	if group == isUsual {
		// A path that few requests take may be in none of these traces, though it is in the share. Then they say nothing of
		// how these requests differ, and how far all traces together are from the share says it. It may be in no
		// request at all. So there is one more trace, of a request that does nothing else.
		r := all / c.n * (1 - share)
		squares = max(squares, sum*sum) + r*r
	}
	between := squares / (all * all) * c.n / (c.n - 1)
	c.alone = variance1(share*c.samples, c.samples)
	c.effect = max(between/c.alone, 1)
	return c
}

// variance1 returns the variance of a share of x of n samples, if these are independent. It is not 0 if
// x is 0, or n.
func variance1(x, n float64) float64 {
	p := (x + 1) / (n + 2)
	return p * (1 - p) / n
}
