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
// It is a page of text. Diagrams, and what needs many records, are a tool's:
//
//	go tool pmu tasks -http=: http://localhost:6060/debug/pprof/tasks
//	go tool pmu why -http=: http://localhost:6060/debug/pprof/tasks
//	go tool pmu slow -http=: http://localhost:6060/debug/pprof/tasks
//
// To see where the time of requests goes in the next 30 seconds, or to keep the slow ones:
//
//	go tool pprof -http=: 'http://localhost:6060/debug/pprof/tasks?format=pprof&seconds=30'
//	curl -o slow.tasks 'http://localhost:6060/debug/pprof/tasks?format=tasks&seconds=30&slow=1'
//
// See [Tasks] for all formats and parameters.
package pprof

import (
	"bytes"
	"cmp"
	"context"
	"html"
	"internal/taskrecord"
	"net/http"
	"net/url"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// The page must not become a burden to a server that has trouble already. So it looks at a bounded
// number of records, however many there are, and says how many it has left out. It is text, made by
// hand as the index page is: html/template, and diagrams, would be in every server that imports
// this package (golang.org/issue/41569). The tool has them.

// Bounds of the page. A slow task whose reason is found takes about 3 kB, which are garbage at once,
// and 0.4 kB for each piece: a wait, region, call or note.
const (
	maxSlowTasks  = 3000 // whose reasons are found,
	maxPieces     = 12_000
	maxReasons    = 50
	maxTraceTasks = 200 // of the trace that is asked for
	maxTaskText   = 300 // letters of a name
)

// indexed returns what serves the page below the index with a name. Programs with a mux of their own
// register Index and the handlers that upstream has.
func indexed(name string) http.Handler {
	if name == "tasks" && pprof.Lookup(name) == nil {
		return http.HandlerFunc(Tasks)
	}
	if name == "hazard" && pprof.Lookup(name) == nil {
		return http.HandlerFunc(Hazard)
	}
	return handler(name)
}

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
	p := &taskPage{Buffer: b, ctx: ctx, req: req, now: time.Now()}
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
		return p.one()
	}
	p.all()
	return ctx.Err()
}

// A taskPage is a page that is made.
type taskPage struct {
	*bytes.Buffer
	ctx context.Context
	req *taskRequest
	now time.Time
}

// put appends HTML, in which each %s is replaced by an argument, in one line, not too long, and
// escaped: kinds, names and notes may come from a client.
func (p *taskPage) put(format string, args ...string) {
	for _, arg := range args {
		before, after, _ := strings.Cut(format, "%s")
		p.WriteString(before)
		p.WriteString(html.EscapeString(oneLine(arg)))
		format = after
	}
	p.WriteString(format)
}

// oneLine returns s in printable letters, the first maxTaskText of them.
func oneLine(s string) string {
	if r := []rune(s); len(r) > maxTaskText {
		s = string(r[:maxTaskText]) + "…"
	}
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case unicode.IsPrint(c):
			return c
		}
		return unicode.ReplacementChar
	}, s)
}

// text appends a text of package internal/taskrecord, which has nothing but printable letters and newlines.
func (p *taskPage) text(write func(*bytes.Buffer)) {
	var b bytes.Buffer
	write(&b)
	p.WriteString("<pre>\n" + html.EscapeString(b.String()) + "</pre>\n")
}

