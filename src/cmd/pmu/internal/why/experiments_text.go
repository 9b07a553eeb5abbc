// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"bufio"
	"cmd/pmu/internal/htmltext"
	"fmt"
	"internal/taskrecord"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

// Cause says in a sentence what makes the difference between experiments.
func (c *Comparison) Cause() string {
	tail := percentName(c.P)
	ms := func(v float64) string { return number(v) + unit(c.Unit) }
	long, short, differ := c.ends()
	if long == nil {
		return fmt.Sprintf("too few requests to compare: it takes %d for %s, in two experiments or more", Needed(c.P, 1), tail)
	}
	all := c.Differences()
	between := slices.DeleteFunc(slices.Clone(all), func(d Difference) bool { return d.More != long || d.Less != short })
	switch {
	case differ && len(between) > 0:
		d := between[0]
		verb := "makes"
		if d.By < (long.Tail-short.Tail)/2 {
			verb = "makes a part of"
		}
		what := d.Event + " " + verb
		if names := long.First; len(names) > 1 && slices.Contains(names, d.Event) {
			what = "one of " + some(names, maxEvents) + " " + verb
		}
		more, _, _, _ := c.impact(long, d.Event)
		less, _, _, _ := c.impact(short, d.Event)
		return fmt.Sprintf("%s the difference: %s is %s in %s, and %s less without it; in %s it is %s, and %s less without it",
			what, tail, ms(long.Tail), long.Name, ms(more), short.Name, ms(short.Tail), ms(less))
	case differ && long.Together != nil && short.Together == nil:
		return fmt.Sprintf("%s make the difference together: %s is %s in %s, and %s less without them; in %s it is %s",
			long.Together.Event, tail, ms(long.Tail), long.Name, ms(long.Tail*long.Together.Adjusted), short.Name, ms(short.Tail))
	case differ:
		s := fmt.Sprintf("%s is %s in %s and %s in %s, and no event that both have counted makes the difference", tail, ms(long.Tail), long.Name, ms(short.Tail), short.Name)
		for _, e := range long.causes() {
			if c.state(short, e.Event) == uncounted {
				return s + fmt.Sprintf(": %s makes the tail in %s, and was not counted in %s", e.Event, long.Name, short.Name)
			}
		}
		return s
	case len(all) > 0:
		d := all[0]
		more, _, _, _ := c.impact(d.More, d.Event)
		less, _, _, _ := c.impact(d.Less, d.Event)
		return fmt.Sprintf("no difference of %s is certain, but it has other reasons: it is %s less without %s in %s, and %s in %s", tail, ms(more), d.Event, d.More.Name, ms(less), d.Less.Name)
	}
	return fmt.Sprintf("no difference found: %s is %s in %s and %s in %s", tail, ms(short.Tail), short.Name, ms(long.Tail), long.Name)
}

// maxSegmentRows bounds the segments whose percentiles are shown.
const maxSegmentRows = 20

// maxCell bounds the name of an experiment in a table of text.
const maxCell = 24

func cellName(name string) string {
	if r := []rune(htmltext.Plain(name)); len(r) > maxCell {
		return string(r[:maxCell-3]) + "..."
	}
	return htmltext.Plain(name)
}

// first says what makes the tail of an experiment, and by which part that is lower without it.
func (y *Compared) first() (cause, by string) {
	switch list := y.causes(); {
	case y.few():
		return "too few requests", ""
	case len(list) > 0:
		if y.Top() == "" {
			return "one of " + some(y.First, maxEvents), percent(list[0].Adjusted)
		}
		return list[0].Event, percent(list[0].Adjusted)
	case y.Together != nil:
		return y.Together.Event, percent(y.Together.Adjusted)
	}
	return "none found", ""
}

// impactText says what the impact of an event is in an experiment.
func (c *Comparison) impactText(y *Compared, event string) string {
	e := y.events[event]
	switch c.state(y, event) {
	case uncounted:
		return "not counted"
	case none:
		return "none"
	case rare:
		return fmt.Sprintf("too few (%d)", e.N)
	case tooShort:
		return "too few requests"
	case unchanging:
		return "0 (" + e.Remark + ")"
	}
	text := fmt.Sprintf("%s%s, %s", number(e.tail(y.Report)*max(0, e.Adjusted)), unit(c.Unit), percent(max(0, e.Adjusted)))
	switch {
	case e.Parent != "":
		text = "0, follows " + e.Parent
	case e.Cause != "" && e.follows():
		text += ", follows " + e.Cause
	case e.Adjusted >= leastCause && !e.makesTail():
		text += ", may be chance"
	}
	if e.Only {
		text += fmt.Sprintf(", of the %d that recorded it", e.N)
	}
	return text
}

