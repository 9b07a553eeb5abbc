// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	"pmu/bench/chart"
	"pmu/bench/stats"
	"pmu/internal/tool"
	"pmu/profile"
)

// floorPeriod makes 5 kHz: the overhead bound does not act.
const floorPeriod = 200000

// floor splits the cost of a sample: what the kernel needs to take it, to send a
// signal for it, and what the profiler adds.
func floor(b *bench, r *report) {
	samplers := []sampler{
		{name: "ring", event: clock, period: floorPeriod, bare: "ring"},
		{name: "signal", event: clock, period: floorPeriod, bare: "signal"},
		{name: "event", event: clock, period: floorPeriod},
	}
	bars := []chart.Series{{Name: "ring"}, {Name: "signal, bare"}, {Name: "event, this Go"}}
	if b.perf != "" {
		samplers = append(samplers, sampler{name: "perf", event: clock, period: floorPeriod, perf: true})
		bars = append(bars, chart.Series{Name: "perf record -g"})
	}
	r.printf("CPU time per sample at 5 kHz of task-clock, in microseconds: the difference to no profile, by the number of samples. The median of the differences between %d pairs of neighbouring short runs, in brackets their quartiles. ", b.rounds)
	r.printf("*Ring*: the kernel writes a record, nobody reads it. *Signal*: it also sends a signal to the thread, whose handler, in assembly, counts it. *Event*: a profile by this Go, with all that is done at its end. *perf*: `perf record -g`.\n\n")
	fixed := b.fixedCosts(samplers[2:])
	r.printf("What a profile costs however long it is, is measured by itself, and not in the table: its start, its end and the writing of a profile without samples took %.0f ms of CPU time with this Go", fixed["event"]*1e3)
	if b.perf != "" {
		r.printf(", %.0f ms with perf record", fixed["perf"]*1e3)
	}
	r.printf(".\n\n")
	t := newTable("frames")
	for _, s := range samplers {
		t.head = append(t.head, s.name)
	}
	t.head = append(t.head, "we add, µs", "to the signal")
	var groups []string
	for g, depth := range pick(b, []int{10, 64, 200}, []int{10, 20, 40, 64, 200}) {
		runs := b.interleave(load(fmt.Sprintf("%d frames", depth), 0.2, "deep", depth), append([]sampler{none}, samplers...), b.rounds)
		if runs.profile(samplers[2]).Number(profile.LongestPeriod) != 0 {
			r.printf("At %d frames the overhead bound lengthened the period.\n\n", depth)
		}
		median := make(map[string]float64)
		t.row(depth)
		for i, s := range samplers {
			x := perSample(s, runs, fixed[s.name])
			low, high := stats.Quartiles(x)
			median[s.name] = stats.Median(x)
			t.add("%.1f (%.1f–%.1f)", median[s.name], low, high)
			bars[i].Points = append(bars[i].Points, chart.Point{X: float64(g), Y: max(median[s.name], 0), Low: max(low, 0.01), High: max(high, 0.01)})
		}
		more := median["event"] - median["signal"]
		t.add("%.1f", more)
		t.add("%+.0f %%", 100*more/median["signal"])
		groups = append(groups, fmt.Sprintf("%d frames", depth))
	}
	r.table(t)
	r.chart("depth", &chart.Chart{Title: "CPU time per sample by depth of the stack", YLabel: "microseconds", Groups: groups, Series: bars})
}

// perSample returns what a sample cost in each of the sampler's runs, in
// microseconds.
func perSample(s sampler, all runs, fixed float64) (costs []float64) {
	base := all.cpus(none)
	for i, rn := range all[s.name] {
		var n float64
		switch {
		case s.perf:
			n = base[i] * 1e9 / floorPeriod
		case s.bare != "":
			n = rn.number("samples")
		default:
			got, _ := samples(rn.read())
			n = float64(got)
		}
		costs = append(costs, (rn.cpu-base[i]-fixed)*1e6/n)
	}
	return costs
}

