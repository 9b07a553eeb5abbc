// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package latency

import (
	"internal/taskrecord"
	"time"
)

// Bounds of what is made of records and profiles, which may be anybody's. What a stack has beyond them is
// counted where it is cut off.
const (
	maxDepth = 250
	maxNodes = 1_000_000 // of all kinds
)

// The groups.
const (
	isUsual = iota
	isSlow
	groups
)

// notKnown is the name of what nobody knows.
const notKnown = "not known"

// A node is a frame of what requests waited for, or executed.
type node struct {
	name    string
	up      *node
	depth   int
	kids    []*node
	unknown *node                 // the kid of that name
	call    bool                  // of a task: a wait for another one, which is known
	time    [groups]time.Duration // with all below
	own     [groups]time.Duration // that is of no kid
	others  [groups]time.Duration // of a wait: it may be for a goroutine that was in another kid of the same task
	shared  [groups]time.Duration // others, of all kids
	samples [groups]int64         // with all below, of what was executed
}

// A tree is a kind's latency, the root first.
type tree struct {
	root  *node
	nodes *int // of all trees
	kids  map[child]*node
}

type child struct {
	of   *node
	name string
}

func newTree(nodes *int) *tree {
	return &tree{root: &node{name: "latency"}, nodes: nodes, kids: make(map[child]*node)}
}

// add adds a time below the root, and returns the node that has it.
func (t *tree) add(names []string, g int, d time.Duration, samples int64) *node {
	return t.addTo(t.root, names, g, d, samples)
}

// addTo adds a time below n. What is above n gets it, too.
func (t *tree) addTo(n *node, names []string, g int, d time.Duration, samples int64) *node {
	for up := n; up != nil; up = up.up {
		up.time[g] += d
		up.samples[g] += samples
	}
	for _, name := range names {
		kid := t.kids[child{n, name}]
		if kid == nil {
			if n.depth == maxDepth || *t.nodes == maxNodes {
				break
			}
			kid = &node{name: name, up: n, depth: n.depth + 1}
			t.kids[child{n, name}] = kid
			n.kids = append(n.kids, kid)
			*t.nodes++
			if name == notKnown {
				n.unknown = kid
			}
		}
		n = kid
		n.time[g] += d
		n.samples[g] += samples
	}
	n.own[g] += d
	return n
}

// take takes d of what n itself has, to be added again below it.
func (n *node) take(g int, d time.Duration) {
	n.own[g] -= d
	for up := n; up != nil; up = up.up {
		up.time[g] -= d
	}
}

// marks notes what s, whose time n has just got, says of n and of the nodes above.
func (n *node) marks(s *taskrecord.PathStack, g int) {
	if s.Others && n.up != nil && n.depth == len(s.Frames)-1 { // else n itself has the time
		n.others[g] += s.Time
		n.up.shared[g] += s.Time
	}
	for ; n.up != nil; n = n.up {
		// Frames are a task, a call, a task, and so on, up to what the last one was in. The first one is the root.
		n.call = n.depth < s.Tasks && n.depth%2 == 1
	}
}

// atMost returns how much of a group's time n may have: with what is above it, and nobody knows below which kid, and with
// what tasks waited for, maybe for goroutines of their own. These have called no other task: it is known for which calls a
// task waited.
func (n *node) atMost(g int) time.Duration {
	d := n.time[g]
	for kid, up := n, n.up; up != nil; kid, up = up, up.up {
		d += up.own[g]
		if up.unknown != nil && up.unknown != kid {
			d += up.unknown.time[g]
		}
		if !kid.call {
			d += up.shared[g] - kid.others[g]
		}
	}
	return d
}
