// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"errors"
	"internal/profile"
	"math"
	"path"
	"slices"
	"strings"
)

// Bounds of what is made of a profile, which may be anybody's. What a stack has beyond them
// is counted where it is cut off.
const (
	maxDepth = 200     // frames of a stack
	maxNodes = 100_000 // of the tree
)

// values are sums over samples.
type values struct {
	events  [2]int64
	samples int64 // of the event whose number of samples each stack has, if it is one of these
}

func (v *values) add(w *values) {
	v.events[0] += w.events[0]
	v.events[1] += w.events[1]
	v.samples += w.samples
}

// of returns the values of a sample.
func (p *Profile) of(s *profile.Sample) (v values) {
	if g := p.groups; g != nil {
		if i := g.Of(s); i >= 0 {
			v.events[i] = s.Value[g.Column]
		}
		return v
	}
	for i := range p.events {
		v.events[i] = s.Value[p.events[i].column]
		if p.events[i].first {
			v.samples = s.Value[0]
		}
	}
	return v
}

// sum returns the sum of all samples. All other sums are part of it, so they do not overflow.
func (p *Profile) sum() (all values, err error) {
	for _, s := range p.raw.Sample {
		v := p.of(s)
		for _, x := range []struct{ v, all int64 }{{v.events[0], all.events[0]}, {v.events[1], all.events[1]}, {v.samples, all.samples}} {
			if x.v < 0 {
				return all, errors.New("ratio: the profile has negative values, as the difference of two profiles has: show each of them")
			}
			if x.v > math.MaxInt64-x.all {
				return all, errors.New("ratio: the sum of the profile's values does not fit into 64 bits")
			}
		}
		all.add(&v)
	}
	return all, nil
}

// A node is a frame of the flame graph: a function called by what is above.
type node struct {
	name  string
	depth int
	kids  []*node
	total values // of the frame and all below
	own   values // of the frame itself
	cut   values // of what is below it and has no nodes, for the bounds
}

// A function is what a function has, wherever it is called.
type function struct {
	name       string
	total, own values
	seen       int // the last sample that had it
}

// A tree is a profile's stacks, and its functions.
type tree struct {
	root      *node
	nodes     int
	full      bool // more nodes were wanted
	functions map[string]*function
}

// grow returns the tree of the profile's stacks.
func (p *Profile) grow() *tree {
	t := &tree{root: &node{name: "all"}, nodes: 1, functions: make(map[string]*function)}
	t.root.total = p.total
	// Where the bounds cut, they shall cut what there is least of.
	list := slices.Clone(p.raw.Sample)
	slices.SortStableFunc(list, func(a, b *profile.Sample) int {
		va, vb := p.of(a), p.of(b)
		switch {
		case va.events[0] > vb.events[0]:
			return -1
		case va.events[0] < vb.events[0]:
			return 1
		}
		return 0
	})
	children := make(map[child]*node)
	for i, s := range list {
		v := p.of(s)
		if v.events == [2]int64{} {
			continue
		}
		stack := stackOf(s)
		t.count(stack, &v, i+1)
		n := t.root
		whole := true
		for _, name := range stack {
			kid := children[child{n, name}]
			if kid == nil {
				if n.depth == maxDepth || t.nodes == maxNodes {
					whole = false
					t.full = t.full || t.nodes == maxNodes
					break
				}
				kid = &node{name: name, depth: n.depth + 1}
				children[child{n, name}] = kid
				n.kids = append(n.kids, kid)
				t.nodes++
			}
			n = kid
			n.total.add(&v)
		}
		if whole {
			n.own.add(&v)
		} else {
			n.cut.add(&v)
		}
	}
	return t
}

// A child is a function below a node.
type child struct {
	of   *node
	name string
}

// count adds a sample to the functions of its stack.
func (t *tree) count(stack []string, v *values, sample int) {
	for i, name := range stack {
		f := t.functions[name]
		if f == nil {
			f = &function{name: name}
			t.functions[name] = f
		}
		if f.seen != sample {
			f.seen = sample
			f.total.add(v)
		}
		if i == len(stack)-1 {
			f.own.add(v)
		}
	}
}

// stackOf returns the functions of a sample's stack, outermost first.
func stackOf(s *profile.Sample) (stack []string) {
	for _, l := range slices.Backward(s.Location) {
		if len(l.Line) == 0 {
			stack = append(stack, unknown(l))
		}
		for _, line := range slices.Backward(l.Line) {
			if line.Function == nil || line.Function.Name == "" {
				stack = append(stack, unknown(l))
			} else {
				stack = append(stack, line.Function.Name)
			}
		}
	}
	return stack
}

// unknown returns what stands for the functions of a location that has no names.
func unknown(l *profile.Location) string {
	if l.Mapping == nil || l.Mapping.File == "" {
		return "[unknown]"
	}
	if strings.HasPrefix(l.Mapping.File, "[") { // such as [vdso]
		return l.Mapping.File
	}
	return "[" + path.Base(l.Mapping.File) + "]"
}
