// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"

	"pmu/bench/chart"
	"pmu/bench/stats"
	"pmu/internal/tool"
)

// rates of clock, in samples per second of CPU time.
var rates = []struct {
	hz     float64
	name   string
	period uint64 // ns
}{
	{100, "100 Hz", 10000000},
	{1000, "1 kHz", 1000000},
	{10000, "10 kHz", 100000},
	{50000, "50 kHz", 20000},
}

// overheadLoads are the kinds of work, each about a second of CPU time.
func overheadLoads(b *bench) []program {
	size := pick(b, 0.3, 1)
	times := func(n int) int { return int(float64(n) * size) }
	return []program{
		ours("goroutine", "./demo/goroutine", 0.4*size),
		ours("serial", "./demo/serial", 0.6*size),
		load("10 frames", size, "deep", 10),
		load("64 frames", size, "deep", 64),
		load("200 frames", size, "deep", 200),
		load("1000 goroutines switching", 2*size, "switch", 0),
		load("net/http", size, "http", 0),
		benchmarks("encoding/json", "^BenchmarkCode(Encoder|Decoder)$", times(12)),
		benchmarks("regexp", "^BenchmarkMatch$/^Hard$/32K", times(250)),
		compiling(pick(b, "encoding/gob", "go/types")),
	}
}

// overheadSamplers returns what overhead compares, after the two samplers without a
// profile. In the short form perf runs at the two most used rates only.
func overheadSamplers(b *bench) []sampler {
	samplers := []sampler{stockTimer, timer, preset}
	for _, rate := range rates {
		samplers = append(samplers, sampler{name: "event, " + rate.name, event: clock, period: rate.period})
	}
	for _, rate := range rates {
		if b.perf != "" && (b.long || rate.hz == 1000 || rate.hz == 10000) {
			samplers = append(samplers, sampler{name: "perf, " + rate.name, event: clock, period: rate.period, perf: true})
		}
	}
	return samplers
}

// overhead compares all samplers on all loads.
func overhead(b *bench, r *report) {
	samplers := overheadSamplers(b)
	r.printf("CPU time of the whole process, user and system, in parts of that without a profile, by the same toolchain; %d runs of each, taking turns. ", b.rounds)
	r.printf("The preset is `task-clock`, every 1,000,003 ns, the kernel included where that is allowed; events are `task-clock:u`; perf is `perf record -g -e task-clock:u` at the same periods, and its time includes perf's own, but not the symbols, which our profiles have: *perf script* is the time to look them up for the profile at 10 kHz. ")
	r.printf("* marks runs in which the [overhead bound](../pmu.md#overhead) lengthened the period.\n\n")
	t := newTable("load", "none")
	for _, s := range samplers {
		t.head = append(t.head, s.name)
	}
	if b.perf == "" {
		r.printf("**perf was not compared**: there is no perf command that works (on Debian, package linux-perf).\n\n")
	} else {
		t.head = append(t.head, "perf script")
	}
	byRate := make(map[string][]float64) // all loads' medians by sampler
	for _, p := range overheadLoads(b) {
		runs := b.interleave(p, append([]sampler{none, stockNone}, samplers...), b.rounds)
		t.row(p.name, "%.2f s", stats.Median(runs.cpus(none)))
		for _, s := range samplers {
			base := none
			if s.stock {
				base = stockNone
			}
			x := stats.Ratios(runs.cpus(s), runs.cpus(base))
			marked := ""
			if s.event != "timer" && !s.perf {
				marked = mark(runs.profile(s))
			}
			t.add("%s%s", ratio(x), marked)
			byRate[s.name] = append(byRate[s.name], stats.Median(x))
		}
		if b.perf != "" {
			// Perf looks up symbols later.
			script := b.do(none, exec.Command("perf", "script", "-i", runs["perf, 10 kHz"][0].profile), "")
			x := script.cpu / stats.Median(runs.cpus(none))
			t.add("+%.3f", x)
			byRate["script"] = append(byRate["script"], x)
		}
	}
	t.row("**median of the loads**", "")
	for _, s := range samplers {
		t.add("**%.3f**", stats.Median(byRate[s.name]))
	}
	if b.perf != "" {
		t.add("**+%.3f**", stats.Median(byRate["script"]))
	}
	r.table(t)
	r.printf("The proposal's table, on a 2.4 GHz Skylake machine: 1.036 at 100 Hz, 1.036 at 1 kHz, 1.13 at 10 kHz, 2.05 at 100 kHz.\n\n")
	r.chart("rate", rateChart(byRate))
}

