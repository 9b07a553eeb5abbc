// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"cmp"
	"fmt"
	"io"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sizes of a timeline, in pixels, and how much of a task is drawn.
const (
	tlWidth   = 1200.0
	tlGutter  = 190.0 // for the names of lanes
	tlPlot    = tlWidth - tlGutter - 20
	tlBox     = 20.0
	tlRegion  = 15.0
	tlAxis    = 50.0 // y
	tlPathGap = 12.0 // below the boxes

	maxLanes       = 48  // of goroutines of the task
	maxOthers      = 8   // lanes of other goroutines
	maxRegionDepth = 4   // rows above a lane
	maxRegions     = 400 // in all, the longest
	maxCallRows    = 12
	maxCalls       = 400
)

// A timeline is a diagram of one task: time from left to right, and a lane for each
// goroutine.
type timeline struct {
	svgWriter
	t      *Task
	span   time.Duration
	lanes  []*lane
	byG    map[laneKey]*lane
	bottom float64 // of the lanes

	merged  int // waits that are drawn together with others
	without struct{ lanes, others, waits, regions, calls int64 }
}

// A laneKey is a goroutine, of the task or of another one.
type laneKey struct {
	g     uint64
	other bool
}

type lane struct {
	key      laneKey
	kind     string // of the other task
	entry    string // the function that it began with, if known
	depth    int    // of the stack that says so
	from, to time.Duration
	waits    []*Stretch // in order of their start
	regions  []*Stretch
	onPath   bool
	y        float64 // of the boxes
	rows     int     // of regions
}

// WriteTimelineSVG writes a diagram of what the goroutines of the task did when, as SVG:
// what they waited for, who woke them, and the critical path. Of a task without a Timeline,
// it shows the calls. An error is one of w.
func WriteTimelineSVG(w io.Writer, t *Task) error {
	d := &timeline{t: t, span: max(t.Wall, 1), byG: make(map[laneKey]*lane)}
	d.id = "gotask-t"
	path := t.CriticalPath()
	d.addLanes(path)
	d.choose()
	d.place()

	d.put("<text class=\"head\" x=\"8\" y=\"20\">", svgText(cutWidth(oneLine(d.heading()), 150)), "</text>\n")
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
		d.put("<path class=\"path\" d=\"M", x, " ", y+6, "h18\"/>")
	}}}
	if wakes {
		items = append(items, legendItem{"wakes", func(x, y float64) { d.arrow("wake", x+4, y, x+12, y+12); d.put("/>") }})
	}
	if stops {
		items = append(items, legendItem{"the world is stopped", func(x, y float64) {
			d.put("<rect class=\"stop\" x=\"", x, "\" y=\"", y, "\" width=\"18\" height=\"12\"/>")
		}})
	}
	y := d.legend(tlGutter, bottom+12, tlPlot, items...)
	for _, note := range d.notes(least) {
		d.put("<text class=\"dim\" x=\"", tlGutter, "\" y=\"", y+10, "\">", svgText(note), "</text>\n")
		y += 16
	}
	return d.finish(w, tlWidth, y+8, "Timeline of "+d.heading(), d.desc())
}

func (d *timeline) heading() string {
	s := d.t.Kind + ", " + inUnits(d.t.Wall)
	if d.t.Threshold > 0 {
		s += " (slow above " + inUnits(d.t.Threshold) + ")"
	}
	if d.t.Flags&Failed != 0 {
		s += ", failed"
	}
	return s
}

func (d *timeline) desc() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Recorded: %s, %s.", count(d.t.Goroutines, "goroutine"), plural(int64(len(d.t.Timeline)), "wait or region", "waits and regions"))
	for i, c := range d.t.Causes() {
		if i == 5 {
			break
		}
		fmt.Fprintf(&b, " %s.", cut(c.String(), 200))
	}
	return b.String()
}

// x returns where a time is.
func (d *timeline) x(t time.Duration) float64 {
	return tlGutter + tlPlot*float64(d.clip(t))/float64(d.span)
}

func (d *timeline) clip(t time.Duration) time.Duration { return max(0, min(t, d.span)) }

// width returns how wide a time is.
func (d *timeline) width(from, to time.Duration) float64 { return max(0, d.x(to)-d.x(from)) }

