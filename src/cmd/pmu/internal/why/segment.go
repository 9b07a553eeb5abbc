// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"bufio"
	"cmd/pmu/internal/htmltext"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// This file asks whether the tail has one cause all the time, as VarMRI does: of segments of
// a run, which are of as many requests each, it compares the one with the longest tail, and
// the one with the shortest, with the one in the middle.

// A RunSegment is a part of a run.
type RunSegment struct {
	From, To float64  // Table.Time of its first and last request; their numbers if there are no times
	Of       []string // notes on the requests of all segments
	*Report
}

// Segments analyzes n segments of t, in order of time.
func Segments(t *Table, n int, o Params) ([]RunSegment, error) {
	if o.P == 0 {
		o.P = 0.99
	}
	if t.Biased != nil && len(t.Biased) != len(t.Latency) || t.Time != nil && len(t.Time) != len(t.Latency) {
		return nil, fmt.Errorf("not all of %d requests have a time, or are known to be chosen at random or not", len(t.Latency))
	}
	var notes []string
	_, biased := t.countRandom()
	cut := func(random bool) (rows []int32, untimed int) {
		for i, v := range t.Latency {
			switch {
			case bad(v) || random && t.isBiased(i):
			case t.Time != nil && bad(t.Time[i]):
				untimed++
			default:
				rows = append(rows, int32(i))
			}
		}
		return rows, untimed
	}
	// All segments have requests of one kind: those that were chosen at random, if they are enough.
	need := Needed(o.P, 1)
	rows, untimed := cut(true)
	enough := n > 0 && len(rows)/n >= need
	if !enough {
		rows, untimed = cut(false)
	}
	if note := biasNote(o.P, enough, biased); note != "" {
		notes = append(notes, note)
	}
	if untimed > 0 {
		notes = append(notes, fmt.Sprintf("%d requests have no time, and are in no segment", untimed))
	}
	at := func(i int32) float64 { return float64(i) }
	if t.Time != nil {
		at = func(i int32) float64 { return t.Time[i] }
		slices.SortStableFunc(rows, func(i, j int32) int { return cmp.Compare(t.Time[i], t.Time[j]) })
	}
	if n < 2 {
		return nil, fmt.Errorf("%d segments: there must be 2 at least", n)
	}
	if len(rows)/n < need {
		return nil, fmt.Errorf("segments of %d requests are too short: for %s it takes %d", len(rows)/n, percentName(o.P), need)
	}
	var list []RunSegment
	for k := range n {
		part := rows[len(rows)*k/n : len(rows)*(k+1)/n]
		r, err := Analyze(t.pick(part), o)
		if err != nil {
			return nil, fmt.Errorf("segment %d: %w", k+1, err)
		}
		list = append(list, RunSegment{at(part[0]), at(part[len(part)-1]), notes, r})
	}
	return list, nil
}

// pick returns a table of some rows, without their times and whether they were chosen at random.
func (t *Table) pick(rows []int32) *Table {
	values := func(from []float64) []float64 {
		to := make([]float64, len(rows))
		for k, i := range rows {
			to[k] = from[i]
		}
		return to
	}
	s := *t
	s.Time, s.Biased = nil, nil
	s.Latency = values(t.Latency)
	s.Columns = slices.Clone(t.Columns)
	for i := range s.Columns {
		s.Columns[i].Values = values(t.Columns[i].Values)
	}
	return &s
}

// Needed returns how many requests it takes to see an event that is recorded in a part of
// them, for the percentile p: so many that 10 are beyond it which have recorded the event
// (VarMRI: 1/(x y z), with x = 1-p; y, the part of requests that are recorded at all, is up to
// the caller).
func Needed(p, part float64) int {
	return int(min(math.Ceil(fewest/min(p, 1-p)/part-1e-9), math.MaxInt32))
}