func (p *taskPage) head(title string, inner bool) {
	p.put(`<!DOCTYPE html>
<html lang=en>
<head>
<meta charset=utf-8>
<meta name=viewport content='width=device-width, initial-scale=1'>
<meta name=color-scheme content='light dark'>
<title>/debug/pprof/tasks: %s</title>
<style>
body{ overflow-wrap:anywhere; }
div, pre{ overflow-x:auto; }
th, td{ padding-right:1rem; text-align:left; white-space:nowrap; }
td:first-child{ white-space:normal; min-width:9rem; }
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
func (p *taskPage) link(params ...string) string { return p.linkTo("tasks", params...) }

func (p *taskPage) linkTo(address string, params ...string) string {
	q := make(url.Values)
	for i := 0; i+1 < len(params); i += 2 {
		q.Set(params[i], params[i+1])
	}
	if p.req.isPublic {
		q.Set("public", "1")
	}
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	return address
}

func (p *taskPage) taskLink(trace taskrecord.TraceID, span taskrecord.SpanID) string {
	var params []string
	if !trace.IsZero() {
		params = append(params, "trace", trace.String())
	}
	if !span.IsZero() {
		params = append(params, "span", span.String())
	}
	return p.link(params...)
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

// table writes a table. The first cell of each row may be a link.
func (p *taskPage) table(names []string, rows [][]string, link func(i int) string) {
	p.put("<div><table>\n<tr>")
	for _, name := range names {
		p.put("<th>%s</th>", name)
	}
	p.put("</tr>\n")
	for i, row := range rows {
		p.put("<tr>")
		for j, cell := range row {
			if j == 0 && link != nil {
				p.put("<td><a href='%s'>%s</a></td>", link(i), cell)
			} else {
				p.put("<td>%s</td>", cell)
			}
		}
		p.put("</tr>\n")
	}
	p.put("</table></div>\n")
}

// all writes the page on all tasks.
func (p *taskPage) all() {
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
		s.Since.Format(time.DateTime), since.Truncate(time.Second).String(), which, count(s.Open, "task")+are)
	kinds := slices.Clone(s.Kinds)
	if p.req.hasKind {
		kinds = slices.DeleteFunc(kinds, func(k taskrecord.KindStats) bool { return k.Kind != p.req.kind })
		p.put("<p>Only kind %s. <a href='%s'>Show all</a></p>\n", p.req.kind, p.link())
	}
	p.kinds(kinds, since)
	if s.Outlived > 0 {
		p.put("<p>Goroutines have run for %s after the end of the tasks that they worked for. This time is in no task.</p>\n", taskrecord.Duration(s.Outlived))
	}
	if s.Taken.Preempted > 0 {
		p.put("<p id=taken>%s</p>\n", s.Taken.Words())
	}
	p.reasons()
	p.tools()
	p.counted(&s)

	p.put("<h2 id=causes>Not recorded</h2>\n")
	var lost [][]string
	for _, c := range s.Lost {
		if c.N > 0 {
			lost = append(lost, []string{strconv.FormatUint(c.N, 10), c.Text, c.Name})
		}
	}
	if len(lost) == 0 {
		p.put("<p>Nothing was lost.</p>\n")
	} else {
		p.table([]string{"Number", "Cause", "Name"}, lost, nil)
	}
	p.foot()
}

// kinds writes the table of kinds. What takes most time comes first.
func (p *taskPage) kinds(kinds []taskrecord.KindStats, since time.Duration) {
	p.put("<h2 id=kinds>Kinds</h2>\n")
	switch {
	case len(kinds) == 0 && p.req.hasKind:
		p.put("<p>No task of this kind has ended.</p>\n")
		return
	case len(kinds) == 0:
		p.put("<p>No task has ended yet.</p>\n")
		return
	}
	slices.SortStableFunc(kinds, func(a, b taskrecord.KindStats) int { return cmp.Compare(b.Wall, a.Wall) })
	var rows [][]string
	auto := false
	for _, k := range kinds {
		threshold := "not yet known"
		if k.Threshold > 0 {
			threshold = taskrecord.Duration(k.Threshold)
			if k.Automatic {
				threshold = "normally " + threshold
				auto = true
			}
		}
		rows = append(rows, []string{taskrecord.KindText(cmp.Or(k.Kind, "(no name)"), k.Client),
			strconv.FormatInt(k.Count, 10), perSecond(k.Count, since), strconv.FormatInt(k.Open, 10),
			taskrecord.Duration(k.P50), taskrecord.Duration(k.P90), taskrecord.Duration(k.P99), taskrecord.Duration(k.Max),
			threshold, strconv.FormatInt(k.Slow, 10), strconv.FormatInt(k.Failed, 10), mostly(&k.Usage)})
	}
	p.table([]string{"Kind", "Count", "Per second", "Open", "p50", "p90", "p99", "Slowest", "Slow above", "Slow", "Failed", "Goroutines were"},
		rows, func(i int) string { return p.link("kind", kinds[i].Kind) })
	if auto {
		p.put("<p>normally: what 99 % of a thousand tasks of the kind did not exceed, when they were fastest in the last hour. Up to 20 slower ones a second are recorded.</p>\n")
	}
}

func perSecond(n int64, since time.Duration) string {
	rate := float64(n) / since.Seconds()
	switch {
	case since <= 0:
		return "-"
	case rate >= 100:
		return strconv.FormatFloat(rate, 'f', 0, 64)
	}
	return strconv.FormatFloat(rate, 'g', 3, 64)
}

// mostly returns the three parts that have most of the time of goroutines.
func mostly(u *taskrecord.Usage) string {
	var all time.Duration
	var parts []taskrecord.Part
	for p, d := range u.Parts {
		if d > 0 {
			all += d
			parts = append(parts, taskrecord.Part(p))
		}
	}
	slices.SortStableFunc(parts, func(a, b taskrecord.Part) int { return cmp.Compare(u.Parts[b], u.Parts[a]) })
	var list []string
	for _, p := range parts[:min(len(parts), 3)] {
		if part := strconv.FormatFloat(100*float64(u.Parts[p])/float64(all), 'f', 0, 64); part != "0" {
			list = append(list, p.String()+" "+part+" %")
		}
	}
	return cmp.Or(strings.Join(list, ", "), "-") // there are none for calls of other servers
}

// tools writes how to look closer.
func (p *taskPage) tools() {
	p.put(`<h2 id=tools>Look closer</h2>
<pre>
go tool pmu tasks -http=: '%s'
go tool pmu why -http=: '%s'
go tool pmu slow -http=: '%s'
go tool pprof -http=: '%s'
</pre>
<p>Records:
`, p.linkTo(p.req.address), p.linkTo(p.req.address), p.req.address, p.linkTo(p.req.address, "format", "pprof"))
	for _, f := range taskFormats {
		p.put("<a href='%s' rel=nofollow>%s</a>\n", p.link("format", f.name), f.name)
	}
	p.put("(also with seconds=N, kind=K, slow=1 or slow=20ms")
	if !p.req.isPublic {
		p.put(", and public=1 to leave notes out")
	}
	p.put(")</p>\n")
}

// counted writes which events are counted, and in how many tasks.
func (p *taskPage) counted(s *taskrecord.RecorderStats) {
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
	var rows [][]string
	for _, e := range s.Events {
		part := 0.0
		if all > 0 {
			part = 100 * float64(e.Tasks) / float64(all)
		}
		rows = append(rows, []string{e.Name, strconv.FormatInt(e.Tasks, 10), strconv.FormatFloat(part, 'g', 3, 64) + " %"})
	}
	p.table([]string{"Event", "Tasks with its count", "Part"}, rows, nil)
}

// count returns a number of things.
func count(n int64, what string) string {
	s := strconv.FormatInt(n, 10) + " " + what
	if n != 1 {
		s += "s"
	}
	return s
}
