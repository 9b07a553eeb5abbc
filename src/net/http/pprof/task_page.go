// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// # Tasks
//
// If the program records tasks (see [runtime/task]), a page shows what they cost, where
// they waited, and why they were slow:
//
//	http://localhost:6060/debug/pprof/tasks
//
// To see where the time of requests goes in the next 30 seconds, or to keep the slow ones:
//
//	go tool pprof -http=: 'http://localhost:6060/debug/pprof/tasks?format=pprof&seconds=30'
//	curl -o slow.tasks 'http://localhost:6060/debug/pprof/tasks?format=tasks&seconds=30&slow=1'
//
// See [Tasks] for all formats and parameters.
//
// To see what the slow ones of thousands of requests have in common, what makes the tail of
// their latency:
//
//	go tool pmu why -http=: http://localhost:6060/debug/pprof/tasks
package pprof

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"html"
	"internal/htmltext"
	"net/http"
	"net/url"
	"runtime/pprof"
	"runtime/task"
	"runtime/task/record"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of the page.
const (
	maxSlowTasks  = 50   // in the list
	maxTraceTasks = 1000 // of the trace that is asked for
	maxBars       = 20   // kinds
	maxPathRows   = 100  // of the critical path
	maxRows       = 200  // of other tables
)

// tasksLink returns what the index page says about tasks.
func tasksLink() string {
	return `<p>
<a href='tasks'>What did requests cost, and why were they slow?</a>
The tasks of the program, if it records them.
</p>
`
}

// making is held while a page is made: that reads all rings, which clients must not be
// able to ask for many times at once.
var making sync.Mutex

// writeTaskPage writes the page that req asks for.
func writeTaskPage(b *bytes.Buffer, ctx context.Context, req *taskRequest) error {
	p := &taskPage{Buffer: b, req: req, now: time.Now()}
	if !tasks.recording() {
		if !req.trace.IsZero() || !req.span.IsZero() {
			return errNotRecording
		}
		p.head("Tasks", false)
		p.off()
		p.foot()
		return nil
	}
	making.Lock()
	defer making.Unlock()
	if !req.trace.IsZero() || !req.span.IsZero() {
		return p.one(ctx)
	}
	p.all(ctx)
	return nil
}

// A taskPage is a page that is made.
type taskPage struct {
	*bytes.Buffer
	req *taskRequest
	now time.Time
}

// put appends HTML, in which each %s is replaced by an argument, escaped.
func (p *taskPage) put(format string, args ...string) {
	htmltext.Put(p, text, format, args...)
}

// text returns s escaped for HTML, in one line and not too long. Kinds, names and notes
// may come from a client.
func text(s string) string { return html.EscapeString(htmltext.Clean(s, 300)) }

func (p *taskPage) head(title string, inner bool) {
	p.put(`<!DOCTYPE html>
<html lang=en>
<head>
<meta charset=utf-8>
<meta name=viewport content='width=device-width, initial-scale=1'>
<meta name=color-scheme content='light dark'>
<title>/debug/pprof/tasks: %s</title>
<style>
body{ max-width:1240px; }
h1{ font-size:1.4rem; overflow-wrap:anywhere; }
h2{ font-size:1.1rem; margin:1.5rem 0 .5rem; }
.wide{ overflow-x:auto; }
table{ border-collapse:collapse; }
th, td{ padding:.15rem 1rem .15rem 0; text-align:left; vertical-align:top; }
th{ border-bottom:1px solid; }
.n{ text-align:right; white-space:nowrap; }
.any{ overflow-wrap:anywhere; min-width:min(12rem, 25vw); }
.text{ overflow-wrap:anywhere; min-width:12rem; }
ol{ padding-left:1.5rem; }
pre{ overflow-x:auto; }
svg{ display:block; }
</style>
</head>
<body>
<a href='./'>/debug/pprof/</a>
`, title)
	if inner {
		p.put("<a href='%s'>tasks</a>\n", p.link())
	}
	p.put("<h1>%s</h1>\n", title)
}

func (p *taskPage) foot() { p.put("</body>\n</html>\n") }

// link returns the page's address with parameters, names and values, and public as it is.
func (p *taskPage) link(params ...string) string {
	q := make(url.Values)
	for i := 0; i+1 < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	if p.req.isPublic {
		q.Set("public", "1")
	}
	return (&url.URL{Path: "tasks", RawQuery: q.Encode()}).String()
}

