// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package diagram

import (
	"cmp"
	"internal/taskrecord"
	"io"
	"runtime/pprof"
	"slices"
	"strconv"
	"time"
)

// WriteTimeline writes a diagram of what the goroutines of the task did when, as SVG:
// what they waited for, who woke them, and the critical path. Of a task without a Timeline,
// it shows the calls. Any error is from w.
func WriteTimeline(w io.Writer, t *taskrecord.Record) error {
	d := &timeline{t: t, span: max(t.Wall, 1), byG: make(map[laneKey]*lane)}
	d.id = "gotask-t"
	path := t.CriticalPath()
	d.addLanes(path)
	d.choose()
	d.place()

	d.put("<text class=\"head\" x=\"8\" y=\"20\">%</text>\n", cutWidth(oneLine(d.heading()), 150))
	calls := d.callRows()
	bottom := d.bottom
	for _, c := range calls {
		bottom = max(bottom, d.bottom+10+float64(c.row+1)*(tlBox+4))
	}
	d.axis(tlGutter, tlPlot, tlAxis, bottom, d.span)
	least := d.threshold()
	for _, l := range d.lanes {
		d.drawLane(l, least)
	}
	d.drawCalls(calls)
	stops := d.drawStops()
	wakes := d.drawWakes(least)
	d.drawPath(path)

	items := []legendItem{{"critical path", func(x, y float64) {
		d.put(`<path class="path" d="M% %h18"/>`, x, y+6)
	}}}
	if wakes {
		items = append(items, legendItem{"wakes", func(x, y float64) { d.arrow("wake", x+4, y, x+12, y+12); d.put("/>") }})
	}
	if stops {
		items = append(items, legendItem{"the world is stopped", func(x, y float64) {
			d.put(`<rect class="stop" x="%" y="%" width="18" height="12"/>`, x, y)
		}})
	}
	y := d.legend(tlGutter, bottom+12, tlPlot, items...)
	for _, note := range d.notes(least) {
		d.put("<text class=\"dim\" x=\"%\" y=\"%\">%</text>\n", tlGutter, y+10, note)
		y += 16
	}
	return d.finish(w, tlWidth, y+8, "Timeline of "+d.heading(), d.desc())
}

func (d *timeline) drawLane(l *lane, least time.Duration) {
	name := "goroutine " + strconv.FormatUint(l.key.g, 10)
	what := shortFunc(l.entry)
	switch {
	case l.key.other && l.kind != "":
		what = "of task " + strconv.Quote(cut(l.kind, 100))
	case l.key.other:
		what = "of no task"
	case what == "" && l.key.g == d.t.Goroutine:
		what = "began the task"
	}
	d.put("<g>")
	lines := []string{name, l.entry}
	if l.kind != "" {
		lines = append(lines, "of task "+strconv.Quote(l.kind))
	} else if l.key.g == d.t.Goroutine {
		lines = append(lines, "began the task")
	}
	d.title(lines...)
	d.label(tlGutter-10, l.y+8, tlGutter-14, "end", "b", name)
	d.label(tlGutter-10, l.y+21, tlGutter-14, "end", "dim", what)
	d.put("</g>\n")
	if l.key.other {
		d.put("<path class=\"other\" d=\"M% %h%\"/>\n", tlGutter, l.y+tlBox/2, tlPlot)
		return
	}
	d.drawRegions(l)
	if len(d.t.Timeline) == 0 && l.key.g == d.t.Goroutine && (d.t.Flags&taskrecord.Slow == 0 || d.t.Flags&taskrecord.Client != 0) {
		why := "There is no timeline: it is kept only of tasks that are slow."
		if d.t.Flags&taskrecord.Client != 0 {
			why = "A call of another server, which has its own record of it."
		}
		d.put(`<rect class="soft" x="%" y="%" width="%" height="%"/>`, tlGutter, l.y, tlPlot, tlBox)
		d.label(tlGutter+tlPlot/2, l.y+14, tlPlot, "middle", "", why)
		d.put("\n")
		return
	}
	if d.width(l.from, l.to) > 0 {
		d.box(pprof.TimeRunning, d.x(l.from), l.y, d.width(l.from, l.to), tlBox)
		d.put(">")
		d.title(name+" runs, or is in waits that are too short to be in the record", "from "+taskrecord.Duration(l.from)+" to "+taskrecord.Duration(l.to)+", as far as it is seen")
		d.put("</rect>\n")
	}
	d.shapesOf(l, least, func(list []*taskrecord.Stretch) {
		if d.shapes > 2*maxShapes {
			// Only if waits of one goroutine overlap, which they don't.
			d.without.waits += int64(len(list))
			return
		}
		if len(list) > 1 {
			d.drawMerged(l, list)
		} else {
			d.drawWait(l, list[0])
		}
	})
}

