// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"fmt"
	"internal/taskrecord"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestLatencyPage tests the page of a kind's latency: over servers, from callers to callees and from callees to callers.
// Without a kind it is that of those requests which no other task has called and that have most.
func TestLatencyPage(t *testing.T) {
	front, back := tasksOf(10)
	s := newSite(slices.Values(slices.Concat(front, back)))
	get(t, s, "/", 200, `<a href="/latency">Where their latency goes</a>`)
	get(t, s, "/?kind=GET+/stock", 200, `<a href="/latency?kind=GET&#43;%2Fstock">Where`)
	const heading = "Where the latency of &#34;GET /&#34; goes: 33 ms of a slow request"
	// The page is of 1 slow request of 33 ms and 9 of 5 ms. The back sleeps for 28 ms, and in a usual one not at all.
	get(t, s, "/latency", 200, heading, "1 request, 33 ms each", "9 requests, 5 ms each",
		"time.Sleep&#10;a slow request: 28 ms, 84.8 %&#10;a usual request: 0 ns, 0.0 %",
		"GET /stock on back&#10;a slow request: 30 ms, 90.9 %&#10;a usual request: 2 ms, 40.0 %",
		`<a href="/latency?callees=1&amp;kind=GET&#43;%2F">Show callees first</a>`, `<a href="/latency?kind=GET&#43;%2Fstock">GET /stock</a>`)
	callees := get(t, s, "/latency?callees=1&kind=GET+/", 200, heading, "top:19px\" title=\"GET /stock on back&#10;a slow request: 30 ms", "top:38px\" title=\"GET /stock (call)&#10;a slow request: 30 ms",
		"top:57px\" title=\"GET / on front&#10;a slow request: 30 ms", `<a href="/latency?kind=GET&#43;%2F">Show callers first`, `<a href="/latency?callees=1&amp;kind=GET&#43;%2Fstock">GET /stock</a>`)
	if strings.Contains(callees, "time.Sleep") {
		t.Error("callees have what they were in")
	}
	get(t, s, "/latency?kind=GET+/stock", 200, "30 ms of a slow request")
	for _, x := range back { // a server that calls itself
		x.Server, x.Start = front[0].Server, x.Start+5e9+int64(ms)
	}
	one := get(t, newSite(slices.Values(slices.Concat(front, back))), "/latency", 200, heading, "GET /stock&#10;a slow request: 30 ms")
	if strings.Contains(one, " on front") {
		t.Error("names of servers on the page of one")
	}
	front[0].Wall = math.MaxInt64
	get(t, s, "/latency", http.StatusInternalServerError, "does not fit into 64 bits")
}

// TestLatencyPageMissing tests that a page says what it leaves out.
func TestLatencyPageMissing(t *testing.T) {
	front, back := tasksOf(10)
	s := newSite(slices.Values(slices.Concat(front, back)))
	if body := get(t, s, "/latency", 200); strings.Contains(body, "too many") {
		t.Errorf("something is left out:\n%s", body)
	}
	s.left, s.callers.joiner.Dropped = 2, 3
	get(t, s, "/latency", 200, "Left out, as there are too many tasks: 5.")
	for i := range 2000 {
		x := &taskrecord.Record{Kind: fmt.Sprint(i), Wall: 1}
		s.tasks = append(s.tasks, x)
		s.callers.add(x)
	}
	get(t, s, "/latency", 200, "too many tasks: 5.", "Not looked at, as there are too many kinds: 1001 requests.")
}

// TestLatencyPageOthers tests that there are not too many links to other kinds, which is said, and none to calls.
func TestLatencyPageOthers(t *testing.T) {
	var list []*taskrecord.Record
	for i := range 3 * maxOthers {
		x := &taskrecord.Record{Kind: "GET /" + strings.Repeat("x", i), Wall: ms}
		if i%2 == 1 {
			x.Flags = taskrecord.Client
		}
		list = append(list, x, x)
	}
	s := newSite(slices.Values(list))
	body := get(t, s, "/latency", 200, "And 24 others.")
	if n := strings.Count(body, "<li>"); n != maxOthers {
		t.Errorf("%d links", n)
	}
	if strings.Contains(body, ">GET /x</a>") {
		t.Error("a link to a call")
	}
	get(t, s, "/?kind=GET+/xx", 200, `<a href="/latency?kind=`)
	// There is no page of a call's latency, which is another task's.
	if body := get(t, s, "/?kind=GET+/x", 200); strings.Contains(body, "/latency") {
		t.Errorf("a link to the latency of calls:\n%s", body)
	}
}
