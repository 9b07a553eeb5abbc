// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"cmd/pmu/internal/htmltext"
	_ "embed"
	"fmt"
	"html"
	"io"
	"strconv"
	"strings"
)

// This file is a report as a page of HTML. It needs no script and nothing from elsewhere, and
// it is XML, too, so that tests can parse it.
//
// Texts keep their size in a narrow window: in drawings, what is horizontal is in percent of
// the width, and what is vertical in pixels; see svg.go. Meaning is never in a colour alone.

// Bounds of the page. What a report has in text, the page has as well.
const (
	maxPageRuledOut = 50 // for one reason
	maxPageText     = 2000
)

// ContentSecurityPolicy is what a page of [Report.WriteHTML] is allowed to do, for the header of
// that name.
const ContentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'"

//go:embed page.css
var pageStyle string

// A page is one that is made.
type page struct {
	strings.Builder
	r *Report
}

// put appends HTML, in which each %s is replaced by an argument, escaped.
func (p *page) put(format string, args ...string) {
	htmltext.Put(p, escape, format, args...)
}

// escape returns s escaped for HTML, in one line and not too long: names and words may come
// from anybody.
func escape(s string) string { return html.EscapeString(htmltext.Clean(s, maxPageText)) }

// WriteHTML writes the report as a page of HTML with drawings, which needs nothing from
// elsewhere. An error is one of w.
func (r *Report) WriteHTML(w io.Writer) error {
	p := &page{r: r}
	p.begin("Why are some requests slow?")
	p.put("<h1>%s</h1>\n", r.Cause())
	p.numbers()
	p.latencies()
	p.events()
	p.together()
	p.distributions()
	p.patterns()
	p.ruledOut()
	p.put("</body>\n</html>\n")
	_, err := io.WriteString(w, p.String())
	return err
}