// lane returns the lane of a goroutine, which is seen at a time.
func (d *timeline) lane(key laneKey, at time.Duration) *lane {
	at = d.clip(at)
	l := d.byG[key]
	if l == nil {
		l = &lane{key: key, from: at, to: at}
		d.byG[key] = l
		d.lanes = append(d.lanes, l)
	}
	l.from, l.to = min(l.from, at), max(l.to, at)
	return l
}

// addLanes adds the lanes of all goroutines.
func (d *timeline) addLanes(path []Segment) {
	t := d.t
	d.lane(laneKey{g: t.Goroutine}, 0)
	d.lane(laneKey{g: t.Goroutine}, d.span)
	for i := range t.Timeline {
		s := &t.Timeline[i]
		l := d.lane(laneKey{g: s.Goroutine}, s.Start)
		d.lane(l.key, s.End)
		if s.Region != "" {
			l.regions = append(l.regions, s)
			continue
		}
		l.waits = append(l.waits, s)
		// Long stacks are without what is below: the shortest one is the most likely to
		// have the function that the goroutine began with.
		if n := len(s.Stack); n > 0 && (l.entry == "" || n < l.depth) {
			l.entry, l.depth = s.Stack[n-1].Func, n
		}
	}
	for i := range t.Outlived {
		o := &t.Outlived[i]
		l := d.lane(laneKey{g: o.ID}, d.span)
		if o.Func != "" {
			l.entry = o.Func
		}
	}
	// Who woke them: a goroutine of the task, whether it has waited itself or not, or
	// another one.
	for i := range t.Timeline {
		if s := &t.Timeline[i]; s.Region == "" && s.Waker.Goroutine != 0 {
			l := d.lane(d.waker(s), s.Wake)
			if l.key.other {
				l.kind = s.Waker.Kind
			}
			if n := len(s.Waker.Stack); n > 0 && l.entry == "" {
				l.entry = s.Waker.Stack[n-1].Func
			}
		}
	}
	for i := range path {
		if l := d.byG[laneKey{g: path[i].Goroutine}]; l != nil {
			l.onPath = true
			d.lane(l.key, path[i].Start)
			d.lane(l.key, path[i].End)
		}
	}
}

// waker returns the lane of who woke s.
func (d *timeline) waker(s *Stretch) laneKey {
	k := laneKey{g: s.Waker.Goroutine}
	if d.byG[k] == nil && (s.Waker.Span != d.t.Span || d.t.Span.IsZero()) {
		k.other = true
	}
	return k
}

// choose drops lanes that are too many: the last to appear, unless they are on the
// critical path.
func (d *timeline) choose() {
	rank := func(l *lane) int {
		switch {
		case l.key == laneKey{g: d.t.Goroutine}:
			return 0
		case l.onPath:
			return 1
		case l.key.other:
			return 3
		}
		return 2
	}
	slices.SortStableFunc(d.lanes, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.from, b.from))
	})
	var own, others []*lane
	for _, l := range d.lanes {
		switch {
		case l.key.other && len(others) < maxOthers:
			others = append(others, l)
		case !l.key.other && len(own) < maxLanes:
			own = append(own, l)
		default:
			if l.key.other {
				d.without.others++
			} else {
				d.without.lanes++
			}
			delete(d.byG, l.key)
		}
	}
	slices.SortStableFunc(own[1:], func(a, b *lane) int { return cmp.Compare(a.from, b.from) })
	d.lanes = append(own, others...)

	// The longest regions only.
	var all []time.Duration
	for _, l := range d.lanes {
		for _, s := range l.regions {
			all = append(all, d.clip(s.End)-d.clip(s.Start))
		}
	}
	slices.SortFunc(all, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	least := time.Duration(3 * float64(d.span) / tlPlot) // 3 pixels
	if len(all) > maxRegions {
		least = max(least, all[maxRegions]+1)
	}
	for _, l := range d.lanes {
		n := len(l.regions)
		l.regions = slices.DeleteFunc(l.regions, func(s *Stretch) bool { return d.clip(s.End)-d.clip(s.Start) < least })
		d.without.regions += int64(n - len(l.regions))
	}
}

// place gives each lane its place.
func (d *timeline) place() {
	y := tlAxis + 6
	for _, l := range d.lanes {
		l.rows = len(packRows(l.regions, maxRegionDepth, func(s *Stretch) (time.Duration, time.Duration) { return s.Start, s.End }, nil))
		l.y = y + float64(l.rows)*tlRegion
		y = l.y + tlBox + tlPathGap + 4
		if l.key.other {
			y -= 8
		}
	}
	d.bottom = y
}