// WriteSegments writes what segments say as text: those whose tails are the longest, in the
// middle, and the shortest, and what makes them. dates says that times are seconds since 1970.
func WriteSegments(w io.Writer, list []RunSegment, dates bool) error {
	if len(list) == 0 {
		return nil
	}
	b := bufio.NewWriter(w)
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(x, y RunSegment) int { return cmp.Compare(y.Tail, x.Tail) })
	// Those that are compared, with what they are called.
	shown, called := []RunSegment{order[0], order[len(order)-1]}, []string{"longest tail", "shortest tail"}
	if len(order) > 2 {
		shown, called = slices.Insert(shown, 1, order[len(order)/2]), slices.Insert(called, 1, "middle")
	}
	writeSpread(b, list, shown)
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(tw, "segment\trequests\t%s\tfirst cause\tlower by\n", percentName(list[0].P))
	for _, s := range list {
		which := ""
		if k := slices.IndexFunc(shown, func(x RunSegment) bool { return x.Report == s.Report }); k >= 0 {
			which = "\t" + called[k]
		}
		cause, by := s.first()
		fmt.Fprintf(tw, "%s\t%d\t%s%s\t%s\t%s%s\n", s.span(dates), s.Requests, number(s.Tail), unit(s.Unit), cause, by, which)
	}
	tw.Flush()
	writeSegmentEvents(b, shown, called)
	return b.Flush()
}

// writeSpread writes how much the tails of segments differ. Shown are some of them, the longest tail first.
func writeSpread(b io.Writer, list, shown []RunSegment) {
	most, least := shown[0], shown[len(shown)-1]
	var sum, squares float64
	for _, s := range list {
		sum += s.Tail
	}
	mean := sum / float64(len(list))
	for _, s := range list {
		squares += (s.Tail - mean) * (s.Tail - mean)
	}
	fmt.Fprintf(b, "%s in %d segments: %s to %s%s", percentName(most.P), len(list), number(least.Tail), number(most.Tail), unit(most.Unit))
	if mean > 0 {
		fmt.Fprintf(b, ", coefficient of variation %s", percent(math.Sqrt(squares/float64(len(list)))/mean))
	}
	fmt.Fprintf(b, "\n")
	for _, note := range list[0].Of {
		fmt.Fprintf(b, "%s\n", htmltext.Plain(note))
	}
	fmt.Fprintln(b)
}

// first formats the first cause of the segment's tail, and its impact.
func (s RunSegment) first() (cause, by string) {
	switch c := s.causes(); {
	case s.few():
		return "too few requests", ""
	case len(c) > 0 && s.Top() == "":
		return "one of " + htmltext.Plain(some(s.First, maxEvents)), percent(c[0].Adjusted)
	case len(c) > 0:
		return htmltext.Plain(c[0].Event), percent(c[0].Adjusted)
	case s.Together != nil:
		return htmltext.Plain(s.Together.Event), percent(s.Together.Adjusted)
	}
	return "none found", ""
}

// writeSegmentEvents compares the impacts of what makes the tails of the segments that are shown.
func writeSegmentEvents(b io.Writer, shown []RunSegment, called []string) {
	var names []string
	for _, s := range shown {
		for _, e := range s.causes() {
			if !slices.Contains(names, e.Event) {
				names = append(names, e.Event)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(b, "\nBy how much their tails are lower without an event:\n\n")
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(tw, "event\t%s\n", strings.Join(called, "\t"))
	for _, name := range names[:min(len(names), maxEvents)] {
		fmt.Fprint(tw, htmltext.Plain(name))
		for _, s := range shown {
			fmt.Fprintf(tw, "\t%s", s.impact(name))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

// impact formats an event's impact on the segment's tail.
func (s RunSegment) impact(name string) string {
	for _, e := range s.Impacts {
		if e.Event == name && e.Remark == "" {
			return number(e.tail(s.Report)*e.Adjusted) + unit(s.Unit)
		}
	}
	return "-"
}

// span formats from when to when the segment is.
func (s RunSegment) span(dates bool) string {
	if !dates {
		digits := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
		return digits(s.From) + ".." + digits(s.To)
	}
	layout := time.DateTime
	if s.To-s.From < 60 {
		layout += ".000"
	}
	at := func(v float64) string { return time.UnixMilli(int64(v * 1000)).UTC().Format(layout) }
	from, to := at(s.From), at(s.To)
	if from[:10] == to[:10] {
		to = to[11:]
	}
	return from + ".." + to
}
