// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

	"pmu/bench/stats"
	"pmu/profile"
)

// Settings of the section, which are flags.
var (
	longSeconds = 10.0
	longRates   = "100,1000,10000,25000"
	longLoads   = ""
)

// A longLoad is a kind of work of which there can be more or less. An amount of 1 is
// some seconds of CPU time; it need not be known how many.
type longLoad struct {
	name  string
	whole bool // the amount is a number of repetitions
	work  func(amount float64) program
}

// allLongLoads are the loads of the other sections, and what those leave out: programs
// with very many different stacks, and very many threads.
func allLongLoads() []longLoad {
	scaled := func(name, kind string, n int) longLoad {
		return longLoad{name, false, func(amount float64) program { return load(name, amount, kind, n) }}
	}
	again := func(p program) longLoad {
		return longLoad{p.name, true, func(amount float64) program { return repeated(p, int(amount)) }}
	}
	loads := []longLoad{
		{"goroutine", false, func(amount float64) program { return ours("goroutine", "./demo/goroutine", amount) }},
		{"serial", false, func(amount float64) program { return ours("serial", "./demo/serial", amount) }},
		scaled("10 frames", "deep", 10),
		scaled("64 frames", "deep", 64),
		scaled("200 frames", "deep", 200),
		scaled("1000 goroutines switching", "switch", 0),
		scaled("net/http", "http", 0),
		scaled("JSON, gzip, regexp, sort", "mix", 0),
		scaled("go/types", "types", 0),
		again(benchmarks("encoding/json", "^BenchmarkCode(Encoder|Decoder)$", 12)),
		again(benchmarks("regexp", "^BenchmarkMatch$/^Hard$/32K", 250)),
		again(compiling("go/types")),
		again(compiling("net/http")),
	}
	for _, n := range []int{1, 64, 1000} {
		loads = append(loads, scaled(fmt.Sprintf("%d threads", n), "threads", n))
	}
	return loads
}

// repeated does p n times, one after the other, in one run.
func repeated(p program, n int) program {
	return program{p.name, func(b *bench, s sampler, file string) *exec.Cmd {
		cmd := p.command(b, s, file)
		loop := exec.Command("sh", append([]string{"-ec", `n=$1; shift; while [ $n -gt 0 ]; do "$@"; n=$((n-1)); done`, "sh", strconv.Itoa(n)}, cmd.Args...)...)
		loop.Env, loop.Dir = cmd.Env, cmd.Dir
		return loop
	}}
}

// amountFor returns how much of a load takes so many seconds or, if it is a number
// of repetitions, at least so many, if an amount of 1 takes one.
func amountFor(seconds, one float64, whole bool) float64 {
	amount := seconds / one
	if whole {
		return math.Max(1, math.Ceil(amount))
	}
	return amount
}

// longEvent returns the event that all kinds of samplers use, and how often it occurs in
// a second of CPU time: cycles, where there is a PMU, and otherwise the clock.
func (b *bench) longEvent() (event string, perSecond float64) {
	s := sampler{name: "ring", event: "cycles:u", period: 1e6, ring: true}
	err := try(func() {
		r := b.do(s, load("cycles", 0.5, "deep", 10).command(b, s, ""), "")
		perSecond = r.number("events") / r.cpu
	})
	if err != nil || perSecond == 0 {
		return clock, 1e9
	}
	return s.event, perSecond
}

// longSamplers are what is compared at a rate: us, with the kernel's stacks and with a signal
// for each sample, perf, and the kernel alone.
type longSamplers struct{ chains, signals, perf, ring sampler }

func samplersAt(hz float64, event string, perSecond float64) longSamplers {
	at := func(name string) sampler {
		return sampler{name: fmt.Sprintf("%s, %g Hz", name, hz), event: event, period: uint64(perSecond / hz)}
	}
	l := longSamplers{at("kernel's stacks"), at("signals"), at("perf"), at("ring")}
	l.chains.loose, l.chains.stacks = true, "kernel"
	l.signals.loose, l.signals.stacks = true, "signal"
	l.perf.perf, l.perf.lookUp = true, true
	l.ring.ring = true
	return l
}

// longRuns compares the samplers in runs that are so long that what a profile costs
// however long it is does not matter.
func longRuns(b *bench, r *report) {
	event, perSecond := b.longEvent()
	r.printf("CPU time of all processes, user and system, in parts of that without a profile: the same work of about %g s each time, %d rounds in which all samplers take turns. ", longSeconds, b.rounds)
	r.printf("The event is `%s`, with %.3g in a second, the same for all. *This Go* has no overhead bound (`GO_PPROF_MAX_OVERHEAD=off`), and looks up its symbols itself; *signals* is the same with `GO_PPROF_STACKS=signal`. *perf* is `perf record -g`, with what it does at its end, and *with symbols* adds `perf report --no-inline`, which names functions, where our profiles have lines and inlined calls. *Ring* is what the kernel takes to write records without stacks that nobody reads. ", event, perSecond)
	r.printf("*Cost* is in microseconds for each sample taken. *Taken* is our samples, those with signals second, in percent of the periods counted; with * the bound lengthened periods all the same, to keep the program alive, and the row does not compare. (A clock that leaves the kernel out counts its time, too.)\n\n")
	head := []string{"load", "rate", "none", "this Go", "signals", "perf", "with symbols", "ring", "cost: this Go", "signals", "perf", "with symbols", "ring", "taken"}
	if b.perf == "" {
		r.printf("**perf was not compared**: there is no perf command that works (on Debian, package linux-perf).\n\n")
	}
	t := newTable(head...)
	for _, l := range allLongLoads() {
		if containsAny(l.name, longLoads) {
			if err := try(func() { b.longRows(l, t, event, perSecond) }); err != nil {
				t.row(l.name)
				t.add("not measured: %s", firstLine(err))
			}
		}
	}
	r.table(t)
}

