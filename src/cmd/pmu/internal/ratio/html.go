// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"cmd/pmu/internal/htmltext"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file is a profile as a page of HTML, which needs nothing from elsewhere. What is here is
// what the page shows; how it shows it is in the template. The graph is drawn without the script,
// which adds zoom, search and names in frames by their width.
//
// Meaning is never in a colour alone: the numbers are in the frames' titles.

// Bounds of the page. It says how much they leave out.
const (
	maxFrames    = 5000
	minWidth     = 0.05 // of a frame, in percent of the graph
	namedWidth   = 2    // of a frame whose name is there without the script
	maxFunctions = 200
	maxNotes     = 8
	maxName      = 500
	rowHeight    = 19 // pixels
)

// Colours are those of a diverging scale from blue to orange, which the colour-blind tell
// apart, light enough for dark text. Less of them is in the middle.
//
//go:embed page/ratio.css
var style string

// The script reads what it needs from the frames: places from their styles, names and numbers
// from their titles. It has no "<" and no "&", as the page is XML, too.
//
//go:embed page/ratio.js
var script string

//go:embed page/ratio.html
var files embed.FS

// Names may come from anybody: the template cleans them, and html/template escapes all.
var ratioPage = htmltext.Parse(style, template.FuncMap{
	"clean":  clean,
	"policy": ContentSecurityPolicy,
	"script": func() template.JS { return template.JS(script) },
}, files, "page/ratio.html")

// ContentSecurityPolicy returns what a page of [Profile.WriteHTML] is allowed to do, for the
// header of this name: to have styles, and to run the one script that it has. The page says it
// itself, too.
func ContentSecurityPolicy() string {
	sum := sha256.Sum256([]byte(script))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// clean returns s in one line of printable characters, and not too long.
func clean(s string) string { return htmltext.Clean(s, maxName) }

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

// drawn returns the frames to draw, the parents before their children, from left to right,
// and what is below the last of a stack that is drawn and isn't drawn itself.
func (g *page) drawn() (list []frame, cut values) {
	least := int64(minWidth / 100 * float64(g.total.events[0]))
	keep := make(map[*node]bool)
	var all []*node
	var collect func(n *node)
	collect = func(n *node) {
		if n.total.events[0] > least || n == g.tree.root {
			all = append(all, n)
			for _, kid := range n.kids {
				collect(kid)
			}
		}
	}
	collect(g.tree.root)
	// Parents stay before children, which have no more than they.
	slices.SortStableFunc(all, func(a, b *node) int { return cmp.Compare(b.total.events[0], a.total.events[0]) })
	for _, n := range all[:min(len(all), maxFrames)] {
		keep[n] = true
	}
	var place func(n *node, left int64)
	place = func(n *node, left int64) {
		list = append(list, g.frame(n, left))
		cut.add(&n.cut)
		slices.SortFunc(n.kids, func(a, b *node) int { return strings.Compare(a.name, b.name) })
		for _, kid := range n.kids {
			if keep[kid] {
				place(kid, left)
			} else {
				cut.add(&kid.total)
			}
			left += kid.total.events[0]
		}
	}
	place(g.tree.root, 0)
	return list, cut
}

// A graph is the flame graph.
type graph struct {
	Height  int
	Frames  []frame
	Remarks []string // on what isn't drawn
}

// A frame is a node as it is drawn.
type frame struct {
	Class       int
	Left, Width string // percent
	Top         int
	Title       []string // lines
	Name        string
}

// frame returns a node as it is drawn, beside what is left of it.
func (g *page) frame(n *node, left int64) frame {
	part := func(v int64) float64 { return 100 * float64(v) / float64(g.total.events[0]) }
	width := part(n.total.events[0])
	f := frame{g.class(&n.total), strconv.FormatFloat(part(left), 'f', 4, 64), strconv.FormatFloat(width, 'f', 4, 64), n.depth * rowHeight, g.title(n), ""}
	if width >= namedWidth {
		f.Name = short(clean(n.name))
	}
	return f
}

// Graph returns the flame graph, or nil if there is nothing to draw.
func (g *page) Graph() *graph {
	if g.total.events[0] == 0 {
		return nil
	}
	list, cut := g.drawn()
	x := &graph{Frames: list}
	for _, f := range list {
		x.Height = max(x.Height, f.Top+rowHeight)
	}
	if g.tree.full {
		x.Remarks = append(x.Remarks, fmt.Sprintf("The profile has more than %s different frames. Those of the stacks with the least %s are left out.", thousands(maxNodes), g.events[0].name))
	}
	if cut.events != [2]int64{} {
		x.Remarks = append(x.Remarks, fmt.Sprintf("Not drawn are frames narrower than %v %%, deeper than %d, or beyond the widest %s. Stacks that have such a frame have %s.",
			minWidth, maxDepth, thousands(maxFrames), g.parts(&cut)))
	}
	return x
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
