// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"cmd/pmu/internal/htmltext"
	"cmp"
	"fmt"
	"html"
	"io"
	"slices"
	"strconv"
	"strings"
)

// This file is a profile as a page of HTML. It needs nothing from elsewhere, and it is XML,
// too, so that tests can parse it. The graph is drawn without the script, which adds zoom,
// search and names in frames by their width; see script.go.
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

// ContentSecurityPolicy returns what a page of [Profile.WriteHTML] is allowed to do, for the
// header of this name: to have styles, and to run the one script that it has. The page says it
// itself, too.
func ContentSecurityPolicy() string {
	return "default-src 'none'; style-src 'unsafe-inline'; script-src '" + scriptHash() + "'"
}

// A page is one that is made.
type page struct {
	strings.Builder
	*Profile
	tree *tree
}

// put appends HTML, in which each %s is replaced by an argument, escaped.
func (p *page) put(format string, args ...string) {
	htmltext.Put(p, escape, format, args...)
}

// escape returns s escaped for HTML, without control characters and not too long: names may
// come from anybody. Lines stay lines.
func escape(s string) string {
	var b strings.Builder
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			b.WriteString("&#10;")
		}
		b.WriteString(html.EscapeString(clean(line)))
	}
	return b.String()
}

// clean returns s in one line of printable characters, and not too long.
func clean(s string) string { return htmltext.Clean(s, maxName) }

