// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package flame draws flame graphs on pages of HTML, which need nothing from elsewhere. A graph is drawn without the
// script, which adds zoom, search and names in frames by their width.
//
// Meaning is never in a colour alone: what there is to say is in the frames' titles.
package flame

import (
	"cmd/pmu/internal/htmltext"
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Bounds of what is drawn.
const (
	MaxFrames  = 5000
	MinWidth   = 0.05 // of a frame, in percent of the graph
	NamedWidth = 2    // of a frame whose name is there without the script
	MaxName    = 500
	RowHeight  = 19 // pixels
)

// A Node is a frame, as wide as its value.
type Node struct {
	Name  string
	Value int64
	Kids  []*Node // which have no more than Value in sum

	// Text returns the class of a frame that is drawn, a colour of the style sheet, and what there is to say of it, in lines: its name
	// is the first one.
	Text func() (class int, title []string)
}

// A Graph is a flame graph as it is drawn.
type Graph struct {
	Height int
	Frames []Frame
}

// A Frame is a node as it is drawn.
type Frame struct {
	Class       int
	Left, Width string // percent
	Top         int
	Title       []string // lines
	Name        string
}

// Draw draws a graph: the parents before their children, from left to right by name. It calls visit for each node that
// is drawn, and for those below one that are not.
func Draw(root *Node, visit func(n *Node, drawn bool)) *Graph {
	g := new(Graph)
	keep := widest(root)
	var place func(n *Node, left int64, depth int)
	place = func(n *Node, left int64, depth int) {
		g.Frames = append(g.Frames, n.frame(root, left, depth))
		g.Height = max(g.Height, (depth+1)*RowHeight)
		visit(n, true)
		for _, kid := range slices.SortedFunc(slices.Values(n.Kids), func(a, b *Node) int { return strings.Compare(a.Name, b.Name) }) {
			if keep[kid] {
				place(kid, left, depth+1)
			} else {
				visit(kid, false)
			}
			left += kid.Value
		}
	}
	place(root, 0, 0)
	return g
}

// widest returns the nodes that are drawn.
func widest(root *Node) map[*Node]bool {
	least := int64(MinWidth / 100 * float64(root.Value))
	var all []*Node
	var collect func(n *Node)
	collect = func(n *Node) {
		if n.Value > least || n == root {
			all = append(all, n)
			for _, kid := range n.Kids {
				collect(kid)
			}
		}
	}
	collect(root)
	// Parents stay before children, which have no more than they.
	slices.SortStableFunc(all, func(a, b *Node) int { return cmp.Compare(b.Value, a.Value) })
	keep := make(map[*Node]bool)
	for _, n := range all[:min(len(all), MaxFrames)] {
		keep[n] = true
	}
	return keep
}

// frame returns a node as it is drawn, beside what is left of it.
func (n *Node) frame(root *Node, left int64, depth int) Frame {
	part := func(v int64) float64 { return 100 * float64(v) / float64(root.Value) }
	percent := func(x float64) string { return strconv.FormatFloat(x, 'f', 4, 64) }
	width := part(n.Value)
	f := Frame{Left: percent(part(left)), Width: percent(width), Top: depth * RowHeight}
	f.Class, f.Title = n.Text()
	if width >= NamedWidth {
		f.Name = Short(Clean(n.Name))
	}
	return f
}

// Clean returns s in one line of printable characters, and not too long.
func Clean(s string) string { return htmltext.Clean(s, MaxName) }

// Short returns a function's name without the directories of its package. Other texts stay.
func Short(name string) string {
	end := strings.IndexAny(name, "([ \"")
	if end < 0 {
		end = len(name)
	}
	return name[strings.LastIndexByte(name[:end], '/')+1:]
}
