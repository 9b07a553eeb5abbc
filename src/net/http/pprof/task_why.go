// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime/task/record"
	"runtime/task/why"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of an analysis. It has one CPU at most, so that the program goes on with the others.
const (
	maxWhyRows    = 100_000  // tasks of all kinds
	maxWhyColumns = 100      // of a kind: parts of the time, events, regions, calls, notes
	maxWhyBytes   = 32 << 20 // of all tables
	maxWhyKinds   = 10       // that the page links to
)

// A whyRequest is what a request to /debug/pprof/why asks for.
type whyRequest struct {
	taskRequest
	p      float64
	hasP   bool
	asText bool
}

var whyParams = []string{"seconds", "p", "kind", "format", "public"}

// parseWhyRequest returns what r asks for.
func parseWhyRequest(r *http.Request) (*whyRequest, error) {
	if len(r.URL.RawQuery) > maxTaskQuery {
		return nil, badRequest("the query is longer than %d bytes", maxTaskQuery)
	}
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, badRequest("malformed query: %v", err)
	}
	for name, values := range q {
		if !slices.Contains(whyParams, name) {
			return nil, badRequest("unknown parameter %.100q: parameters are %s", name, strings.Join(whyParams, ", "))
		}
		if len(values) > 1 {
			return nil, badRequest("%q is there %d times", name, len(values))
		}
	}
	req := &whyRequest{taskRequest: taskRequest{kind: q.Get("kind"), hasKind: q.Has("kind")}, p: 0.99, hasP: q.Has("p")}
	if req.hasP {
		if req.p, err = strconv.ParseFloat(q.Get("p"), 64); err != nil || !(req.p > 0 && req.p < 1) {
			return nil, badRequest(`invalid value for "p" - must be a percentile between 0 and 1, like 0.99`)
		}
	}
	switch f := q.Get("format"); {
	case !q.Has("format"), f == "html":
	case f == "text":
		req.asText = true
	default:
		return nil, badRequest("unknown format %.100q: formats are html, text", f)
	}
	if err := req.parseSeconds(q); err != nil {
		return nil, err
	}
	return req, req.parsePublic(q)
}

// analyze is why.Analyze. Tests replace it.
var analyze = why.Analyze

// A whyTables has a table for each kind, as the columns of one mean nothing to another.
type whyTables struct {
	byKind map[string]*why.Builder
	rows   int
	size   int    // of all, in bytes
	left   uint64 // tasks for which there was no room
}

// add adds a task, if there is room.
func (t *whyTables) add(x *record.Task) {
	if t.rows == maxWhyRows || t.size >= maxWhyBytes {
		t.left++
		return
	}
	b := t.byKind[x.Kind]
	if b == nil {
		b = &why.Builder{MaxColumns: maxWhyColumns}
		t.byKind[strings.Clone(x.Kind)] = b
	}
	before := b.Size()
	b.AddTask(x)
	t.rows++
	t.size += b.Size() - before
}

// kinds returns the kinds, those of the most tasks first.
func (t *whyTables) kinds() (list []string) {
	for kind := range t.byKind {
		list = append(list, kind)
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(t.byKind[b].Rows()-t.byKind[a].Rows(), strings.Compare(a, b))
	})
	return list
}

// A whyAnswer is what a request gets.
type whyAnswer struct {
	body             []byte
	rows, lost, left uint64
}