// fixedCosts returns the CPU time, in seconds, that each sampler takes for a
// program that does nothing.
func (b *bench) fixedCosts(samplers []sampler) map[string]float64 {
	runs := b.interleave(load("nothing", 1, "exit", 0), append([]sampler{none}, samplers...), b.rounds)
	fixed := make(map[string]float64)
	for _, s := range samplers {
		fixed[s.name] = stats.Median(stats.Differences(runs.cpus(s), runs.cpus(none)))
	}
	return fixed
}

// instructions has bench/handlercost count on the emulated machine.
func instructions(b *bench, r *report) {
	exe := b.build(b.fork, "build", "./bench/handlercost", tool.OnVM...)
	var h struct {
		Costs []struct {
			Depth        int
			Variant      string
			Kernel, User float64
		}
	}
	must(json.Unmarshal([]byte(output(b.vm(exe, fmt.Sprintf("-short=%v", !b.long)))), &h))
	r.printf("Counted on the emulated arm64 machine by `misc/pmu/bench/handlercost`, whose test guards them: instructions per sample in the kernel and in user mode, which is the signal handler. A stack in a profile has at most 64 frames.\n\n")
	t := newTable("", "frames", "kernel", "handler")
	bars := []chart.Series{{Name: "kernel"}, {Name: "handler"}}
	var groups []string
	charted := map[string]string{"ring and bare signal": "bare", "profile by cycles": "event", "profile by the timer": "timer"}
	for _, c := range h.Costs {
		t.row(c.Variant, c.Depth, "%.0f", c.Kernel, "%.0f", max(c.User, 0))
		if short := charted[c.Variant]; short != "" {
			for i, y := range []float64{c.Kernel, c.User} {
				bars[i].Points = append(bars[i].Points, chart.Point{X: float64(len(groups)), Y: max(y, 0)})
			}
			groups = append(groups, fmt.Sprintf("%s, %d", short, c.Depth))
		}
	}
	r.table(t)
	r.chart("sample", &chart.Chart{Title: "Instructions per sample, arm64: kernel and signal handler", XLabel: "way of sampling, frames", YLabel: "instructions", Groups: groups, Series: bars})
	if err := try(func() { handlerParts(b, r) }); err != nil {
		r.printf("**Not counted**: %v\n\n", firstLine(err))
	}
}

// handlerParts has bench/steps count here.
func handlerParts(b *bench, r *report) {
	r.printf("The handler's by part, counted one by one on this machine (amd64, `misc/pmu/bench/steps`): *unwind* the stack, write to the profile's *buffer* (labels are a pointer there), *drain* the kernel's ring, *bound* the overhead, read the *clock*, and the *rest*, which is mostly the handler's entry and exit. *Stacks alike* differ in their last instruction only; stacks that *vary* have up to ten frames more, at random.\n\n")
	exe := b.build(b.fork, "build", "./bench/steps")
	parts := []string{"unwind", "buffer", "drain", "bound", "clock", "rest"}
	t := newTable(append([]string{"frames", "stacks", "handler"}, parts...)...)
	var top string
	for _, kind := range []struct{ name, deeper string }{{"alike", "0"}, {"vary", "10"}} {
		var results []struct {
			Depth        int
			Instructions float64
			Parts        map[string]float64
			Top          []string
		}
		must(json.Unmarshal([]byte(output(exec.Command(exe, "-deeper", kind.deeper))), &results))
		for _, res := range results {
			t.row(res.Depth, kind.name, "%.0f", res.Instructions)
			for _, p := range parts {
				t.add("%.0f", res.Parts[p])
			}
			if top == "" {
				top = fmt.Sprintf("Most at %d frames: %s.\n\n", res.Depth, strings.Join(res.Top, ", "))
			}
		}
	}
	r.table(t)
	r.printf("%s", top)
}
