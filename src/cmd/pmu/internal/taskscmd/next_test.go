// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"fmt"
	"internal/taskrecord"
	"net/http"
	"net/http/httptest"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
)

// running returns slow tasks of a kind that a server has executed.
func running(server, kind string, first, n int) (list []*taskrecord.Record) {
	for i := range n {
		t := &taskrecord.Record{
			Server: &taskrecord.Server{Name: server}, Trace: taskrecord.TraceID{byte(first + i), 1}, Span: taskrecord.SpanID{byte(first + i), 1},
			Kind: kind, Flags: taskrecord.ServerOf | taskrecord.Slow, Start: 1_800_000_000_000_000_000, Wall: 30 * ms, Goroutine: 1, Goroutines: 1,
		}
		t.Parts[pprof.TimeRunning] = t.Wall
		list = append(list, t)
	}
	return list
}

// TestNext tests that the report and the page lead from slow tasks that had work to do to what they execute, on the
// server that most of them are from, and from no others.
func TestNext(t *testing.T) {
	front, back := tasksOf(3)
	var urls []string
	for _, list := range [][]*taskrecord.Record{
		slices.Concat(front, running("a", "GET /a", 1, 3), running("a", "GET /b", 10, 1)),
		slices.Concat(back, running("b", "GET /a", 20, 1), running("b", "GET /b", 30, 2)),
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(encode(t, list)) }))
		defer s.Close()
		urls = append(urls, s.URL)
	}
	const title = "To see what slow ones execute, while the server runs:"
	want := []string{
		"go tool pmu slow -seconds=30 -kind 'GET /a' " + urls[0],
		"go tool pmu slow -seconds=30 -kind 'GET /b' " + urls[1],
	}
	for _, where := range [][]string{nil, {"-where", "running >= 10 ms"}} {
		status, out, errs := call(append(where, urls...)...)
		if status != 0 {
			t.Fatalf("status %d: %s", status, errs)
		}
		contains(t, "report", out, "\n"+title+"\n"+strings.Join(want, "\n")+"\n\n")
	}

	file := write(t, encode(t, running("a", "GET /a", 1, 3)))
	_, out, _ := call(file)
	contains(t, "report of a file", out, "\n"+title+"\ngo tool pmu slow -seconds=30 -kind 'GET /a' URL\n\n")
	if _, out, _ := call(write(t, encode(t, slices.Concat(front, back)))); strings.Contains(out, "slow -seconds") {
		t.Errorf("of those that had to wait:\n%s", out)
	}

	s := newSite(slices.Values(running("a", "GET /a", 1, 3)))
	s.from = origins{"GET /a": {urls[1]: 2, urls[0]: 5}}
	get(t, s, "/", 200, `(<a href="#execute">what do they execute?</a>)</td>`, `<p id="execute">`+title+"</p>",
		"<pre>go tool pmu slow -seconds=30 -kind &#39;GET /a&#39; "+urls[0]+"\n</pre>")
	if body := get(t, newSite(slices.Values(slices.Concat(front, back))), "/", 200); strings.Contains(body, "execute") {
		t.Errorf("of those that had to wait:\n%s", body)
	}
}

// TestNextBounds tests that calls are executed by nobody, and what is kept of kinds that are too many.
func TestNextBounds(t *testing.T) {
	o := make(origins)
	call := running("a", "call", 1, 1)[0]
	call.Flags |= taskrecord.Client
	o.note(call, "http://a")
	o.note(running("a", "file", 1, 1)[0], "a.tasks")
	if len(o) != 0 {
		t.Errorf("%v", o)
	}
	var reasons []*taskrecord.Reason
	for i := range 2 * maxOrigins {
		kind := fmt.Sprint(i)
		o.note(running("a", kind, 1, 1)[0], "http://a")
		reasons = append(reasons, &taskrecord.Reason{Kind: kind, Client: i%2 == 0, Text: "running", N: 1, Of: 1, Time: time.Second})
	}
	if len(o) != maxOrigins {
		t.Errorf("%d kinds", len(o))
	}
	if list := o.next(reasons, 3); len(list) != 3 || list[2] != "go tool pmu slow -seconds=30 -kind 5 http://a" {
		t.Errorf("%q", list)
	}
}
