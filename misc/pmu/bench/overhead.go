// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"pmu/bench/chart"
	"pmu/bench/stats"
	"pmu/profile"
)

// clock is the event: user mode only, so that it is what perf record -e
// task-clock:u and the least sampler that there can be sample, too.
const clock = "task-clock:u"

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

var (
	none       = sampler{name: "none"}
	stockNone  = sampler{name: "none, stock", stock: true}
	timer      = sampler{name: "timer", event: "timer"}
	stockTimer = sampler{name: "timer, stock", event: "timer", stock: true}
	preset     = sampler{name: "preset", event: "task-clock"} // with the kernel, where that is allowed
)

// overheadLoads are the kinds of work, each about a second of CPU time.
func overheadLoads(long bool) []program {
	size, compiled := 0.3, "encoding/gob"
	if long {
		size, compiled = 1, "go/types"
	}
	times := func(n int) int { return int(float64(n) * size) }
	return []program{
		ours("goroutine", "./demo/goroutine", 0.4*size),
		ours("serial", "./demo/serial", 0.6*size),
		ours("10 frames", "./bench/work", size, "-load", "deep", "-n", "10"),
		ours("64 frames", "./bench/work", size, "-load", "deep", "-n", "64"),
		ours("200 frames", "./bench/work", size, "-load", "deep", "-n", "200"),
		ours("1000 goroutines switching", "./bench/work", 2*size, "-load", "switch"),
		ours("net/http", "./bench/work", size, "-load", "http"),
		benchmarks("encoding/json", "^BenchmarkCode(Encoder|Decoder)$", times(12)),
		benchmarks("regexp", "^BenchmarkMatch$/^Hard$/32K", times(250)),
		compiling(compiled),
	}
}

// overhead compares all samplers on all loads.
func overhead(b *bench, r *report) error {
	rounds := 2
	if b.long {
		rounds = 7
	}
	samplers := []sampler{none, stockNone, stockTimer, timer, preset}
	for _, rate := range rates {
		samplers = append(samplers, sampler{name: "event, " + rate.name, event: clock, period: rate.period})
	}
	for _, rate := range rates {
		// In the short form only where it is most used and where it matters.
		if b.perf != "" && (b.long || rate.hz == 1000 || rate.hz == 10000) {
			samplers = append(samplers, sampler{name: "perf, " + rate.name, event: clock, period: rate.period, perf: true})
		}
	}
	r.printf("CPU time of the whole process, user and system, in parts of that without a profile, by the same toolchain; %d runs of each, taking turns. ", rounds)
	r.printf("The preset is `task-clock`, every 1,000,003 ns, the kernel included where that is allowed; events are `task-clock:u`; perf is `perf record -g -e task-clock:u` at the same periods, and its time includes perf's own, but not the symbols, which our profiles have: *perf script* is the time to look them up for the profile at 10 kHz. ")
	r.printf("* marks runs in which the [overhead bound](../pmu.md#overhead) lengthened the period.\n\n")
	if b.perf == "" {
		r.printf("**perf was not compared**: there is no perf command that works (on Debian, package linux-perf).\n\n")
	}
	var rows [][]string
	byRate := make(map[string][]float64) // all loads' medians by sampler
	for _, p := range overheadLoads(b.long) {
		runs, err := b.interleave(p, samplers, rounds)
		if err != nil {
			return err
		}
		row := []string{p.name, fmt.Sprintf("%.2f s", stats.Median(cpus(runs[none.name])))}
		for _, s := range samplers[2:] {
			base := none
			if s.stock {
				base = stockNone
			}
			x := stats.Ratios(cpus(runs[s.name]), cpus(runs[base.name]))
			cell := ratio(x)
			if s.event != "timer" && !s.perf {
				prof, err := profile.ReadFile(runs[s.name][0].profile)
				if err != nil {
					return err
				}
				if bounded(prof) != 0 {
					cell += " *"
				}
			}
			row = append(row, cell)
			byRate[s.name] = append(byRate[s.name], stats.Median(x))
		}
		if b.perf != "" {
			// What perf has put off.
			script, err := b.do(none, exec.Command("perf", "script", "-i", runs["perf, 10 kHz"][0].profile), "")
			if err != nil {
				return err
			}
			x := script.cpu / stats.Median(cpus(runs[none.name]))
			row = append(row, fmt.Sprintf("+%.3f", x))
			byRate["script"] = append(byRate["script"], x)
		}
		rows = append(rows, row)
	}
	row := []string{"**median of the loads**", ""}
	for _, s := range samplers[2:] {
		row = append(row, fmt.Sprintf("**%.3f**", stats.Median(byRate[s.name])))
	}
	head := []string{"load", "none"}
	for _, s := range samplers[2:] {
		head = append(head, s.name)
	}
	if b.perf != "" {
		row = append(row, fmt.Sprintf("**+%.3f**", stats.Median(byRate["script"])))
		head = append(head, "perf script")
	}
	r.table(head, append(rows, row))
	r.printf("The proposal's table, on a 2.4 GHz Skylake machine: 1.036 at 100 Hz, 1.036 at 1 kHz, 1.13 at 10 kHz, 2.05 at 100 kHz.\n\n")
	r.chart("rate", rateChart(byRate))
	return nil
}