// off says how to record tasks.
func (p *taskPage) off() {
	p.put(`<p>
The program does not record tasks. If it did, this page would show what each kind of
request costs, where requests wait, and why the slow ones were slow.
</p>
<p>To switch it on, start the recorder, and wrap the server's handler:</p>
<pre>
import (
	"log"
	"net/http"
	"net/http/pprof"
	"runtime/task"
)

func main() {
	if err := task.Start(task.Config{Rate: 0.01, Name: "shop"}); err != nil {
		log.Fatal(err)
	}
	http.Handle("/", pprof.TaskHandler(mux))
	...
</pre>
<p>Rate is the part of requests that are recorded in any case. Slow ones are recorded whatever it is.</p>
`)
}

// A column of a table.
type column struct {
	name  string
	class string
}

// table begins a table.
func (p *taskPage) table(columns ...column) {
	p.put("<div class=wide><table>\n<tr>")
	for _, c := range columns {
		p.put("<th class='%s'>%s</th>", c.class, c.name)
	}
	p.put("</tr>\n")
}

func (p *taskPage) endTable() { p.put("</table></div>\n") }

const number = "n"

// all writes the page on all tasks.
func (p *taskPage) all(ctx context.Context) {
	s := tasks.stats()
	name := "Tasks"
	if s.Server != nil && s.Server.Name != "" {
		name += " of " + s.Server.Name
	}
	p.head(name, false)
	since := p.now.Sub(s.Since)
	which := "Slow tasks"
	if s.Rate > 0 {
		which = "Slow tasks, and " + strconv.FormatFloat(s.Rate*100, 'g', 4, 64) + " % of all requests,"
	}
	if s.Rate == 1 {
		which = "All tasks"
	}
	are := " are"
	if s.Open == 1 {
		are = " is"
	}
	p.put("<p>Since %s (%s). %s are recorded. %s open now.</p>\n",
		s.Since.Format(time.DateTime), duration(since), which, count(s.Open, "task")+are)
	p.formats()

	kinds := slices.Clone(s.Kinds)
	if p.req.hasKind {
		kinds = slices.DeleteFunc(kinds, func(k task.KindStats) bool { return k.Kind != p.req.kind })
		p.put("<p>Only kind %s. <a href='%s'>Show all</a></p>\n", p.req.kind, p.link())
	}
	// What takes most time comes first.
	slices.SortStableFunc(kinds, func(a, b task.KindStats) int { return cmp.Compare(b.Wall, a.Wall) })
	p.kinds(kinds, since)
	p.slow(ctx)
	p.counted(&s)

	p.put("<h2 id=causes>Not recorded</h2>\n")
	lost := slices.DeleteFunc(slices.Clone(s.Causes), func(c task.Cause) bool { return c.N == 0 })
	if len(lost) == 0 {
		p.put("<p>Nothing was lost.</p>\n")
	} else {
		p.table(column{"Cause", ""}, column{"Number", number})
		for _, c := range lost {
			p.put("<tr><td>%s</td><td class=n>%s</td></tr>\n", c.Name, strconv.FormatUint(c.N, 10))
		}
		p.endTable()
	}
	p.foot()
}

// counted writes which events are counted, and in how many tasks.
func (p *taskPage) counted(s *task.Stats) {
	if len(s.Events) == 0 {
		return
	}
	p.put("<h2 id=counted>Counted</h2>\n")
	if s.Epochs > 0 {
		p.put("<p>In turns: so far in %s. Tasks that were in two of them have no counts.</p>\n", count(s.Epochs, "epoch"))
	}
	all := int64(0)
	for _, k := range s.Kinds {
		all += k.Count
	}
	p.table(column{"Event", ""}, column{"Tasks with its count", number}, column{"Part", number})
	for _, e := range s.Events {
		part := 0.0
		if all > 0 {
			part = 100 * float64(e.Tasks) / float64(all)
		}
		p.put("<tr><td class=any>%s</td><td class=n>%s</td><td class=n>%s %%</td></tr>\n", e.Name, strconv.FormatInt(e.Tasks, 10), strconv.FormatFloat(part, 'g', 3, 64))
	}
	p.endTable()
}

