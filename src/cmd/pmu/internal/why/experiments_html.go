// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"io"
)

// This file is a comparison of experiments as a page; see html.go.

// WriteHTML writes the comparison as a page of HTML with drawings, which needs nothing from
// elsewhere. Any error is from w.
func (c *Comparison) WriteHTML(w io.Writer) error {
	return comparisonPage.Write(w, &comparisonView{c, min(len(c.Events), maxEvents), min(c.Segments, maxSegmentRows)})
}

// A comparisonView is what the page of a comparison shows.
type comparisonView struct {
	*Comparison
	events, segments int // that are shown
}

func (c *comparisonView) MoreEvents() int   { return len(c.Events) - c.events }
func (c *comparisonView) MoreSegments() int { return c.Segments - c.segments }

// An eventRows is what all experiments have of an event, or of latency.
type eventRows struct {
	Name string
	Axis *axis // nil if all events have one
	Rows []eventRow
}

type eventRow struct {
	Name      string
	Bar       *bar
	Quantiles *quantileLines
	Text      []string // lines
}

// First returns the first cause of an experiment, and by which part the tail is lower without it.
func (c *comparisonView) First(y *Compared) [2]string {
	cause, by := y.first()
	return [2]string{cause, by}
}

// Impacts returns the impact of each event in each experiment, and the axis of their bars.
func (c *comparisonView) Impacts() (x struct {
	Axis   axis
	Groups []eventRows
}) {
	most := 0.0
	bars := func(event string, draw func(i int, v, low, above float64)) {
		for i, y := range c.Experiments {
			if c.state(y, event) == isCounted {
				e := y.events[event]
				low, above := e.bounds()
				tail := e.tail(y.Report)
				draw(i, tail*max(0, e.Adjusted), tail*low, tail*above)
			}
		}
	}
	for _, event := range c.Events[:c.events] {
		bars(event, func(_ int, v, _, above float64) { most = max(most, v, above) })
	}
	s := linearScale(0, most)
	x.Axis = s.axis(axisName("lower by", c.Unit, s), wideRoom)
	for _, event := range c.Events[:c.events] {
		g := eventRows{Name: event}
		for _, y := range c.Experiments {
			g.Rows = append(g.Rows, eventRow{Name: y.Name, Text: []string{c.impactText(y, event)}})
		}
		bars(event, func(i int, v, low, above float64) {
			row := &g.Rows[i]
			row.Bar = s.bar(v, low, above, event+" in "+row.Name+": "+row.Text[0])
		})
		x.Groups = append(x.Groups, g)
	}
	return x
}

// Values returns the median and the tail of latency and of events: of all requests of an experiment,
// and of those of its segments.
func (c *comparisonView) Values() (list []eventRows) {
	for _, event := range append([]string{""}, c.Events[:c.events]...) {
		var values []float64
		for _, y := range c.Experiments {
			for _, q := range y.Quantiles[event] {
				values = append(values, q.P50, q.Tail)
			}
		}
		s := newScale(values)
		u := c.units[event]
		if event == "" {
			u = c.Unit
		}
		a := s.axis(axisName("", u, s), wideRoom)
		g := eventRows{Name: c.valueName(event), Axis: &a}
		for _, y := range c.Experiments {
			row := eventRow{Name: y.Name, Text: []string{c.quantilesText(y, event, 0)}}
			if list := y.Quantiles[event]; len(list) > 0 {
				row.Quantiles = s.quantiles(list[:c.segments+1], g.Name+" in "+y.Name)
				for k := 1; k <= c.segments; k++ {
					row.Text = append(row.Text, fmt.Sprintf("%d of %d: %s", k, c.Segments, c.quantilesText(y, event, k)))
				}
			}
			g.Rows = append(g.Rows, row)
		}
		list = append(list, g)
	}
	return list
}

// quantileLines are lines from the median to the tail, for each of some parts of an experiment.
type quantileLines struct {
	Label  string
	Height int
	Grid   []string
	Lines  []quantileLine
}

type quantileLine struct {
	Y         int
	P50, Tail string // "" if it is not known
}

func (s scale) quantiles(list []Quantiles, label string) *quantileLines {
	const line = 22 // pixels, as of the text beside
	x := &quantileLines{Label: label, Height: line * len(list), Grid: s.grid()}
	for k, q := range list {
		if q.N == 0 {
			continue
		}
		l := quantileLine{Y: line*k + line/2, P50: s.at(q.P50)}
		if q.Tail == q.Tail {
			l.Tail = s.at(q.Tail)
		}
		x.Lines = append(x.Lines, l)
	}
	return x
}