// begin writes what comes before the first heading.
func (p *page) begin(title string) {
	p.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>%s</title>
<style>`+htmltext.Style+pageStyle+`</style>
</head>
<body>
`, title)
}

// latency formats a latency. It isn't known only in a report that Analyze has not made.
func (p *page) latency(v float64) string {
	if bad(v) {
		return "unknown"
	}
	return number(v) + unit(p.r.Unit)
}

// first returns the event that the first line is about, or nil if there is none or it was recorded
// in some requests only.
func (p *page) first() *Impact {
	// That of some requests only can't be beside all.
	if list := p.r.causes(); len(list) > 0 && !p.r.few() && !list[0].Only {
		return &list[0]
	}
	return nil
}

// numbers writes the table of percentiles: of all requests, and of those in which the first
// event isn't high.
func (p *page) numbers() {
	r := p.r
	first := p.first()
	if first != nil && len(first.Without.Parts) == 0 {
		first = nil
	}
	if r.Requests > 0 {
		p.put("<table>\n<tr><th>Latency</th><th class=\"n\">%s</th>", count(r.Requests, "request"))
		if first != nil {
			p.put("<th class=\"n\">without %s above %s</th>", first.Event, number(first.Threshold)+unit(first.Unit))
		}
		p.put("</tr>\n")
		for _, x := range append(r.percentiles(), quantile{"slowest", 1, r.Max}) {
			p.put("<tr><td>%s</td><td class=\"n\">%s</td>", x.name, p.latency(x.v))
			if first != nil {
				p.put("<td class=\"n\">%s</td>", p.latency(first.Without.at(x.part)))
			}
			p.put("</tr>\n")
		}
		p.put("</table>\n")
		if first != nil && first.taken() != "" {
			// The first line says the adjusted impact.
			rest := "is the time of " + first.Event + " itself"
			if first.Cause != "" {
				rest = "is left without what is likely to be the impact of " + first.Cause
			}
			p.put("<p>%s.</p>\n", fmt.Sprintf("Without these requests %s is %s lower; %s %s", percentName(r.P), percent(first.Raw), percent(first.Adjusted), rest))
		}
	}
	if r.Left > 0 {
		p.put("<p class=\"dim\">%s.</p>\n", fmt.Sprintf("%d others have no latency and are left out", r.Left))
	}
	for _, note := range r.Notes {
		p.put("<p class=\"dim\">%s.</p>\n", strings.TrimSuffix(note, "."))
	}
}

// latencies draws the distribution of latencies.
func (p *page) latencies() {
	r := p.r
	if len(r.Latencies.Parts) == 0 {
		return
	}
	p.put("<h2>How long requests take</h2>\n")
	first := p.first()
	p.put(`<p class="legend"><svg class="key" width="28" height="10" aria-hidden="true"><path class="all" d="M0 5H28"/></svg>%s</p>`+"\n", "all "+count(r.Requests, "request"))
	if first != nil {
		of := ""
		if first.N < r.Requests {
			of = fmt.Sprintf(" of the %d that recorded it", first.N)
		}
		p.put(`<p class="legend"><svg class="key" width="28" height="10" aria-hidden="true"><path class="less" d="M0 5H28"/></svg>%s</p>`+"\n",
			fmt.Sprintf("without the %d in which %s is above %s%s%s", first.High, first.Event, number(first.Threshold), unit(first.Unit), of))
	}
	p.drawLatencies(first)
}

// events draws the impact of each event.
func (p *page) events() {
	r := p.r
	list := r.causes()
	if len(list) == 0 {
		return
	}
	p.put("<h2>%s</h2>\n<p class=\"dim\">A bar is the estimate; its whisker is where 95 of 100 resampled ones are.</p>\n", r.eventsTitle())
	shown := list[:min(len(list), maxEvents)]
	most := 0.0
	for _, e := range shown {
		_, above := e.bounds()
		most = max(most, e.Adjusted, above)
	}
	s := linearScale(0, 100*min(most, 1))
	p.put("<div class=\"row axis\"><div class=\"none\"></div><div>")
	p.drawTicks(s, "part of "+percentName(r.P)+", in %")
	p.put("</div><div class=\"none\"></div></div>\n")
	for _, e := range shown {
		low, above := e.bounds()
		p.put("<div class=\"row\"><h3>%s</h3><div>", e.Event)
		p.drawImpact(s, 100*e.Adjusted, 100*low, 100*above, e.Event+": "+percent(e.Adjusted))
		p.put("</div><div><b>%s</b> lower: %s<br/><span class=\"dim\">95 of 100: %s to %s<br/>high in %s of %s, above %s",
			p.latency(e.tail(r)*e.Adjusted), percent(e.Adjusted), percent(low), percent(above),
			strconv.Itoa(e.High), strconv.Itoa(e.N), number(e.Threshold)+unit(e.Unit))
		if s := e.taken(); s != "" {
			p.put("<br/>%s", s)
		}
		p.put("</span></div></div>\n")
	}
	p.more(len(list)-maxEvents, "event")
	for _, x := range r.Pairs[:min(len(r.Pairs), maxPairs)] {
		p.put("<p>%s.</p>\n", x.sentence())
	}
}

// together writes which events make the tail together.
func (p *page) together() {
	r := p.r
	j := r.Together
	if j == nil {
		return
	}
	p.put("<h2>%s</h2>\n<table>\n<tr><th>Event</th><th class=\"n\">lower by</th><th class=\"n\">part</th><th class=\"n\">high in</th><th class=\"n\">of</th><th class=\"n\">above</th></tr>\n", r.togetherTitle())
	for _, e := range j.Events {
		p.put("<tr><td>%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n", e.Event,
			p.latency(r.Tail*e.Adjusted), percent(e.Adjusted), strconv.Itoa(e.High), strconv.Itoa(e.N), number(e.Threshold)+unit(e.Unit))
	}
	p.put("</table>\n<p>%s.</p>\n", j.sentence(r))
}

// more says how many are left out.
func (p *page) more(n int, what string) {
	if n > 0 {
		p.put("<p class=\"dim\">%s.</p>\n", "And "+count(n, "more "+what))
	}
}

// distributions draws the distribution of each event that makes the tail.
func (p *page) distributions() {
	list := p.r.causes()
	if len(list) == 0 {
		return
	}
	p.put("<h2>Where these events are high</h2>\n<p class=\"dim\">An event is high above a step of its distribution. That range is shaded.</p>\n<div class=\"many\">\n")
	for _, e := range list[:min(len(list), maxEvents)] {
		if len(e.CDF.Parts) == 0 {
			continue
		}
		p.put("<div><h3>%s</h3><p class=\"dim\">%s</p>", e.Event, fmt.Sprintf("above %s%s in %d of %d", number(e.Threshold), unit(e.Unit), e.High, e.N))
		p.drawEvent(&e)
		p.put("</div>\n")
	}
	p.put("</div>\n")
}

// patterns draws what describes slow requests.
func (p *page) patterns() {
	list := p.r.byRequests()
	if len(list) == 0 {
		return
	}
	p.put("<h2>%s</h2>\n<p class=\"dim\">Precision is how many of the requests that meet the conditions took that long; recall, how many that took that long meet the conditions. F is their harmonic mean. Those of the rest are of the requests that patterns above do not describe. The dotted line is %s.</p>\n", patternsTitle, percentName(p.r.P))
	s := p.latencyScale()
	p.put("<div class=\"row pattern axis\"><div>")
	p.drawTicks(s, axisName("latency", p.r.Unit, s))
	p.put("</div><div class=\"none\"></div></div>\n")
	for _, x := range list[:min(len(list), maxPatterns)] {
		p.put("<div class=\"row pattern\"><div class=\"over\"><h3>%s</h3><span class=\"dim\">%s</span></div><div>", x.conds(),
			fmt.Sprintf("latency %s..%s%s, %sn %d of %d", number(x.From), number(x.To), unit(p.r.Unit), x.rest(), x.TP, x.Pos))
		p.drawInterval(s, x.From, x.To)
		p.put("</div><div>")
		p.drawScores(&x)
		p.put("</div></div>\n")
	}
	p.more(len(list)-maxPatterns, "pattern")
}

// ruledOut writes what is ruled out.
func (p *page) ruledOut() {
	list := p.r.ruledOut()
	if len(list) == 0 {
		return
	}
	p.put("<h2>Ruled out</h2>\n")
	for _, g := range list {
		p.put("<div class=\"row ruled\"><div>%s</div><div class=\"dim\">%s</div></div>\n", g.names(maxPageRuledOut), g.why)
	}
}
