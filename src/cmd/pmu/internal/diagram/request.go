// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package diagram

import (
	"cmp"
	"fmt"
	"internal/taskrecord"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sizes of a causal diagram, and how much of a request is drawn.
const (
	rqBox = 34.0 // height of a task
	rqGap = 8.0

	maxBands    = 32 // servers
	maxTaskRows = 24 // of a server
)

// A causal is a causal diagram: time from left to right, and a band for each server
// (ddtrace, Braun and Qin, 2014).
type causal struct {
	svgWriter
	r       *taskrecord.Request
	span    time.Duration
	bands   []*band
	at      map[*taskrecord.Node]float64 // y of those that are drawn
	merged  int
	strips  bool // there is one in a box
	without struct{ servers, tasks int64 }
}

// A band is a server.
type band struct {
	nodes  []*taskrecord.Node
	at     []int // row of nodes; -1 if it isn't drawn
	rows   int
	y      float64
	height float64
	sliver []*taskrecord.Node // those too short for a box, in order of their start
}

// WriteRequest writes the causal diagram of a request, as SVG: which server worked on it when,
// a box for each task with what it took, and lines for the calls between servers. Times are
// aligned. Any error is from w.
func WriteRequest(w io.Writer, r *taskrecord.Request) error {
	d := &causal{r: r, span: max(r.Wall, 1), at: make(map[*taskrecord.Node]float64)}
	d.id = "gotask-r"
	bottom := d.place()
	title := "Request"
	if len(r.Roots) > 0 {
		title = r.Roots[0].Task.Kind + ", " + taskrecord.Duration(r.Wall)
	}
	d.put("<text class=\"head\" x=\"8\" y=\"20\">%</text>\n", cutWidth(oneLine(title), 100))
	d.put("<text class=\"dim\" x=\"%\" y=\"20\" text-anchor=\"end\">trace %</text>\n", tlWidth-20, r.Trace.String())
	for i, b := range d.bands {
		d.drawBand(b, i)
	}
	d.axis(tlGutter, tlPlot, tlAxis, bottom, d.span)
	for _, b := range d.bands {
		d.drawTasks(b)
	}
	d.drawCalls()
	d.drawPath()

	y := d.legend(tlGutter, bottom+12, tlPlot,
		legendItem{"call and answer", func(x, y float64) { d.arrow("wake", x+2, y, x+14, y+12); d.put("/>") }},
		legendItem{"critical path", func(x, y float64) { d.put(`<path class="path" d="M% %h18"/>`, x, y+6) }})
	for _, note := range d.notes() {
		d.put("<text class=\"dim\" x=\"%\" y=\"%\">%</text>\n", tlGutter, y+10, note)
		y += 16
	}
	return d.finish(w, tlWidth, y+8, "Causal diagram of "+title, d.desc())
}

func (d *causal) desc() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s.", taskrecord.Count(len(d.r.Nodes), "task"), taskrecord.Count(len(d.r.Servers), "server"))
	for i, c := range d.r.Causes() {
		if i == 5 {
			break
		}
		fmt.Fprintf(&b, " %s.", cut(c.String(), 200))
	}
	return b.String()
}

func (d *causal) clip(t time.Duration) time.Duration { return max(0, min(t, d.span)) }

func (d *causal) x(t time.Duration) float64 {
	return tlGutter + tlPlot*float64(d.clip(t))/float64(d.span)
}

func (d *causal) width(n *taskrecord.Node) float64 {
	return max(0, d.x(satAdd(n.Start, n.Task.Wall))-d.x(n.Start))
}

// place gives each server and task its place, and returns the y below them.
func (d *causal) place() float64 {
	servers := min(len(d.r.Servers), maxBands)
	d.without.servers = int64(len(d.r.Servers) - servers)
	for range servers {
		d.bands = append(d.bands, new(band))
	}
	least := d.leastBox()
	for _, n := range d.r.Nodes {
		switch {
		case uint(n.Server) >= uint(servers):
			d.without.tasks++
		case d.width(n) < least:
			b := d.bands[n.Server]
			b.sliver = append(b.sliver, n)
		default:
			b := d.bands[n.Server]
			b.nodes = append(b.nodes, n)
		}
	}
	byStart := func(a, b *taskrecord.Node) int { return cmp.Compare(a.Start, b.Start) }
	y := tlAxis + 6
	for _, b := range d.bands {
		slices.SortStableFunc(b.nodes, byStart)
		slices.SortStableFunc(b.sliver, byStart)
		b.y = y
		b.rows = len(packRows(b.nodes, maxTaskRows, func(n *taskrecord.Node) (time.Duration, time.Duration) {
			return d.clip(n.Start), d.clip(satAdd(n.Start, n.Task.Wall))
		}, func(n *taskrecord.Node, row int) {
			b.at = append(b.at, row)
			if row < 0 {
				d.without.tasks++
				return
			}
			d.at[n] = y + 6 + float64(row)*(rqBox+rqGap)
		}))
		b.height = max(float64(b.rows)*(rqBox+rqGap), 20) + 6
		if len(b.sliver) > 0 {
			if b.rows == 0 {
				b.height = 6
			}
			b.height += 12
			for _, n := range b.sliver {
				d.at[n] = y + b.height - 10
			}
		}
		y += b.height + 26
	}
	return y - 20
}

