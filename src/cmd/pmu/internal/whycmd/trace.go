// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	tracing "cmd/pmu/internal/spans"
	"cmp"
	"math"
	"slices"
)

// This file says which spans of a trace waited for which.

// A trace is the spans of one.
type trace struct {
	list     []tracing.Span
	parent   []int // in list, or -1
	children [][]int

	looks int // at spans: many more than there are would take minutes of a long trace
}

// newTrace finds the parents of spans, and aligns the clocks of services.
func newTrace(list []tracing.Span) *trace {
	t := &trace{list: list, parent: make([]int, len(list)), children: make([][]int, len(list))}
	byID, shared := make(map[[8]byte]int), make(map[[8]byte]int)
	for i := range list {
		if list[i].Shared {
			shared[list[i].ID] = i
		} else {
			byID[list[i].ID] = i
		}
	}
	for i := range list {
		t.looks++
		x := &list[i]
		p := -1
		if x.Shared {
			if c, ok := byID[x.ID]; ok {
				p = c // the client, whose ID it has
			}
		}
		if p < 0 && x.Parent != [8]byte{} {
			// Of two spans with the parent's ID, it is the one of the same service.
			c, ok := byID[x.Parent]
			if s, there := shared[x.Parent]; there && (!ok || list[s].Service == x.Service) {
				c, ok = s, true
			}
			if ok && c != i {
				p = c
			}
		}
		if t.parent[i] = p; p >= 0 {
			t.children[p] = append(t.children[p], i)
		}
	}
	t.align()
	return t
}

// align moves spans of other services than their parents' whose clock is off: a server's that is not
// within its client's, but not longer. As it isn't known how long each way took, it is then in the
// middle. What is below it moves with it.
func (t *trace) align() {
	// A stack, as chains may be as long as a file.
	type move struct {
		i  int
		by int64
	}
	var stack []move
	for i := range t.list {
		if t.parent[i] < 0 {
			stack = append(stack, move{i, 0})
		}
	}
	visited := make([]bool, len(t.list))
	for len(stack) > 0 {
		t.looks++
		m := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if visited[m.i] {
			continue
		}
		visited[m.i] = true
		x := &t.list[m.i]
		x.Start, x.End = x.Start+m.by, x.End+m.by
		if p := t.parent[m.i]; p >= 0 {
			c := &t.list[p]
			if c.Service != x.Service && c.Role == tracing.Client && x.Role == tracing.Server && (x.Start < c.Start || x.End > c.End) {
				if spare := (c.End - c.Start) - (x.End - x.Start); spare >= 0 {
					off := c.Start + spare/2 - x.Start
					x.Start, x.End, m.by = x.Start+off, x.End+off, m.by+off
				}
			}
		}
		for _, c := range t.children[m.i] {
			stack = append(stack, move{c, m.by})
		}
	}
}

// waited reports whether a span may have waited for one below it. It did not for messages, for what is
// said to follow, and for what goes on when it is at its end.
func (t *trace) waited(child int) bool {
	t.looks++
	c, p := &t.list[child], &t.list[t.parent[child]]
	return c.Role != tracing.Consumer && c.Role != tracing.Producer && p.Role != tracing.Producer && !c.Follows && c.Start >= p.Start && c.End <= p.End
}

// walk calls span for a root and all spans below it that are waited for, and async for those that are
// not, without what is below these. Each is visited once, whatever parents say.
func (t *trace) walk(root int, span, async func(i int)) {
	visited := make([]bool, len(t.list))
	visited[root] = true
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		i := queue[0]
		span(i)
		for _, c := range t.children[i] {
			switch {
			case visited[c]:
			case t.waited(c):
				visited[c] = true
				queue = append(queue, c)
			default:
				visited[c] = true
				async(c)
			}
		}
	}
}

// own returns the time of a span in which none below it ran for which it waited, and the time for
// which that isn't known: another one began while one ran, so that the span does not wait for it all the
// time, and later none but such ones ran.
func (t *trace) own(i int) (own, unknown int64) {
	s := &t.list[i]
	type run struct {
		from, to int64
		beside   bool
	}
	var list []run
	for _, c := range t.children[i] {
		if t.waited(c) {
			list = append(list, run{from: t.list[c].Start, to: t.list[c].End})
		}
	}
	slices.SortFunc(list, func(a, b run) int {
		t.looks++
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	// They are in order of when they begin, so that the next one that begins later is the first to
	// begin meanwhile.
	later := int64(math.MaxInt64)
	for k := len(list) - 1; k >= 0; k-- {
		t.looks++
		if k+1 < len(list) && list[k+1].from > list[k].from {
			later = list[k+1].from
		}
		list[k].beside = later < list[k].to
	}
	cover := func(beside bool) (sum int64) {
		at := s.Start
		for _, r := range list {
			t.looks++
			if (beside || !r.beside) && r.to > at {
				sum += r.to - max(r.from, at)
				at = r.to
			}
		}
		return sum
	}
	all, sure := cover(true), cover(false)
	return s.End - s.Start - all, all - sure
}
