// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"cmd/pmu/internal/flame"
	"encoding/xml"
	"internal/taskrecord"
	"io"
	"math/rand"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func get(t *testing.T, s *site, path string, status int, want ...string) string {
	t.Helper()
	w := httptest.NewRecorder()
	s.handler().ServeHTTP(w, httptest.NewRequest("GET", path, nil))
	body := w.Body.String()
	if w.Code != status {
		t.Fatalf("%s: status %d: %s", path, w.Code, body)
	}
	contains(t, path, body, want...)
	allowed, scripts := policy, 0
	if strings.HasPrefix(path, "/latency") {
		allowed, scripts = flame.ContentSecurityPolicy(), 1
	}
	if status == http.StatusOK && (w.Header().Get("Content-Security-Policy") != allowed || strings.Count(body, "<script") != scripts) {
		t.Errorf("%s: %v", path, w.Header())
	}
	return body
}

// TestPages tests the pages of tasks on two servers: the overview, that of a kind, and those of
// tasks, to which the others link.
func TestPages(t *testing.T) {
	front, back := tasksOf(10)
	s := newSite(slices.Values(slices.Concat(front, back)))
	get(t, s, "/", 200, "<title>Tasks of back, front</title>", "on 2 servers", "<h2 id=\"kinds\">", "<h2 id=\"reasons\">", "<h2 id=\"slow\">")
	slow := front[len(front)-1]
	body := get(t, s, "/?kind="+strings.ReplaceAll(slow.Kind, " ", "+"), 200, "Only kind "+slow.Kind, taskURLEscaped(slow))
	for _, x := range back {
		if x.Kind != slow.Kind && strings.Contains(body, taskURLEscaped(x)) {
			t.Errorf("a task of kind %q is on the page of %q", x.Kind, slow.Kind)
		}
	}
	for _, x := range slices.Concat(front, back) {
		get(t, s, taskURL(x.Trace, x.Span), 200, "<h2 id=\"why\">", "<h2 id=\"text\">", "task &#34;"+x.Kind+"&#34; on "+x.Server.Name)
	}
	get(t, s, "/task?trace="+slow.Trace.String(), 200, "<h2 id=\"request\">", "<svg")
	for path, status := range map[string]int{
		"/task":                                  http.StatusNotFound,
		"/task?trace=x":                          http.StatusBadRequest,
		"/task?span=x":                           http.StatusBadRequest,
		"/task?trace=" + strings.Repeat("9", 32): http.StatusNotFound,
		"/none":                                  http.StatusNotFound,
		"/latency?kind=none":                     http.StatusNotFound,
	} {
		get(t, s, path, status)
	}
}

func taskURLEscaped(t *taskrecord.Record) string {
	return strings.ReplaceAll(taskURL(t.Trace, t.Span), "&", "&amp;")
}

// TestReasonsOnPages tests that pages have the reasons of all slow tasks, or of those of a kind, with
// links to some.
func TestReasonsOnPages(t *testing.T) {
	front, back := tasksOf(10)
	s := newSite(slices.Values(slices.Concat(front, back)))
	slow := back[len(back)-1]
	const row = `<td class="n">1 of 1</td><td class="n">28 ms</td><td class="any">sleep at stock.go:12</td><td class="any">GET /stock</td>`
	link := row + `<td class="any such"><a href="` + taskURLEscaped(slow) + `">30 ms</a>`
	get(t, s, "/", 200, link)
	get(t, s, "/?kind=GET+/stock", 200, link)
	if body := get(t, s, "/?kind=GET+/", 200); strings.Contains(body, row) {
		t.Errorf("a reason of another kind is on the page:\n%s", body)
	}
	for _, kind := range []string{"", "GET /", "GET /stock"} {
		o := s.overview(kind, kind != "")
		n := 0
		for _, r := range o.Reasons {
			n += r.N
		}
		if n != o.Slow || n == 0 {
			t.Errorf("kind %q: %d slow tasks, of which %d are in reasons", kind, o.Slow, n)
		}
	}
}