func (d *timeline) drawRegions(l *lane) {
	packRows(l.regions, maxRegionDepth, func(s *taskrecord.Stretch) (time.Duration, time.Duration) { return s.Start, s.End }, func(s *taskrecord.Stretch, row int) {
		if row < 0 {
			d.without.regions++
			return
		}
		// The outer region is above.
		x, y, w := d.x(s.Start), l.y-float64(l.rows-row)*tlRegion, d.width(s.Start, s.End)
		d.put("<g>")
		d.title("region "+s.Region, span(s.Start, s.End))
		d.put(`<rect class="region" x="%" y="%" width="%" height="%" fill-opacity="0"/>`, x+.5, y+.5, max(w-1, 1), tlRegion-3)
		d.shapes++
		d.label(x+4, y+10, w-6, "", "", s.Region)
		d.put("</g>\n")
	})
}

// span returns a time for a tooltip.
func span(from, to time.Duration) string {
	return taskrecord.Duration(to-from) + ", from " + taskrecord.Duration(from) + " to " + taskrecord.Duration(to)
}

// waitLines returns what there is to know about a wait.
func waitLines(s *taskrecord.Stretch) []string {
	first := s.Part.String() + " " + taskrecord.Duration(s.Wake-s.Start)
	if s.Reason != "" {
		first += " (" + s.Reason + ")"
	}
	lines := []string{first, "from " + taskrecord.Duration(s.Start) + " to " + taskrecord.Duration(s.Wake)}
	if at := placeText(taskrecord.Place(s.Stack)); at != "" {
		lines = append(lines, "in "+at)
	}
	if k := &s.Waker; k.Goroutine != 0 {
		by := "woken by goroutine " + strconv.FormatUint(k.Goroutine, 10)
		if k.Kind != "" {
			by += " of task " + strconv.Quote(k.Kind)
		}
		if at := placeText(taskrecord.Place(k.Stack)); at != "" {
			by += " in " + at
		}
		lines = append(lines, by)
	} else if !s.OnThread && s.Wake > s.Start {
		lines = append(lines, "woken by a timer or the network")
	}
	if s.End > s.Wake {
		line := "then runnable " + taskrecord.Duration(s.End-s.Wake)
		if s.BehindKind != "" {
			line += ", " + taskrecord.Duration(s.Behind) + " of it behind task " + strconv.Quote(s.BehindKind)
		}
		lines = append(lines, line)
	}
	if s.Stopped > 0 {
		lines = append(lines, "meanwhile the world was stopped for "+taskrecord.Duration(s.Stopped)+" ("+cmp.Or(s.StopReason, "reason unknown")+")")
	}
	return lines
}

func (d *timeline) drawWait(l *lane, s *taskrecord.Stretch) {
	d.put("<g>")
	d.title(waitLines(s)...)
	if w := d.width(s.Start, s.Wake); w > 0 {
		x := d.x(s.Start)
		d.box(s.Part, x, l.y, w, tlBox)
		d.put("/>")
		length := s.Part.String() + " " + taskrecord.Duration(s.Wake-s.Start)
		texts := []string{length, s.Part.String()}
		if s.Waker.Kind != "" && d.waker(s).other {
			texts = slices.Insert(texts, 0, length+", ended by task "+strconv.Quote(cut(s.Waker.Kind, 40)))
		}
		d.firstThatFits(s.Part, x, l.y+14, w, texts)
	}
	if w := d.width(s.Wake, s.End); w > 0 {
		x := d.x(s.Wake)
		d.box(pprof.TimeRunnable, x, l.y, w, tlBox)
		d.put("/>")
		length := "runnable " + taskrecord.Duration(s.End-s.Wake)
		texts := []string{length, "runnable"}
		if s.BehindKind != "" {
			texts = slices.Insert(texts, 0, length+", behind task "+strconv.Quote(cut(s.BehindKind, 40)))
		}
		d.firstThatFits(pprof.TimeRunnable, x, l.y+14, w, texts)
	}
	d.put("</g>\n")
}

// drawMerged draws waits as one box, which has the colour of most of their time.
func (d *timeline) drawMerged(l *lane, list []*taskrecord.Stretch) {
	var parts [taskrecord.NumParts]time.Duration
	from, to := d.clip(list[0].Start), time.Duration(0)
	for _, s := range list {
		p := drawn(s.Part)
		parts[p] = satAdd(parts[p], s.Wake-s.Start)
		parts[pprof.TimeRunnable] = satAdd(parts[pprof.TimeRunnable], s.End-s.Wake)
		from, to = min(from, d.clip(s.Start)), max(to, d.clip(s.End))
	}
	d.merged += len(list)
	most := taskrecord.Part(0)
	lines := []string{strconv.Itoa(len(list)) + " waits, too short to be drawn one by one", "from " + taskrecord.Duration(from) + " to " + taskrecord.Duration(to)}
	for p := range taskrecord.NumParts {
		if parts[p] > parts[most] {
			most = p
		}
		if parts[p] > 0 {
			lines = append(lines, p.String()+" "+taskrecord.Duration(parts[p]))
		}
	}
	d.box(most, d.x(from), l.y, d.width(from, to), tlBox)
	d.put(">")
	d.title(lines...)
	d.put("</rect>\n")
}

// A stop is a stop of the world, as it is known from a wait.
type stop struct {
	from, to time.Duration
	time     time.Duration
	reason   string
}

