// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strings"

	"pmu/bench/stats"
	"pmu/internal/tool"
)

// A required is the most that something may cost; 0 is no limit.
type required struct {
	times        float64 // the clock, twice
	ns           float64 // for a switch, more than stock
	instructions float64 // likewise
}

// accountCalls are the calls that bench/accounts measures.
var accountCalls = []struct {
	name     string
	grunning bool // in the build with CockroachDB's scheme
	required
}{
	{name: "the clock, twice"},
	{name: "Grunningnanos", grunning: true},
	{name: "RunningTime", required: required{times: 1.5}},
	{name: "ReadGoroutineTime"},
	{name: "Start and Stop", required: required{ns: 130}},
	{name: "Start and Stop, counters", required: required{instructions: 300}},
}

// accountSwitches are its kinds of goroutines, with the toolchains that they are built by.
var accountSwitches = []struct {
	name, toolchain string
	required
}{
	{"stock", "stock", required{}},
	{"CockroachDB's scheme", "grunning", required{}},
	{"unaccounted", "fork", required{}},
	{"unaccounted, others are", "fork", required{}},
	{"accounted", "fork", required{ns: 60, instructions: 150}},
	{"accounted, CPU time", "fork", required{}},
	{"accounted, counters", "fork", required{instructions: 300}},
	{"CockroachDB's scheme, read each turn", "grunning", required{}},
	{"accounted, read each turn", "fork", required{}},
	{"an interval each turn", "fork", required{}},
}

// accounts measures what accounts of goroutines cost.
func accounts(b *bench, r *report) {
	r.printf("What reading a goroutine's account costs, and keeping it at each switch. All runs of this section took turns, %d of each. ", b.rounds)
	r.printf("*Here*: nanoseconds on this machine, the lower quartile of a run's short stretches, the median of the runs; two events, page-faults and task-clock, are counted by `read(2)`. *There*: instructions in user mode on the emulated arm64 machine, where two events, cycles and instructions, are read in registers; the kernel's, beside them, are those of its clock's ticks if a reading makes no system call. ")
	r.printf("*CockroachDB's scheme* is the stock release with an edit after its description (`misc/pmu/bench/grunning.go`): the wall time in the status _Grunning, added up where `casgstatus` changes it.\n\n")
	here := b.accountsHere()
	var there map[string]float64
	if err := try(func() { there = b.accountsThere() }); err != nil {
		r.printf("**Instructions were not counted**: %v\n\n", firstLine(err))
	}
	accountCallsTable(r, here, there)
	accountSwitchesTable(r, here, there)
}

// accountBuilds are the builds of bench/accounts, by the toolchain's name.
func (b *bench) accountBuilds(env ...string) map[string]string {
	builds := make(map[string]string)
	for _, tc := range []tool.Toolchain{b.stock, need(grunning(b.stock, filepath.Join(b.dir, "grunning"))), b.fork} {
		builds[tc.Name] = b.build(tc, "build", "./bench/accounts", env...)
	}
	return builds
}

// The samplers of accountsHere that are no kinds.
var (
	forkCalls     = sampler{name: "calls"}
	grunningCalls = sampler{name: "calls, grunning"}
)

// accountsHere measures calls and switches on this machine, in turns.
func (b *bench) accountsHere() runs {
	builds := b.accountBuilds()
	commands := map[string][]string{
		forkCalls.name:     {builds["fork"], "-calls"},
		grunningCalls.name: {builds["grunning"], "-calls"},
	}
	samplers := []sampler{forkCalls, grunningCalls}
	for _, s := range accountSwitches {
		commands[s.name] = []string{builds[s.toolchain], "-switch", s.name}
		samplers = append(samplers, sampler{name: s.name})
	}
	return b.interleave(program{"accounts", func(b *bench, s sampler, _ string) *exec.Cmd {
		c := commands[s.name]
		return exec.Command(c[0], c[1:]...)
	}}, samplers, b.rounds)
}

// accountsThere counts the instructions of calls and switches on the emulated machine.
func (b *bench) accountsThere() map[string]float64 {
	there := make(map[string]float64)
	for _, exe := range b.accountBuilds(tool.OnVM...) {
		_, value := numbers(output(b.vm(exe, "-instructions", "-registers", "-events=cycles,instructions")))
		for name, x := range value {
			there[name] = x
		}
	}
	return there
}

// numbers returns that of each of the sampler's runs.
func (r runs) numbers(sampler, name string) (x []float64) {
	for _, run := range r[sampler] {
		x = append(x, run.number(name))
	}
	return x
}