// containsAny reports whether name contains one of the parts, which are separated by
// commas, or there are none.
func containsAny(name, parts string) bool {
	for _, part := range strings.Split(parts, ",") {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// longRows measures a load at all rates.
func (b *bench) longRows(l longLoad, t *table, event string, perSecond float64) {
	one := b.interleave(l.work(1), []sampler{none}, 1).cpus(none)[0]
	amount := amountFor(longSeconds, one, l.whole)
	samplers := []sampler{none}
	var rates []float64
	for _, field := range strings.Split(longRates, ",") {
		hz := need(strconv.ParseFloat(field, 64))
		rates = append(rates, hz)
		l := samplersAt(hz, event, perSecond)
		samplers = append(samplers, l.chains, l.signals, l.ring)
		if b.perf != "" {
			samplers = append(samplers, l.perf)
		}
	}
	runs := b.interleave(l.work(amount), samplers, b.rounds)
	times := 1.0 // runs whose profiles are written to the same file
	if l.whole {
		times = amount
	}
	for _, hz := range rates {
		row := longRow(l.name, hz, runs, run.read, samplersAt(hz, event, perSecond), times)
		t.rows = append(t.rows, row)
		fmt.Fprintln(os.Stderr, strings.Join(row, " | ")) // the whole table takes hours
	}
}

// A longCost is what a kind of sampler took in each round: CPU time, in s, and samples.
type longCost struct{ cpu, samples []float64 }

// longRow returns the row of the table for a load and a rate. Of what was not run the
// cells are empty. Our profiles are each of one of so many repetitions.
func longRow(name string, hz float64, all runs, read func(run) *profile.Profile, l longSamplers, times float64) []string {
	var record, symbols, kernel longCost
	for _, rn := range all[l.perf.name] {
		record.add(rn.cpu, rn.taken)
		symbols.add(rn.cpu+rn.symbols, rn.taken)
	}
	for _, rn := range all[l.ring.name] {
		kernel.add(rn.cpu, rn.number("events")/float64(l.ring.period))
	}
	var taken []string
	ours := func(s sampler) (c longCost) {
		var part []float64
		acted := ""
		for _, rn := range all[s.name] {
			p := read(rn)
			n, lost := samples(p)
			c.add(rn.cpu, times*float64(n-lost))
			part = append(part, 100*float64(n-lost)*float64(p.Number(profile.Period))/float64(p.Number(profile.Counted)))
			acted = max(acted, mark(p))
		}
		taken = append(taken, c.show(func() string { return fmt.Sprintf("%.0f %%%s", stats.Median(part), acted) }))
		return c
	}
	base := all.cpus(none)
	row := []string{name, fmt.Sprintf("%g Hz", hz), fmt.Sprintf("%.2f s", stats.Median(base))}
	kinds := []longCost{ours(l.chains), ours(l.signals), record, symbols, kernel}
	for _, k := range kinds {
		row = append(row, k.show(func() string { return ratio(stats.Ratios(k.cpu, base)) }))
	}
	for _, k := range kinds {
		row = append(row, k.show(func() string {
			x := k.perSample(base)
			low, high := stats.Range(x)
			return fmt.Sprintf("%.1f (%.1f–%.1f)", stats.Median(x), low, high)
		}))
	}
	return append(row, strings.Trim(strings.Join(taken, ", "), ", "))
}

func (c *longCost) add(cpu, samples float64) {
	c.cpu = append(c.cpu, cpu)
	c.samples = append(c.samples, samples)
}

// show returns what f does, if there are runs.
func (c longCost) show(f func() string) string {
	if c.cpu == nil {
		return ""
	}
	return f()
}

// perSample returns what a sample cost in each round, in microseconds, if without
// samples the rounds took so many seconds.
func (c longCost) perSample(base []float64) (x []float64) {
	for i, more := range stats.Differences(c.cpu, base) {
		x = append(x, more*1e6/c.samples[i])
	}
	return x
}

var perfSamples = regexp.MustCompile(`(?m)^ *SAMPLE events: +(\d+)`)

// lookUp has perf report look up the symbols of its data, as a user would to read them,
// and returns the CPU time that took, and the number of samples. It removes the file,
// which has hundreds of megabytes.
func (b *bench) lookUp(file string) (symbols, taken float64) {
	report := exec.Command(b.perf, "report", "--stdio", "--no-inline", "-i", file)
	output(report)
	n, err := countSamples(output(exec.Command(b.perf, "report", "--stats", "-i", file)))
	must(err)
	must(os.Remove(file))
	return cpuTime(report), n
}

// countSamples returns the number of samples in the output of perf report --stats.
func countSamples(stats string) (float64, error) {
	m := perfSamples.FindStringSubmatch(stats)
	if m == nil {
		return 0, fmt.Errorf("perf report --stats does not say how many samples there are: %.200s", stats)
	}
	return strconv.ParseFloat(m[1], 64)
}