// formats links to what there is for programs.
func (p *taskPage) formats() {
	p.put("<p>Records:\n")
	for _, f := range taskFormats {
		p.put("<a href='%s' rel=nofollow>%s</a>\n", p.link("format", f.name), f.name)
	}
	p.put("(also with seconds=N, kind=K, slow=1 or slow=20ms")
	if !p.req.isPublic {
		p.put(", and public=1 to leave notes out")
	}
	p.put(")</p>\n<p>What do slow ones have in common?</p>\n<pre>go tool pmu why -http=: '%s'</pre>\n", p.req.address)
}

// kinds writes the table of kinds, and their parts of time.
func (p *taskPage) kinds(kinds []task.KindStats, since time.Duration) {
	p.put("<h2 id=kinds>Kinds</h2>\n")
	if len(kinds) == 0 {
		p.put("<p>No task has ended yet.</p>\n")
		return
	}
	p.table(column{"Kind", ""}, column{"Count", number}, column{"Per second", number}, column{"Open", number},
		column{"p50", number}, column{"p90", number}, column{"p99", number}, column{"Slowest", number},
		column{"Slow above", number}, column{"Slow", number}, column{"Failed", number})
	var rows []record.PartsRow
	auto := false
	for _, k := range kinds {
		threshold := "not yet known"
		if k.Threshold > 0 {
			threshold = duration(k.Threshold)
			if k.Automatic {
				threshold += " (auto)"
				auto = true
			}
		}
		p.put("<tr><td class=any><a href='%s'>%s</a></td>", p.link("kind", k.Kind), cmp.Or(k.Kind, "(no name)"))
		for _, cell := range []string{
			strconv.FormatInt(k.Count, 10), perSecond(k.Count, since), strconv.FormatInt(k.Open, 10),
			duration(k.P50), duration(k.P90), duration(k.P99), duration(k.Max),
			threshold, strconv.FormatInt(k.Slow, 10), strconv.FormatInt(k.Failed, 10),
		} {
			p.put("<td class=n>%s</td>", cell)
		}
		p.put("</tr>\n")
		// Those of calls of other servers have none.
		if len(rows) < maxBars && k.Usage.Parts != [record.NumParts]time.Duration{} {
			rows = append(rows, record.PartsRow{Name: cmp.Or(k.Kind, "(no name)"), Parts: k.Usage.Parts})
		}
	}
	p.endTable()
	if auto {
		p.put("<p>auto: what 99 &#37; of a thousand tasks of the kind did not exceed.</p>\n")
	}
	if len(rows) == 0 {
		return
	}
	p.put("<h2 id=parts>Where the time of their goroutines went</h2>\n")
	if len(rows) == maxBars && len(kinds) > maxBars {
		p.put("<p>Of the first %s kinds.</p>\n", strconv.Itoa(maxBars))
	}
	p.put("<div class=wide>\n")
	record.WritePartsSVG(p, rows)
	p.put("</div>\n")
}

func perSecond(n int64, since time.Duration) string {
	if since <= 0 {
		return "-"
	}
	rate := float64(n) / since.Seconds()
	if rate < 1 {
		return strconv.FormatFloat(rate, 'g', 2, 64)
	}
	return threeDigits(rate)
}

// slow writes the list of slow tasks, those that ended last first.
func (p *taskPage) slow(ctx context.Context) {
	p.put("<h2 id=slow>Slow tasks</h2>\n")
	c := &taskCollector{req: &taskRequest{slow: true}, ctx: ctx, from: tasks.reader(true)}
	var list []*record.Task
	newest := func() {
		slices.SortStableFunc(list, func(a, b *record.Task) int { return cmp.Compare(ended(b), ended(a)) })
		list = list[:min(len(list), maxSlowTasks)]
	}
	waits, n := newLockWaits(), 0
	for t := range c.records() {
		waits.add(t)
		if p.req.hasKind && t.Kind != p.req.kind {
			continue
		}
		n++
		if list = append(list, t); len(list) >= 4*maxSlowTasks {
			newest()
			clear(list[len(list):cap(list)])
		}
	}
	newest()
	if n == 0 {
		p.put("<p>There are none, or newer ones have taken their place.</p>\n")
		return
	}
	if n > len(list) {
		p.put("<p>The last %s of %s that are still there.</p>\n", strconv.Itoa(len(list)), strconv.Itoa(n))
	}
	// What matters most is on the left, where a narrow window shows it.
	p.table(column{"Kind", ""}, column{"Took", number}, column{"Why", ""}, column{"Slow above", number}, column{"Ended", number})
	for _, t := range list {
		why := "-"
		if h := t.Hazards(); len(h) > 0 {
			why = h[0].String()
			if h[0].Cause == "mutex" {
				why += waits.behindWhom(t, t.CriticalPath())
			}
		}
		kind := cmp.Or(t.Kind, "(no name)")
		if t.Flags&record.Failed != 0 {
			kind += " (failed)"
		}
		p.put("<tr><td class=any><a href='%s'>%s</a></td><td class=n>%s</td><td class=text>%s</td><td class=n>%s</td><td class=n>%s</td></tr>\n",
			p.taskLink(t.Trace, t.Span), kind, duration(t.Wall), why, duration(t.Threshold), p.ago(t))
	}
	p.endTable()
}