func accountCallsTable(r *report, here runs, there map[string]float64) {
	r.printf("### Calls\n\n")
	r.printf("Of a goroutine that is accounted, and runs all the time; only *after a switch* it has just got its thread, and what the call costs then is the difference to a goroutine without the call, below. *Single*: each call timed by itself, which the clock adds to; so it does to *nothing*.\n\n")
	t := newTable("call", "here, ns", "ratio to the clock, twice", "single, median", "single, p99.9", "there, instructions", "ratio", "kernel's", "required")
	row := func(name string, ns, clock []float64, user, kernel float64, req required) {
		ratios := stats.Ratios(ns, clock)
		userRatio := user / figure(there, "user\tcall\t"+clockTwice)
		t.row(name, "%.1f", stats.Median(ns), "%s", ratio(ratios), "", "", shown("%.0f", user), shown("%.2f", userRatio), shown("%.0f", kernel),
			verdicts(verdict(stats.Median(ratios), req.times, "times the clock"), verdict(stats.Median(ns), req.ns, "ns"), verdict(user, req.instructions, "instructions")))
	}
	for _, c := range accountCalls {
		by := forkCalls.name
		if c.grunning {
			by = grunningCalls.name
		}
		row(c.name, here.numbers(by, "ns\t"+c.name), here.numbers(by, "ns\t"+clockTwice),
			figure(there, "user\tcall\t"+c.name), figure(there, "kernel\tcall\t"+c.name), c.required)
		last := t.rows[len(t.rows)-1]
		last[3] = fmt.Sprintf("%.0f", stats.Median(here.numbers(by, "median\t"+c.name)))
		last[4] = fmt.Sprintf("%.0f", stats.Median(here.numbers(by, "p99.9\t"+c.name)))
	}
	for _, c := range []struct {
		name, with, without string
		required
	}{
		{"Grunningnanos, after a switch", "CockroachDB's scheme, read each turn", "CockroachDB's scheme", required{}},
		{"RunningTime, after a switch", "accounted, read each turn", "accounted", required{times: 1.5}},
		{"Start and Stop, a switch between", "an interval each turn", "accounted", required{ns: 130}},
	} {
		row(c.name, stats.Differences(here.numbers(c.with, "ns"), here.numbers(c.without, "ns")), here.numbers(forkCalls.name, "ns\t"+clockTwice),
			figure(there, "user\tswitch\t"+c.with)-figure(there, "user\tswitch\t"+c.without), math.NaN(), c.required)
	}
	t.row("nothing", "", "", "%.0f", stats.Median(here.numbers(forkCalls.name, "median\tnothing")),
		"%.0f", stats.Median(here.numbers(forkCalls.name, "p99.9\tnothing")), "", "", "", "")
	r.table(t)
	r.printf("ddtrace's figures, on a 2.4 GHz Xeon: 130 ns for an interval at the median, p99.9 below 375 ns.\n\n")
}

// clockTwice is the call that others are compared with.
const clockTwice = "the clock, twice"

func accountSwitchesTable(r *report, here runs, there map[string]float64) {
	r.printf("### Switches\n\n")
	r.printf("Two goroutines of a kind play ping-pong over channels, on one P: the time of each switch, with whatever is done at it. In brackets after *more than stock* are the quartiles of the differences between neighbouring runs. *CPU time* is after MeasureCPUTime. If an account is *read each turn*, each goroutine reads it whenever it has been switched to, by RunningTime or Grunningnanos; of *an interval each turn*, it ends one then and begins the next.\n\n")
	t := newTable("goroutines", "here, ns", "ratio to stock", "ratio of the fastest", "more than stock", "there, instructions", "more than stock", "kernel's", "required, more")
	stock, stockUser := here.numbers("stock", "ns"), figure(there, "user\tswitch\tstock")
	for _, s := range accountSwitches {
		ns, user := here.numbers(s.name, "ns"), figure(there, "user\tswitch\t"+s.name)
		more, moreUser := stats.Differences(ns, stock), user-stockUser
		low, high := stats.Quartiles(more)
		t.row(s.name, "%.0f", stats.Median(ns), "%s", ratio(stats.Ratios(ns, stock)), "%.3f", stats.Min(ns)/stats.Min(stock),
			"%+.0f (%+.0f–%+.0f)", stats.Median(more), low, high,
			shown("%.0f", user), shown("%+.0f", moreUser), shown("%.0f", figure(there, "kernel\tswitch\t"+s.name)),
			verdicts(verdict(stats.Median(more), s.ns, "ns"), verdict(moreUser, s.instructions, "instructions")))
	}
	r.table(t)
}

// verdicts joins those that are not empty.
func verdicts(all ...string) string {
	var some []string
	for _, v := range all {
		if v != "" {
			some = append(some, v)
		}
	}
	return strings.Join(some, "; ")
}

// figure returns the number of that name, or NaN.
func figure(value map[string]float64, name string) float64 {
	if x, ok := value[name]; ok {
		return x
	}
	return math.NaN()
}

// shown returns x as text, a dash if it was not measured.
func shown(format string, x float64) string {
	if math.IsNaN(x) {
		return "–"
	}
	return fmt.Sprintf(format, x)
}

// verdict says what is required of x, and whether it is so.
func verdict(x, limit float64, unit string) string {
	switch {
	case limit == 0:
		return ""
	case math.IsNaN(x):
		return fmt.Sprintf("%g %s: not measured", limit, unit)
	case x <= limit:
		return fmt.Sprintf("%g %s: met", limit, unit)
	}
	return fmt.Sprintf("%g %s: **missed**", limit, unit)
}
