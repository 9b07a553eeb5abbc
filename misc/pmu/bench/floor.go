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
	"pmu/profile"
)

// floor splits the cost of a sample: what the kernel needs to take it, to send a
// signal for it, and what the profiler adds.
func floor(b *bench, r *report) error {
	rounds, size, depths := 8, 0.2, []int{10, 64, 200}
	if b.long {
		rounds, depths = 60, []int{10, 20, 40, 64, 200}
	}
	const period = 200000 // 5 kHz: the overhead bound does not act
	samplers := []sampler{
		none,
		{name: "ring", event: clock, period: period, bare: "ring"},
		{name: "signal", event: clock, period: period, bare: "signal"},
		{name: "event", event: clock, period: period},
	}
	if b.perf != "" {
		samplers = append(samplers, sampler{name: "perf", event: clock, period: period, perf: true})
	}
	r.printf("CPU time per sample at 5 kHz of task-clock, in microseconds: the difference to no profile, by the number of samples. The median of the differences between %d pairs of neighbouring short runs, in brackets their quartiles. ", rounds)
	r.printf("*Ring*: the kernel writes a record, nobody reads it. *Signal*: it also sends a signal to the thread, whose handler, in assembly, counts it. *Event*: a profile by this Go, with all that is done at its end. *perf*: `perf record -g`.\n\n")
	fixed, err := b.fixedCosts(samplers[3:], rounds)
	if err != nil {
		return err
	}
	r.printf("What a profile costs however long it is, is measured by itself, and not in the table: its start, its end and the writing of a profile without samples took %.0f ms of CPU time with this Go", fixed["event"]*1e3)
	if b.perf != "" {
		r.printf(", %.0f ms with perf record", fixed["perf"]*1e3)
	}
	r.printf(".\n\n")
	bars := []chart.Series{{Name: "ring"}, {Name: "signal, bare"}, {Name: "event, this Go"}, {Name: "perf record -g"}}
	var rows [][]string
	var groups []string
	for g, depth := range depths {
		p := ours(fmt.Sprintf("%d frames", depth), "./bench/work", size, "-load", "deep", "-n", fmt.Sprint(depth))
		runs, err := b.interleave(p, samplers, rounds)
		if err != nil {
			return err
		}
		base := cpus(runs[none.name])
		perSample := make(map[string][]float64)
		for _, s := range samplers[1:] {
			for i, rn := range runs[s.name] {
				n := rn.bareSamples()
				if s.name == "event" {
					prof, err := profile.ReadFile(rn.profile)
					if err != nil {
						return err
					}
					if bounded(prof) != 0 && i == 0 {
						r.printf("At %d frames the overhead bound lengthened the period.\n\n", depth)
					}
					n, _ = samples(prof)
				}
				if s.perf {
					n = base[i] * 1e9 / period
				}
				perSample[s.name] = append(perSample[s.name], (rn.cpu-base[i]-fixed[s.name])*1e6/n)
			}
		}
		row := []string{fmt.Sprint(depth)}
		for i, s := range samplers[1:] {
			low, high := stats.Quartiles(perSample[s.name])
			m := stats.Median(perSample[s.name])
			row = append(row, fmt.Sprintf("%.1f (%.1f–%.1f)", m, low, high))
			bars[i].Points = append(bars[i].Points, chart.Point{X: float64(g), Y: max(m, 0), Low: max(low, 0.01), High: max(high, 0.01)})
		}
		ev, sig := stats.Median(perSample["event"]), stats.Median(perSample["signal"])
		row = append(row, fmt.Sprintf("%.1f", ev-sig), fmt.Sprintf("%+.0f %%", 100*(ev-sig)/sig))
		rows = append(rows, row)
		groups = append(groups, fmt.Sprintf("%d frames", depth))
	}
	head := []string{"frames"}
	for _, s := range samplers[1:] {
		head = append(head, s.name)
	}
	r.table(append(head, "we add, µs", "to the signal"), rows)
	if b.perf == "" {
		bars = bars[:3]
	}
	r.chart("depth", &chart.Chart{
		Title: "CPU time per sample by depth of the stack", YLabel: "microseconds", Groups: groups, Series: bars,
	})
	return nil
}