// leastBox returns the least width of a task that has a box.
func (d *causal) leastBox() float64 {
	for least := 3.0; ; least *= 2 {
		n := 0
		for _, node := range d.r.Nodes {
			if d.width(node) >= least {
				n++
			}
		}
		if n <= maxShapes/2 {
			return least
		}
	}
}

func (d *causal) drawBand(b *band, i int) {
	o := &d.r.Servers[i]
	name, lines := "server "+strconv.Itoa(i), []string(nil)
	if s := o.Server; s != nil {
		name = cmp.Or(s.Name, name)
		lines = append(lines, name, "process "+strconv.Itoa(s.PID))
	}
	moved := ""
	if o.Offset != 0 {
		moved = "clock moved by " + taskrecord.Duration(o.Offset)
		lines = append(lines, moved)
	}
	if o.Error >= 0 {
		lines = append(lines, "± "+taskrecord.Duration(o.Error))
	} else {
		lines = append(lines, "no call says how exact that is")
	}
	d.put("<g>")
	d.title(lines...)
	d.put(`<rect class="soft" x="4" y="%" width="%" height="%" rx="3"/>`, b.y, tlWidth-8, b.height)
	d.label(tlGutter-10, b.y+16, tlGutter-18, "end", "b", name)
	d.label(tlGutter-10, b.y+29, tlGutter-18, "end", "dim", moved)
	d.put("</g>\n")
}

func (d *causal) drawTasks(b *band) {
	for i, n := range b.nodes {
		if b.at[i] >= 0 {
			d.drawTask(n)
		}
	}
	// Slivers within 4 pixels of each other are one.
	for i := 0; i < len(b.sliver); {
		first := b.sliver[i]
		x, end, sum := d.x(first.Start), d.x(first.Start), time.Duration(0)
		j := i
		for ; j < len(b.sliver) && d.x(b.sliver[j].Start)-x < 4; j++ {
			n := b.sliver[j]
			end = max(end, d.x(n.Start)+d.width(n))
			sum = satAdd(sum, n.Task.Wall)
		}
		d.put(`<rect class="task" x="%" y="%" width="%" height="8">`, x, d.at[first], max(end-x, 2))
		d.shapes++
		if j == i+1 {
			d.title(nodeLines(first)...)
		} else {
			d.merged += j - i
			d.title(strconv.Itoa(j-i)+" short tasks, "+taskrecord.Duration(sum)+" in all", "the first: "+first.Task.Kind)
		}
		d.put("</rect>\n")
		i = j
	}
}

// nodeLines returns what there is to know about a task.
func nodeLines(n *taskrecord.Node) []string {
	t := n.Task
	lines := []string{t.Kind, span(n.Start, satAdd(n.Start, t.Wall)), "span " + t.Span.String()}
	for _, f := range taskrecord.AllFlags {
		if t.Flags&f.Flag != 0 {
			lines = append(lines, f.Words)
		}
	}
	for p, v := range t.Parts {
		if v > 0 {
			lines = append(lines, taskrecord.Part(p).String()+" "+taskrecord.Duration(v))
		}
	}
	for i, c := range t.Count {
		if i < len(t.Events) && i < 16 {
			lines = append(lines, t.Events[i]+" "+strconv.FormatUint(c.Value, 10))
		}
	}
	return lines
}

