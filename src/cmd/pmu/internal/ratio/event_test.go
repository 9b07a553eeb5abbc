// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"bytes"
	"internal/profile"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestRefused tests what can't be shown, and that the error says why.
func TestRefused(t *testing.T) {
	with := func(change func(p *plant)) *plant {
		p := cpi()
		change(p)
		return p
	}
	three := with(func(p *plant) {
		p.types = append(p.types, "page_faults")
		p.comments = append(p.comments, "event: page-faults", "samples: 1")
		p.stacks = []planted{{"main", []int64{1100, 1100, 1600, 7}}}
	})
	for _, test := range []struct {
		plant *plant
		opt   Options
		want  string
	}{
		{with(func(p *plant) { p.types, p.stacks = p.types[:1], nil }), Options{}, "a ratio needs a profile of two events, such as cycles,instructions; this one has cycles"},
		{with(func(p *plant) { p.types, p.stacks = nil, nil }), Options{}, "a ratio needs a profile of two events"},
		{three, Options{}, "the profile has more than two events; name two of cycles, instructions, page-faults"},
		{three, Options{Events: []string{"cycles"}}, "1 names of events; name two of cycles, instructions, page-faults"},
		{three, Options{Events: []string{"cycles", "samples"}}, `the profile has no event "samples"; name two of cycles, instructions, page-faults`},
		{three, Options{Events: []string{"page-faults", "page_faults"}}, `"page-faults" and "page_faults" are the same event`},
		{cpi(), Options{MaxError: -1}, "a standard error of -1: give one above 0, such as 0.2"},
		{cpi(), Options{MaxError: math.NaN()}, "a standard error of NaN"},
		{with(func(p *plant) { p.comments = nil }), Options{}, "the profile does not say how many samples of instructions there are"},
		{with(func(p *plant) { p.comments = p.comments[:7] }), Options{}, "the profile does not say how many samples of instructions there are"},
		{with(func(p *plant) { p.comments = p.comments[:5] }), Options{}, "the profile does not say how many samples of instructions there are"},
		{with(func(p *plant) { p.comments = append(p.comments, "longest period: 1009 (more)", "samples: 17") }), Options{}, "the profile was made of several, so its comments do not say how many samples of instructions there are: show one at a time"},
		{with(func(p *plant) { p.stacks[3].values[2] = -1 }), Options{}, "the profile has negative values"},
		{with(func(p *plant) { p.stacks[3].values[1] = math.MaxInt64 }), Options{}, "does not fit into 64 bits"},
		{with(func(p *plant) { p.stacks[3].values[0] = math.MaxInt64 }), Options{}, "does not fit into 64 bits"},
	} {
		_, err := Read(bytes.NewReader(test.plant.encode(t)), test.opt)
		if err == nil || !strings.HasPrefix(err.Error(), "ratio: "+test.want) && !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want %q", err, test.want)
		}
	}
	whole := cpi().encode(t)
	for _, data := range [][]byte{nil, []byte("a text"), {0x1f, 0x8b, 1}, whole[:len(whole)/2], whole[:len(whole)-1]} {
		if _, err := Read(bytes.NewReader(data), Options{}); err == nil || !strings.HasPrefix(err.Error(), "ratio: ") {
			t.Errorf("%d bytes: error %v", len(data), err)
		}
	}
}

// TestSelect tests that events are found by their names and by their types, in any order.
func TestSelect(t *testing.T) {
	p := cpi()
	p.types = []string{"cycles_uk", "page_faults", "task_clock_u/nanoseconds"}
	p.comments = []string{"event: cycles:uk", "samples: 70", "event: page-faults", "samples: 80", "event: task-clock:u", "samples: 90"}
	p.stacks = []planted{{"main", []int64{70, 700, 8000, 90_000}}}
	for _, test := range []struct{ of, per, title string }{
		{"cycles:uk", "page_faults", "cycles:uk per page-faults: 0.0875 ±16 %"},
		{"page-faults", "task-clock:u", "page-faults per task-clock:u: 0.0889 ±15 %"},
		{"task_clock_u", "cycles_uk", "task-clock:u per cycles:uk: 129 ns ±16 %"},
	} {
		page, _ := pageOf(t, p.read(t, Options{Events: []string{test.of, test.per}}))
		if got := page.find("h1")[0].text; got != test.title {
			t.Errorf("title %q, want %q", got, test.title)
		}
	}
}

