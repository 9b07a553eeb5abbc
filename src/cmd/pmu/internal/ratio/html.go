// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"cmd/pmu/internal/flame"
	"cmp"
	"embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// This file is a profile as a page of HTML, which needs nothing from elsewhere. What is here is
// what the page shows; how it shows it is in the template. Less of the graph's colours is in the middle of
// the scale.

// Bounds of the page, besides those of the graph. It says how much they leave out.
const (
	maxFunctions = 200
	maxNotes     = 8
)

//go:embed page/ratio.css
var style string

//go:embed page/ratio.html
var files embed.FS

var ratioPage = flame.Parse(style, nil, files, "page/ratio.html")

// clean returns s in one line of printable characters, and not too long.
func clean(s string) string { return flame.Clean(s) }

// WriteHTML writes a page with a flame graph and a table of functions. Widths are the first
// event, and colours the ratio. Any error is from w.
func (p *Profile) WriteHTML(w io.Writer) error {
	return ratioPage.Write(w, &page{p, p.grow()})
}

// A page is what the page of a profile shows.
type page struct {
	*Profile
	tree *tree
}

func (g *page) Title() string { return g.kind.long }
func (g *page) Short() string { return g.kind.short }
func (g *page) First() string { return g.events[0].name }
func (g *page) Limit() string { return limit(g.maxError) }

// Samples returns how many of each event have an error of the limit.
func (g *page) Samples() string { return thousands(samplesFor(g.maxError)) }

// Heading says what the page is about.
func (g *page) Heading() string {
	all := g.ratio(&g.total)
	switch {
	case len(g.raw.Sample) == 0:
		return "The profile has no samples"
	case all.none:
		return fmt.Sprintf("There is no ratio of %s to %s", g.events[0].name, g.events[1].name)
	}
	return fmt.Sprintf("%s: %s %s", g.kind.long, g.quantity(all.value), percentError(all.err))
}

// Totals returns the name of each event, what was counted, and in how many samples.
func (g *page) Totals() (rows [2][3]string) {
	for i := range g.events {
		rows[i] = [3]string{g.events[i].name, g.amount(i, &g.total), g.samplesText(i, &g.total)}
	}
	return rows
}

// A key says what a colour is.
type key struct {
	Class int
	Name  string
}

// Legend returns the colours that frames may have.
func (g *page) Legend() (list []key) {
	for c := range classes {
		if !g.ratio(&g.total).none {
			list = append(list, key{c, g.className(c)})
		}
	}
	return append(list, key{uncertain, "error above " + g.Limit()}, key{noRatio, "no samples of one event"})
}

// Notes returns the notes, which are above what they are about.
func (g *page) Notes() []string {
	if n := len(g.notes) - maxNotes; n > 0 {
		return append(slices.Clone(g.notes[:maxNotes]), "And "+thousands(int64(n))+" more.")
	}
	return g.notes
}

// limit returns a limit of the error.
func limit(x float64) string { return strings.TrimPrefix(percentError(x), "±") }

// samplesFor returns how many samples of each event have that error.
func samplesFor(err float64) int64 {
	n := 2 / (err * err)
	if n > 1e15 {
		return 1e15
	}
	return max(int64(n+0.5), 1)
}

// amount returns what was counted of an event.
func (g *page) amount(i int, v *values) string {
	s := thousands(v.events[i])
	if g.events[i].unit == "nanoseconds" {
		s += " ns"
	}
	return s
}

// samplesText returns the number of samples of an event.
func (g *page) samplesText(i int, v *values) string {
	e := &g.events[i]
	n, _ := e.count(v.events[i], v.samples)
	rounded := int64(n + 0.5)
	about := "about "
	if e.first || v.events[i] == 0 || *v == g.total && !e.merged {
		about = ""
	}
	if about != "" && rounded == 0 {
		return "less than a sample"
	}
	if rounded == 1 {
		return about + "1 sample"
	}
	return about + thousands(rounded) + " samples"
}