func rateChart(byRate map[string][]float64) *chart.Chart {
	c := &chart.Chart{
		Title:  "CPU time with a profile in parts of that without, median of the loads",
		XLabel: "samples per second of CPU time", YLabel: "ratio", LogX: true, MinY: 1,
		XTicks:  []float64{100, 1000, 10000, 50000, 100000},
		XFormat: func(hz float64) string { return fmt.Sprintf("%gk", hz/1000) },
	}
	add := func(name string, points []chart.Point) {
		if points != nil {
			c.Series = append(c.Series, chart.Series{Name: name, Points: points})
		}
	}
	for _, kind := range []struct{ prefix, name string }{{"event", "task-clock, this Go"}, {"perf", "task-clock, perf record -g"}} {
		var points []chart.Point
		for _, rate := range rates {
			if x := byRate[kind.prefix+", "+rate.name]; x != nil {
				points = append(points, point(rate.hz, x))
			}
		}
		add(kind.name, points)
	}
	add("timer, this Go", []chart.Point{point(100, byRate[timer.name])})
	add("timer, stock", []chart.Point{point(100, byRate[stockTimer.name])})
	c.Series = append(c.Series, chart.Series{Name: "proposal, cycles on Skylake", Dashed: true, Points: []chart.Point{
		{X: 100, Y: 1.036}, {X: 1000, Y: 1.036}, {X: 10000, Y: 1.13}, {X: 100000, Y: 2.05},
	}})
	return c
}

// cycles measures overhead on the emulated machine, whose time is the number of
// instructions that it executes.
func cycles(b *bench, r *report) {
	r.printf("CPU time of the process there, where each instruction takes one nanosecond and one cycle, so that runs do not differ: it is the number of instructions, the kernel's included, and says nothing of what a pipeline makes of them.\n\n")
	file := filepath.Join(b.dir, "vm", "cycles.prof")
	periods := []uint64{10000000, 1000000, 100000, 20000}
	t := newTable("load", "none")
	for _, p := range periods {
		t.head = append(t.head, fmt.Sprintf("every %d cycles", p))
	}
	deep, switches := pick(b, "0.05", "0.2"), pick(b, "0.2", "0.5")
	for _, l := range []struct {
		name string
		args []string
	}{
		{"10 frames", []string{"-load", "deep", "-n", "10", "-scale", deep}},
		{"64 frames", []string{"-load", "deep", "-n", "64", "-scale", deep}},
		{"1000 goroutines switching", []string{"-load", "switch", "-scale", switches}},
	} {
		on := func(args ...string) run {
			exe := b.build(b.fork, "build", "./bench/work", tool.OnVM...)
			return run{out: output(b.vm(exe, append(args, l.args...)...)), profile: file}
		}
		base := on().number("cpu")
		t.row(l.name, "%.3f s", base/1e9)
		for _, period := range periods {
			rn := on("-event", "cycles", "-period", strconv.FormatUint(period, 10), "-o", file)
			p := rn.read()
			n, _ := samples(p)
			t.add("%.3f (%d samples)%s", rn.number("cpu")/base, n, mark(p))
		}
	}
	r.table(t)
	r.printf("* the overhead bound lengthened the period.\n\n")
}
