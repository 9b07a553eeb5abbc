// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"cmd/pmu/internal/why"
	"internal/taskrecord"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const serverURL = "http://localhost:6060/debug/pprof/tasks"

func nextOf(event, kind string, names ...string) string {
	return nextStep(&why.Report{First: []string{event}}, true, origin{event, kind, names})
}

// TestNextParts tests that no part of time is sampled as if it were an event.
func TestNextParts(t *testing.T) {
	for p := range taskrecord.Part(taskrecord.Elsewhere + 1) {
		name := taskrecord.PartName(p)
		got := nextOf(name, "GET /", serverURL)
		if strings.Contains(got, "event") || steps[name] == nil && got != "go tool pmu tasks -slow -kind 'GET /' "+serverURL {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := nextOf("cache-misses", "", serverURL); got != "go tool pmu slow -seconds=30 -event cache-misses http://localhost:6060" {
		t.Errorf("an event: %s", got)
	}
	if got := nextOf("running", "GET /", serverURL); got != "go tool pmu slow -seconds=30 -kind 'GET /' http://localhost:6060" {
		t.Errorf("running: %s", got)
	}
}

// TestNextRatio tests that of a ratio its cycles are sampled.
func TestNextRatio(t *testing.T) {
	for event, want := range map[string]string{
		"ns per cycle":                      "cycles",
		"cycles per instruction (cycles:u)": "cycles:u",
	} {
		if got := nextOf(event, "k", serverURL); got != "go tool pmu slow -seconds=30 -event "+want+" -kind k http://localhost:6060" {
			t.Errorf("%s: %s", event, got)
		}
	}
}

// TestNextServer tests that the next step is on the server that the cause is on, and of the kind there.
func TestNextServer(t *testing.T) {
	f := newFleet(5, fleetNames...)
	f.run(t, 1500, func(i int) *job { return chain(rare(i, f.around(40*testMs))) })
	var urls []string
	for _, list := range f.files[:5] {
		var lines []byte
		for _, x := range list {
			lines = append(taskrecord.AppendJSON(lines, x), '\n')
		}
		ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(lines) }))
		defer ts.Close()
		urls = append(urls, ts.URL+"/debug/pprof/tasks")
	}
	_, got, errs := call(append([]string{"-p", "0.98"}, urls...)...)
	if errs != "" {
		t.Error(errs)
	}
	contains(t, "report", got, "mutex on backup5 (write) makes the tail",
		"\nTo look further: go tool pprof '"+strings.TrimSuffix(urls[4], "/tasks")+"/mutex?seconds=30'\n")
	j := &joined{from: map[string]string{"front": urls[0], "backup5": urls[4]}}
	tab := &why.Table{Columns: []why.Column{{Name: "server", Words: []string{"backup5", "front"}, Values: []float64{0, 1, 1}}}}
	for event, want := range map[string][]string{"cycles": urls[:1], "running": urls[:1], "chan": urls, "call a": urls} {
		if p := originOf(j, tab, event, "k", urls); !slices.Equal(p.names, want) || p.event != event || p.kind != "k" {
			t.Errorf("%s: %+v, want %v", event, p, want)
		}
	}
}

