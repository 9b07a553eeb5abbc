// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
)

// TestIndexEvents checks the list of events against what can be sampled, and
// follows a link.
func TestIndexEvents(t *testing.T) {
	addr := server(t)
	work(t)
	r := get(t, addr+"?events=1")
	page := string(r.body)
	link := regexp.MustCompile(`<a href='(profile\?event=[^']*)'>([^<]*)</a>`)
	links := make(map[string]string)
	for _, m := range link.FindAllStringSubmatch(page, -1) {
		links[html.UnescapeString(m[2])] = html.UnescapeString(m[1])
	}
	list := listEvents() // what the page was made from
	for _, e := range list {
		if e.Err != nil {
			if links[e.Name] != "" {
				t.Errorf("link to %s: %v", e.Name, e.Err)
			}
			if !strings.Contains(page, html.EscapeString(e.Err.Error())) {
				t.Errorf("%s: reason missing: %v", e.Name, e.Err)
			}
		} else if links[e.Name] == "" {
			t.Errorf("no link to %s", e.Name)
		}
	}
	if href := links["task-clock"]; href != "" {
		if want := "profile?event=task-clock&seconds=5"; href != want {
			t.Errorf("link to %s, want %s", href, want)
		}
		checkAnswer(t, get(t, addr+strings.Replace(href, "seconds=5", "seconds=1", 1)), "task-clock", "samples", "task_clock")
	} else if len(links) == 0 && !strings.Contains(page, "none\n") {
		t.Errorf("no events, and the page does not say so:\n%s", page)
	}
}

// TestEventsHTML checks the page of another machine.
func TestEventsHTML(t *testing.T) {
	why := errors.New("not <here>")
	got := eventsHTML([]pprof.EventInfo{
		{Name: "cycles", Desc: "core <clock> cycles", Period: 9999991, Unit: "count", Sampled: true},
		{Name: "task-clock", Desc: "time", Period: 9999991, Unit: "nanoseconds", Sampled: true},
		{Name: "cpu/a=1,b='2'/", Period: 1, Unit: "count", Sampled: true},
		{Name: "major-faults", Desc: "faults", Period: 1, Unit: "count"},
		{Name: "bus-cycles", Err: why},
		{Name: "ref-cycles", Err: why},
		{Name: "msr/tsc/", Err: errors.New("counts only")},
	})
	for _, want := range []string{
		"<tr><td><a href='profile?event=cycles&amp;seconds=5'>cycles</a></td><td>core &lt;clock&gt; cycles</td><td>every 9999991</td></tr>\n",
		"<td>every 9999991 nanoseconds</td>",
		"<a href='profile?event=cpu%2Fa%3D1%2Cb%3D%272%27%2F&amp;seconds=5'>cpu/a=1,b=&#39;2&#39;/</a>",
		"<li class=event-reason>not &lt;here&gt;:<br>bus-cycles, ref-cycles</li>\n",
		"<li class=event-reason>counts only:<br>msr/tsc/</li>\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if i, j := strings.Index(got, "did not occur"), strings.Index(got, "event=major-faults"); i < 0 || j < i {
		t.Errorf("major-faults is not among the events that did not occur")
	}
	if t.Failed() {
		t.Logf("in:\n%s", got)
	}
	if got := eventsHTML([]pprof.EventInfo{{Name: "cycles", Err: why}}); !strings.Contains(got, "none\n") {
		t.Errorf("without events:\n%s", got)
	}
}

// countProbes has a list of two events take the place of probing, until the test ends, and
// counts how often it is asked for. forget makes the next request ask for it.
func countProbes(t *testing.T) (count *int, forget func()) {
	count = new(int)
	old := probeEvents
	probeEvents = func() []pprof.EventInfo {
		*count++
		return []pprof.EventInfo{
			{Name: "probed-event", Aliases: []string{"a"}, Kind: "hardware", Unit: "count", Period: 7, Sampled: true},
			{Name: "other", Err: errors.New("why")},
		}
	}
	forget = func() {
		events.Lock()
		events.list = nil
		events.Unlock()
	}
	forget()
	t.Cleanup(func() { probeEvents = old; forget() })
	return count, forget
}

