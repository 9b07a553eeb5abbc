// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"strings"

	"pmu/bench/chart"
	"pmu/bench/stats"
	"pmu/profile"
)

// scaleThreads looks for where the cost bends with threads.
func scaleThreads(b *bench, r *report) error {
	rounds := 3
	if b.long {
		rounds = 7
	}
	r.printf("The same work, divided among threads, with task-clock at 1 kHz: CPU time, and *more* is the difference to no profile, by the thread. A thread has a descriptor and a ring of its own, which have to be made and undone.\n\n")
	samplers := []sampler{none, {name: "event", event: clock, period: 1000000}}
	points := make([]chart.Point, 0)
	var rows [][]string
	for _, n := range []int{1, 2, 4, 16, 64, 256, 1000} {
		p := ours(fmt.Sprintf("%d threads", n), "./bench/work", 0.5, "-load", "threads", "-n", fmt.Sprint(n))
		runs, err := b.interleave(p, samplers, rounds)
		if err != nil {
			return err
		}
		prof, err := profile.ReadFile(runs["event"][0].profile)
		if err != nil {
			return err
		}
		base, with := cpus(runs["none"]), cpus(runs["event"])
		var more []float64
		for i := range base {
			more = append(more, (with[i]-base[i])*1e6/float64(n))
		}
		got, lost := samples(prof)
		low, high := stats.Range(stats.Ratios(with, base))
		points = append(points, chart.Point{X: float64(n), Y: stats.Median(stats.Ratios(with, base)), Low: low, High: high})
		rows = append(rows, []string{fmt.Sprint(n), fmt.Sprintf("%.3f s", stats.Median(base)), ratio(stats.Ratios(with, base)),
			fmt.Sprintf("%.0f µs", stats.Median(more)), fmt.Sprintf("%.0f", got), fmt.Sprintf("%.0f", lost), warnings(prof)})
	}
	r.table([]string{"threads", "none", "ratio", "more", "samples", "lost", "the profile's warnings"}, rows)
	r.chart("threads", &chart.Chart{
		Title: "CPU time with task-clock at 1 kHz, by threads", XLabel: "threads", YLabel: "ratio to no profile", LogX: true, MinY: 1,
		XTicks: []float64{1, 2, 4, 16, 64, 256, 1000}, Series: []chart.Series{{Name: "task-clock, 1 kHz", Points: points}},
	})
	return nil
}

// warnings are the comments of a profile that begin so.
func warnings(p *profile.Profile) string {
	var w []string
	for _, c := range p.Comments {
		if s, ok := strings.CutPrefix(c, "warning: "); ok {
			w = append(w, s)
		}
	}
	if w == nil {
		return "none"
	}
	return strings.Join(w, "; ")
}

// events are sampled together, from the first on. Clocks come first: on a
// computing thread the others hardly ever overflow.
var events = []string{"task-clock", "cpu-clock", "task-clock:u", "cpu-clock:u", "page-faults", "context-switches", "cpu-migrations", "minor-faults"}

// scaleEvents does so with events.
func scaleEvents(b *bench, r *report) error {
	rounds := 3
	if b.long {
		rounds = 9
	}
	samplers := []sampler{none}
	for n := 1; n <= len(events); n++ {
		samplers = append(samplers, sampler{name: fmt.Sprintf("%d events", n), event: strings.Join(events[:n], ","), period: 1000000})
	}
	runs, err := b.interleave(ours("events", "./bench/work", 0.5, "-load", "deep", "-n", "10"), samplers, rounds)
	if err != nil {
		return err
	}
	r.printf("Several at once, of 10 frames, all at a period of 1000003: four clocks, each of which takes 1000 samples per second, then events that hardly overflow.\n\n")
	var rows [][]string
	for i, s := range samplers[1:] {
		prof, err := profile.ReadFile(runs[s.name][0].profile)
		if err != nil {
			return err
		}
		got, lost := samples(prof)
		rows = append(rows, []string{fmt.Sprint(i + 1), "+ " + events[i], ratio(stats.Ratios(cpus(runs[s.name]), cpus(runs["none"]))), fmt.Sprintf("%.0f", got), fmt.Sprintf("%.0f", lost)})
	}
	r.table([]string{"events", "", "ratio", "samples", "lost"}, rows)
	return nil
}

// scaleLoss does so with rates, and counts what is lost.
func scaleLoss(b *bench, r *report) error {
	r.printf("How many samples are lost, or not taken because the overhead bound lengthened the period, of 64 frames on one thread. *Stood for* is the time that the samples stand for, in parts of what was counted.\n\n")
	periods := []uint64{1000000, 100000, 50000, 20000, 10000, 1000}
	samplers := []sampler{none}
	for _, p := range periods {
		samplers = append(samplers, sampler{name: fmt.Sprint(p), event: clock, period: p})
	}
	runs, err := b.interleave(ours("rate", "./bench/work", 0.5, "-load", "deep", "-n", "64"), samplers, 3)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, p := range periods {
		rs := runs[fmt.Sprint(p)]
		prof, err := profile.ReadFile(rs[0].profile)
		if err != nil {
			return err
		}
		got, lost := samples(prof)
		up := "–"
		if n := bounded(prof); n != 0 {
			up = fmt.Sprintf("up to %d ns", n)
		}
		var stood float64
		for _, s := range prof.Samples {
			stood += float64(s.Values[1])
		}
		rows = append(rows, []string{fmt.Sprintf("%g kHz", 1e6/float64(p)), fmt.Sprintf("%d ns", p), ratio(stats.Ratios(cpus(rs), cpus(runs["none"]))),
			fmt.Sprintf("%.0f", got), fmt.Sprintf("%.0f", lost), up, fmt.Sprintf("%.3f s of %.3f", stood/1e9, counted(prof)/1e9)})
	}
	r.table([]string{"rate", "period", "ratio", "samples", "lost", "period by the bound", "stood for"}, rows)
	return nil
}

// counted returns what the profile's comments say that the counters have
// counted.
func counted(p *profile.Profile) (n float64) {
	for _, c := range p.Comments {
		if s, ok := strings.CutPrefix(c, "counted: "); ok {
			fmt.Sscan(s, &n)
		}
	}
	return n
}
