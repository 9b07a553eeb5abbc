// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"io"
	"strconv"
)

// This file is a comparison of experiments as a page; see html.go.

// WriteHTML writes the comparison as a page of HTML with drawings, which needs nothing from
// elsewhere. An error is one of w.
func (c *Comparison) WriteHTML(w io.Writer) error {
	p := &page{r: &Report{P: c.P, Unit: c.Unit}}
	p.begin("How do experiments differ?")
	p.put("<h1>%s</h1>\n", c.Cause())
	p.experiments(c)
	events := c.Events[:min(len(c.Events), maxEvents)]
	p.impacts(c, events)
	p.quantiles(c, events)
	p.put("</body>\n</html>\n")
	_, err := io.WriteString(w, p.String())
	return err
}

// experiments writes the table of experiments.
func (p *page) experiments(c *Comparison) {
	p.put("<div class=\"wide\"><table>\n<tr><th>%s</th><th class=\"n\">requests</th>", c.By)
	for _, name := range []string{"p50", "p90", percentName(c.P), "slowest"} {
		p.put("<th class=\"n\">%s</th>", name)
	}
	p.put("<th>first cause</th><th class=\"n\">lower by</th></tr>\n")
	for _, y := range c.Experiments {
		p.put("<tr><td>%s</td><td class=\"n\">%s</td>", y.Name, strconv.Itoa(y.Requests))
		for _, v := range []float64{y.P50, y.P90, y.Tail, y.Max} {
			p.put("<td class=\"n\">%s</td>", p.latency(v))
		}
		cause, by := y.first()
		p.put("<td>%s</td><td class=\"n\">%s</td></tr>\n", cause, by)
	}
	p.put("</table></div>\n")
	for _, note := range c.Notes {
		p.put("<p class=\"dim\">%s.</p>\n", note)
	}
}

// impacts draws the impact of each event in each experiment.
func (p *page) impacts(c *Comparison, events []string) {
	p.put("<h2>%s</h2>\n", c.impactsTitle())
	if len(events) == 0 {
		p.put("<p>%s.</p>\n", c.noEvents())
		return
	}
	most := 0.0
	bar := func(y *Compared, event string) (v, low, above float64, ok bool) {
		if c.state(y, event) != isCounted {
			return 0, 0, 0, false
		}
		e := y.events[event]
		low, above = e.bounds()
		tail := e.tail(y.Report)
		return tail * max(0, e.Adjusted), tail * low, tail * above, true
	}
	for _, event := range events {
		for _, y := range c.Experiments {
			if v, _, above, ok := bar(y, event); ok {
				most = max(most, v, above)
			}
		}
	}
	s := linearScale(0, most)
	p.put("<p class=\"dim\">A bar is the estimate; its whisker is where 95 of 100 resampled ones are.</p>\n<div class=\"row axis\"><div class=\"none\"></div><div>")
	p.drawTicks(s, axisName("lower by", c.Unit, s))
	p.put("</div><div class=\"none\"></div></div>\n")
	for _, event := range events {
		p.put("<div class=\"group\"><h3>%s</h3>\n", event)
		for _, y := range c.Experiments {
			text := c.impactText(y, event)
			p.put("<div class=\"row\"><div>%s</div><div>", y.Name)
			if v, low, above, ok := bar(y, event); ok {
				p.drawImpact(s, v, low, above, event+" in "+y.Name+": "+text)
			}
			p.put("</div><div class=\"dim\">%s</div></div>\n", text)
		}
		p.put("</div>\n")
	}
	p.more(len(c.Events)-len(events), "event")
}

// quantiles draws the median and the tail of latency and of events: of all requests of an experiment,
// and of those of its segments.
func (p *page) quantiles(c *Comparison, events []string) {
	p.put("<h2>%s</h2>\n<p class=\"dim\">%s</p>\n", c.quantilesTitle(), fmt.Sprintf("A dot is p50, and a ring is %s. The first line is of all requests.", percentName(c.P)))
	shown := min(c.Segments, maxSegmentRows)
	for _, event := range append([]string{""}, events...) {
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
		p.put("<div class=\"group\"><h3>%s</h3>\n<div class=\"row axis\"><div class=\"none\"></div><div>", c.valueName(event))
		p.drawTicks(s, axisName("", u, s))
		p.put("</div><div class=\"none\"></div></div>\n")
		for _, y := range c.Experiments {
			p.put("<div class=\"row\"><div>%s</div><div>", y.Name)
			list := y.Quantiles[event]
			if len(list) > 0 {
				p.drawQuantiles(s, list[:shown+1], c.valueName(event)+" in "+y.Name)
			}
			p.put("</div><div class=\"dim\">%s", c.quantilesText(y, event, 0))
			for k := 1; k <= shown && len(list) > 0; k++ {
				p.put("<br/>%s", fmt.Sprintf("%d of %d: %s", k, c.Segments, c.quantilesText(y, event, k)))
			}
			p.put("</div></div>\n")
		}
		p.put("</div>\n")
	}
	p.more(c.Segments-shown, "segment")
}

// drawQuantiles draws a line from the median to the tail for each of some parts of an experiment.
func (p *page) drawQuantiles(s scale, list []Quantiles, label string) {
	const line = 22 // pixels, as of the text beside
	h := float64(line * len(list))
	p.put(`<svg width="100%" height="%s" role="img" aria-label="%s">`, num(h), label)
	p.grid(s, h)
	for k, q := range list {
		y := num(float64(line*k) + line/2)
		if q.N == 0 {
			continue
		}
		if q.Tail == q.Tail {
			p.put(`<line class="whisker" x1="%s" x2="%s" y1="%s" y2="%s"/>`, s.at(q.P50), s.at(q.Tail), y, y)
			p.put(`<circle class="ring" cx="%s" cy="%s" r="4"/>`, s.at(q.Tail), y)
		}
		p.put(`<circle class="dot" cx="%s" cy="%s" r="4"/>`, s.at(q.P50), y)
	}
	p.put("</svg>")
}