func ended(t *record.Task) int64 { return t.Start + int64(t.Wall) }

// ago returns how long it is since t ended.
func (p *taskPage) ago(t *record.Task) string {
	d := time.Duration(p.now.UnixNano() - ended(t))
	switch {
	case d < time.Second:
		return "just now"
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s ago"
	case d < time.Hour:
		return strconv.Itoa(int(d/time.Minute)) + " min ago"
	}
	return time.Unix(0, ended(t)).Format(time.DateTime)
}

func (p *taskPage) taskLink(trace record.TraceID, span record.SpanID) string {
	var params []string
	if !trace.IsZero() {
		params = append(params, "trace", trace.String())
	}
	if !span.IsZero() {
		params = append(params, "span", span.String())
	}
	return p.link(params...)
}

// one writes the page on one task: that of the span, or the first of the trace.
func (p *taskPage) one(ctx context.Context) error {
	c := &taskCollector{req: new(taskRequest), ctx: ctx, from: tasks.reader(true)}
	var this *record.Task
	var list []*record.Task // of the trace
	more := 0
	waits := newLockWaits()
	for t := range c.records() {
		waits.add(t)
		switch {
		case p.req.span == t.Span && (p.req.trace.IsZero() || p.req.trace == t.Trace):
			this = t
		case p.req.trace.IsZero() || p.req.trace != t.Trace:
		case len(list) < maxTraceTasks:
			list = append(list, t)
		default:
			more++
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.req.span.IsZero() {
		for _, t := range list {
			if this == nil || t.Wall > this.Wall {
				this = t
			}
		}
	} else if this != nil {
		list = append(list, this)
	}
	if this == nil {
		return &requestError{http.StatusNotFound, "there is no record of this task: it has not ended, was not recorded, or newer ones have taken its place in the rings"}
	}
	p.head(cmp.Or(this.Kind, "(no name)")+", "+duration(this.Wall), true)
	p.summary(this, list)
	path := this.CriticalPath()
	p.hazards(this, waits.behindWhom(this, path))
	if this.Flags&record.Client == 0 { // no goroutine works for a call
		p.put("<h2 id=timeline>Timeline</h2>\n<p>Point at a box or a line to read what it is.</p>\n<div class=wide>\n")
		record.WriteTimelineSVG(p, this)
		p.put("</div>\n")
		if this.Flags&record.Slow != 0 && len(this.Timeline) > 0 {
			p.path(this, path, waits)
		}
		p.usage(this)
	}
	p.regions(this)
	p.calls(this, list)
	p.notes(this)
	p.outlived(this)
	p.lost(this)
	if len(list) > 1 {
		p.request(list, more)
	}
	p.foot()
	return nil
}

// taskRef writes text, as a link to a task of t's trace if there is a record of that in list,
// or if only t's own is known.
func (p *taskPage) taskRef(t *record.Task, span record.SpanID, list []*record.Task, text string) {
	if !p.req.trace.IsZero() && !slices.ContainsFunc(list, func(t *record.Task) bool { return t.Span == span }) {
		p.put("%s", text)
		return
	}
	p.put("<a href='%s'>%s</a>", p.taskLink(t.Trace, span), text)
}

// summary writes what a task was. list is of its trace.
func (p *taskPage) summary(t *record.Task, list []*record.Task) {
	row := func(name, value string) { p.put("<tr><td><b>%s</b></td><td class=any>%s</td></tr>\n", name, value) }
	p.put("<div class=wide><table>\n")
	row("Began", time.Unix(0, t.Start).Format("2006-01-02 15:04:05.000000"))
	row("Took", duration(t.Wall))
	if t.Threshold > 0 {
		row("Slow above", duration(t.Threshold))
	}
	if u := t.Usual; u != nil && u.Tasks > 0 {
		row("Usually takes", duration(u.Wall)+", the average of "+count(u.Tasks, "task"))
	}
	var how []string
	for _, f := range taskFlags {
		if t.Flags&f.flag != 0 {
			how = append(how, f.text)
		}
	}
	if len(how) > 0 {
		row("It", strings.Join(how, ", "))
	}
	if t.Flags&record.Client == 0 {
		row("Goroutines", strconv.FormatInt(t.Goroutines, 10)+", begun by goroutine "+strconv.FormatUint(t.Goroutine, 10))
	} else {
		row("Begun by", "goroutine "+strconv.FormatUint(t.Goroutine, 10))
	}
	if !t.Trace.IsZero() {
		row("Trace", t.Trace.String())
	}
	row("Span", t.Span.String())
	if !t.Parent.IsZero() {
		p.put("<tr><td><b>Parent</b></td><td>")
		p.taskRef(t, t.Parent, list, t.Parent.String())
		p.put("</td></tr>\n")
	}
	if t.Trigger != "" {
		row("Execution trace", t.Trigger)
	}
	p.put("</table></div>\n")
}

var taskFlags = []struct {
	flag record.Flags
	text string
}{
	{record.Slow, "was slow"},
	{record.Failed, "failed"},
	{record.Late, "ended after its parent"},
	{record.Client, "is a call of another server"},
	{record.ServerOf, "works on a call from elsewhere"},
	{record.Sampled, "was chosen by its trace's ID"},
	{record.Uncounted, "has incomplete counts"},
	{record.EpochChange, "has no counts, as what is counted has changed meanwhile"},
	{record.Early, "is older than others that are gone"},
}

// hazards writes why the task took so long. behind is what else is known of the mutex that
// it waited for the longest.
func (p *taskPage) hazards(t *record.Task, behind string) {
	list := t.Hazards()
	p.put("<h2 id=why>Why it took %s</h2>\n", duration(t.Wall))
	if len(list) == 0 {
		p.put("<p>Nothing stands out.</p>\n")
		return
	}
	p.put("<ol>\n")
	for _, h := range list[:min(len(list), 20)] {
		p.put("<li>%s", h.String())
		if h.N > 1 {
			p.put(", in %s", count(int64(h.N), "wait"))
		}
		if h.More > 0 && h.More < h.Time {
			p.put(", %s more than usual", duration(h.More))
		}
		if h.Cause == "mutex" {
			p.put("%s", behind)
			behind = ""
		}
		p.put("</li>\n")
	}
	p.put("</ol>\n")
	if t.Flags&record.Client != 0 && !t.Trace.IsZero() {
		p.put("<p>What that server did is on its own page, if it has recorded it: at /debug/pprof/%s there.</p>\n",
			p.link("trace", t.Trace.String()))
	}
}

// path writes the critical path, which the timeline shows as a line.
func (p *taskPage) path(t *record.Task, path []record.Segment, waits *lockWaits) {
	p.put("<h2 id=path>Critical path</h2>\n<p>What the task's end had to wait for, one after the other.</p>\n")
	p.table(column{"From", number}, column{"Took", number}, column{"Goroutine", number}, column{"What", ""}, column{"Where", ""})
	for i, s := range path {
		if i == maxPathRows {
			p.put("<tr><td colspan=5>and %s more</td></tr>\n", strconv.Itoa(len(path)-i))
			break
		}
		what := s.Part.String()
		if s.Reason != "" && s.Reason != what {
			what += " (" + s.Reason + ")"
		}
		p.put("<tr><td class=n>%s</td><td class=n>%s</td><td class=n>%s</td><td class=text>%s",
			duration(s.Start), duration(s.End-s.Start), strconv.FormatUint(s.Goroutine, 10), what)
		what = ""
		if x := s.Stretch; x != nil && x.Waker.Kind != "" && x.Waker.Span != t.Span && s.Part != pprof.TimeRunnable {
			by := "task " + strconv.Quote(x.Waker.Kind)
			if trace, ok := waits.tasks[x.Waker.Span]; ok {
				p.put(", ended by <a href='%s'>%s</a>", p.taskLink(trace, x.Waker.Span), by)
			} else {
				p.put(", ended by %s", by)
			}
			if at := place(record.Place(x.Waker.Stack)); at != "" {
				what += " in " + at
			}
		}
		if x := s.Stretch; x != nil && s.Behind > 0 {
			what += ", behind task " + strconv.Quote(x.BehindKind)
		}
		if s.Call >= 0 && s.Call < len(t.Calls) {
			c := &t.Calls[s.Call]
			what += ", in call " + strconv.Quote(c.Kind)
		}
		if s.Stopped > 0 {
			what += ", the world was stopped for " + duration(s.Stopped)
		}
		p.put("%s</td><td class=text>%s</td></tr>\n", what, place(s.Frame))
	}
	p.endTable()
}

// usage writes where time went and what was counted.
func (p *taskPage) usage(t *record.Task) {
	rows := []record.PartsRow{{Name: "this task", Parts: t.Parts}}
	if t.Usual != nil && t.Usual.Parts != [record.NumParts]time.Duration{} {
		rows = append(rows, record.PartsRow{Name: "on average", Parts: t.Usual.Parts})
	}
	p.put("<h2 id=parts>Where the time of its goroutines went</h2>\n<div class=wide>\n")
	record.WritePartsSVG(p, rows)
	p.put("</div>\n")
	if len(t.Events) == 0 || len(t.Count) == 0 {
		return
	}
	p.put("<h2 id=counts>Counts</h2>\n")
	p.table(column{"Event", ""}, column{"This task", number}, column{"On average", number})
	for i, e := range t.Events {
		if i == maxRows || i >= len(t.Count) {
			break
		}
		usual := "-"
		if u := t.Usual; u != nil && i < len(u.Count) {
			usual = strconv.FormatUint(u.Count[i].Value, 10)
		}
		p.put("<tr><td>%s</td><td class=n>%s</td><td class=n>%s</td></tr>\n", e, strconv.FormatUint(t.Count[i].Value, 10), usual)
	}
	p.endTable()
}

func (p *taskPage) regions(t *record.Task) {
	if len(t.Regions) == 0 {
		return
	}
	p.put("<h2 id=regions>Regions</h2>\n")
	p.table(column{"Region", ""}, column{"Number", number}, column{"Time", number}, column{"Longest", number}, column{"Mostly", ""})
	for i := range t.Regions {
		if i == maxRows {
			break
		}
		r := &t.Regions[i]
		most, mostly := time.Duration(0), "-"
		for part, d := range r.Parts {
			if d > most {
				most, mostly = d, pprof.TimePart(part).String()+" "+duration(d)
			}
		}
		p.put("<tr><td class=any>%s</td><td class=n>%s</td><td class=n>%s</td><td class=n>%s</td><td>%s</td></tr>\n",
			r.Name, strconv.FormatInt(r.N, 10), duration(r.Wall), duration(r.Max), mostly)
	}
	p.endTable()
}

func (p *taskPage) calls(t *record.Task, list []*record.Task) {
	if len(t.Calls) == 0 {
		return
	}
	p.put("<h2 id=calls>Calls and child tasks</h2>\n")
	p.table(column{"From", number}, column{"Took", number}, column{"Kind", ""}, column{"Server", ""}, column{"", ""})
	for i := range t.Calls {
		if i == maxRows {
			p.put("<tr><td colspan=5>and %s more</td></tr>\n", strconv.Itoa(len(t.Calls)-i))
			break
		}
		c := &t.Calls[i]
		remote, how := "this one", ""
		if c.Flags&record.Client != 0 {
			remote = c.Remote
		}
		if c.Flags&record.Failed != 0 {
			how = "failed"
		}
		p.put("<tr><td class=n>%s</td><td class=n>%s</td><td class=any>", duration(c.Start), duration(c.Wall))
		p.taskRef(t, c.Span, list, cmp.Or(c.Kind, "(no name)"))
		p.put("</td><td class=any>%s</td><td>%s</td></tr>\n", remote, how)
	}
	p.endTable()
}

func (p *taskPage) notes(t *record.Task) {
	if len(t.Notes) == 0 {
		return
	}
	p.put("<h2 id=notes>Notes</h2>\n")
	if p.req.isPublic {
		p.put("<p>%s, which public=1 leaves out.</p>\n", strconv.Itoa(len(t.Notes)))
		return
	}
	p.table(column{"Key", ""}, column{"Value", ""})
	for i, n := range t.Notes {
		if i == maxRows {
			break
		}
		p.put("<tr><td class=any>%s</td><td class=any>%s</td></tr>\n", n.Key, n.Value)
	}
	p.endTable()
}

func (p *taskPage) outlived(t *record.Task) {
	if t.Outliving == 0 && len(t.Outlived) == 0 {
		return
	}
	p.put("<h2 id=outlived>Goroutines that had not ended with it</h2>\n<p>%s in all.</p>\n", strconv.FormatInt(t.Outliving, 10))
	p.table(column{"Goroutine", number}, column{"Function", ""}, column{"Created by", ""}, column{"Was in", ""})
	for i := range t.Outlived {
		if i == maxRows {
			break
		}
		o := &t.Outlived[i]
		p.put("<tr><td class=n>%s</td><td class=any>%s</td><td class=any>%s</td><td>%s</td></tr>\n",
			strconv.FormatUint(o.ID, 10), o.Func, place(o.Created), o.Part.String())
	}
	p.endTable()
}

// lost writes what is not in the record.
func (p *taskPage) lost(t *record.Task) {
	l := &t.Lost
	var list []string
	for _, c := range []struct {
		n          int64
		what, more string
	}{
		{l.Stretches, "short wait", " (" + duration(l.StretchesTime) + " in all)"},
		{l.Memory, "wait", " for which there was no memory"},
		{l.Regions, "region", " of further names"},
		{l.Calls, "short call", ""},
		{l.Notes, "note", " beyond the limits"},
		{l.Before, "record", " of other tasks, before this one"},
	} {
		if c.n != 0 {
			list = append(list, count(c.n, c.what)+c.more)
		}
	}
	if list != nil {
		p.put("<h2 id=lost>Not in the record</h2>\n<p>%s.</p>\n", strings.Join(list, ", "))
	}
}

// request writes the diagram of the tasks of a trace in this process.
func (p *taskPage) request(list []*record.Task, more int) {
	p.put("<h2 id=trace>All tasks of this trace on this server</h2>\n")
	if more > 0 {
		p.put("<p>And %s that the diagram leaves out.</p>\n", count(int64(more), "task"))
	}
	var j record.Joiner
	for _, t := range list {
		j.Add(t)
	}
	p.put("<div class=wide>\n")
	for _, r := range j.Requests() { // one
		record.WriteSVG(p, r)
	}
	p.put("</div>\n")
	p.table(column{"Began", ""}, column{"Took", number}, column{"Kind", ""})
	slices.SortStableFunc(list, func(a, b *record.Task) int { return cmp.Compare(a.Start, b.Start) })
	for i, t := range list {
		if i == maxRows {
			p.put("<tr><td colspan=3>and %s more</td></tr>\n", strconv.Itoa(len(list)-i))
			break
		}
		p.put("<tr><td>%s</td><td class=n>%s</td><td class=any><a href='%s'>%s</a></td></tr>\n",
			time.Unix(0, t.Start).Format("15:04:05.000000"), duration(t.Wall), p.taskLink(t.Trace, t.Span), cmp.Or(t.Kind, "(no name)"))
	}
	p.endTable()
}

// count returns a number of things.
func count(n int64, what string) string {
	s := strconv.FormatInt(n, 10) + " " + what
	if n != 1 {
		s += "s"
	}
	return s
}

// place returns where a frame is: "main.load at cart.go:58".
func place(f record.Frame) string {
	s := f.Func[strings.LastIndexByte(f.Func, '/')+1:]
	if f.File != "" {
		s += fmt.Sprintf(" at %s:%d", f.File[strings.LastIndexAny(f.File, `/\`)+1:], f.Line)
	}
	return s
}

// duration returns a duration with three digits: 48.2 ms. From a minute on it is that of
// [time.Duration.String], in seconds.
func duration(d time.Duration) string {
	if d.Abs() >= time.Minute {
		return d.Truncate(time.Second).String()
	}
	for _, u := range durationUnits {
		if d.Abs() >= u.unit {
			return threeDigits(float64(d)/float64(u.unit)) + " " + u.name
		}
	}
	return strconv.FormatInt(int64(d), 10) + " ns"
}

var durationUnits = []struct {
	unit time.Duration
	name string
}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}}

// threeDigits returns x with three digits, or all those before the point.
func threeDigits(x float64) string {
	digits := 0
	for most := 100.0; most >= 1 && x < most && x > -most && digits < 2; most /= 10 {
		digits++
	}
	s := strconv.FormatFloat(x, 'f', digits, 64)
	if digits > 0 {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