// WriteHTML writes a page with a flame graph and a table of functions. Widths are the first
// event, and colours the ratio. An error is one of w.
func (p *Profile) WriteHTML(w io.Writer) error {
	g := &page{Profile: p, tree: p.grow()}
	g.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<meta http-equiv="Content-Security-Policy" content="%s"/>
<title>%s</title>
<style>`+htmltext.Style+style+`</style>
</head>
<body>
`, ContentSecurityPolicy(), p.kind.long)
	g.head()
	g.remarks()
	g.graph()
	g.table()
	g.put("<script>" + script + "</script>\n</body>\n</html>\n")
	_, err := io.WriteString(w, g.String())
	return err
}

// head says what the page is about, with the legend.
func (g *page) head() {
	a, b := &g.events[0], &g.events[1]
	all := g.ratio(&g.total)
	switch {
	case len(g.raw.Sample) == 0:
		g.put("<h1>The profile has no samples</h1>\n")
	case all.none:
		g.put("<h1>There is no ratio of %s to %s</h1>\n", a.name, b.name)
	default:
		g.put("<h1>%s: %s %s</h1>\n", g.kind.long, g.quantity(all.value), percentError(all.err))
	}
	g.put("<table class=\"totals\">\n")
	for i := range g.events {
		g.put("<tr><td>%s</td><td class=\"n\">%s</td><td>in %s</td></tr>\n", g.events[i].name, g.amount(i, &g.total), g.samplesText(i, &g.total))
	}
	g.put("</table>\n<p>A frame is as wide as its part of the %s. Its colour is the ratio of all below it, by how it compares with the whole profile's:</p>\n<p class=\"legend\">", a.name)
	for c := range classes {
		if !all.none {
			g.put("<span><i class=\"c%s\"></i>%s</span>\n", strconv.Itoa(c), g.className(c))
		}
	}
	g.put("<span><i class=\"c%s\"></i>%s</span>\n", strconv.Itoa(uncertain), "error above "+limit(g.maxError))
	g.put("<span><i class=\"c%s\"></i>%s</span></p>\n", strconv.Itoa(noRatio), "no samples of one event")
	g.put("<p class=\"dim\">%s</p>\n", fmt.Sprintf("± is the standard error of a ratio, √(1/n₁ + 1/n₂), where n₁ and n₂ are the samples of the two events. It is above %s if both have fewer than %s, and such a ratio may well be chance.",
		limit(g.maxError), thousands(samplesFor(g.maxError))))
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

// title returns what there is to say of a frame.
func (g *page) title(n *node) string {
	var b strings.Builder
	b.WriteString(clean(n.name))
	for i := range g.events {
		fmt.Fprintf(&b, "\n%s: %s (%s) in %s", clean(g.events[i].name), g.amount(i, &n.total), percent(n.total.events[i], g.total.events[i]), g.samplesText(i, &n.total))
	}
	b.WriteString("\n" + g.verdict(&n.total))
	if n.own != n.total {
		own := "nothing"
		if n.own.events != [2]int64{} {
			own = fmt.Sprintf("%s (%s); %s", g.amount(0, &n.own), percent(n.own.events[0], g.total.events[0]), g.verdict(&n.own))
		}
		b.WriteString("\nitself: " + own)
	}
	return b.String()
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
		list = append(list, frame{n, left})
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

// A frame is a node that is drawn.
type frame struct {
	*node
	left int64 // of the first event, what is left of it
}

// graph draws the flame graph.
func (g *page) graph() {
	if g.total.events[0] == 0 {
		g.put("<p>There is nothing to draw, as there are no samples of %s.</p>\n", g.events[0].name)
		return
	}
	list, cut := g.drawn()
	depth := 0
	for _, f := range list {
		depth = max(depth, f.depth)
	}
	g.put("<form id=\"find\" hidden=\"\"><input id=\"query\" type=\"search\" placeholder=\"Find functions\" aria-label=\"Find functions\"/> <button id=\"reset\" type=\"button\">Show all</button> <span id=\"found\"></span></form>\n")
	g.put("<div id=\"graph\" style=\"height:%spx\">\n", strconv.Itoa((depth+1)*rowHeight))
	part := func(x int64) float64 { return 100 * float64(x) / float64(g.total.events[0]) }
	for _, f := range list {
		left, width := part(f.left), part(f.total.events[0])
		name := ""
		if width >= namedWidth {
			name = short(clean(f.name))
		}
		g.put("<div class=\"c%s\" style=\"left:%s%;width:%s%;top:%spx\" title=\"%s\">%s</div>\n", strconv.Itoa(g.class(&f.total)),
			strconv.FormatFloat(left, 'f', 4, 64), strconv.FormatFloat(width, 'f', 4, 64), strconv.Itoa(f.depth*rowHeight), g.title(f.node), name)
	}
	g.put("</div>\n<p id=\"about\"></p>\n")
	if g.tree.full {
		g.put("<p class=\"dim\">%s</p>\n", fmt.Sprintf("The profile has more than %s different frames. Those of the stacks with the least %s are left out.", thousands(maxNodes), g.events[0].name))
	}
	if cut.events != [2]int64{} {
		g.put("<p class=\"dim\">%s</p>\n", fmt.Sprintf("Not drawn are frames narrower than %v %%, deeper than %d, or beyond the widest %s. Stacks that have such a frame have %s of the %s and %s of the %s.",
			minWidth, maxDepth, thousands(maxFrames),
			percent(cut.events[0], g.total.events[0]), g.events[0].name, percent(cut.events[1], g.total.events[1]), g.events[1].name))
	}
}

// table writes the functions, those with the most of the first event first.
func (g *page) table() {
	if len(g.tree.functions) == 0 {
		return
	}
	list := make([]*function, 0, len(g.tree.functions))
	for _, f := range g.tree.functions {
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *function) int {
		return cmp.Or(cmp.Compare(b.own.events[0], a.own.events[0]), cmp.Compare(b.total.events[0], a.total.events[0]), strings.Compare(a.name, b.name))
	})
	g.put("<h2>Functions</h2>\n<p class=\"dim\">Itself: what a function has executed. With callees: and what it has called.</p>\n<div class=\"wide\"><table id=\"functions\">\n<thead><tr><th>Function</th>")
	for _, of := range []string{"itself", "with callees"} {
		g.put("<th class=\"n\">%s, %s</th><th class=\"n\">%s</th><th class=\"n\">error</th>", g.events[0].name, of, g.kind.short)
	}
	g.put("</tr></thead>\n<tbody>\n")
	for _, f := range list[:min(len(list), maxFunctions)] {
		g.put("<tr><td title=\"%s\">%s</td>", f.name, clean(f.name))
		for _, v := range []*values{&f.own, &f.total} {
			r := g.ratio(v)
			text, err := "none", ""
			if !r.none {
				text, err = g.quantity(r.value), percentError(r.err)
			}
			g.put("<td class=\"n\" title=\"%s\">%s</td><td class=\"n\"><i class=\"c%s\"></i>%s</td><td class=\"n\">%s</td>",
				g.amount(0, v)+" in "+g.samplesText(0, v)+"; "+g.events[1].name+": "+g.amount(1, v)+" in "+g.samplesText(1, v),
				percent(v.events[0], g.total.events[0]), strconv.Itoa(g.class(v)), text, err)
		}
		g.put("</tr>\n")
	}
	g.put("</tbody></table></div>\n")
	if left := list[min(len(list), maxFunctions):]; len(left) > 0 {
		var own values
		for _, f := range left {
			own.add(&f.own)
		}
		g.put("<p class=\"dim\">%s</p>\n", fmt.Sprintf("And %s more, which themselves have %s of the %s and %s of the %s.", thousands(int64(len(left))),
			percent(own.events[0], g.total.events[0]), g.events[0].name, percent(own.events[1], g.total.events[1]), g.events[1].name))
	}
}

// remarks writes the notes, above what they are about.
func (g *page) remarks() {
	for _, note := range g.notes[:min(len(g.notes), maxNotes)] {
		g.put("<p class=\"note\">%s</p>\n", note)
	}
	if n := len(g.notes) - maxNotes; n > 0 {
		g.put("<p class=\"note\">And %s more.</p>\n", thousands(int64(n)))
	}
}