// TestExample tests that the command for one request names the slowest of those that the report is about.
func TestExample(t *testing.T) {
	id := func(n byte) taskrecord.TraceID { return taskrecord.TraceID{n} }
	tab := &why.Table{Latency: []float64{9, 8, 7, 6}, Trace: []taskrecord.TraceID{id(1), {}, id(3), id(4)},
		Columns: []why.Column{{Name: "a", Values: []float64{1, 5, 5, 5}}, {Name: "w", Values: []float64{0, 0, 0, 1}, Words: []string{"x", "y"}}}}
	inf := math.Inf(1)
	one := func(p ...why.Pattern) *why.Report { return &why.Report{Patterns: p} }
	for i, tt := range []struct {
		r    *why.Report
		want string // how the ID begins
	}{
		{&why.Report{First: []string{"a"}, Impacts: []why.Impact{{Event: "b"}, {Event: "a", Threshold: 1}}}, "03"},
		{&why.Report{First: []string{"a"}, Impacts: []why.Impact{{Event: "a", Threshold: 0.5}}}, "01"},
		{one(why.Pattern{TP: 1, To: inf, Conds: []why.Cond{{Column: "a", Hi: 2}}}, why.Pattern{TP: 2, To: inf, Conds: []why.Cond{{Column: "a", Lo: 2, Hi: inf}, {Column: "w", IsWord: true, Word: "y"}}}), "04"},
		{one(why.Pattern{TP: 1, To: inf, Conds: []why.Cond{{Column: "a", Lo: -inf, Hi: 2}}}), "01"},
		{one(why.Pattern{TP: 1, To: inf, Conds: []why.Cond{{Column: "a", Lo: 6, Hi: inf}}}), ""},
		{one(why.Pattern{TP: 1, To: 7, Conds: []why.Cond{{Column: "a", Lo: 5, Hi: inf}}}), "03"},
		{one(why.Pattern{TP: 1, To: inf, Conds: []why.Cond{{Column: "a", Lo: -inf, Hi: 2}}}, why.Pattern{TP: 2, Round: 1, To: inf, Conds: []why.Cond{{Column: "a", Lo: 2, Hi: inf}}}), "01"},
		{&why.Report{First: []string{"b", "c"}, Patterns: []why.Pattern{{TP: 1, To: inf, Conds: []why.Cond{{Column: "a", Lo: -inf, Hi: 2}}}}}, ""},
		{one(), ""},
	} {
		conds, from, to := described(tt.r)
		got := example(tab, conds, from, to, []string{"f", "g"})
		want := ""
		if tt.want != "" {
			want = "go tool pmu tasks -trace " + tt.want + strings.Repeat("0", 30) + " f g"
		}
		if got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
	tab.Keep(func(row int) bool { return row != 2 })
	conds, from, to := described(&why.Report{First: []string{"a"}, Impacts: []why.Impact{{Event: "a", Threshold: 1}}})
	if got := example(tab, conds, from, to, nil); !strings.Contains(got, " 04") {
		t.Errorf("of some rows: %q", got)
	}
	// The report of files has it.
	f := newFleet(7, fleetNames...)
	files := f.run(t, 1500, func(i int) *job { return chain(rare(i, f.around(40*testMs))) })
	_, got, _ := call(append([]string{"-p", "0.98"}, files...)...)
	m := regexp.MustCompile(`One of these requests: go tool pmu tasks -trace ([0-9a-f]{16})0{16} `).FindStringSubmatch(got)
	if m == nil {
		t.Fatalf("no request:\n%s", got)
	}
	if n, err := strconv.ParseUint(m[1], 16, 64); err != nil || (n-1)%30 != 7 {
		t.Errorf("request %s has no wait: %v", m[1], err)
	}
}

// TestNextKind tests that a kind from a record has a command do nothing else.
func TestNextKind(t *testing.T) {
	for _, tt := range []struct{ kind, pmu string }{
		{"GET /a b", " -kind 'GET /a b'"},
		{"it's", ` -kind 'it'\''s'`},
		{"é", " -kind 'é'"},
		{"a\x1b]0;x\a", ""},
		{"a\nb\u202ec", ""},
		{"a\xff\x9b", ""},
	} {
		if got, want := nextOf("chan", tt.kind, "file"), "go tool pmu tasks -slow"+tt.pmu+" file"; got != want {
			t.Errorf("%q: %q, want %q", tt.kind, got, want)
		}
		if got, want := nextOf("cache-misses", tt.kind, serverURL), "go tool pmu slow -seconds=30 -event cache-misses"+tt.pmu+" http://localhost:6060"; got != want {
			t.Errorf("%q: %q, want %q", tt.kind, got, want)
		}
	}
}