// TestKinds tests what ratios are called, and their factors.
func TestKinds(t *testing.T) {
	for _, test := range []struct{ first, second, title string }{
		{"cycles", "instructions", "cycles per instruction (CPI): 2.00"},
		{"cycles:u", "instructions:uk", "cycles per instruction (CPI): 2.00"},
		{"cycles:pp", "instructions", "cycles per instruction (CPI): 2.00"},
		{"cache-misses", "instructions:u", "cache-misses per 1,000 instructions: 2,000"},
		{"task-clock", "instructions", "task-clock per 1,000 instructions: 2,000 ns"},
		{"instructions", "cycles", "instructions per cycles: 2.00"},
		{"page-faults", "task-clock", "page-faults per task-clock: 2.00"},
		{"task-clock", "cpu-clock", "task-clock per cpu-clock: 2.00"},
	} {
		p := cpi()
		p.types = nil
		p.comments = nil
		for _, name := range []string{test.first, test.second} {
			typ := strings.ReplaceAll(name, "-", "_")
			if strings.HasSuffix(name, "clock") {
				typ += "/nanoseconds"
			}
			p.types = append(p.types, typ)
			p.comments = append(p.comments, "event: "+name, "samples: 10000")
		}
		p.stacks = []planted{{"main", []int64{10_000, 20_000, 10_000}}}
		page, _ := pageOf(t, p.read(t, Options{}))
		if got := page.find("h1")[0].text; got != test.title+" ±1.4 %" {
			t.Errorf("%s,%s: title %q, want %q", test.first, test.second, got, test.title)
		}
	}
	// Without comments that name the event, its type does.
	for name, want := range map[string]string{"cycles_uk": "cycles", "cycles_pp": "cycles", "cycles_x": "cycles_x", "cycles": "cycles", "instructions_u": "instructions", "bus_cycles": "bus_cycles"} {
		if got := base(name); got != want {
			t.Errorf("base(%q) = %q, want %q", name, got, want)
		}
	}
}

// TestSamples tests the number of samples of a stack that stand for different numbers of
// events: that the error allows for any way in which they may differ, and not for much more.
func TestSamples(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		e := event{period: 1 + rnd.Int64N(1000), scale: 1}
		e.longest = e.period + rnd.Int64N(10_000)
		n := 1 + rnd.IntN(100)
		sum, squares := int64(0), 0.0
		for range n {
			w := e.period + rnd.Int64N(e.longest-e.period+1)
			if rnd.IntN(2) == 0 { // the worst case is the ends
				w = []int64{e.period, e.longest}[rnd.IntN(2)]
			}
			sum += w
			squares += float64(w) * float64(w)
		}
		e.mean = float64(sum) / float64(n)
		got, equal := e.count(sum, 0)
		truth := float64(sum) * float64(sum) / squares
		if math.Abs(got-float64(n)) > 1e-6 || equal > truth*(1+1e-9) || equal < float64(sum)/float64(e.longest)*(1-1e-9) {
			t.Fatalf("%d samples of %d to %d: counted %v, as good as %v of equal weight; the truth is %v", n, e.period, e.longest, got, equal, truth)
		}
	}
	e := event{period: 100, longest: 900, scale: 1, mean: 500}
	// Half of the samples stand for 100, half for 900.
	if n, equal := e.count(50_000, 0); n != 100 || math.Abs(equal-50_000*50_000/(50*100.0*100+50*900*900)) > 1e-9 {
		t.Errorf("%v samples, as good as %v", n, equal)
	}
	e.first = true
	if n, _ := e.count(50_000, 70); n != 70 {
		t.Errorf("%v samples, want those of the profile, 70", n)
	}
}

// TestError tests that the error that is stated is how far ratios of random samples are off.
func TestError(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	poisson := func(mean float64) int64 {
		n, at := int64(0), rnd.ExpFloat64()
		for at < mean {
			n++
			at += rnd.ExpFloat64()
		}
		return n
	}
	p := &Profile{kind: kind{factor: 1}}
	for i := range p.events {
		p.events[i] = event{name: "e", period: 1000, scale: 1, mean: 1000}
	}
	sum, stated := 0.0, 0.0
	const times = 4000
	for range times {
		r := p.ratio(&values{events: [2]int64{1000 * poisson(60), 1000 * poisson(240)}})
		off := r.value/0.25 - 1
		sum += off * off
		stated += r.err * r.err
	}
	if got := math.Sqrt(sum / stated); got < 0.9 || got > 1.15 {
		t.Errorf("ratios are off by %.2f times the error that is stated", got)
	}
}

