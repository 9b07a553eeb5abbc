// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slow

import (
	"cmd/pmu/internal/prof"
	"fmt"
	"internal/profile"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A world makes requests and samples what they execute.
type world struct {
	r, trace  *rand.Rand // for what requests do, and for which have a trace
	p         *profile.Profile
	functions map[string]*profile.Location
	samples   map[string]*profile.Sample
	traced    [groups]int
	usual     int
	slow      int

	// part is which part of usual requests has a trace.
	part float64
}

const worldPeriod = 1_000_000 // ns

func newWorld(seed uint64) *world {
	return &world{
		r:     rand.New(rand.NewPCG(seed, 1)),
		trace: rand.New(rand.NewPCG(seed, 2)),
		p: &profile.Profile{
			SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "task_clock", Unit: "nanoseconds"}},
			Period:     worldPeriod,
			Comments:   []string{"event: task-clock", fmt.Sprintf("period: %d", worldPeriod)},
		},
		functions: make(map[string]*profile.Location),
		samples:   make(map[string]*profile.Sample),
	}
}

// work is what a request executes: for how long, by stack, outermost function first.
type work map[string]float64

// request has a request execute what it does.
func (w *world) request(do work, slow bool) {
	labels := map[string][]string{labelKind: {"GET /"}, labelSlow: {"no"}}
	w.usual++
	g, part := isUsual, w.part
	if slow {
		w.usual--
		w.slow++
		labels[labelSlow] = []string{"yes"}
		g, part = isSlow, 1
	}
	traced := w.traced[g] < 64 && w.trace.Float64() < part
	if traced {
		labels[labelTrace] = []string{fmt.Sprint(w.usual + w.slow)}
	}
	any := false
	for _, stack := range slices.Sorted(maps.Keys(do)) { // as the generator's numbers are for these in turn
		ns := do[stack]
		n := int64(0)
		for t := w.r.ExpFloat64(); t < ns/worldPeriod; t += w.r.ExpFloat64() {
			n++
		}
		if n > 0 {
			any = true
			w.sample("main;serve;"+stack, labels, n)
		}
	}
	if traced && any {
		w.traced[g]++
	}
}

func (w *world) sample(stack string, labels map[string][]string, n int64) {
	key := stack + labels[labelSlow][0] + strings.Join(labels[labelTrace], "")
	s := w.samples[key]
	if s == nil {
		s = &profile.Sample{Value: make([]int64, 2), Label: labels}
		for name := range strings.SplitSeq(stack, ";") {
			l := w.functions[name]
			if l == nil {
				l = &profile.Location{Line: []profile.Line{{Function: &profile.Function{Name: name}}}}
				w.functions[name] = l
			}
			s.Location = append([]*profile.Location{l}, s.Location...)
		}
		w.samples[key] = s
		w.p.Sample = append(w.p.Sample, s)
	}
	s.Value[0] += n
	s.Value[1] += n * worldPeriod
}

