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
func scaleThreads(b *bench, r *report) {
	r.printf("The same work, divided among threads, with task-clock at 1 kHz: CPU time, and *more* is the difference to no profile, by the thread. A thread has a descriptor and a ring of its own, which have to be made and undone.\n\n")
	event := sampler{name: "event", event: clock, period: 1000000}
	var points []chart.Point
	var ticks []float64
	t := newTable("threads", "none", "ratio", "more", "samples", "lost", "the profile's warnings")
	for _, n := range []int{1, 2, 4, 16, 64, 256, 1000} {
		runs := b.interleave(load(fmt.Sprintf("%d threads", n), 0.5, "threads", n), []sampler{none, event}, b.rounds)
		base, with := runs.cpus(none), runs.cpus(event)
		ratios := stats.Ratios(with, base)
		prof := runs.profile(event)
		got, lost := samples(prof)
		warnings := strings.Join(prof.Warnings(), "; ")
		if warnings == "" {
			warnings = "none"
		}
		t.row(n, "%.3f s", stats.Median(base), "%s", ratio(ratios), "%.0f µs", stats.Median(stats.Differences(with, base))*1e6/float64(n), got, lost, "%s", warnings)
		points = append(points, point(float64(n), ratios))
		ticks = append(ticks, float64(n))
	}
	r.table(t)
	r.chart("threads", &chart.Chart{
		Title: "CPU time with task-clock at 1 kHz, by threads", XLabel: "threads", YLabel: "ratio to no profile", LogX: true, MinY: 1,
		XTicks: ticks, Series: []chart.Series{{Name: "task-clock, 1 kHz", Points: points}},
	})
}

// events are sampled together, from the first on. Clocks come first: on a
// computing thread the others hardly ever overflow.
var events = []string{"task-clock", "cpu-clock", "task-clock:u", "cpu-clock:u", "page-faults", "context-switches", "cpu-migrations", "minor-faults"}

// scaleEvents looks for where the cost bends with events.
func scaleEvents(b *bench, r *report) {
	samplers := []sampler{none}
	for n := 1; n <= len(events); n++ {
		samplers = append(samplers, sampler{name: fmt.Sprintf("%d events", n), event: strings.Join(events[:n], ","), period: 1000000})
	}
	runs := b.interleave(load("events", 0.5, "deep", 10), samplers, b.rounds)
	r.printf("Several at once, of 10 frames, all at a period of 1000003: four clocks, each of which takes 1000 samples per second, then events that hardly overflow.\n\n")
	t := newTable("events", "", "ratio", "samples", "lost")
	for i, s := range samplers[1:] {
		got, lost := samples(runs.profile(s))
		t.row(i+1, "+ "+events[i], "%s", ratio(stats.Ratios(runs.cpus(s), runs.cpus(none))), got, lost)
	}
	r.table(t)
}

// scaleLoss counts what is lost as rates rise.
func scaleLoss(b *bench, r *report) {
	r.printf("How many samples are lost, or not taken because the overhead bound lengthened the period, of 64 frames on one thread. *Stood for* is the time that the samples stand for, in parts of what was counted.\n\n")
	samplers := []sampler{none}
	for _, p := range []uint64{1000000, 100000, 50000, 20000, 10000, 1000} {
		samplers = append(samplers, sampler{name: fmt.Sprint(p), event: clock, period: p})
	}
	runs := b.interleave(load("rate", 0.5, "deep", 64), samplers, b.rounds)
	t := newTable("rate", "period", "ratio", "samples", "lost", "period by the bound", "stood for")
	for _, s := range samplers[1:] {
		prof := runs.profile(s)
		got, lost := samples(prof)
		up := "–"
		if n := prof.Number(profile.LongestPeriod); n != 0 {
			up = fmt.Sprintf("up to %d ns", n)
		}
		t.row("%g kHz", 1e6/float64(s.period), "%d ns", s.period, "%s", ratio(stats.Ratios(runs.cpus(s), runs.cpus(none))), got, lost,
			"%s", up, fmt.Sprintf("%.3f s of %.3f", float64(prof.Sum().Sums[1])/1e9, float64(prof.Number(profile.Counted))/1e9))
	}
	r.table(t)
}
