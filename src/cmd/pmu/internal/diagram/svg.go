// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package diagram draws the records of tasks: what a task did when, what a request did on
// which server, and where time went.
//
// A diagram is one svg element (SVG 1.1, https://www.w3.org/TR/SVG11/), without scripts
// and without anything from elsewhere. It can be a file of its own, or be a part of an
// HTML page. A page has at most one diagram of a kind, as the IDs in a diagram are those
// of its kind, and CSS knows the classes of all diagrams in a page: they are the same.
//
// Records may come from others, in any size. So texts are escaped, and cut to a length;
// times are clipped to what is drawn; and the number of elements is bounded: what is
// narrower than some pixels is drawn together with its neighbours, which the diagram says.
package diagram

import (
	"fmt"
	"internal/taskrecord"
	"io"
	"math"
	"runtime/pprof"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxShapes is how many stretches or tasks, about, a diagram draws as shapes of their own.
const maxShapes = 1500

// A partStyle is how a part of time looks.
//
// There are no fifteen colours that everybody can tell apart. So there are eight, those
// of Okabe and Ito (https://jfly.uni-koeln.de/color/), which most colour-blind people
// can; parts that have a colour in common are relatives, and one of them is hatched. Text
// in boxes and tooltips says the same, and so does the legend.
type partStyle struct {
	fill  string
	text  string // colour of text on it
	hatch string // the path of a pattern 6 wide and 6 high; empty if it is plain
}

const (
	hatchUp   = "M-1 1L1 -1M0 6L6 0M5 7L7 5"
	hatchDown = "M-1 5L1 7M0 0L6 6M5 -1L7 1"
	hatchBoth = hatchUp + hatchDown
)

var partStyles = [taskrecord.NumParts]partStyle{
	pprof.TimeRunning:      {"#009e73", "#000", ""},
	pprof.TimePreempted:    {"#009e73", "#000", hatchUp},
	pprof.TimeRunnable:     {"#e69f00", "#000", ""},
	pprof.TimeSyscall:      {"#56b4e9", "#000", ""},
	pprof.TimeC:            {"#56b4e9", "#000", hatchUp},
	pprof.TimeChan:         {"#0072b2", "#fff", ""},
	pprof.TimeSelect:       {"#0072b2", "#fff", hatchUp},
	pprof.TimeMutex:        {"#d55e00", "#000", ""},
	pprof.TimeSync:         {"#d55e00", "#000", hatchUp},
	pprof.TimeNetwork:      {"#cc79a7", "#000", ""},
	pprof.TimeSleep:        {"#aaaaaa", "#000", ""},
	pprof.TimeCoroutine:    {"#cc79a7", "#000", hatchUp},
	pprof.TimeGC:           {"#f0e442", "#000", ""},
	pprof.TimeStopTheWorld: {"#666666", "#fff", hatchBoth},
	pprof.TimeOther:        {"#aaaaaa", "#000", hatchDown},
}

// drawn returns the part that p is drawn as, whatever p is.
func drawn(p taskrecord.Part) taskrecord.Part { return min(p, taskrecord.NumParts-1) }

// svgStyle is the style sheet of all diagrams. What has a colour of its own in the dark
// has a class; parts of time look the same in both modes.
const svgStyle markup = `
.gotask{font:11px system-ui,sans-serif;color:#111;--paper:#fff;--soft:#f1f1f1;--grid:#ddd;--dim:#595959}
.gotask text{fill:currentColor}
.gotask .paper{fill:var(--paper,#fff)}
.gotask .soft{fill:var(--soft,#f1f1f1)}
.gotask .grid{fill:none;stroke:var(--grid,#ddd)}
.gotask .dim{fill:var(--dim,#595959)}
.gotask .b{font-weight:bold}
.gotask .head{font-size:14px;font-weight:bold}
.gotask .box{stroke:var(--paper,#fff);stroke-width:.5}
.gotask .region{fill:none;stroke:currentColor}
.gotask .task{fill:var(--soft,#f1f1f1);stroke:currentColor}
.gotask .other{fill:none;stroke:currentColor;stroke-dasharray:3 3;opacity:.7}
.gotask .wake{fill:none;stroke:currentColor}
.gotask .path{fill:none;stroke:currentColor;stroke-width:4;stroke-linejoin:round}
.gotask .stop{fill:currentColor;fill-opacity:.16;stroke:currentColor;stroke-opacity:.5}
.gotask .unsure{stroke-dasharray:4 3}
@media (prefers-color-scheme:dark){.gotask{color:#eee;--paper:#16181c;--soft:#272b31;--grid:#3a3f46;--dim:#aab}}
`

// An svgWriter makes a diagram.
type svgWriter struct {
	strings.Builder
	id     string // that IDs begin with
	parts  [taskrecord.NumParts]bool
	shapes int
}

// num appends a coordinate.
func (b *svgWriter) num(x float64) {
	if math.IsNaN(x) || math.Abs(x) > 1e6 {
		x = 0 // can't be, as times are clipped
	}
	s := strconv.FormatFloat(x, 'f', 1, 64)
	b.WriteString(strings.TrimSuffix(s, ".0"))
}

// Markup is what a diagram has as it is. It is made of constants: what is from a record is a string.
type markup string

// put appends m with args in the places of its %: numbers, strings, which are escaped, and markup.
func (b *svgWriter) put(m markup, args ...any) {
	rest := string(m)
	for _, arg := range args {
		before, after, ok := strings.Cut(rest, "%")
		if !ok {
			panic("diagram: too many arguments")
		}
		b.WriteString(before)
		rest = after
		switch v := arg.(type) {
		case string:
			b.text(v)
		case markup:
			b.WriteString(string(v))
		case int:
			b.WriteString(strconv.Itoa(v))
		case float64:
			b.num(v)
		default:
			panic(fmt.Sprintf("diagram: an argument of type %T", v))
		}
	}
	b.WriteString(rest)
}

// text appends s for both text and the values of attributes. Characters that XML can't
// hold, and those that change the direction of what follows, are replaced.
func (b *svgWriter) text(s string) {
	for _, c := range s {
		switch {
		case c == '&':
			b.WriteString("&amp;")
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c == '"':
			b.WriteString("&#34;")
		case c == '\'':
			b.WriteString("&#39;")
		case c == '\n':
			b.WriteString("&#10;")
		case c == '\t':
			b.WriteByte(' ')
		case c < ' ', 0x7f <= c && c < 0xa0, c == 0xfffe, c == 0xffff,
			0x202a <= c && c <= 0x202e, 0x2066 <= c && c <= 0x2069:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(c)
		}
	}
}

// title appends the tooltip of the element that is open: one line for each of lines.
func (b *svgWriter) title(lines ...string) {
	b.WriteString("<title>")
	first := true
	for _, line := range lines {
		if line == "" {
			continue
		}
		if !first {
			b.WriteString("&#10;")
		}
		first = false
		b.text(cut(oneLine(line), 500))
	}
	b.WriteString("</title>")
}

// label appends a text that begins, ends (anchor "end") or is centred ("middle") at x. It
// is cut to width; what is too narrow for three characters is left out.
func (b *svgWriter) label(x, y, width float64, anchor, class, s string) {
	n := int(width / charWidth)
	if n < 3 {
		return
	}
	s = cutWidth(oneLine(s), n)
	b.put(`<text x="%" y="%"`, x, y)
	if class != "" {
		b.put(` class="%"`, class)
	}
	if anchor != "" {
		b.put(` text-anchor="%"`, anchor)
	}
	b.put(">%</text>", s)
}

// charWidth is about how wide a character of a proportional font is, in pixels, at the
// size of the style sheet. A text that is cut a little early is better than one that
// runs into its neighbour.
const charWidth = 6.2

// box appends a box of a part of time, without ending it, for its title to follow.
func (b *svgWriter) box(p taskrecord.Part, x, y, w, h float64) {
	b.put(`<rect class="box" x="%" y="%" width="%" height="%" fill="%"`, x, y, max(w, 0.5), h, b.fill(p))
	b.shapes++
}

// boxLabel appends the text in a box, if it fits.
func (b *svgWriter) boxLabel(p taskrecord.Part, x, y, w float64, s string) {
	s = oneLine(s)
	n := textWidth(s)
	if float64(n)*charWidth+4 > w {
		return
	}
	st := &partStyles[drawn(p)]
	b.put(`<text x="%" y="%" text-anchor="middle" style="fill:%"`, x+w/2, y, st.text)
	if st.hatch != "" {
		// Without a border, the pattern makes the text hard to read.
		b.put(` stroke="%" stroke-width="3" paint-order="stroke"`, st.fill)
	}
	b.put(">%</text>", s)
}

// firstThatFits appends one of the texts in a box, if one fits.
func (b *svgWriter) firstThatFits(p taskrecord.Part, x, y, w float64, texts []string) {
	for _, s := range texts {
		if float64(textWidth(s))*charWidth+4 <= w {
			b.boxLabel(p, x, y, w, s)
			return
		}
	}
}

// fill returns the fill of a part.
func (b *svgWriter) fill(p taskrecord.Part) string {
	p = drawn(p)
	b.parts[p] = true
	if partStyles[p].hatch == "" {
		return partStyles[p].fill
	}
	return "url(#" + b.id + strconv.Itoa(int(p)) + ")"
}

// arrow appends a line with a head.
func (b *svgWriter) arrow(class string, x0, y0, x1, y1 float64) {
	b.put(`<path class="%" d="M% %L% %`, class, x0, y0, x1, y1)
	if l := math.Hypot(x1-x0, y1-y0); l > 4 {
		dx, dy := (x1-x0)/l, (y1-y0)/l
		b.put("M% %L% %L% %", x1-6*dx+3*dy, y1-6*dy-3*dx, x1, y1, x1-6*dx-3*dy, y1-6*dy+3*dx)
	}
	b.put(`"`)
	b.shapes++
}

// A legendItem explains something that is not a part of time.
type legendItem struct {
	name string
	draw func(x, y float64) // in a space 18 wide and 12 high
}

// legend appends the legend of the parts that were drawn, and of others, in lines that
// are width wide, and returns the y below it.
func (b *svgWriter) legend(x0, y, width float64, items ...legendItem) float64 {
	x := x0
	place := func(name string) (float64, float64) {
		w := float64(textWidth(name))*charWidth + 36
		if x+w > x0+width && x > x0 {
			x, y = x0, y+18
		}
		at := x
		x += w
		b.put(`<text x="%" y="%">%</text>`, at+23, y+10, name)
		return at, y
	}
	used := b.parts
	for p := range taskrecord.NumParts {
		if used[p] {
			at, y := place(p.String())
			b.box(p, at, y, 18, 12)
			b.put("/>\n")
		}
	}
	for _, item := range items {
		at, y := place(item.name)
		item.draw(at, y)
		b.put("\n")
	}
	return y + 18
}

// axis appends the times above a diagram from x to x+width and the grid beneath them.
func (b *svgWriter) axis(x, width, y, bottom float64, span time.Duration) {
	step := tick(span, int(width/90))
	b.put(`<path class="grid" d="`)
	for t := time.Duration(0); ; t += step {
		at := x + width*float64(t)/float64(span)
		b.put("M% %V%", at, y, bottom)
		if span-t < step {
			break
		}
	}
	b.put("\"/>\n")
	for t := time.Duration(0); ; t += step {
		at := x + width*float64(t)/float64(span)
		b.put(`<text class="dim" x="%" y="%" text-anchor="middle">%</text>`, at, y-4, tickText(t))
		if span-t < step {
			break
		}
	}
	b.put("\n")
}

// tick returns the least of 1, 2, 5, 10, ... ns that divides span into at most n steps.
func tick(span time.Duration, n int) time.Duration {
	n = max(n, 1)
	for unit := time.Duration(1); ; unit *= 10 {
		for _, f := range []time.Duration{1, 2, 5} {
			if step := f * unit; span/step < time.Duration(n) || unit >= 1e18 {
				return step
			}
		}
	}
}

func tickText(t time.Duration) string {
	if t == 0 {
		return "0" // of any unit
	}
	return taskrecord.Duration(t)
}

// finish writes the diagram to w, with all that comes before what is in b.
func (b *svgWriter) finish(w io.Writer, width, height float64, title, desc string) error {
	h := svgWriter{id: b.id}
	h.put("<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"gotask\" role=\"img\" width=\"%\" height=\"%\" viewBox=\"0 0 % %\" aria-label=\"%\">\n", width, height, width, height, cut(oneLine(title), 500))
	h.title(title)
	h.put("\n<desc>%</desc>\n<style>%</style>\n<defs>\n", cut(oneLine(desc), 2000), svgStyle)
	for p := range taskrecord.NumParts {
		if st := partStyles[p]; b.parts[p] && st.hatch != "" {
			line := "#000"
			if st.text != line {
				line = "#fff"
			}
			h.put("<pattern id=\"%%\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\"><rect width=\"6\" height=\"6\" fill=\"%\"/><path d=\"%\" stroke=\"%\" stroke-opacity=\".65\"/></pattern>\n", h.id, int(p), st.fill, st.hatch, line)
		}
	}
	h.put("</defs>\n<rect class=\"paper\" width=\"%\" height=\"%\"/>\n", width, height)
	if _, err := io.WriteString(w, h.String()); err != nil {
		return err
	}
	b.put("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}