// quantilesText returns the quantiles of an event, or of latency, in an experiment or in a segment of
// it, which is 1 or more.
func (c *Comparison) quantilesText(y *Compared, event string, segment int) string {
	list := y.Quantiles[event]
	switch {
	case y.Requests == 0:
		return "-"
	case list == nil && c.zero[event] && y.zeros:
		return "none"
	case list == nil:
		return "not counted"
	case list[segment].N == 0:
		return "-"
	}
	q := list[segment]
	if q.Tail != q.Tail {
		return fmt.Sprintf("%s / -", number(q.P50))
	}
	return fmt.Sprintf("%s / %s", number(q.P50), number(q.Tail))
}

func (c *Comparison) impactsTitle() string {
	return fmt.Sprintf("By how much %s is lower without requests in which an event is high", percentName(c.P))
}

func (c *Comparison) quantilesTitle() string {
	s := fmt.Sprintf("p50 and %s of latency, and of these events", percentName(c.P))
	if c.Segments > 0 {
		s += fmt.Sprintf(", of all requests and in each of %d segments", c.Segments)
	}
	return s
}

// valueName is the name of what quantiles are of, with its unit.
func (c *Comparison) valueName(event string) string {
	name, u := event, c.units[event]
	if event == "" {
		name, u = "latency", c.Unit
	}
	if u != "" {
		name += ", " + u
	}
	return name
}

// noEvents says why there is no table of events.
func (c *Comparison) noEvents() string {
	return fmt.Sprintf("no event has an impact of %s or more in an experiment", percent(leastCause))
}

// WriteText writes the comparison as text. Any error is from w.
func (c *Comparison) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\n\n", htmltext.Plain(c.Cause()))
	c.writeTails(b)
	for _, note := range c.Notes {
		fmt.Fprintf(b, "%s\n", htmltext.Plain(note))
	}
	events := c.Events[:min(len(c.Events), maxEvents)]
	c.writeImpacts(b, events)
	c.writeQuantiles(b, events)
	return b.Flush()
}

// writeTails writes the latencies of each experiment, and what makes its tail.
func (c *Comparison) writeTails(b io.Writer) {
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(tw, "%s\trequests\tp50\tp90\t%s\tslowest\tfirst cause\tlower by\n", cellName(c.By), percentName(c.P))
	for _, y := range c.Experiments {
		fmt.Fprintf(tw, "%s\t%d", cellName(y.Name), y.Requests)
		for _, v := range []float64{y.P50, y.P90, y.Tail, y.Max} {
			if v != v {
				fmt.Fprint(tw, "\t-")
			} else {
				fmt.Fprintf(tw, "\t%s%s", number(v), unit(c.Unit))
			}
		}
		cause, by := y.first()
		fmt.Fprintf(tw, "\t%s\t%s\n", htmltext.Plain(cause), by)
	}
	tw.Flush()
}

// names returns what the experiments are called, with tabs between.
func (c *Comparison) names() string {
	var names []string
	for _, y := range c.Experiments {
		names = append(names, cellName(y.Name))
	}
	return strings.Join(names, "\t")
}

// writeImpacts writes the impact of some events in each experiment.
func (c *Comparison) writeImpacts(b io.Writer, events []string) {
	if len(events) == 0 {
		fmt.Fprintf(b, "\n%s\n", c.noEvents())
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", c.impactsTitle())
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(tw, "event\t%s\n", c.names())
	for _, event := range events {
		fmt.Fprint(tw, htmltext.Plain(event))
		for _, y := range c.Experiments {
			fmt.Fprintf(tw, "\t%s", htmltext.Plain(c.impactText(y, event)))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	if n := len(c.Events) - len(events); n > 0 {
		fmt.Fprintf(b, "and %d more\n", n)
	}
}

// writeQuantiles writes the quantiles of the latency and of some events, by segment and experiment.
func (c *Comparison) writeQuantiles(b io.Writer, events []string) {
	fmt.Fprintf(b, "\n%s:\n\n", c.quantilesTitle())
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(tw, "\t%s\n", c.names())
	for _, event := range append([]string{""}, events...) {
		for segment := range min(c.Segments, maxSegmentRows) + 1 {
			if segment == 0 {
				fmt.Fprint(tw, htmltext.Plain(c.valueName(event)))
			} else {
				fmt.Fprintf(tw, "  %d of %d", segment, c.Segments)
			}
			for _, y := range c.Experiments {
				fmt.Fprintf(tw, "\t%s", htmltext.Plain(c.quantilesText(y, event, segment)))
			}
			fmt.Fprintln(tw)
		}
	}
	tw.Flush()
	if n := c.Segments - maxSegmentRows; n > 0 {
		fmt.Fprintf(b, "and %s\n", taskrecord.Count(n, "more segment"))
	}
}