// compare returns the only comparison.
func (w *world) compare(t *testing.T) *Comparison {
	t.Helper()
	w.p.Comments = append(w.p.Comments, fmt.Sprintf("requests: %d usual, %d slow, of kind %q", w.usual, w.slow, "GET /"))
	p, err := newProfile(&prof.File{Profile: w.p}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	list := p.Compare()
	if len(list) != 1 {
		t.Fatalf("%d comparisons", len(list))
	}
	return list[0]
}

// ordinary is what requests execute that differ from each other: some take another path.
func (w *world) ordinary() work {
	do := work{"parse": 0.5e6 * w.r.ExpFloat64(), "render": 0.3e6, "render;escape": 0.1e6 * w.r.ExpFloat64(), "load;decode": 0.4e6}
	if w.r.IntN(10) == 0 {
		do["search;scan"] = 4e6 * w.r.ExpFloat64()
	}
	if w.r.IntN(100) == 0 {
		do["report;sort"] = 6e6
	}
	return do
}

// TestPlanted tests that one path which makes one request of a hundred slow is the first row, on whatever
// number of samples, with the right numbers, whether usual requests have traces or not.
func TestPlanted(t *testing.T) {
	for _, requests := range []int{1000, 20_000} {
		found := 0
		const runs = 20
		for run := range runs {
			w := newWorld(uint64(run))
			w.part = 0.2 * float64(run%2)
			for range requests {
				do := w.ordinary()
				slow := w.r.IntN(100) == 0
				if slow {
					do["load;refill;hash"], do["load;refill;copy"] = 12e6, 8e6
				}
				w.request(do, slow)
			}
			c := w.compare(t)
			if len(c.Rows) == 0 {
				continue
			}
			r := &c.Rows[0]
			if r.Stack[0] == "refill" && r.Stack[1] == "load" && r.Usual == 0 && math.Abs(r.PerSlow-20e6) < 20e6*0.3 && len(c.Rows) == 1 {
				found++
			} else {
				t.Logf("%d requests: %+v", requests, c.Rows)
			}
		}
		t.Logf("%d requests: found in %d of %d runs", requests, found, runs)
		if found < runs-1 {
			t.Errorf("%d requests: found in %d of %d runs", requests, found, runs)
		}
	}
}

// TestNothingPlanted tests that nothing is found where slow requests execute the same as others: they wait
// longer, have more of all to do, or are few. Requests that take a path do it with all of their samples.
func TestNothingPlanted(t *testing.T) {
	for _, test := range []struct {
		name     string
		requests int
		part     int // one of so many is slow
		times    float64
	}{
		{"waits", 10_000, 100, 1},
		{"more to do", 10_000, 100, 8},
		{"half of them", 5000, 2, 1},
		{"few", 2000, 400, 3},
		{"few usual ones", 300, 2, 8},
	} {
		few(t, test.name, 1000, func(w *world) {
			for range test.requests {
				do := w.ordinary()
				slow := w.r.IntN(test.part) == 0
				if slow {
					for stack := range do { // in any order
						do[stack] *= test.times
					}
				}
				w.request(do, slow)
			}
		})
	}
}

// runs returns in how many of n runs something is found, if a part of usual requests has traces.
func runs(t *testing.T, n int, seed uint64, part float64, make func(w *world)) (found int) {
	for run := range n {
		w := newWorld(seed + uint64(run))
		w.part = part
		make(w)
		if c := w.compare(t); len(c.Rows) > 0 {
			found++
			t.Logf("%+v of %d traces and %d", c.Rows[0], c.Traces, c.UsualTraces)
		}
	}
	t.Logf("found in %d of %d runs", found, n)
	return found
}

// few tests that hardly anything is found where nothing is planted, with traces of usual requests and without.
func few(t *testing.T, name string, seed uint64, make func(w *world)) {
	for _, part := range []float64{0, 0.3} {
		if part == 0 && testing.Short() {
			continue
		}
		t.Run(fmt.Sprint(name, " ", part), func(t *testing.T) {
			const n = 100
			if found := runs(t, n, seed, part, make); found > n/20 {
				t.Errorf("found in %d of %d runs", found, n)
			}
		})
	}
}

// TestQuantile compares with tables of Student's distribution.
func TestQuantile(t *testing.T) {
	for _, tt := range []struct {
		p    float64
		n    int
		want float64
	}{
		{0.975, 1, 12.706}, {0.975, 2, 4.303}, {0.975, 5, 2.571}, {0.975, 15, 2.131}, {0.975, 1000, 1.962},
		{0.99999, 3, 47.928}, {0.99999, 4, 23.332}, {0.99999, 15, 6.1089}, {0.99999, 1000, 4.2854}, // by numerical integration
		{0.9995, 1, 636.6}, {0.9995, 2, 31.60}, {0.9995, 5, 6.869}, {0.9995, 15, 4.073}, {0.9995, 1000, 3.300},
	} {
		if got := quantile(tt.p, tt.n); math.Abs(got-tt.want) > 0.001*tt.want {
			t.Errorf("%v with %d degrees of freedom: %v, want %v", tt.p, tt.n, got, tt.want)
		}
	}
}

// TestUsualDiffer tests that usual requests which differ from each other more than slow ones do are no reason to find
// something: each is of one path only, and slow ones are of both.
func TestUsualDiffer(t *testing.T) {
	few(t, "", 5000, func(w *world) {
		w.part *= 10 / 3. // all
		for range 12 {
			w.request(work{[]string{"a", "b"}[w.r.IntN(2)]: 50e6}, false)
		}
		for range 30 {
			w.request(work{"a": 50e6, "b": 50e6}, true)
		}
	})
}

// TestUsualSizes tests the same of usual requests that differ in length, too, so that few of them have most samples. Slow
// ones do of both what all usual ones do together. How uncertain the share of usual ones is only their traces say, which
// may have none of the long ones.
func TestUsualSizes(t *testing.T) {
	for _, tt := range []struct {
		name           string
		usual, percent int // so many, and the part that is long
		long, short    float64
		traces         float64 // part
	}{
		{"some", 100, 10, 30e6, 1e6, 1},
		{"rare", 3000, 3, 60e6, 2e6, 0.03},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const n = 100
			found := runs(t, n, 6000, tt.traces, func(w *world) {
				for range tt.usual {
					if w.r.IntN(100) < tt.percent {
						w.request(work{"scan": tt.long}, false)
					} else {
						w.request(work{"parse": tt.short}, false)
					}
				}
				for range 60 {
					w.request(work{"scan": 3 * tt.long * float64(tt.percent) / 100, "parse": 3 * tt.short * float64(100-tt.percent) / 100}, true)
				}
			})
			if found > n/20 {
				t.Errorf("found in %d of %d runs", found, n)
			}
		})
	}
}

