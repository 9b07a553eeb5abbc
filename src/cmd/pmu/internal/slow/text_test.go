// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slow

import (
	"bytes"
	"cmd/pmu/internal/prof"
	"fmt"
	"strings"
	"testing"
)

// text returns what is written of a world.
func (w *world) text(t *testing.T, opt Options) string {
	t.Helper()
	p, err := newProfile(&prof.File{Profile: w.p}, opt)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.WriteText(&b, p.Compare()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// smallUsual is how many samples with labels of their own usual requests have in a small world.
const smallUsual = 2 + 2*10

// small returns a world of three traces of slow requests and ten of usual ones, in which copy is what slow ones do.
func small() *world {
	w := newWorld(1)
	usual := map[string][]string{labelKind: {"GET /"}, labelSlow: {"no"}}
	w.sample("main;serve;parse", usual, 810)
	w.sample("main;serve;copy", usual, 90)
	for i := range 10 {
		traced := map[string][]string{labelKind: {"GET /"}, labelSlow: {"no"}, labelTrace: {fmt.Sprint(10 + i)}}
		w.sample("main;serve;parse", traced, 9)
		w.sample("main;serve;copy", traced, 1)
	}
	for _, trace := range []string{"1", "2", "3"} {
		slow := map[string][]string{labelKind: {"GET /"}, labelSlow: {"yes"}, labelTrace: {trace}}
		w.sample("main;serve;parse", slow, 10)
		w.sample("main;serve;copy", slow, 90)
	}
	return w
}

// TestText tests what is written, and what is said of profiles that say less.
func TestText(t *testing.T) {
	const requests = `requests: 1000 usual, 3 slow, of kind "GET /"`
	const all = `task-clock, kind "GET /":
  slow   3 requests, 100 ms each, in 300 samples
  usual  1000 requests, 1 ms each, in 1000 samples

  more by      of slow  of usual  a slow request  a usual one  in
  80.0 ±9.0 %  90.0 %   10.0 %    90 ms           100 us       copy < serve < main

`
	const groups = `task-clock, kind "GET /":
  slow   300 ms, in 300 samples
  usual  1 s, in 1000 samples
`
	const unsaid = "  The profile does not say how many requests of this kind there were.\n"
	for _, tt := range []struct {
		name   string
		change func(w *world)
		want   string
	}{
		{"all", func(w *world) { w.p.Comments = append(w.p.Comments, requests) }, all},
		{"more than are traced", func(w *world) {
			w.p.Comments = append(w.p.Comments, strings.Replace(requests, "3", "6", 1))
		}, strings.NewReplacer("3 requests, 100", "6 requests, 50", "90 ms   ", "45 ms   ").Replace(all) +
			"  Shares of slow requests are of 3 of them, whose samples have the label trace.\n"},
		{"without numbers of requests", func(w *world) {}, groups + `
  more by      of slow  of usual  in
  80.0 ±9.0 %  90.0 %   10.0 %    copy < serve < main

` + unsaid},
		{"merged", func(w *world) {
			w.p.Comments = append(w.p.Comments, requests, `requests: 7 usual, 2 slow, of kind "GET /"`)
		}, groups + `
  more by      of slow  of usual  in
  80.0 ±9.0 %  90.0 %   10.0 %    copy < serve < main

` + unsaid},
		{"without usual ones", func(w *world) { w.p.Sample = w.p.Sample[smallUsual:] }, `task-clock, kind "GET /":
  slow   300 ms, in 300 samples
  usual  0 ns, in 0 samples
  No usual request has a sample to compare with.
` + unsaid},
		{"one trace", func(w *world) { w.p.Sample = w.p.Sample[:smallUsual+2] }, `task-clock, kind "GET /":
  slow   100 ms, in 100 samples
  usual  1 s, in 1000 samples
  All that is known is of one slow request. So nobody can say whether others would do the same.
` + unsaid},
		{"no trace", func(w *world) {
			for _, s := range w.p.Sample {
				delete(s.Label, labelTrace)
			}
		}, groups + "  Samples do not say which slow request they are of. So nobody can say whether these are alike.\n" + unsaid},
		{"no usual trace", func(w *world) {
			w.p.Comments = append(w.p.Comments, requests)
			for _, s := range w.p.Sample[:smallUsual] {
				delete(s.Label, labelTrace)
			}
		}, strings.NewReplacer("by  ", "by   ", "±9.0 %", "±12.4 %").Replace(all) + "  Samples do not say which usual request they are of. So how much these differ is a guess.\n"},
		{"unknown", func(w *world) {
			w.p.Comments = append(w.p.Comments, requests)
			w.sample("main;serve;copy", map[string][]string{labelKind: {"GET /"}, labelSlow: {"unknown"}}, 150)
		}, all + "  50 % as many samples again are of requests that ended after the profile, or later than samples wait. Long requests may be missing.\n"},
		{"names of anybody", func(w *world) {
			w.p.Comments = append(w.p.Comments, requests)
			w.functions["copy"].Line[0].Function.Name = "a\x1b[31m\nb"
		}, strings.ReplaceAll(all, "copy <", "a\uFFFD[31m b <")},
	} {
		w := small()
		tt.change(w)
		if got := w.text(t, Options{}); got != tt.want {
			t.Errorf("%s:\n%s\nwant:\n%s", tt.name, got, tt.want)
		}
	}
}

// TestErrors tests what is no profile of slow requests.
func TestErrors(t *testing.T) {
	for want, change := range map[string]func(w *world) Options{
		"no sample says if its request was slow": func(w *world) Options {
			for _, s := range w.p.Sample {
				s.Label = nil
			}
			return Options{}
		},
		"negative values":                      func(w *world) Options { w.p.Sample[0].Value[1] = -1; return Options{} },
		`no event "cycles"; it has task-clock`: func(w *world) Options { return Options{Event: "cycles"} },
	} {
		w := small()
		opt := change(w)
		if _, err := newProfile(&prof.File{Profile: w.p}, opt); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := Read(strings.NewReader("x"), Options{}); err == nil {
		t.Error("no error of what is no profile")
	}
	w := small()
	p, err := newProfile(&prof.File{Profile: w.p}, Options{Kind: "GET /other"})
	if err != nil || len(p.Compare()) != 0 {
		t.Errorf("of another kind: %d comparisons, error %v", len(p.Compare()), err)
	}
	if p, err = newProfile(&prof.File{Profile: w.p}, Options{Kind: "GET /", Event: "task_clock"}); err != nil || len(p.Compare()) != 1 {
		t.Errorf("by names: error %v", err)
	}
}

// TestPage tests the numbers of a page, and that what usual requests never do is the most.
func TestPage(t *testing.T) {
	w := small()
	for _, trace := range []string{"1", "2", "3"} {
		w.sample("main;serve;only", map[string][]string{labelKind: {"GET /"}, labelSlow: {"yes"}, labelTrace: {trace}}, 15)
	}
	w.p.Comments = append(w.p.Comments, `requests: 1000 usual, 3 slow, of kind "GET /"`)
	p, err := newProfile(&prof.File{Profile: w.p}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Page(p.Compare()[0])
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		// 345 ms of 3 requests, 1 s of 1000
		"<h1>&#34;GET /&#34;, task-clock of a slow request per that of a usual one: 115 ±6.2 %</h1>",
		"Slow requests spend",
		"in copy &lt; serve &lt; main.",
		`<i class="c6"></i>900</td>`,            // copy: 270 ms of 3, 100 ms of 1000
		`<i class="c6"></i>at least 5,000</td>`, // only: 45 ms of 3, three samples of 1 ms of 1000 at most
		`<i class="c0"></i>`,                    // parse
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%.6000s", want, b.String())
		}
	}
}