// answer collects tasks, and says why some are slow. It is nil if the client is gone.
func (req *whyRequest) answer(ctx context.Context) (*whyAnswer, error) {
	if !collecting.TryLock() {
		return nil, errCollecting
	}
	defer collecting.Unlock()
	t := &whyTables{byKind: make(map[string]*why.Builder)}
	c := &taskCollector{req: &req.taskRequest, ctx: ctx, from: tasks.reader(req.seconds == 0), flush: func() {}}
	for x := range c.records() {
		// Calls of other servers are attributes of the tasks that make them.
		if x.Flags&record.Client == 0 {
			t.add(x)
		}
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	a := &whyAnswer{rows: uint64(t.rows), lost: c.from.Stats().Dropped, left: t.left}
	kinds := t.kinds()
	r := &why.Report{P: req.p}
	if len(kinds) > 0 {
		var err error
		r, err = analyze(t.byKind[kinds[0]].Table("ms"), why.Options{P: req.p, Seed: 1, Procs: 1, Done: ctx.Done()})
		if ctx.Err() != nil {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	r.Notes = append(r.Notes, req.notes(t, kinds, a)...)
	var b bytes.Buffer
	if req.asText {
		r.WriteText(&b)
		a.body = b.Bytes()
		return a, nil
	}
	r.WriteHTML(&b)
	// Links are the server's, and no part of a report.
	a.body = bytes.Replace(b.Bytes(), []byte("<body>\n"), []byte("<body>\n"+req.links(t, kinds)), 1)
	return a, nil
}

// notes says which tasks the report is about, and what is missing.
func (req *whyRequest) notes(t *whyTables, kinds []string, a *whyAnswer) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	when := ""
	if req.seconds > 0 {
		when = " in " + count(req.seconds, "second")
	}
	switch {
	case len(kinds) == 0 && req.hasKind:
		note("No records of tasks of kind %.200q%s", req.kind, when)
	case len(kinds) == 0:
		note("No records of tasks%s", when)
	case len(kinds) == 1:
		note("Records of %s of kind %.200q%s", count(int64(t.rows), "task"), kinds[0], when)
	default:
		note("Records of %s%s; this is about the %d of kind %.200q, the most frequent one", count(int64(t.rows), "task"), when, t.byKind[kinds[0]].Rows(), kinds[0])
	}
	if a.left > 0 {
		note("%s are left out, as there are too many", count(int64(a.left), "task"))
	}
	if a.lost > 0 {
		note("Newer records have taken the place of %d before these were read", a.lost)
	}
	if len(kinds) > 0 {
		b := t.byKind[kinds[0]]
		bad := int64(0)
		for _, c := range b.Columns() {
			bad += c.Bad
		}
		if b.Left > 0 {
			note("%d values of columns beyond the first %d are left out", b.Left, maxWhyColumns)
		}
		if bad > 0 {
			note("%d notes that don't fit the others of their key are left out", bad)
		}
	}
	if req.isPublic {
		note("Notes are left out")
	}
	return notes
}

// links returns links to other pages, and to other kinds.
func (req *whyRequest) links(t *whyTables, kinds []string) string {
	var b bytes.Buffer
	p := &taskPage{Buffer: &b, req: &req.taskRequest}
	p.put("<p class=\"dim\"><a href=\"./\">/debug/pprof/</a> <a href=\"%s\">tasks</a>", p.link())
	link := func(params ...string) string {
		q := make(url.Values)
		for i := 0; i+1 < len(params); i += 2 {
			q.Set(params[i], params[i+1])
		}
		if req.hasP {
			q.Set("p", strconv.FormatFloat(req.p, 'g', -1, 64))
		}
		if req.isPublic {
			q.Set("public", "1")
		}
		return (&url.URL{Path: "why", RawQuery: q.Encode()}).String()
	}
	if req.hasKind {
		p.put(" <a href=\"%s\" rel=\"nofollow\">the most frequent kind</a>", link())
	}
	for i, kind := range kinds[min(1, len(kinds)):] {
		if i == maxWhyKinds {
			p.put(" and %s", count(int64(len(kinds)-1-maxWhyKinds), "more kind"))
			break
		}
		if i == 0 {
			p.put("; other kinds:")
		}
		p.put(" <a href=\"%s\" rel=\"nofollow\">%s</a> (%s)", link("kind", kind), cmp.Or(kind, "(no name)"), strconv.Itoa(t.byKind[kind].Rows()))
	}
	p.put("</p>\n")
	return b.String()
}

// Why responds with a page that says why some tasks are slow: which parts of their time, events,
// regions, calls and notes make the tail of their latency, and what describes the slow ones; see
// [runtime/task/why]. It is about the tasks that there are records of. seconds=N collects
// the records of the next N seconds instead, kind=K chooses the kind, which is the most frequent
// one otherwise, and p=P the percentile that is called the tail, 0.99 otherwise. format=text
// responds with text. public=1 leaves out what the program has noted.
//
// One goroutine analyzes at most 100,000 tasks, for one client at a time.
//
// The package initialization registers it as /debug/pprof/why.
func Why(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	switch r.Method {
	case "", http.MethodGet, http.MethodHead:
	default:
		w.Header().Set("Allow", "GET, HEAD")
		serveError(w, http.StatusMethodNotAllowed, "why tasks are slow is asked for with GET")
		return
	}
	req, err := parseWhyRequest(r)
	if err == nil && !tasks.recording() {
		err = errNotRecording
	}
	var a *whyAnswer
	rc := http.NewResponseController(w)
	if err == nil && r.Method != http.MethodHead {
		// The server's deadline is for the answer, which begins when it is known.
		rc.SetWriteDeadline(time.Time{})
		a, err = req.answer(r.Context())
		if a == nil && err == nil {
			return // nobody is there to read an answer
		}
		patience := taskPatience
		if srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server); ok && srv.WriteTimeout > 0 {
			patience = min(patience, srv.WriteTimeout)
		} else {
			// Without one, the server sets none for the next answer.
			defer rc.SetWriteDeadline(time.Time{})
		}
		rc.SetWriteDeadline(time.Now().Add(patience))
	}
	if err != nil {
		serveEventError(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	if req.asText {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	if a == nil {
		return // to a HEAD
	}
	h.Set("Content-Length", strconv.Itoa(len(a.body)))
	h.Set(tasksHeader, strconv.FormatUint(a.rows, 10))
	h.Set(tasksLostHeader, strconv.FormatUint(a.lost, 10))
	h.Set(tasksLeftOutHeader, strconv.FormatUint(a.left, 10))
	w.Write(a.body)
	rc.Flush()
}
