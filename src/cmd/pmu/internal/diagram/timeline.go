// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package diagram

import (
	"cmp"
	"fmt"
	"internal/taskrecord"
	"slices"
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
	t      *taskrecord.Record
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
	waits    []*taskrecord.Stretch // in order of their start
	regions  []*taskrecord.Stretch
	onPath   bool
	y        float64 // of the boxes
	rows     int     // of regions
}

func (d *timeline) heading() string {
	s := d.t.Kind + ", " + taskrecord.Duration(d.t.Wall)
	if d.t.Threshold > 0 {
		s += " (slow above " + taskrecord.Duration(d.t.Threshold) + ")"
	}
	if d.t.Flags&taskrecord.Failed != 0 {
		s += ", failed"
	}
	return s
}

func (d *timeline) desc() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Recorded: %s, %s.", taskrecord.Count(d.t.Goroutines, "goroutine"), taskrecord.Plural(len(d.t.Timeline), "wait or region", "waits and regions"))
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
func (d *timeline) addLanes(path []taskrecord.Segment) {
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
func (d *timeline) waker(s *taskrecord.Stretch) laneKey {
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
		l.regions = slices.DeleteFunc(l.regions, func(s *taskrecord.Stretch) bool { return d.clip(s.End)-d.clip(s.Start) < least })
		d.without.regions += int64(n - len(l.regions))
	}
}

// place gives each lane its place.
func (d *timeline) place() {
	y := tlAxis + 6
	for _, l := range d.lanes {
		l.rows = len(packRows(l.regions, maxRegionDepth, func(s *taskrecord.Stretch) (time.Duration, time.Duration) { return s.Start, s.End }, nil))
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
			d.shapesOf(l, least, func([]*taskrecord.Stretch) { n++ })
		}
		if n <= maxShapes || least > d.span/4 {
			return least
		}
	}
}

// shapesOf calls f with the waits of each shape: one, or several that are shorter than least
// and near to each other.
func (d *timeline) shapesOf(l *lane, least time.Duration, f func([]*taskrecord.Stretch)) {
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

// A callBox is a call that is drawn.
type callBox struct {
	*taskrecord.Call
	row int
}

// callRows returns the calls that are drawn, the longest ones, in rows.
func (d *timeline) callRows() []callBox {
	list := make([]*taskrecord.Call, len(d.t.Calls))
	for i := range list {
		list[i] = &d.t.Calls[i]
	}
	if len(list) > maxCalls {
		slices.SortStableFunc(list, func(a, b *taskrecord.Call) int { return cmp.Compare(b.Wall, a.Wall) })
		d.without.calls += int64(len(list) - maxCalls)
		list = list[:maxCalls]
	}
	slices.SortStableFunc(list, func(a, b *taskrecord.Call) int { return cmp.Compare(a.Start, b.Start) })
	var boxes []callBox
	pixels := time.Duration(float64(d.span) / tlPlot * 3)
	packRows(list, maxCallRows, func(c *taskrecord.Call) (time.Duration, time.Duration) {
		from := d.clip(c.Start)
		return from, max(d.clip(satAdd(c.Start, c.Wall)), from+pixels)
	}, func(c *taskrecord.Call, row int) {
		if row < 0 {
			d.without.calls++
			return
		}
		boxes = append(boxes, callBox{c, row})
	})
	return boxes
}

// notes returns what is not in the diagram.
func (d *timeline) notes(least time.Duration) (notes []string) {
	if d.merged > 0 {
		notes = append(notes, fmt.Sprintf("%d waits shorter than %s are drawn together with their neighbours.", d.merged, taskrecord.Duration(least)))
	}
	notes = append(notes, counted("Not drawn", []tally{
		{d.without.lanes, "goroutine", " of the task"},
		{d.without.others, "goroutine", " of others"},
		{d.without.waits, "wait", ""},
		{d.without.regions, "short or deeply nested region", ""},
		{d.without.calls, "call", ""},
	})...)
	if list := d.t.Lost.Words(); len(list) > 0 {
		notes = append(notes, "Not recorded: "+strings.Join(list, ", ")+".")
	}
	return notes
}
