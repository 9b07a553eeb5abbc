// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"fmt"
	"internal/profile"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime/pprof"
	"runtime/pprof/ratio"
	"strconv"
	"strings"
	"testing"
)

// needRatio skips the test if task-clock or page-faults can't be sampled here.
func needRatio(t *testing.T) {
	for _, name := range []string{"task-clock", "page-faults"} {
		if err := available(t, name); err != nil {
			t.Skip(err)
		}
	}
}

// An amount is what the page says of an event in the whole profile.
type amount struct {
	name            string
	events, samples int64
}

var amountRow = regexp.MustCompile(`<tr><td>([^<]*)</td><td class="n">([0-9,]+)(?: ns)?</td><td>in ([0-9,]+) samples?</td></tr>`)

// amountsOf returns the amounts of a page.
func amountsOf(t *testing.T, page string) (list []amount) {
	t.Helper()
	number := func(s string) int64 {
		n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for _, m := range amountRow.FindAllStringSubmatch(page, -1) {
		list = append(list, amount{m[1], number(m[2]), number(m[3])})
	}
	if len(list) != 2 {
		t.Fatalf("%d events in the page:\n%.2000s", len(list), page)
	}
	return list
}

// TestRatioPage tests that the page has the totals of the profile that the same request
// gets without it, both events' samples included.
func TestRatioPage(t *testing.T) {
	needRatio(t)
	addr := server(t)
	work(t)
	const query = "profile?event=task-clock,page-faults&seconds=1"
	r := get(t, addr+query+"&format=pprof")
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "application/octet-stream" {
		t.Fatalf("%s: %s", r.Status, r.body)
	}
	p, err := profile.Parse(bytes.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	var want [2]amount
	recorded := int64(0) // samples of task-clock, by the comments
	event := -1
	for _, c := range p.Comments {
		key, value, _ := strings.Cut(c, ": ")
		n, _, _ := strings.Cut(value, " ")
		number, _ := strconv.ParseInt(n, 10, 64)
		switch key {
		case "event":
			event++
			want[event].name = value
		case "samples", "delayed", "in handler", "lost in ring", "lost late", "lost at start", "lost in buffer":
			want[event].samples += number
		}
	}
	for _, s := range p.Sample {
		recorded += s.Value[0]
		want[0].events += s.Value[1]
		want[1].events += s.Value[2]
	}
	if recorded != want[0].samples {
		t.Errorf("%d samples of task-clock, and %d by the comments", recorded, want[0].samples)
	}
	req := &eventRequest{asPage: true}
	req.buf.Write(r.body)
	w := httptest.NewRecorder()
	req.servePage(w)
	if got := amountsOf(t, w.Body.String()); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the page has %v, and the profile %v", got, want)
	}

	r = get(t, addr+query+"&format=html")
	if r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", r.Status, r.body)
	}
	for header, want := range map[string]string{
		"Content-Type":            "text/html; charset=utf-8",
		"Content-Security-Policy": ratio.ContentSecurityPolicy(),
		"X-Content-Type-Options":  "nosniff",
		"Content-Disposition":     "",
	} {
		if got := r.Header.Get(header); got != want {
			t.Errorf("%s: got %q, want %q", header, got, want)
		}
	}
	page := string(r.body)
	for i, a := range amountsOf(t, page) {
		// A second of a thread, and 16,384 faults for each time that burn is called.
		if a.name != want[i].name || a.events < want[i].events/100 || a.samples == 0 {
			t.Errorf("%v, after %v", a, want[i])
		}
	}
	for _, text := range []string{"net/http/pprof.burn&#10;task-clock", "<h1>" + want[0].name + " per page-faults: "} {
		if !strings.Contains(page, text) {
			t.Errorf("no %q in the page:\n%.3000s", text, page)
		}
	}
}

// TestRatioNone tests the page where one of the events does not happen.
func TestRatioNone(t *testing.T) {
	needRatio(t)
	if err := available(t, "alignment-faults"); err != nil {
		t.Skip(err)
	}
	work(t)
	r := get(t, server(t)+"profile?event=task-clock:u,alignment-faults&seconds=1&format=html")
	if page := string(r.body); r.StatusCode != http.StatusOK || !strings.Contains(page, "There is no ratio of task-clock:u to alignment-faults") && !strings.Contains(page, " per alignment-faults: ") {
		t.Errorf("%s: %.3000s", r.Status, page)
	}
}

// TestRatioRefused tests what there is no page of. Nothing is sampled.
func TestRatioRefused(t *testing.T) {
	addr := server(t)
	for _, test := range []struct {
		path   string
		status int
		text   string
	}{
		{"profile?event=task-clock,page-faults&format=svg", 400, `unknown format "svg": formats are html, pprof`},
		{"profile?event=task-clock,page-faults&format=", 400, `unknown format ""`},
		{"profile?event=task-clock&format=HTML", 400, `unknown format "HTML"`},
		{"profile?event=task-clock,page-faults&format=html&format=pprof", 400, `"format" is there 2 times`},
		{"profile?event=task-clock&format=html", 400, "format=html shows the ratio of two events, as for event=cycles,instructions: there are 1"},
		{"profile?event=task-clock,page-faults,cpu-clock&format=html", 400, "there are 3"},
		{"profile?event=timer&format=html", 400, "the timer has a profile of its own: ask for event=task-clock,page-faults"},
		{"profile?event=timer,task-clock&format=html", 400, "ask for ?event=timer and"},
		{"profile?event=&format=html", 400, "there are 1"},
		{"profile?event=task-clock,page-faults&period=99999&format=html", 400, "period 99999 is too short for task-clock"},
		{"profile?event=task-clock,no-such-event&format=html", 400, "no event has this name"},
		{"profile?event=dummy,task-clock&format=html", 503, "it counts nothing"},
		// What upstream ignores stays ignored.
		{"goroutine?format=html&debug=1", 200, "goroutine profile: total"},
	} {
		r := get(t, addr+test.path)
		if r.StatusCode != test.status || !strings.Contains(string(r.body), test.text) {
			t.Errorf("%s: %s: %.500s\nwant %d and %q", test.path, r.Status, r.body, test.status, test.text)
		}
		if ct := r.Header.Get("Content-Type"); ct != "text/plain; charset=utf-8" {
			t.Errorf("%s: Content-Type %q", test.path, ct)
		}
	}
}

// TestRatioLink tests that the list of events links to a page that there can be.
func TestRatioLink(t *testing.T) {
	event := func(name string, sampled bool) pprof.EventInfo {
		return pprof.EventInfo{Name: name, Unit: "count", Sampled: sampled}
	}
	for _, test := range []struct {
		list []pprof.EventInfo
		want string
	}{
		{[]pprof.EventInfo{event("cycles", true), event("instructions", true), event("task-clock", true), event("page-faults", true)},
			"<a href='profile?event=cycles%2Cinstructions&amp;format=html&amp;seconds=5'>cycles per instruction</a>"},
		{[]pprof.EventInfo{event("cycles", true), event("instructions", false), event("task-clock", true), event("page-faults", true)},
			"<a href='profile?event=task-clock%2Cpage-faults&amp;format=html&amp;seconds=5'>CPU time per page fault</a>"},
		{[]pprof.EventInfo{event("cycles", true), event("task-clock", true)}, ""},
	} {
		got := eventsHTML(test.list)
		if test.want == "" && strings.Contains(got, "format=html") || !strings.Contains(got, test.want) {
			t.Errorf("no %q in\n%s", test.want, got)
		}
	}
}
