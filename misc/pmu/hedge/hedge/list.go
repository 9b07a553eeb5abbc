// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

// A list is one of flights, in which each has a node of its own. The zero list is empty.
type list struct{ root node }

type node struct {
	next, prev *node
	flight     *flight
}

func (l *list) init() {
	if l.root.next == nil {
		l.root.next, l.root.prev = &l.root, &l.root
	}
}

// push adds n at the end.
func (l *list) push(n *node) {
	l.init()
	n.prev, n.next = l.root.prev, &l.root
	n.prev.next, n.next.prev = n, n
}

// first returns the first node, or nil.
func (l *list) first() *node { return l.after(&l.root) }

func (l *list) after(n *node) *node {
	if n.next == &l.root {
		return nil
	}
	return n.next
}

// remove removes n from its list, if it is in one.
func (n *node) remove() {
	if n.next == nil {
		return
	}
	n.prev.next, n.next.prev = n.next, n.prev
	n.next, n.prev = nil, nil
}
