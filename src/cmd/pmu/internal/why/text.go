// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"bufio"
	"cmd/pmu/internal/htmltext"
	"cmp"
	"fmt"
	"internal/taskrecord"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Bounds of a report, so that in text it fits a screen.
const (
	maxEvents   = 8
	maxPatterns = 8
	maxPairs    = 3
	maxRuledOut = 6 // for one reason
)

// number formats a number for people: with three digits, or as it is if it is an integer.
func number(v float64) string {
	if a := math.Abs(v); v == math.Trunc(v) && a < 1e6 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	} else if a >= 1e6 || a < 1e-3 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	} else if a >= 100 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// unit is a unit after a number.
func unit(u string) string {
	if u == "" {
		return ""
	}
	return " " + u
}

// percent formats a part of one.
func percent(v float64) string {
	if math.Abs(v) < 0.0995 {
		return strconv.FormatFloat(100*v, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(100*v, 'f', 0, 64) + " %"
}

// percentName is the name of a percentile: p99.
func percentName(p float64) string {
	return "p" + strconv.FormatFloat(math.Round(p*1e8)/1e6, 'f', -1, 64)
}

// String returns the condition as an expression.
func (c Cond) String() string {
	switch {
	case c.IsWord:
		return fmt.Sprintf("%s = %q", c.Column, c.Word)
	case math.IsInf(c.Lo, -1):
		return fmt.Sprintf("%s < %s%s", c.Column, number(c.Hi), unit(c.Unit))
	case math.IsInf(c.Hi, 1):
		return fmt.Sprintf("%s >= %s%s", c.Column, number(c.Lo), unit(c.Unit))
	}
	lo, hi := number(c.Lo), number(c.Hi)
	if lo == hi { // in three digits
		lo, hi = strconv.FormatFloat(c.Lo, 'g', -1, 64), strconv.FormatFloat(c.Hi, 'g', -1, 64)
	}
	return fmt.Sprintf("%s in [%s,%s)%s", c.Column, lo, hi, unit(c.Unit))
}

// conds returns all conditions as an expression.
func (p *Pattern) conds() string {
	var list []string
	for _, c := range p.Conds {
		list = append(list, c.String())
	}
	return strings.Join(list, " and ")
}

// Cause says in a sentence what makes the tail.
func (r *Report) Cause() string {
	tail := percentName(r.P)
	if r.Requests == 0 {
		return "there are no requests"
	}
	if r.few() {
		n, are := above(r.P, r.Requests)+1, "are"
		if n == 1 {
			are = "is"
		}
		return fmt.Sprintf("too few requests: %d %s above %s, and it takes %d, so %d requests", n, are, tail, fewest, Needed(r.P, 1))
	}
	if r.P50 == r.Max {
		return "no cause found: all requests took the same time"
	}
	if !r.hasTail() {
		return fmt.Sprintf("no cause found: there is no tail, as %s is %s above p50", tail, percent(r.Tail/r.P50-1))
	}
	if list := r.causes(); len(list) > 0 {
		e := list[0]
		of := ""
		if e.Only {
			of = fmt.Sprintf(" of the %d requests that recorded it", e.N)
		}
		v := e.tail(r)
		if names := r.First; len(names) > 1 {
			return fmt.Sprintf("one of %s makes the tail%s, and no rule says which: %s is %s%s, and %s%s without the requests in which they are high: %s less",
				htmltext.Plain(some(names, maxEvents)), of, tail, number(v), unit(r.Unit), number(v*(1-e.Adjusted)), unit(r.Unit), percent(e.Adjusted))
		}
		return fmt.Sprintf("%s makes the tail%s: %s is %s%s, and %s%s without the %d requests in which it is above %s%s: %s less",
			htmltext.Plain(e.Event), of, tail, number(v), unit(r.Unit), number(v*(1-e.Adjusted)), unit(r.Unit), e.High, number(e.Threshold), unit(e.Unit), percent(e.Adjusted))
	}
	if e := r.Together; e != nil {
		return fmt.Sprintf("%s make the tail together: %s is %s%s, and %s%s without the %d requests in which one of them is high: %s less",
			htmltext.Plain(e.Event), tail, number(r.Tail), unit(r.Unit), number(r.Tail*(1-e.Adjusted)), unit(r.Unit), e.High, percent(e.Adjusted))
	}
	if p := r.best(); p != nil {
		return fmt.Sprintf("no event makes the tail, but %s describes slow requests", htmltext.Plain(p.conds()))
	}
	return "no cause found"
}

// A quantile is a latency that a part of the requests does not exceed.
type quantile struct {
	name string
	part float64
	v    float64
}

// percentiles returns those that the report begins with: the tail's may be one of the others.
func (r *Report) percentiles() []quantile {
	list := []quantile{{"p50", 0.5, r.P50}, {"p90", 0.9, r.P90}}
	list = slices.DeleteFunc(list, func(x quantile) bool { return x.part == r.P })
	return append(list, quantile{percentName(r.P), r.P, r.Tail})
}

// some returns names, at most so many.
func some(names []string, most int) string {
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// few reports whether there are too few requests to say anything.
func (r *Report) few() bool { return above(r.P, r.Requests)+1 < fewest }

// best returns the pattern of the most slow requests, or nil. Those of later rounds are of what it leaves.
func (r *Report) best() *Pattern {
	if len(r.Patterns) == 0 {
		return nil
	}
	return &r.byRequests()[0]
}

// Described returns the pattern that the first line names: nothing makes the tail, or nil.
func (r *Report) Described() *Pattern {
	if len(r.First) > 0 || r.Together != nil {
		return nil
	}
	return r.best()
}

// WriteText writes the report as text that fits a screen. Any error is from w.
func (r *Report) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	u := unit(r.Unit)
	fmt.Fprintf(b, "%s\n\n", r.Cause())
	if r.Requests > 0 {
		fmt.Fprintf(b, "%s: ", taskrecord.Count(r.Requests, "request"))
		for _, x := range r.percentiles() {
			fmt.Fprintf(b, "%s %s%s, ", x.name, number(x.v), u)
		}
		fmt.Fprintf(b, "slowest %s%s\n", number(r.Max), u)
	}
	if r.Left > 0 {
		fmt.Fprintf(b, "%d others have no latency and are left out\n", r.Left)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(b, "%s\n", htmltext.Plain(note))
	}
	r.writeEvents(b)
	r.writeTogether(b)
	r.writePatterns(b)
	r.writeRuledOut(b)
	return b.Flush()
}

func (r *Report) writeEvents(b *bufio.Writer) {
	list := r.causes()
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", r.eventsTitle())
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(tw, "event\tlower by\tpart\t95 of 100\thigh in\tof\tabove\n")
	for _, e := range list[:min(len(list), maxEvents)] {
		low, above := e.bounds()
		fmt.Fprintf(tw, "%s\t%s%s\t%s\t%s to %s\t%d\t%d\t%s%s", htmltext.Plain(e.Event), number(e.tail(r)*e.Adjusted), unit(r.Unit), percent(e.Adjusted),
			percent(low), percent(above), e.High, e.N, number(e.Threshold), unit(e.Unit))
		if s := e.taken(); s != "" {
			fmt.Fprintf(tw, "\t%s", htmltext.Plain(s))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	if n := len(list) - maxEvents; n > 0 {
		fmt.Fprintf(b, "and %d more\n", n)
	}
	for _, p := range r.Pairs[:min(len(r.Pairs), maxPairs)] {
		fmt.Fprintf(b, "%s\n", htmltext.Plain(p.sentence()))
	}
}

// writeTogether writes which events make the tail together.
func (r *Report) writeTogether(b *bufio.Writer) {
	j := r.Together
	if j == nil {
		return
	}
	fmt.Fprintf(b, "\n%s:\n\n", r.togetherTitle())
	tw := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(tw, "event\tlower by\tpart\thigh in\tof\tabove\n")
	for _, e := range j.Events {
		fmt.Fprintf(tw, "%s\t%s%s\t%s\t%d\t%d\t%s%s\n", htmltext.Plain(e.Event), number(r.Tail*e.Adjusted), unit(r.Unit), percent(e.Adjusted), e.High, e.N, number(e.Threshold), unit(e.Unit))
	}
	tw.Flush()
	fmt.Fprintf(b, "%s\n", htmltext.Plain(j.sentence(r)))
}

// sentence says what the impact of all is.
func (j *Joint) sentence(r *Report) string {
	low, above := j.bounds()
	return fmt.Sprintf("without all %d of these requests it is %s%s lower: %s, 95 of 100: %s to %s",
		j.High, number(r.Tail*j.Adjusted), unit(r.Unit), percent(j.Adjusted), percent(low), percent(above))
}

func (r *Report) togetherTitle() string {
	return fmt.Sprintf("By how much %s is lower without requests in which one event is high: the others make it, too", percentName(r.P))
}

func (r *Report) eventsTitle() string {
	return fmt.Sprintf("By how much %s is lower without requests in which an event is high", percentName(r.P))
}

// bounds returns between what the adjusted impact is in 95 of 100 cases.
func (e *Impact) bounds() (low, above float64) {
	return max(0, e.Low-e.Raw+e.Adjusted), max(0, e.Above-e.Raw+e.Adjusted)
}

// taken says what was taken from the impact, and why, or "".
func (e *Impact) taken() string {
	switch {
	case e.Raw-e.Adjusted < 0.01:
		return ""
	case e.Cause != "":
		return fmt.Sprintf("%s before %s (Jaccard %.2f)", percent(e.Raw), e.Cause, e.Jaccard)
	}
	return fmt.Sprintf("its own time; %s with what is high then, too", percent(e.Raw))
}

func (p *Pair) sentence() string {
	return fmt.Sprintf("%s and %s are high together (Jaccard %.2f): no rule says which one is the cause", p.Events[0], p.Events[1], p.Jaccard)
}

const patternsTitle = "What describes slow requests"

// byRequests returns the patterns of each round, those of the most requests first.
func (r *Report) byRequests() []Pattern {
	list := slices.Clone(r.Patterns)
	slices.SortStableFunc(list, func(a, b Pattern) int { return cmp.Or(a.Round-b.Round, b.TP-a.TP) })
	return list
}

// rest says that a pattern's numbers are not of all requests.
func (p *Pattern) rest() string {
	if p.Round > 0 {
		return "of the rest, "
	}
	return ""
}

func (r *Report) writePatterns(b *bufio.Writer) {
	if len(r.Patterns) == 0 {
		return
	}
	list := r.byRequests()
	fmt.Fprintf(b, "\n%s:\n\n", patternsTitle)
	for _, p := range list[:min(len(list), maxPatterns)] {
		fmt.Fprintf(b, "latency %s..%s%s: %s: %sF %.2f (precision %.2f, recall %.2f), n %d\n", number(p.From), number(p.To), unit(r.Unit),
			htmltext.Plain(p.conds()), p.rest(), p.F, p.Precision, p.Recall, p.TP)
	}
	if n := len(list) - maxPatterns; n > 0 {
		fmt.Fprintf(b, "and %d more\n", n)
	}
}

const (
	mayBeChance = "may be chance"
	ownTime     = "high in slow requests, but its own time is too short"
	noImpact    = "no impact"

	besideLatency = "high in slow requests, but cost, and no part of the latency"
)

// A ruling is why events are out of the question.
type ruling struct {
	why    string
	events []string
	own    bool // why is a predicate of one event
}

// ruledOut returns what is ruled out: first what is so for a reason of its own.
func (r *Report) ruledOut() (list []ruling) {
	groups := make(map[string][]string)
	few := make(map[int][]string) // by in how many requests they are recorded
	for _, e := range r.Impacts {
		switch {
		case r.Together != nil && slices.ContainsFunc(r.Together.Events, func(x Impact) bool { return x.Event == e.Event }):
		case e.Parent != "":
			list = append(list, ruling{"is " + e.Remark, []string{e.Event}, true})
		case e.Remark == remarkFew:
			few[e.N] = append(few[e.N], e.Event)
		case e.Remark != "":
			groups[e.Remark] = append(groups[e.Remark], e.Event)
		case e.Beside && e.Raw >= leastCause:
			groups[besideLatency] = append(groups[besideLatency], fmt.Sprintf("%s (%s)", e.Event, percent(e.Raw)))
		case e.Raw >= leastCause && e.Adjusted < leastCause:
			if e.Own < leastCause {
				groups[ownTime] = append(groups[ownTime], fmt.Sprintf("%s (%s)", e.Event, percent(e.Own)))
			} else {
				list = append(list, ruling{fmt.Sprintf("follows %s (%s, Jaccard %.2f)", e.Cause, percent(e.Raw), e.Jaccard), []string{e.Event}, true})
			}
		case e.Adjusted >= leastCause && (e.Low <= 0 || e.Chance >= chance):
			groups[mayBeChance] = append(groups[mayBeChance], e.Event)
		case e.Adjusted < leastCause:
			groups[noImpact] = append(groups[noImpact], e.Event)
		}
	}
	for _, why := range []string{ownTime, besideLatency, mayBeChance, noImpact, remarkNoStep, remarkConstant} {
		if names := groups[why]; len(names) > 0 {
			list = append(list, ruling{why, names, false})
		}
	}
	return append(list, r.tooFew(few)...)
}

// tooFew returns which events were recorded in too few requests. What they have in common is said
// once: in how many requests, or how many it takes.
func (r *Report) tooFew(events map[int][]string) (list []ruling) {
	takes := max(Needed(r.P, 1), 2*minRange)
	var differ []string
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(events))) {
		switch names := events[n]; {
		case n == 0:
			list = append(list, ruling{"not recorded", names, false})
		case len(names) > 1:
			list = append(list, ruling{fmt.Sprintf("%s: recorded in %s, and it takes %d", remarkFew, taskrecord.Count(n, "request"), takes), names, false})
		default:
			differ = append(differ, fmt.Sprintf("%s (%d)", names[0], n))
		}
	}
	if differ != nil {
		list = append(list, ruling{fmt.Sprintf("%s: recorded in so many requests, and it takes %d", remarkFew, takes), differ, false})
	}
	return list
}

// names returns the names of events, at most so many.
func (g *ruling) names(most int) string { return some(g.events, most) }

func (r *Report) writeRuledOut(b *bufio.Writer) {
	list := r.ruledOut()
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\nRuled out:\n\n")
	for _, g := range list {
		if g.own {
			fmt.Fprintf(b, "%s\n", htmltext.Plain(g.events[0]+" "+g.why))
		} else {
			fmt.Fprintf(b, "%s\n", htmltext.Plain(g.why+": "+g.names(maxRuledOut)))
		}
	}
}
