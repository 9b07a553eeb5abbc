// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package latency

import (
	"cmd/pmu/internal/flame"
	"embed"
	"fmt"
	"html/template"
	"internal/taskrecord"
	"io"
	"strconv"
)

//go:embed page/latency.html
var files embed.FS

//go:embed page/latency.css
var style string

var latencyPage = flame.Parse(style, nil, files, "page/latency.html")

// Links are those of a page among others.
type Links struct {
	Back, Callers, Callees string   // URLs; empty if there is none
	Kinds                  []string // names of others, and
	URLs                   []string // theirs
	More                   int      // so many kinds are not among them
	Missing                []string // sentences: what is left out
}

// WriteHTML writes a page with a flame graph, and the rows. Any error is from w.
func (k *Kind) WriteHTML(w io.Writer, links Links) error {
	return latencyPage.Write(w, &page{k, links})
}

// A page is what the page of a kind shows. Its graph is as wide as what slow requests have, or usual ones if there is no
// slow one.
type page struct {
	*Kind
	Links
}

func (p *page) Title() string { return "Latency of " + strconv.Quote(p.Name) }

// Heading says what the page is about.
func (p *page) Heading() string {
	s := "Where the latency of " + strconv.Quote(p.Name) + " goes"
	if x := &p.group[isSlow]; x.Requests > 0 {
		s += ": " + taskrecord.Duration(x.each(x.Time)) + " of a slow request"
	}
	return s
}

// Totals returns the groups, and how long their requests take.
func (p *page) Totals() [][2]string {
	return [][2]string{{"slow", p.groupText(isSlow)}, {"usual", p.groupText(isUsual)}}
}

// Widths says what the width of a frame is.
func (p *page) Widths() string { return groupNames[p.main()] + " requests" }

// main is the group that has the graph.
func (p *page) main() int {
	if p.group[isSlow].Requests > 0 {
		return isSlow
	}
	return isUsual
}

// Classes of frames: by how many times as much of it a slow request has.
var factors = [...]float64{0.25, 0.5, 0.71, 1.41, 2, 4}

const (
	middle  = 3
	atLeast = len(factors) + 1 // nobody knows if it is more
	nothing = len(factors) + 2 // to compare with
)

// class returns the class of a frame.
func (p *page) class(n *node) int {
	if p.group[isSlow].Requests == 0 || p.group[isUsual].Requests == 0 {
		return nothing
	}
	r := p.row(n)
	c := 0
	for c < len(factors) && float64(r.Slow) >= factors[c]*float64(r.Usual) {
		c++
	}
	if r.AtMost && c <= middle {
		return atLeast
	}
	return c
}

// A key says what a colour is.
type key struct {
	Class int
	Name  string
}

// Legend returns the colours that frames may have.
func (p *page) Legend() (list []key) {
	if p.class(p.tree.root) == nothing {
		return []key{{nothing, "there is nothing to compare with"}}
	}
	for c := range len(factors) + 1 {
		name := fmt.Sprintf("%v to %v times", factors[max(c-1, 0)], factors[min(c, len(factors)-1)])
		switch c {
		case 0:
			name = fmt.Sprintf("less than %v times", factors[0])
		case len(factors):
			name = fmt.Sprintf("%v times or more", factors[c-1])
		}
		list = append(list, key{c, name})
	}
	return append(list, key{atLeast, "not known"})
}

// A graph is the flame graph.
type graph struct {
	template.HTML
	Remark string // on what is not drawn
}

// Graph returns the flame graph, or nil if there is nothing to draw.
func (p *page) Graph() *graph {
	g := p.main()
	all := p.tree.root.time[g]
	if all == 0 {
		return nil
	}
	var cut int64
	x := &graph{HTML: flame.Draw(p.frames(p.tree.root, g), func(n *flame.Node, drawn bool) {
		if !drawn {
			cut += n.Value
		}
	}).HTML()}
	if cut > 0 {
		x.Remark = fmt.Sprintf("Not drawn are frames narrower than %v %%, or beyond the widest %d. Stacks that have such a frame have %.2g %% of the time.", flame.MinWidth, flame.MaxFrames, 100*float64(cut)/float64(all))
	}
	return x
}

// frames returns a node as a frame, with all below it.
func (p *page) frames(n *node, g int) *flame.Node {
	f := &flame.Node{Name: n.name, Value: int64(n.time[g]), Text: func() (int, []string) { return p.class(n), p.title(n, g) }}
	for _, kid := range n.kids {
		f.Kids = append(f.Kids, p.frames(kid, g))
	}
	return f
}

// title returns what there is to say of a frame, in lines.
func (p *page) title(n *node, g int) []string {
	r := p.row(n)
	lines := []string{n.name}
	for _, i := range [...]int{isSlow, isUsual} {
		if p.group[i].Requests > 0 {
			text := fmt.Sprintf("a %s request: %s", groupNames[i], p.cell(i, &r))
			if all := p.tree.root.time[i]; all > 0 && !(i == isUsual && r.AtMost) {
				text += fmt.Sprintf(", %.1f %%", 100*float64(n.time[i])/float64(all))
			}
			if n.samples[i] > 0 {
				text += ", in " + taskrecord.Count(n.samples[i], "sample")
			}
			lines = append(lines, text)
		}
	}
	if own := n.own[g]; own > 0 && len(n.kids) > 0 {
		lines = append(lines, "itself: "+taskrecord.Duration(p.group[g].each(own)))
	}
	return lines
}

// A cells is a row of the table.
type cells struct {
	Level             int
	Name, Slow, Usual string
	More              string
}

// Table returns the rows.
func (p *page) Table() (list []cells) {
	for _, r := range p.Rows() {
		c := cells{Name: r.where(), Slow: p.cell(isSlow, &r), Usual: p.cell(isUsual, &r)}
		switch {
		case len(r.Stack) > 0:
			c.Level = 2
		case r.Part != p.tree.root.name:
			c.Level = 1
		}
		if more := r.Slow - r.Usual; more > 0 && p.class(p.tree.root) != nothing {
			c.More = taskrecord.Duration(more)
			if r.AtMost {
				c.More = "at least " + c.More
			}
		}
		list = append(list, c)
	}
	return list
}

// Others returns the other kinds.
func (p *page) Others() (list []struct{ Name, URL string }) {
	for i, name := range p.Kinds {
		list = append(list, struct{ Name, URL string }{name, p.URLs[i]})
	}
	return list
}

// NotListed says how many other kinds there are besides; "" if there are none.
func (p *page) NotListed() string {
	if p.More == 0 {
		return ""
	}
	return "And " + taskrecord.Count(p.More, "other") + "."
}