// packRows puts intervals, which are in order of their start, into rows in which they
// don't overlap, and returns the ends of the rows. It tells put the row of each, or -1
// for those for which there is none.
func packRows[T any](list []T, most int, interval func(T) (from, to time.Duration), put func(v T, row int)) []time.Duration {
	var rows []time.Duration
	for _, v := range list {
		from, to := interval(v)
		row := slices.IndexFunc(rows, func(end time.Duration) bool { return end <= from })
		if row < 0 && len(rows) < most {
			row = len(rows)
			rows = append(rows, 0)
		}
		if row >= 0 {
			rows[row] = max(to, from+1)
		}
		if put != nil {
			put(v, row)
		}
	}
	return rows
}

// threshold returns the least length with which a wait is a shape of its own: that of a
// pixel, unless that makes too many.
func (d *timeline) threshold() time.Duration {
	least := max(1, time.Duration(float64(d.span)/tlPlot))
	for ; ; least *= 2 {
		n := 0
		for _, l := range d.lanes {
			d.shapesOf(l, least, func([]*Stretch) { n++ })
		}
		if n <= maxShapes || least > d.span/4 {
			return least
		}
	}
}

// shapesOf calls f with the waits of each shape: one, or several that are shorter than least
// and near to each other.
func (d *timeline) shapesOf(l *lane, least time.Duration, f func([]*Stretch)) {
	first := 0
	var end time.Duration // of the shape that begins at first
	for i, s := range l.waits {
		if from := d.clip(s.Start); i > first && from-end > least {
			f(l.waits[first:i])
			first = i
		}
		if d.clip(s.End)-d.clip(s.Start) >= least {
			if i > first {
				f(l.waits[first:i])
			}
			f(l.waits[i : i+1])
			first = i + 1
			end = 0
			continue
		}
		if i == first {
			end = 0
		}
		end = max(end, d.clip(s.End))
	}
	if first < len(l.waits) {
		f(l.waits[first:])
	}
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
		d.put("<path class=\"other\" d=\"M", tlGutter, " ", l.y+tlBox/2, "h", tlPlot, "\"/>\n")
		return
	}
	d.drawRegions(l)
	if len(d.t.Timeline) == 0 && l.key.g == d.t.Goroutine && (d.t.Flags&Slow == 0 || d.t.Flags&Client != 0) {
		why := "There is no timeline: it is kept only of tasks that are slow."
		if d.t.Flags&Client != 0 {
			why = "A call of another server, which has its own record of it."
		}
		d.put("<rect class=\"soft\" x=\"", tlGutter, "\" y=\"", l.y, "\" width=\"", tlPlot, "\" height=\"", tlBox, "\"/>")
		d.label(tlGutter+tlPlot/2, l.y+14, tlPlot, "middle", "", why)
		d.put("\n")
		return
	}
	if d.width(l.from, l.to) > 0 {
		d.box(pprof.TimeRunning, d.x(l.from), l.y, d.width(l.from, l.to), tlBox)
		d.put(">")
		d.title(name+" runs, or is in waits that are too short to be in the record", "from "+inUnits(l.from)+" to "+inUnits(l.to)+", as far as it is seen")
		d.put("</rect>\n")
	}
	d.shapesOf(l, least, func(list []*Stretch) {
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
	packRows(l.regions, maxRegionDepth, func(s *Stretch) (time.Duration, time.Duration) { return s.Start, s.End }, func(s *Stretch, row int) {
		if row < 0 {
			d.without.regions++
			return
		}
		// The outer region is above.
		x, y, w := d.x(s.Start), l.y-float64(l.rows-row)*tlRegion, d.width(s.Start, s.End)
		d.put("<g>")
		d.title("region "+s.Region, span(s.Start, s.End))
		d.put("<rect class=\"region\" x=\"", x+.5, "\" y=\"", y+.5, "\" width=\"", max(w-1, 1), "\" height=\"", tlRegion-3, "\" fill-opacity=\"0\"/>")
		d.shapes++
		d.label(x+4, y+10, w-6, "", "", s.Region)
		d.put("</g>\n")
	})
}

// span returns a time for a tooltip.
func span(from, to time.Duration) string {
	return inUnits(to-from) + ", from " + inUnits(from) + " to " + inUnits(to)
}

// waitLines returns what there is to know about a wait.
func waitLines(s *Stretch) []string {
	first := s.Part.String() + " " + inUnits(s.Wake-s.Start)
	if s.Reason != "" {
		first += " (" + s.Reason + ")"
	}
	lines := []string{first, "from " + inUnits(s.Start) + " to " + inUnits(s.Wake)}
	if at := placeText(Place(s.Stack)); at != "" {
		lines = append(lines, "in "+at)
	}
	if k := &s.Waker; k.Goroutine != 0 {
		by := "woken by goroutine " + strconv.FormatUint(k.Goroutine, 10)
		if k.Kind != "" {
			by += " of task " + strconv.Quote(k.Kind)
		}
		if at := placeText(Place(k.Stack)); at != "" {
			by += " in " + at
		}
		lines = append(lines, by)
	} else if !s.OnThread && s.Wake > s.Start {
		lines = append(lines, "woken by a timer or the network")
	}
	if s.End > s.Wake {
		line := "then runnable " + inUnits(s.End-s.Wake)
		if s.BehindKind != "" {
			line += ", " + inUnits(s.Behind) + " of it behind task " + strconv.Quote(s.BehindKind)
		}
		lines = append(lines, line)
	}
	if s.Stopped > 0 {
		lines = append(lines, "meanwhile the world was stopped for "+inUnits(s.Stopped)+" ("+cmp.Or(s.StopReason, "reason unknown")+")")
	}
	return lines
}

func (d *timeline) drawWait(l *lane, s *Stretch) {
	d.put("<g>")
	d.title(waitLines(s)...)
	if w := d.width(s.Start, s.Wake); w > 0 {
		x := d.x(s.Start)
		d.box(s.Part, x, l.y, w, tlBox)
		d.put("/>")
		length := s.Part.String() + " " + inUnits(s.Wake-s.Start)
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
		length := "runnable " + inUnits(s.End-s.Wake)
		texts := []string{length, "runnable"}
		if s.BehindKind != "" {
			texts = slices.Insert(texts, 0, length+", behind task "+strconv.Quote(cut(s.BehindKind, 40)))
		}
		d.firstThatFits(pprof.TimeRunnable, x, l.y+14, w, texts)
	}
	d.put("</g>\n")
}

func (d *timeline) firstThatFits(p Part, x, y, w float64, texts []string) {
	for _, s := range texts {
		if float64(textWidth(s))*charWidth+4 <= w {
			d.boxLabel(p, x, y, w, s)
			return
		}
	}
}

// drawMerged draws waits as one box, which has the colour of most of their time.
func (d *timeline) drawMerged(l *lane, list []*Stretch) {
	var parts [NumParts]time.Duration
	from, to := d.clip(list[0].Start), time.Duration(0)
	for _, s := range list {
		p := drawn(s.Part)
		parts[p] = satAdd(parts[p], s.Wake-s.Start)
		parts[pprof.TimeRunnable] = satAdd(parts[pprof.TimeRunnable], s.End-s.Wake)
		from, to = min(from, d.clip(s.Start)), max(to, d.clip(s.End))
	}
	d.merged += len(list)
	most := Part(0)
	lines := []string{strconv.Itoa(len(list)) + " waits, too short to be drawn one by one", "from " + inUnits(from) + " to " + inUnits(to)}
	for p := range NumParts {
		if parts[p] > parts[most] {
			most = p
		}
		if parts[p] > 0 {
			lines = append(lines, p.String()+" "+inUnits(parts[p]))
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
		d.title("the world was stopped for "+inUnits(s.time)+" ("+cmp.Or(s.reason, "reason unknown")+")",
			"within the time from "+inUnits(s.from)+" to "+inUnits(s.to))
		d.put("<rect class=\"", class, "\" x=\"", x, "\" y=\"", tlAxis, "\" width=\"", max(w, 1), "\" height=\"", d.bottom-tlAxis, "\"/>")
		if w > 60 {
			d.label(x+w/2, d.bottom-2, w, "middle", "", "world stopped "+inUnits(s.time))
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
		d.shapesOf(l, least, func(list []*Stretch) {
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
				d.put("<circle cx=\"", d.x(s.Wake), "\" cy=\"", y0, "\" r=\"3\" fill=\"currentColor\"/>")
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
func (d *timeline) drawPath(path []Segment) {
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
			p.put("M", d.x(s.Start), " ", y)
			began = true
		}
		p.put("L", d.x(s.Start), " ", y, "H", d.x(s.End))
	}
	if !began {
		return
	}
	d.put("<path class=\"path\" d=\"", p.String(), "\">")
	d.title("critical path: what the task's end had to wait for")
	d.put("</path>\n")
	d.shapes++
}

// A callBox is a call that is drawn.
type callBox struct {
	*Call
	row int
}

// callRows returns the calls that are drawn, the longest ones, in rows.
func (d *timeline) callRows() []callBox {
	list := make([]*Call, len(d.t.Calls))
	for i := range list {
		list[i] = &d.t.Calls[i]
	}
	if len(list) > maxCalls {
		slices.SortStableFunc(list, func(a, b *Call) int { return cmp.Compare(b.Wall, a.Wall) })
		d.without.calls += int64(len(list) - maxCalls)
		list = list[:maxCalls]
	}
	slices.SortStableFunc(list, func(a, b *Call) int { return cmp.Compare(a.Start, b.Start) })
	var boxes []callBox
	pixels := time.Duration(float64(d.span) / tlPlot * 3)
	packRows(list, maxCallRows, func(c *Call) (time.Duration, time.Duration) {
		from := d.clip(c.Start)
		return from, max(d.clip(satAdd(c.Start, c.Wall)), from+pixels)
	}, func(c *Call, row int) {
		if row < 0 {
			d.without.calls++
			return
		}
		boxes = append(boxes, callBox{c, row})
	})
	return boxes
}

func (d *timeline) drawCalls(calls []callBox) {
	for i, c := range calls {
		y := d.bottom + 10 + float64(c.row)*(tlBox+4)
		if i == 0 {
			d.label(tlGutter-10, y+14, tlGutter-14, "end", "b", "calls and child tasks")
		}
		end := satAdd(c.Start, c.Wall)
		x, w := d.x(c.Start), max(2, d.width(c.Start, end))
		name := c.Kind + ", " + inUnits(c.Wall)
		lines := []string{"task " + c.Kind, span(c.Start, end)}
		if c.Flags&Client != 0 {
			name = "→ " + cmp.Or(c.Remote, "?") + ": " + name
			lines[0] = "call of " + c.Remote + ": " + c.Kind
		}
		if c.Flags&Failed != 0 {
			name = "failed " + name
			lines = append(lines, "failed")
		}
		if c.Flags&Late != 0 {
			lines = append(lines, "ended after its parent")
		}
		d.put("<g>")
		d.title(append(lines, "span "+c.Span.String())...)
		d.put("<rect class=\"task\" x=\"", x, "\" y=\"", y, "\" width=\"", w, "\" height=\"", tlBox-1, "\" rx=\"3\"/>")
		d.shapes++
		d.label(x+5, y+14, w-8, "", "", name)
		d.put("</g>\n")
	}
}

// notes returns what is not in the diagram.
func (d *timeline) notes(least time.Duration) (notes []string) {
	if d.merged > 0 {
		notes = append(notes, fmt.Sprintf("%d waits shorter than %s are drawn together with their neighbours.", d.merged, inUnits(least)))
	}
	notes = append(notes, counted("Not drawn", []tally{
		{d.without.lanes, "goroutine", " of the task"},
		{d.without.others, "goroutine", " of others"},
		{d.without.waits, "wait", ""},
		{d.without.regions, "short or deeply nested region", ""},
		{d.without.calls, "call", ""},
	})...)
	l := &d.t.Lost
	return append(notes, counted("Not in the record", []tally{
		{l.Stretches, "short wait", " (" + inUnits(l.StretchesTime) + " in all)"},
		{l.Memory, "wait", " for which there was no memory"},
		{l.Calls, "short call", ""},
		{l.Regions, "region", " of further names"},
	})...)
}

// A tally is a count of things: what one is called, and what follows.
type tally struct {
	n          int64
	what, more string
}

// counted returns a sentence on those counts that are not zero, or none.
func counted(head string, counts []tally) []string {
	var list []string
	for _, c := range counts {
		if c.n != 0 {
			list = append(list, count(c.n, c.what)+c.more)
		}
	}
	if list == nil {
		return nil
	}
	return []string{head + ": " + strings.Join(list, ", ") + "."}
}