// TestUsualAlike tests that a small difference is found if the traces of usual requests say that these are alike. Each
// has many samples, and they might as well have nothing in common.
func TestUsualAlike(t *testing.T) {
	work := func(w *world) {
		for range 200 {
			w.request(work{"a": 50e6, "b": 50e6}, false)
		}
		for range 60 {
			w.request(work{"a": 60e6, "b": 50e6}, true)
		}
	}
	const n = 50
	if found := runs(t, n, 7000, 0.3, work); found < n-n/20 {
		t.Errorf("found in %d of %d runs", found, n)
	}
	if found := runs(t, n, 7000, 0, work); found > 0 {
		t.Errorf("found in %d of %d runs by what nobody knows", found, n)
	}
}

// TestInner tests that a row of few samples inside does not hide the one outside which has enough, and that of two
// that say the same there is only the inner one.
func TestInner(t *testing.T) {
	w := newWorld(1)
	sample := func(verdict, trace, stack string, n int64) {
		labels := map[string][]string{labelKind: {"GET /"}, labelSlow: {verdict}}
		if trace != "" {
			labels[labelTrace] = []string{trace}
		}
		w.sample(stack, labels, n)
	}
	// All of out is known to be more. Of in each request has another part.
	for i := range 10 {
		trace := fmt.Sprint(i)
		sample("yes", trace, "main;out;in", int64(20*(i%2)+1))
		sample("yes", trace, "main;out", int64(90-20*(i%2)))
		sample("yes", trace, "main;other", 10)
	}
	sample("no", "", "main;out", 500)
	sample("no", "", "main;other", 500)
	w.usual, w.slow = 1000, 10
	c := w.compare(t)
	if len(c.Rows) != 1 || c.Rows[0].Stack[0] != "out" {
		t.Errorf("%+v", c.Rows)
	}
	for i := range 10 {
		sample("yes", fmt.Sprint(i), "main;out;in;most", 5000)
	}
	if c = w.compare(t); len(c.Rows) != 1 || c.Rows[0].Stack[0] != "most" {
		t.Errorf("%+v", c.Rows)
	}
}

// TestKinds tests that kinds and events are apart, and those with most samples of slow requests are first.
func TestKinds(t *testing.T) {
	w := newWorld(1)
	w.p.SampleType = append(w.p.SampleType, &profile.ValueType{Type: "cycles", Unit: "count"})
	w.p.Comments = append(w.p.Comments, "event: cycles", "period: 10", `requests: 5 usual, 2 slow, of kind "a"`, `requests: 5 usual, 2 slow, of kind "b"`)
	for i, kind := range []string{"a", "b", "none", ""} {
		for _, v := range []string{"yes", "no", "unknown"}[:min(3, 4-i)] {
			labels := map[string][]string{labelKind: {kind}, labelSlow: {v}}
			if kind == "" {
				labels = map[string][]string{labelSlow: {""}}
			}
			w.sample("main;"+kind+v, labels, int64(10*(1+i)))
		}
	}
	for _, s := range w.p.Sample {
		s.Value = append(s.Value[:2:2], 10*s.Value[0])
	}
	p, err := newProfile(&prof.File{Profile: w.p}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range p.Compare() {
		got = append(got, fmt.Sprint(c.Event, " ", c.Kind, " ", c.Slow, c.Usual, c.Unknown))
	}
	want := []string{
		"task-clock none {0 30000000 30} {0 30000000 30} 0", "task-clock b {2 20000000 20} {5 20000000 20} 0.5", "task-clock a {2 10000000 10} {5 10000000 10} 0.5",
		"cycles none {0 300 30} {0 300 30} 0", "cycles b {2 200 20} {5 200 20} 0.5", "cycles a {2 100 10} {5 100 10} 0.5",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestBounds tests what is made of a profile by somebody who wants harm.
func TestBounds(t *testing.T) {
	w := newWorld(1)
	for i := range 3000 {
		for _, v := range []string{"yes", "no"} {
			w.sample(fmt.Sprintf("main;%d", i), map[string][]string{labelKind: {fmt.Sprint(i)}, labelSlow: {v}}, 1)
		}
	}
	w.p.SampleType = append(w.p.SampleType, slices.Repeat([]*profile.ValueType{{Type: "x", Unit: "count"}}, 100)...)
	for _, s := range w.p.Sample {
		s.Value = append(s.Value, make([]int64, 100)...)
	}
	p, err := newProfile(&prof.File{Profile: w.p}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if list := p.Compare(); len(list) != maxKinds {
		t.Errorf("%d comparisons, want %d", len(list), maxKinds)
	}
	for _, s := range w.p.Sample[:2] {
		s.Value[1] = 1 << 62
	}
	if _, err := newProfile(&prof.File{Profile: w.p}, Options{}); err == nil || !strings.Contains(err.Error(), "64 bits") {
		t.Errorf("error %v", err)
	}
}
