// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package latency

import (
	"cmp"
	"fmt"
	"internal/taskrecord"
	"slices"
	"time"
)

// A Row is what requests waited for, or executed.
type Row struct {
	Stack       []string      // innermost first, within its part; empty if the row is all of a part
	Part        string        // or "latency", which is all
	Slow, Usual time.Duration // of a request, on average
	AtMost      bool          // Usual is so much at most: more is not known

	node *node
}

// Bounds of the rows.
const (
	maxParts  = 8
	maxStacks = 3 // of a part

	// least is which part of a request's latency a row has, at least.
	least = 0.01

	// certain is which part has to be known of what may be there; else that is what is said.
	certain = 0.95

	// only is which part of a node's excess a few nodes below it have that say the same, more precisely.
	only = 0.8
)

// Rows returns the latency; its parts, those first that slow requests have most of beyond usual ones; and
// within each the stacks that have most of that. The last one is of all parts that are too small.
func (k *Kind) Rows() []Row {
	root := k.row(k.tree.root)
	root.Part = k.tree.root.name
	rows := []Row{root}
	floor := time.Duration(least * float64(max(root.Slow, root.Usual)))
	var rest node
	shown, others := 0, 0
	for _, part := range k.byExcess(k.tree.root.kids) {
		x := k.row(part)
		if shown == maxParts || max(x.Slow, x.Usual) < floor {
			others++
			for g := range groups {
				rest.time[g] += part.time[g]
			}
			continue
		}
		shown++
		x.Part = part.name
		rows = append(append(rows, x), k.within(part, floor)...)
	}
	if others > 0 {
		x := k.row(&rest)
		x.Part = taskrecord.Count(others, "other part")
		rows = append(rows, x)
	}
	return rows
}

// within returns the rows within a part.
func (k *Kind) within(part *node, floor time.Duration) (rows []Row) {
	var inner []*node
	for _, kid := range part.kids {
		inner = append(inner, k.inner(kid, floor)...)
	}
	inner = k.byExcess(inner)
	for _, n := range inner[:min(len(inner), maxStacks)] {
		x := k.row(n)
		x.Part = part.name
		for ; n != part; n = n.up {
			x.Stack = append(x.Stack, n.name)
		}
		rows = append(rows, x)
	}
	return rows
}

// row returns what there is to say of n.
func (k *Kind) row(n *node) Row {
	r := Row{Slow: k.group[isSlow].each(n.time[isSlow]), Usual: k.group[isUsual].each(n.time[isUsual]), node: n}
	if most := n.atMost(isUsual); float64(n.time[isUsual]) < certain*float64(most) {
		r.Usual, r.AtMost = k.group[isUsual].each(most), true
	}
	return r
}

// excess returns how much more of n a slow request has than a usual one, or what either has, if there are none of the other.
func (k *Kind) excess(n *node) time.Duration {
	x := k.row(n)
	if k.group[isSlow].Requests == 0 {
		return x.Usual
	}
	return x.Slow - x.Usual
}

// byExcess orders nodes, those with most excess first.
func (k *Kind) byExcess(list []*node) []*node {
	return slices.SortedFunc(slices.Values(list), func(a, b *node) int {
		return cmp.Or(cmp.Compare(k.excess(b), k.excess(a)), cmp.Compare(a.name, b.name))
	})
}

// inner returns n, or a few nodes below it if these say nearly as much. What has less than floor is none.
func (k *Kind) inner(n *node, floor time.Duration) (list []*node) {
	all := k.excess(n)
	if all < floor {
		return nil
	}
	var sum time.Duration
	for _, kid := range n.kids {
		list = append(list, k.inner(kid, floor)...)
	}
	for _, in := range list {
		sum += k.excess(in)
	}
	if len(list) <= maxStacks && float64(sum) >= only*float64(all) {
		return list
	}
	return []*node{n}
}

// Notes returns sentences: what limits the rows.
func (k *Kind) Notes() (list []string) {
	switch {
	case k.group[isSlow].Requests == 0:
		list = append(list, "No slow request was recorded.")
	case k.group[isUsual].Requests == 0:
		list = append(list, "No usual request was recorded to compare with: Rate of task.Config says which part of all is.")
	default:
		if slices.ContainsFunc(k.Rows(), func(r Row) bool { return r.AtMost }) {
			list = append(list, "Records of usual requests have no timelines: they do not say where these waited, nor what a goroutine of their own did that they waited for. A time at most is the longest that it may be, and a colour is that of the least difference.")
		}
	}
	if k.clock == "" && k.run != nil {
		list = append(list, fmt.Sprintf("What requests execute while they run is not in their records: %s has samples of that, too.", "go tool pmu slow -latency"))
	}
	return append(list, k.notes...)
}

// groupText says how many requests there are, and how long they take.
func (k *Kind) groupText(g int) string {
	x := &k.group[g]
	if x.Requests == 0 {
		return "no request"
	}
	return fmt.Sprintf("%s, %s each", taskrecord.Count(x.Requests, "request"), taskrecord.Duration(x.each(x.Time)))
}