// fixedCosts returns the CPU time, in seconds, that each sampler takes for a
// program that does nothing.
func (b *bench) fixedCosts(samplers []sampler, rounds int) (map[string]float64, error) {
	p := ours("nothing", "./bench/work", 1, "-load", "exit")
	runs, err := b.interleave(p, append([]sampler{none}, samplers...), rounds)
	if err != nil {
		return nil, err
	}
	fixed := make(map[string]float64)
	for _, s := range samplers {
		var d []float64
		for i, rn := range runs[s.name] {
			d = append(d, rn.cpu-runs[none.name][i].cpu)
		}
		fixed[s.name] = stats.Median(d)
	}
	return fixed, nil
}

// A handlerCost is what bench/handlercost prints.
type handlerCost struct {
	Costs []struct {
		Depth                 int
		Variant               string
		Kernel, User, Samples float64
	}
}

// instructions has bench/handlercost count on the emulated machine.
func instructions(b *bench, r *report) error {
	exe, err := b.build(b.fork, "./bench/handlercost", false, onVM...)
	if err != nil {
		return err
	}
	cmd, err := b.vm(exe, "-json", fmt.Sprintf("-short=%v", !b.long))
	if err != nil {
		return err
	}
	out, err := output(cmd)
	if err != nil {
		return err
	}
	var h handlerCost
	if err := json.Unmarshal([]byte(out), &h); err != nil {
		return err
	}
	r.printf("Counted on the emulated arm64 machine by `misc/pmu/bench/handlercost`, whose test guards them: instructions per sample in the kernel and in user mode, which is the signal handler. A stack in a profile has at most 64 frames.\n\n")
	var rows [][]string
	bars := []chart.Series{{Name: "kernel"}, {Name: "handler"}}
	var groups []string
	for _, c := range h.Costs {
		rows = append(rows, []string{c.Variant, fmt.Sprint(c.Depth), fmt.Sprintf("%.0f", c.Kernel), fmt.Sprintf("%.0f", max(c.User, 0))})
		short := map[string]string{"ring and bare signal": "bare", "profile by cycles": "event", "profile by the timer": "timer"}[c.Variant]
		if short != "" {
			x := float64(len(groups))
			groups = append(groups, fmt.Sprintf("%s, %d", short, c.Depth))
			bars[0].Points = append(bars[0].Points, chart.Point{X: x, Y: max(c.Kernel, 0)})
			bars[1].Points = append(bars[1].Points, chart.Point{X: x, Y: max(c.User, 0)})
		}
	}
	r.table([]string{"", "frames", "kernel", "handler"}, rows)
	r.chart("sample", &chart.Chart{Title: "Instructions per sample, arm64: kernel and signal handler", XLabel: "way of sampling, frames", YLabel: "instructions", Groups: groups, Series: bars})
	return handlerParts(b, r)
}

// handlerParts has bench/steps count here.
func handlerParts(b *bench, r *report) error {
	r.printf("The handler's by part, counted one by one on this machine (amd64, `misc/pmu/bench/steps`): *unwind* the stack, write to the profile's *buffer* (labels are a pointer there), *drain* the kernel's ring, *bound* the overhead, read the *clock*, and the *rest*, which is mostly the handler's entry and exit. *Stacks alike* differ in their last instruction only; stacks that *vary* have up to ten frames more, at random.\n\n")
	exe, err := b.build(b.fork, "./bench/steps", false)
	if err != nil {
		return err
	}
	parts := []string{"unwind", "buffer", "drain", "bound", "clock", "rest"}
	var rows [][]string
	var top string
	for _, kind := range []struct{ name, deeper string }{{"alike", "0"}, {"vary", "10"}} {
		out, err := output(exec.Command(exe, "-deeper", kind.deeper))
		if err != nil {
			r.printf("**Not counted**: %v\n\n", firstLine(err.Error()))
			return nil
		}
		var results []struct {
			Depth        int
			Instructions float64
			Parts        map[string]float64
			Top          []string
		}
		if err := json.Unmarshal([]byte(out), &results); err != nil {
			return err
		}
		for _, res := range results {
			row := []string{fmt.Sprint(res.Depth), kind.name, fmt.Sprintf("%.0f", res.Instructions)}
			for _, p := range parts {
				row = append(row, fmt.Sprintf("%.0f", res.Parts[p]))
			}
			rows = append(rows, row)
			if top == "" {
				top = fmt.Sprintf("Most at %d frames: %s.\n\n", res.Depth, strings.Join(res.Top, ", "))
			}
		}
	}
	r.table(append([]string{"frames", "stacks", "handler"}, parts...), rows)
	r.printf("%s", top)
	return nil
}