// TestProfileIgnoresEvents tests that profiles do not take the index's parameters.
func TestProfileIgnoresEvents(t *testing.T) {
	count, _ := countProbes(t)
	w := httptest.NewRecorder()
	http.DefaultServeMux.ServeHTTP(w, httptest.NewRequest("GET", "/debug/pprof/goroutine?events=1&debug=1", nil))
	if w.Code != http.StatusOK || *count != 0 || !strings.Contains(w.Body.String(), "goroutine profile: total") {
		t.Errorf("goroutine?events=1: %d, %d probes", w.Code, *count)
	}
}

// TestIndexProbesNothing checks that the index page tries no event, that it
// links to the page that does, and that this works wherever Index is served.
func TestIndexProbesNothing(t *testing.T) {
	count, forget := countProbes(t)
	exact := http.NewServeMux() // as frameworks have it, which register each path
	exact.HandleFunc("/debug/pprof/{$}", Index)
	exact.HandleFunc("/debug/pprof/profile", Profile)
	elsewhere := http.NewServeMux()
	elsewhere.HandleFunc("/internal/prof", Index)
	for name, test := range map[string]struct {
		h    http.Handler
		path string
	}{
		"default":   {http.DefaultServeMux, "/debug/pprof/"},
		"exact":     {exact, "/debug/pprof/"},
		"elsewhere": {elsewhere, "/internal/prof"},
	} {
		forget()
		*count = 0
		ask := func(method, query string) *httptest.ResponseRecorder {
			w := httptest.NewRecorder()
			test.h.ServeHTTP(w, httptest.NewRequest(method, test.path+query, nil))
			return w
		}
		for _, query := range []string{"", "?debug=1"} {
			w := ask("GET", query)
			if w.Code != http.StatusOK || *count != 0 || !strings.Contains(w.Body.String(), "<a href='?events=1'") || !strings.Contains(w.Body.String(), "Types of profiles available") {
				t.Errorf("%s: index: %d, %d probes:\n%s", name, w.Code, *count, w.Body)
			}
		}
		if w := ask("HEAD", "?events=1"); w.Code != http.StatusOK || *count != 0 {
			t.Errorf("%s: HEAD: %d, %d probes", name, w.Code, *count)
		}
		if w := ask("GET", "?events=1&format=xml"); w.Code != http.StatusBadRequest || *count != 0 {
			t.Errorf("%s: format=xml: %d, %d probes", name, w.Code, *count)
		}
		if w := ask("HEAD", "?events=1&format=json"); w.Header().Get("Content-Type") != "application/json" || *count != 0 {
			t.Errorf("%s: HEAD of JSON: %v, %d probes", name, w.Header(), *count)
		}
		if name != "default" { // which has patterns for GET only
			if w := ask("POST", "?events=1"); w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, HEAD" || *count != 0 {
				t.Errorf("%s: POST: %d, %d probes", name, w.Code, *count)
			}
		}
		for range 3 { // looked for once
			w := ask("GET", "?events=1")
			if w.Code != http.StatusOK || *count != 1 || !strings.Contains(w.Body.String(), "<a href='profile?event=probed-event&amp;seconds=5'>") {
				t.Errorf("%s: events: %d, %d probes:\n%s", name, w.Code, *count, w.Body)
			}
			if ct := w.Header().Get("Content-Type"); ct != "text/html; charset=utf-8" {
				t.Errorf("%s: Content-Type %s", name, ct)
			}
			w = ask("GET", "?events=1&format=json")
			if want := `[{"Name":"probed-event","Aliases":["a"],"Kind":"hardware","Desc":"","Unit":"count","Period":7,"Sampled":true,"Err":""},` +
				`{"Name":"other","Aliases":[],"Kind":"","Desc":"","Unit":"","Period":0,"Sampled":false,"Err":"why"}]`; w.Body.String() != want || *count != 1 {
				t.Errorf("%s: JSON, after %d probes:\n%s\nwant\n%s", name, *count, w.Body, want)
			}
		}
	}
}