// TestSamePercentiles tests that the page has the percentiles that the report has, of any lengths.
func TestSamePercentiles(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	var tasks []*taskrecord.Record
	for i := range 1000 {
		tasks = append(tasks, &taskrecord.Record{Trace: taskrecord.TraceID{1}, Kind: "GET /", Span: taskrecord.SpanID{byte(i), byte(i >> 8), 1}, Wall: time.Duration(r.Int63n(1 << (1 + r.Intn(40))))})
	}
	s := newSite(slices.Values(tasks))
	k := s.overview("", false).Kinds[0]
	var b strings.Builder
	if err := writeReport(&b, slices.Values(tasks), nil); err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{"GET /", "1000", "0", "0", taskrecord.Duration(k.P50), taskrecord.Duration(k.P99), taskrecord.Duration(k.Max)}, " ")
	if got := strings.Join(strings.Fields(b.String()), " "); !strings.Contains(got, strings.Join(strings.Fields(want), " ")) {
		t.Errorf("the page has %q, the report\n%s", want, b.String())
	}
}

// callTasks returns slow tasks: one for a server and a call, of one kind, and one of each without.
func callTasks() (list []*taskrecord.Record) {
	for i, kind := range []string{"GET /", "GET /", "", ""} {
		x := &taskrecord.Record{Trace: taskrecord.TraceID{1}, Span: taskrecord.SpanID{byte(i + 1)}, Kind: kind, Flags: taskrecord.Slow, Wall: time.Second}
		if i%2 == 1 {
			x.Flags |= taskrecord.Client
		}
		list = append(list, x)
	}
	return list
}

// TestCalls tests that calls are told apart in all lists of reports and pages.
func TestCalls(t *testing.T) {
	s := newSite(slices.Values(callTasks()))
	body := get(t, s, "/", 200)
	for _, kind := range []string{"GET /", "GET / (call)", "(no name)", "(no name) (call)"} {
		// In those of kinds, of reasons and of the slowest.
		if n := strings.Count(body, ">"+kind+"<"); n != 3 {
			t.Errorf("%q is on the page %d times:\n%s", kind, n, body)
		}
	}
	get(t, s, taskURL(taskrecord.TraceID{1}, taskrecord.SpanID{2}), 200, "<title>GET / (call), ")
	var b strings.Builder
	if err := writeReport(&b, slices.Values(callTasks()), nil); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "GET / (call) "); n != 3 {
		t.Errorf("calls are in the report %d times:\n%s", n, b.String())
	}
}

// TestHostilePages tests that names that come from elsewhere are text on the pages: these are XML, and have
// no characters of control and of direction.
func TestHostilePages(t *testing.T) {
	const bad = `<script>alert(1)</script>"'&` + "]]>\x00\x1b[31m\u202e\u2028\xff"
	front, _ := tasksOf(3)
	for _, x := range front {
		x.Kind = bad
		x.Server = &taskrecord.Server{Name: bad}
		x.Notes = []taskrecord.Note{{Key: bad, Value: bad}}
		x.Regions = []taskrecord.RegionSum{{Name: bad, N: 1, Wall: ms}}
		x.Timeline = append(x.Timeline, taskrecord.Stretch{End: ms, Wake: ms, Reason: bad, Stack: []taskrecord.Frame{{Func: bad, File: bad, Line: 1}}, Waker: taskrecord.Waker{Kind: bad, Goroutine: 1}})
	}
	s := newSite(slices.Values(front))
	for _, path := range []string{"/", "/?kind=" + url.QueryEscape(bad), "/latency", "/latency?callees=1&kind=" + url.QueryEscape(bad), taskURL(front[0].Trace, front[0].Span)} {
		body := get(t, s, path, 200)
		if strings.Contains(body, "alert(1)</script>") || !utf8.ValidString(body) || strings.ContainsAny(body, "\x00\x1b\u202e\u2028") {
			t.Errorf("%s:\n%q", path, body)
		}
		d := xml.NewDecoder(strings.NewReader(body))
		for {
			_, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v\n%s", path, err, body)
			}
		}
	}
}
