// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"cmd/pmu/internal/htmltext"
	"embed"
	"fmt"
	"html/template"
	"internal/taskrecord"
	"io"
	"strings"
)

// This file is a report as a page of HTML. It needs no script and nothing from elsewhere.
// What is here is what a page shows; how it shows it is in the templates.
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

//go:embed page/page.css
var pageStyle string

//go:embed page/*.html
var pageFiles embed.FS

// Names, units and words may come from anybody: templates clean them, and html/template escapes all.
var (
	pageFuncs = template.FuncMap{
		"clean":          clean,
		"value":          value,
		"latency":        latency,
		"y":              func(y, below float64) string { return num(y + below) },
		"count":          taskrecord.Count[int],
		"percent":        percent,
		"percentName":    percentName,
		"sentence":       func(note string) string { return strings.TrimSuffix(note, ".") },
		"taken":          (*Impact).taken,
		"pair":           (*Pair).sentence,
		"joint":          (*Joint).sentence,
		"conds":          (*Pattern).conds,
		"rest":           (*Pattern).rest,
		"ruledOut":       (*Report).ruledOut,
		"names":          func(g ruling) string { return g.names(maxPageRuledOut) },
		"reason":         func(g ruling) string { return g.why },
		"eventsTitle":    (*Report).eventsTitle,
		"togetherTitle":  (*Report).togetherTitle,
		"patternsTitle":  func() string { return patternsTitle },
		"impactsTitle":   (*Comparison).impactsTitle,
		"quantilesTitle": (*Comparison).quantilesTitle,
		"noEvents":       (*Comparison).noEvents,
	}
	reportPage     = htmltext.Parse(pageStyle, pageFuncs, pageFiles, "page/drawings.html", "page/report.html")
	comparisonPage = htmltext.Parse(pageStyle, pageFuncs, pageFiles, "page/drawings.html", "page/comparison.html")
)

// clean returns s in one line, printable and not too long.
func clean(s string) string { return htmltext.Clean(s, maxPageText) }

// value formats a value with its unit.
func value(v float64, u string) string { return clean(number(v) + unit(u)) }

// latency formats a latency. It isn't known only in a report that Analyze has not made.
func latency(v float64, u string) string {
	if bad(v) {
		return "unknown"
	}
	return value(v, u)
}

// WriteHTML writes the report as a page of HTML with drawings, which needs nothing from
// elsewhere. Any error is from w.
func (r *Report) WriteHTML(w io.Writer) error {
	p := &page{Report: r}
	// That of some requests only can't be beside all.
	if list := r.causes(); len(list) > 0 && !r.few() && !list[0].Only && len(list[0].Without.Parts) > 0 {
		p.Beside = &list[0]
	}
	return reportPage.Write(w, p)
}

// A page is what the page of a report shows.
type page struct {
	Report *Report
	Beside *Impact // the event that the first line is about, if it can be shown beside all, or nil
}

// Percentiles returns the rows of latencies: of all requests, and of those in which the first
// event isn't high.
func (p *page) Percentiles() (rows [][]string) {
	r := p.Report
	for _, x := range append(r.percentiles(), quantile{"slowest", 1, r.Max}) {
		row := []string{x.name, latency(x.v, r.Unit)}
		if p.Beside != nil {
			row = append(row, latency(p.Beside.Without.at(x.part), r.Unit))
		}
		rows = append(rows, row)
	}
	return rows
}

// Raw says why the impact of the first line isn't what the table has, or "".
func (p *page) Raw() string {
	e := p.Beside
	if e == nil || e.taken() == "" {
		return ""
	}
	// The first line says the adjusted impact.
	rest := "is the time of " + e.Event + " itself"
	if e.Cause != "" {
		rest = "is left without what is likely to be the impact of " + e.Cause
	}
	return fmt.Sprintf("Without these requests %s is %s lower; %s %s", percentName(p.Report.P), percent(e.Raw), percent(e.Adjusted), rest)
}

// Lower returns by how much the tail is lower without what an event adds to it.
func (p *page) Lower(e *Impact) string { return latency(e.tail(p.Report)*e.Adjusted, p.Report.Unit) }

// impacts are those of events, as bars on an axis.
type impacts struct {
	Axis axis
	Rows []impactRow
	More int
}

type impactRow struct {
	*Impact
	From, To float64 // where it is in 95 of 100 cases
	Bar      *bar
}

// Impacts returns the impact of each event, or nil if there is none.
func (p *page) Impacts() *impacts {
	list := p.Report.causes()
	if len(list) == 0 {
		return nil
	}
	x := &impacts{More: max(0, len(list)-maxEvents)}
	most := 0.0
	for i := range list[:len(list)-x.More] {
		e := &list[i]
		from, to := e.bounds()
		most = max(most, e.Adjusted, to)
		x.Rows = append(x.Rows, impactRow{e, from, to, nil})
	}
	s := linearScale(0, 100*min(most, 1))
	x.Axis = s.axis("part of "+percentName(p.Report.P)+", in %", wideRoom)
	for i := range x.Rows {
		e := &x.Rows[i]
		e.Bar = s.bar(100*e.Adjusted, 100*e.From, 100*e.To, e.Event+": "+percent(e.Adjusted))
	}
	return x
}

// Pairs returns those that have a sentence.
func (p *page) Pairs() []Pair { return p.Report.Pairs[:min(len(p.Report.Pairs), maxPairs)] }

// patterns are intervals of latency on an axis, with what describes them.
type patterns struct {
	Axis axis
	Rows []patternRow
	More int
}

type patternRow struct {
	*Pattern
	Interval *rangeBar
	Scores   []scoreBar
}

// Patterns returns what describes slow requests, or nil if nothing does.
func (p *page) Patterns() *patterns {
	r, list, s := p.Report, p.Report.byRequests(), p.scale()
	if len(list) == 0 {
		return nil
	}
	x := &patterns{Axis: s.axis(axisName("latency", r.Unit, s), wideRoom), More: max(0, len(list)-maxPatterns)}
	for i := range list[:len(list)-x.More] {
		q := &list[i]
		label := fmt.Sprintf("from %s to %s%s", number(q.From), number(q.To), unit(r.Unit))
		x.Rows = append(x.Rows, patternRow{q, s.rangeBar(q.From, q.To, r.Tail, label),
			[]scoreBar{{0, "precision", q.Precision}, {18, "recall", q.Recall}, {36, "F", q.F}}})
	}
	return x
}