func (d *causal) drawTask(n *taskrecord.Node) {
	t := n.Task
	x, y, w := d.x(n.Start), d.at[n], d.width(n)
	d.put("<g>")
	d.title(nodeLines(n)...)
	d.put(`<rect class="task" x="%" y="%" width="%" height="%" rx="3" style="fill:var(--paper,#fff)"/>`, x, y, w, rqBox)
	d.shapes++
	head := t.Kind + ", " + taskrecord.Duration(t.Wall)
	if t.Flags&taskrecord.Failed != 0 {
		head = "failed " + head
	}
	d.label(x+5, y+12, w-8, "", "b", head)
	var counts []string
	for i, c := range t.Count {
		if i < len(t.Events) && len(counts) < 8 {
			counts = append(counts, cut(t.Events[i], 40)+" "+quantity(c.Value))
		}
	}
	if len(counts) == 0 {
		// The largest part of its time, if nothing was counted.
		most := taskrecord.Part(0)
		for p := range taskrecord.NumParts {
			if t.Parts[p] > t.Parts[most] {
				most = p
			}
		}
		if t.Parts[most] > 0 {
			counts = append(counts, most.String()+" "+taskrecord.Duration(t.Parts[most]))
		}
	}
	d.label(x+5, y+24, w-8, "", "dim", strings.Join(counts, ", "))
	// A strip says where the time of its goroutines went, by share: that is a sum, which is at no time.
	sum := time.Duration(0)
	for _, v := range t.Parts {
		sum = satAdd(sum, v)
	}
	at := x + 1
	for p, v := range t.Parts {
		if share := float64(max(v, 0)) / float64(max(sum, 1)) * (w - 2); share >= 0.5 {
			d.box(taskrecord.Part(p), at, y+rqBox-6, share, 5)
			d.put(">")
			d.title(fmt.Sprintf("%s %s, %.0f %% of the cost", taskrecord.Part(p), taskrecord.Duration(v), 100*float64(v)/float64(sum)))
			d.put("</rect>")
			at += share
			d.strips = true
		}
	}
	d.put("</g>\n")
}

// drawCalls draws the lines between a task and those that it called: there, at the times
// of the call if they are known, and back.
func (d *causal) drawCalls() {
	drawn := 0
	for _, n := range d.r.Nodes {
		p := n.Parent
		if p == nil || drawn >= maxShapes/2 {
			continue
		}
		y0, ok0 := d.at[p]
		y1, ok1 := d.at[n]
		if !ok0 || !ok1 || d.width(n) < 3 {
			continue
		}
		start, end := n.Start, satAdd(n.Start, n.Task.Wall)
		from, to := start, end
		if n.Server != p.Server && uint(n.Call) < uint(len(p.Task.Calls)) {
			c := &p.Task.Calls[n.Call]
			from = min(satAdd(p.Start, c.Start), start)
			to = max(satAdd(satAdd(p.Start, c.Start), c.Wall), end)
		} else if n.Server != p.Server && p.Task.Flags&taskrecord.Client != 0 {
			from, to = min(p.Start, start), max(satAdd(p.Start, p.Task.Wall), end)
		}
		edge0, edge1 := y0+rqBox, y1
		if y1 < y0 {
			edge0, edge1 = y0, y1+rqBox
		}
		d.arrow("wake", d.x(from), edge0, d.x(start), edge1)
		d.put(">")
		d.title("call of "+n.Task.Kind, "there in "+taskrecord.Duration(start-from))
		d.put("</path>")
		if to <= satAdd(p.Start, p.Task.Wall) {
			d.arrow("wake", d.x(end), edge1, d.x(to), edge0)
			d.put(">")
			d.title("answer of "+n.Task.Kind, "back in "+taskrecord.Duration(to-end))
			d.put("</path>")
		}
		d.put("\n")
		drawn++
	}
}

// drawPath draws the critical path beneath the boxes of the tasks that it is in.
func (d *causal) drawPath() {
	var p svgWriter
	path := d.r.CriticalPath()
	for i := range path {
		s := &path[i]
		y, ok := d.at[s.Node]
		if !ok || d.x(s.End)-d.x(s.Start) < .5 {
			continue
		}
		op := "L"
		if p.Len() == 0 {
			op = "M"
		}
		p.put("%% %H%", op, d.x(s.Start), y+rqBox+3, d.x(s.End))
	}
	if p.Len() > 0 {
		d.put(`<path class="path" d="%">`, p.String())
		d.title("critical path: what the request's end had to wait for")
		d.put("</path>\n")
		d.shapes++
	}
}

// notes returns what is not in the diagram, and what is to be known about it.
func (d *causal) notes() []string {
	var notes []string
	if d.strips {
		notes = append(notes, "The strip in a box is the cost of the task, by the share of each part. It does not say when that was.")
	}
	notes = append(notes, counted("Not drawn", []tally{{d.without.servers, "server", ""}, {d.without.tasks, "task", ""}})...)
	if d.merged > 0 {
		notes = append(notes, fmt.Sprintf("%d short tasks are drawn together with their neighbours.", d.merged))
	}
	notes = append(notes, counted("Left out", []tally{
		{d.r.Duplicates, "record", " of a span that another one has"},
		{d.r.Dropped, "record", " beyond the limit"},
	})...)
	if d.r.Inconsistent {
		notes = append(notes, "Calls contradict each other: a clock was set meanwhile. Times of different servers may not compare.")
	}
	return notes
}