// drawStops draws stops of the world as bands over all lanes, and reports whether there
// are any.
//
// A record says for how long the world was stopped within a stretch, and not when. Most of
// it was at the end, as goroutines run again when the world does. Of stretches that
// overlap, the shortest says most exactly when it was.
func (d *timeline) drawStops() bool {
	var stops []stop
	for _, l := range d.lanes {
		for _, s := range l.waits {
			if from, to := d.clip(s.Start), d.clip(s.End); s.Stopped > 0 && to > from {
				stops = append(stops, stop{from, to, min(s.Stopped, to-from), s.StopReason})
			}
		}
	}
	slices.SortStableFunc(stops, func(a, b stop) int { return cmp.Compare(a.to-a.from, b.to-b.from) })
	var drawn []stop
	for _, s := range stops {
		if len(drawn) == 100 {
			break
		}
		if slices.ContainsFunc(drawn, func(o stop) bool { return o.from < s.to && s.from < o.to }) {
			continue
		}
		drawn = append(drawn, s)
		class := "stop"
		if s.time < (s.to-s.from)/10*9 {
			class = "stop unsure"
		}
		x, w := d.x(s.to-s.time), d.width(s.to-s.time, s.to)
		d.put("<g>")
		d.title("the world was stopped for "+taskrecord.Duration(s.time)+" ("+cmp.Or(s.reason, "reason unknown")+")",
			"within the time from "+taskrecord.Duration(s.from)+" to "+taskrecord.Duration(s.to))
		d.put(`<rect class="%" x="%" y="%" width="%" height="%"/>`, class, x, tlAxis, max(w, 1), d.bottom-tlAxis)
		if w > 60 {
			d.label(x+w/2, d.bottom-2, w, "middle", "", "world stopped "+taskrecord.Duration(s.time))
		}
		d.put("</g>\n")
		d.shapes++
	}
	return len(drawn) > 0
}

// drawWakes draws who woke whom: an arrow from the waker, at the time when it did, to the
// goroutine, at the time when that ran.
func (d *timeline) drawWakes(least time.Duration) bool {
	any := false
	for _, l := range d.lanes {
		d.shapesOf(l, least, func(list []*taskrecord.Stretch) {
			s := list[0]
			if len(list) > 1 || d.shapes > 3*maxShapes || s.Waker.Goroutine == 0 {
				return
			}
			from := d.byG[d.waker(s)]
			if from == nil || from == l {
				return
			}
			any = true
			y0, y1 := from.y, l.y+tlBox
			if from.y < l.y {
				y0, y1 = from.y+tlBox, l.y
			}
			if from.key.other {
				y0 = from.y + tlBox/2
				d.put(`<circle cx="%" cy="%" r="3" fill="currentColor"/>`, d.x(s.Wake), y0)
			}
			d.arrow("wake", d.x(s.Wake), y0, d.x(s.End), y1)
			d.put(">")
			d.title(waitLines(s)...)
			d.put("</path>\n")
		})
	}
	return any
}

// drawPath draws the critical path as one line beneath the boxes of its goroutines.
func (d *timeline) drawPath(path []taskrecord.Segment) {
	var p svgWriter
	began := false
	for i := range path {
		s := &path[i]
		l := d.byG[laneKey{g: s.Goroutine}]
		if l == nil || d.width(s.Start, s.End) < .5 && i+1 < len(path) {
			continue
		}
		y := l.y + tlBox + 4
		if !began {
			p.put("M% %", d.x(s.Start), y)
			began = true
		}
		p.put("L% %H%", d.x(s.Start), y, d.x(s.End))
	}
	if !began {
		return
	}
	d.put(`<path class="path" d="%">`, p.String())
	d.title("critical path: what the task's end had to wait for")
	d.put("</path>\n")
	d.shapes++
}

func (d *timeline) drawCalls(calls []callBox) {
	for i, c := range calls {
		y := d.bottom + 10 + float64(c.row)*(tlBox+4)
		if i == 0 {
			d.label(tlGutter-10, y+14, tlGutter-14, "end", "b", "calls and child tasks")
		}
		end := satAdd(c.Start, c.Wall)
		x, w := d.x(c.Start), max(2, d.width(c.Start, end))
		name := c.Kind + ", " + taskrecord.Duration(c.Wall)
		lines := []string{"task " + c.Kind, span(c.Start, end)}
		if c.Flags&taskrecord.Client != 0 {
			name = "→ " + cmp.Or(c.Remote, "?") + ": " + name
			lines[0] = "call of " + c.Remote + ": " + c.Kind
		}
		if c.Flags&taskrecord.Failed != 0 {
			name = "failed " + name
			lines = append(lines, "failed")
		}
		if c.Flags&taskrecord.Late != 0 {
			lines = append(lines, "ended after its parent")
		}
		d.put("<g>")
		d.title(append(lines, "span "+c.Span.String())...)
		d.put(`<rect class="task" x="%" y="%" width="%" height="%" rx="3"/>`, x, y, w, tlBox-1)
		d.shapes++
		d.label(x+5, y+14, w-8, "", "", name)
		d.put("</g>\n")
	}
}