func rateChart(byRate map[string][]float64) *chart.Chart {
	c := &chart.Chart{
		Title:  "CPU time with a profile in parts of that without, median of the loads",
		XLabel: "samples per second of CPU time", YLabel: "ratio", LogX: true, MinY: 1,
		XTicks:  []float64{100, 1000, 10000, 50000, 100000},
		XFormat: func(hz float64) string { return fmt.Sprintf("%gk", hz/1000) },
	}
	for _, kind := range []struct{ prefix, name string }{{"event", "task-clock, this Go"}, {"perf", "task-clock, perf record -g"}} {
		s := chart.Series{Name: kind.name}
		for _, rate := range rates {
			if x := byRate[kind.prefix+", "+rate.name]; x != nil {
				low, high := stats.Range(x)
				s.Points = append(s.Points, chart.Point{X: rate.hz, Y: stats.Median(x), Low: low, High: high})
			}
		}
		if s.Points != nil {
			c.Series = append(c.Series, s)
		}
	}
	for _, t := range []struct{ key, name string }{{"timer", "timer, this Go"}, {"timer, stock", "timer, stock"}} {
		if x := byRate[t.key]; x != nil {
			low, high := stats.Range(x)
			c.Series = append(c.Series, chart.Series{Name: t.name, Points: []chart.Point{{X: 100, Y: stats.Median(x), Low: low, High: high}}})
		}
	}
	c.Series = append(c.Series, chart.Series{Name: "proposal, cycles on Skylake", Dashed: true, Points: []chart.Point{
		{X: 100, Y: 1.036}, {X: 1000, Y: 1.036}, {X: 10000, Y: 1.13}, {X: 100000, Y: 2.05},
	}})
	return c
}

var cpuLine = regexp.MustCompile(`(?m)^cpu (\d+)$`)

// cycles measures overhead on the emulated machine, whose time is the number of
// instructions that it executes.
func cycles(b *bench, r *report) error {
	exe, err := b.build(b.fork, "./bench/work", false, onVM...)
	if err != nil {
		return err
	}
	r.printf("CPU time of the process there, where each instruction takes one nanosecond and one cycle, so that runs do not differ. It tells the number of instructions, the kernel's included, not what a pipeline makes of them.\n\n")
	run := func(args ...string) (float64, error) {
		cmd, err := b.vm(exe, args...)
		if err != nil {
			return 0, err
		}
		out, err := output(cmd)
		if err != nil {
			return 0, err
		}
		m := cpuLine.FindStringSubmatch(out)
		if m == nil {
			return 0, fmt.Errorf("no CPU time in %q", out)
		}
		return strconv.ParseFloat(m[1], 64)
	}
	deep, switches := "0.05", "0.2"
	if b.long {
		deep, switches = "0.2", "0.5"
	}
	loads := []struct {
		name string
		args []string
	}{
		{"10 frames", []string{"-load", "deep", "-n", "10", "-scale", deep}},
		{"64 frames", []string{"-load", "deep", "-n", "64", "-scale", deep}},
		{"1000 goroutines switching", []string{"-load", "switch", "-scale", switches}},
	}
	periods := []uint64{10000000, 1000000, 100000, 20000}
	head := []string{"load", "none"}
	for _, p := range periods {
		head = append(head, fmt.Sprintf("every %d cycles", p))
	}
	var rows [][]string
	for _, l := range loads {
		base, err := run(l.args...)
		if err != nil {
			return err
		}
		row := []string{l.name, fmt.Sprintf("%.3f s", base/1e9)}
		for _, p := range periods {
			file := filepath.Join(b.dir, "vm", "cycles.prof")
			cpu, err := run(append([]string{"-event", "cycles", "-period", strconv.FormatUint(p, 10), "-o", file}, l.args...)...)
			if err != nil {
				return err
			}
			prof, err := profile.ReadFile(file)
			if err != nil {
				return err
			}
			n, _ := samples(prof)
			cell := fmt.Sprintf("%.3f (%.0f samples)", cpu/base, n)
			if bounded(prof) != 0 {
				cell += " *"
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	r.table(head, rows)
	r.printf("* the overhead bound lengthened the period.\n\n")
	return nil
}