// title returns what there is to say of a frame, in lines.
func (g *page) title(n *node) []string {
	lines := []string{n.name}
	for i := range g.events {
		lines = append(lines, fmt.Sprintf("%s: %s (%s) in %s", g.events[i].name, g.amount(i, &n.total), percent(n.total.events[i], g.total.events[i]), g.samplesText(i, &n.total)))
	}
	lines = append(lines, g.verdict(&n.total))
	if n.own != n.total {
		own := "nothing"
		if n.own.events != [2]int64{} {
			own = fmt.Sprintf("%s (%s); %s", g.amount(0, &n.own), percent(n.own.events[0], g.total.events[0]), g.verdict(&n.own))
		}
		lines = append(lines, "itself: "+own)
	}
	return lines
}

// verdict returns a ratio with its error, and says if that is too large.
func (g *page) verdict(v *values) string {
	s := g.text(g.ratio(v))
	if g.class(v) == uncertain {
		s += ", uncertain"
	}
	return s
}

// A graph is the flame graph.
type graph struct {
	*flame.Graph
	Remarks []string // on what isn't drawn
}

// Graph returns the flame graph, or nil if there is nothing to draw.
func (g *page) Graph() *graph {
	if g.total.events[0] == 0 {
		return nil
	}
	of := make(map[*flame.Node]*node)
	var cut values // of what is below the last of a stack that is drawn and isn't drawn itself
	x := &graph{Graph: flame.Draw(g.frames(g.tree.root, of), func(n *flame.Node, drawn bool) {
		if drawn {
			cut.add(&of[n].cut)
		} else {
			cut.add(&of[n].total)
		}
	})}
	if g.tree.full {
		x.Remarks = append(x.Remarks, fmt.Sprintf("The profile has more than %s different frames. Those of the stacks with the least %s are left out.", thousands(maxNodes), g.events[0].name))
	}
	if cut.events != [2]int64{} {
		x.Remarks = append(x.Remarks, fmt.Sprintf("Not drawn are frames narrower than %v %%, deeper than %d, or beyond the widest %s. Stacks that have such a frame have %s.",
			flame.MinWidth, maxDepth, thousands(flame.MaxFrames), g.parts(&cut)))
	}
	return x
}

// frames returns a node as a frame, with all below it, and notes in of which is which.
func (g *page) frames(n *node, of map[*flame.Node]*node) *flame.Node {
	f := &flame.Node{Name: n.name, Value: n.total.events[0], Text: func() (int, []string) { return g.class(&n.total), g.title(n) }}
	of[f] = n
	for _, kid := range n.kids {
		f.Kids = append(f.Kids, g.frames(kid, of))
	}
	return f
}

// parts says which parts of the two events some values are.
func (g *page) parts(v *values) string {
	return fmt.Sprintf("%s of the %s and %s of the %s", percent(v.events[0], g.total.events[0]), g.events[0].name, percent(v.events[1], g.total.events[1]), g.events[1].name)
}

// A table is that of the functions.
type table struct {
	Rows []row
	More string // on those that have no row, or ""
}

// A row is of what a function has executed itself, and of that with its callees.
type row struct {
	Name  string
	Cells [2]cell
}

type cell struct {
	Title, Part  string
	Class        int
	Ratio, Error string
}

// Functions returns the functions, those with the most of the first event first.
func (g *page) Functions() (t table) {
	list := slices.SortedFunc(maps.Values(g.tree.functions), func(a, b *function) int {
		return cmp.Or(cmp.Compare(b.own.events[0], a.own.events[0]), cmp.Compare(b.total.events[0], a.total.events[0]), strings.Compare(a.name, b.name))
	})
	shown := min(len(list), maxFunctions)
	for _, f := range list[:shown] {
		t.Rows = append(t.Rows, row{f.name, [2]cell{g.cell(&f.own), g.cell(&f.total)}})
	}
	if left := list[shown:]; len(left) > 0 {
		var own values
		for _, f := range left {
			own.add(&f.own)
		}
		t.More = fmt.Sprintf("And %s more, which themselves have %s.", thousands(int64(len(left))), g.parts(&own))
	}
	return t
}

func (g *page) cell(v *values) cell {
	c := cell{
		Title: g.amount(0, v) + " in " + g.samplesText(0, v) + "; " + g.events[1].name + ": " + g.amount(1, v) + " in " + g.samplesText(1, v),
		Part:  percent(v.events[0], g.total.events[0]),
		Class: g.class(v),
		Ratio: "none",
	}
	if r := g.ratio(v); !r.none {
		c.Ratio, c.Error = r.bound()+g.quantity(r.value), percentError(r.err)
	}
	return c
}
