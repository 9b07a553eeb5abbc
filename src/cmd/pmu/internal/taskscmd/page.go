// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"bytes"
	"cmd/pmu/internal/diagram"
	"cmd/pmu/internal/htmltext"
	"cmp"
	"embed"
	"html/template"
	"internal/taskrecord"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The pages of -http.

//go:embed pages/*.html
var files embed.FS

//go:embed pages/style.css
var style string

// policy is what pages may do. Diagrams have styles in their elements.
const policy = "default-src 'none'; style-src 'unsafe-inline'"

// maxText is how long a text from a record may be on a page.
const maxText = 2000

// Texts may come from anybody: templates clean them, and html/template escapes all.
var (
	funcs = template.FuncMap{
		"clean":   clean,
		"dur":     taskrecord.Duration,
		"count":   taskrecord.Count[int],
		"records": func(n int64) string { return taskrecord.Count(n, "record") },
		"kind":    func(kind string, client bool) string { return clean(kindName(kind, client)) },
		"kindOf":  func(t *taskrecord.Record) string { return clean(kindName(t.Kind, t.Flags&taskrecord.Client != 0)) },
		"list":    func(names []string) string { return clean(cmp.Or(strings.Join(names, ", "), "a server")) },
		"server":  func(s *taskrecord.Server) string { return clean(s.Text()) },
		"time":    func(ns int64) string { return time.Unix(0, ns).Format("2006-01-02 15:04:05.000") },
		"task":    func(t *taskrecord.Record) string { return taskURL(t.Trace, t.Span) },
		"reason":  func(text string) string { return clean(cmp.Or(text, "nothing stands out")) },
		"example": func(x taskrecord.Example) string { return taskURL(x.Trace, x.Span) },
		"failed":  func(t *taskrecord.Record) bool { return t.Flags&taskrecord.Failed != 0 },
		"same":    func(a, b *taskrecord.Record) bool { return a == b },
	}
	allPage = htmltext.Parse(style, funcs, files, "pages/all.html")
	onePage = htmltext.Parse(style, funcs, files, "pages/one.html")
)

// clean returns s in one line, printable and not too long.
func clean(s string) string { return htmltext.Clean(s, maxText) }

func kindName(kind string, client bool) string {
	return taskrecord.KindText(cmp.Or(kind, "(no name)"), client)
}

func taskURL(trace taskrecord.TraceID, span taskrecord.SpanID) string {
	q := url.Values{"span": {span.String()}}
	if !trace.IsZero() {
		q.Set("trace", trace.String())
	}
	return "/task?" + q.Encode()
}

// handler serves the pages.
func (s *site) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		o := s.overview(q.Get("kind"), q.Has("kind"))
		show(w, policy, func(b *bytes.Buffer) error {
			return allPage.Write(b, struct {
				*overview
				Parts   template.HTML
				Latency string
			}{o, o.parts(), s.latencyLink(o)})
		})
	})
	mux.HandleFunc("GET /latency", s.latency)
	mux.HandleFunc("GET /task", func(w http.ResponseWriter, r *http.Request) {
		var trace taskrecord.TraceID
		var span taskrecord.SpanID
		var err error
		if v := r.FormValue("trace"); v != "" {
			trace, err = taskrecord.ParseTraceID(v)
		}
		if v := r.FormValue("span"); v != "" && err == nil {
			span, err = taskrecord.ParseSpanID(v)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		t, request := s.find(trace, span)
		if t == nil {
			http.Error(w, "there is no record of this task", http.StatusNotFound)
			return
		}
		show(w, policy, func(b *bytes.Buffer) error { return onePage.Write(b, s.one(t, request)) })
	})
	return mux
}

// svg returns what write writes, which escapes what it gets.
func svg(write func(b *bytes.Buffer) error) template.HTML {
	var b bytes.Buffer
	write(&b) // a buffer has no errors
	return template.HTML(b.String())
}

// parts draws where the time of the kinds went.
func (o *overview) parts() template.HTML {
	var rows []diagram.PartsRow
	for _, k := range o.Kinds {
		// Those of calls of other servers have none.
		if len(rows) < maxBars && sum(k.parts[:]) > 0 {
			rows = append(rows, diagram.PartsRow{Name: cmp.Or(k.Text, "(no name)"), Parts: k.parts})
		}
	}
	if len(rows) == 0 {
		return ""
	}
	return svg(func(b *bytes.Buffer) error { return diagram.WriteParts(b, rows) })
}

// A detail is what the page on one task shows.
type detail struct {
	Task                     *taskrecord.Record
	Reasons                  []string
	Timeline, Parts, Request template.HTML
	Trace                    []*taskrecord.Node
	MoreTrace                int
	Text                     string
}

// one returns what is known of a task.
func (s *site) one(t *taskrecord.Record, r *taskrecord.Request) *detail {
	d := &detail{Task: t}
	for _, c := range t.Causes() {
		text := s.held.Words(&c)
		if c.N > 1 {
			text += ", in " + taskrecord.Count(c.N, "wait")
		}
		if c.More > 0 && c.More < c.Time {
			text += ", " + taskrecord.Duration(c.More) + " more than usual"
		}
		d.Reasons = append(d.Reasons, text)
	}
	if t.Flags&taskrecord.Client == 0 { // no goroutine works for a call
		d.Timeline = svg(func(b *bytes.Buffer) error { return diagram.WriteTimeline(b, t) })
		rows := []diagram.PartsRow{{Name: "this task", Parts: t.Parts}}
		if u := t.Usual; u != nil && sum(u.Parts[:]) > 0 {
			rows = append(rows, diagram.PartsRow{Name: "on average", Parts: u.Parts})
		}
		d.Parts = svg(func(b *bytes.Buffer) error { return diagram.WriteParts(b, rows) })
	}
	if r != nil && len(r.Nodes) > 1 {
		d.Request = svg(func(b *bytes.Buffer) error { return diagram.WriteRequest(b, r) })
		d.Trace = r.Nodes
		if n := len(d.Trace) - maxTrace; n > 0 {
			d.Trace, d.MoreTrace = d.Trace[:maxTrace], n
		}
	}
	var b strings.Builder
	t.WriteText(&b)
	d.Text = b.String()
	return d
}