// TestNotes tests what the page says about a profile whose numbers need it.
func TestNotes(t *testing.T) {
	for _, test := range []struct {
		change func(p *plant)
		notes  []string
		root   string // second line of the title
	}{
		{func(p *plant) {}, nil, "instructions: 800,000 (100.0 %) in 1,600 samples"},
		{func(p *plant) { p.comments[2] = "kernel: included" },
			[]string{"Events in the kernel: cycles included, instructions excluded. What is in the kernel has no ratio, and that of what calls it is not of the same code."}, "instructions: 800,000 (100.0 %) in 1,600 samples"},
		{func(p *plant) {
			p.comments = append(p.comments, "samples: 42", "warning: more events than the PMU has counters")
		},
			[]string{"The profile was made of several, so its comments do not say how many samples of instructions there are. They are taken to be one each 500.",
				"The profile warns: more events than the PMU has counters"}, "instructions: 800,000 (100.0 %) in about 1,600 samples"},
		{func(p *plant) {
			p.comments[8] = "samples: 800"
			p.comments = append(p.comments, "longest period: 2003 (as of the overhead bound)")
		},
			[]string{"Samples of instructions stand for 500 to 2,003 each, because the overhead bound lengthened the period. Errors allow for that."}, "instructions: 800,000 (100.0 %) in 800 samples"},
		{func(p *plant) {
			p.comments[8] = "samples: 1568"
			p.comments = append(p.comments, "in handler: 32 samples")
		}, nil, "instructions: 800,000 (100.0 %) in 1,600 samples"},
		{func(p *plant) {
			p.comments[8] = "samples: 1567"
			p.comments = append(p.comments, "in handler: 33 samples")
		},
			[]string{"Of the samples of cycles, 0.0 % are in the profiler's own handler, and 2.1 % of those of instructions. The program's functions lack them, and all of their ratios are off by that. The events may be in step: use another period."}, "instructions: 800,000 (100.0 %) in 1,600 samples"},
		{func(p *plant) { // an event of two kinds of cores
			p.comments = append(p.comments[:8:8], "PMU: cpu_core", "samples: 1000", "counted: 7", "PMU: cpu_atom", "samples: 530", "delayed: 50", "in handler: 20", "counted: 8")
		}, nil, "instructions: 800,000 (100.0 %) in 1,600 samples"},
	} {
		p := cpi()
		test.change(p)
		r := p.read(t, Options{})
		if !slices.Equal(r.notes, test.notes) {
			t.Errorf("notes %q, want %q", r.notes, test.notes)
		}
		page, _ := pageOf(t, r)
		for _, n := range test.notes {
			if !strings.Contains(page.text, n) {
				t.Errorf("the page has no note %q", n)
			}
		}
		if got := framesOf(t, page)[0].lines[1]; got != test.root {
			t.Errorf("%q, want %q", got, test.root)
		}
	}
}

// TestMultiplexed tests that a lengthened period is scaled as the counts are.
func TestMultiplexed(t *testing.T) {
	p := cpi()
	p.comments = append(p.comments, "multiplexed: 2.0000 (counts are scaled)", "longest period: 500")
	r := p.read(t, Options{})
	if e := &r.events[1]; e.scale != 2 || e.mean != 500 {
		t.Errorf("scale %v, a sample is %v", e.scale, e.mean)
	}
	e := event{period: 100, longest: 300, scale: 2, mean: 400}
	if n, equal := e.count(40_000, 0); n != 100 || math.Abs(equal-80) > 1e-9 {
		t.Errorf("%v samples, as good as %v; want 100, 80", n, equal)
	}
}

// TestNumbers tests how numbers are written.
func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1.00", 0.70710678: "0.707", 9.996: "10.0", 99.96: "100", 1234.5: "1,230", 999_600: "1,000,000", 0.000123: "0.000123", 0.00001: "1e-05", 2.5e18: "2.5e+18", 123456789: "123,000,000",
	} {
		if got := digits(v); got != want {
			t.Errorf("digits(%v) = %q, want %q", v, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567", math.MinInt64: "-9,223,372,036,854,775,808"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
	for _, test := range []struct {
		x, all int64
		want   string
	}{{0, 0, "0 %"}, {0, 5, "0 %"}, {1, 1_000_000, "below 0.01 %"}, {1, 3, "33.3 %"}, {1, 40, "2.50 %"}, {5, 5, "100.0 %"}} {
		if got := percent(test.x, test.all); got != test.want {
			t.Errorf("percent(%d, %d) = %q, want %q", test.x, test.all, got, test.want)
		}
	}
	if got := strings.Join([]string{percentError(0.0382), percentError(0.2), percentError(11)}, " "); got != "±3.8 % ±20 % ±1,000 % or more" {
		t.Errorf("errors %q", got)
	}
}

// TestUnknown tests what stands for code without functions.
func TestUnknown(t *testing.T) {
	for file, want := range map[string]string{"": "[unknown]", "[vdso]": "[vdso]", "/lib/libc.so.6": "[libc.so.6]"} {
		if got := unknown(&profile.Location{Mapping: &profile.Mapping{File: file}}); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
	if got := unknown(&profile.Location{}); got != "[unknown]" {
		t.Errorf("%q", got)
	}
}
