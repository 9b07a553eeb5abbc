// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"pmu/bench/stats"
	"pmu/internal/tool"
)

// off compares this Go with the release where nothing is profiled.
func off(b *bench, r *report) {
	r.printf("The same programs, built by this Go and by the stock release; nothing is profiled.\n\n")
	if err := try(func() { offInstructions(b, r) }); err != nil {
		r.printf("**Instructions were not counted**: %v\n\n", firstLine(err))
	}
	offTimes(b, r)
	offCompile(b, r)
	offSize(b, r)
}

// offInstructions compares what no load and no placement of code changes.
func offInstructions(b *bench, r *report) {
	count := func(tc tool.Toolchain) ([]string, map[string]float64) {
		return numbers(output(b.vm(b.build(tc, "test", "./bench/off", tool.OnVM...), "-test.run=Instructions")))
	}
	names, stock := count(b.stock)
	_, fork := count(b.fork)
	t := newTable("operation", "stock", "this Go", "ratio")
	for _, name := range names {
		if op, ok := strings.CutPrefix(name, "instructions\t"); ok {
			t.row(op, "%.1f", stock[name], "%.1f", fork[name], "%.4f", fork[name]/stock[name])
		}
	}
	if len(t.rows) == 0 {
		must(errors.New("the emulated machine counted nothing"))
	}
	r.printf("Instructions in user mode per operation, on the emulated arm64 machine:\n\n")
	r.table(t)
}

var nsLine = regexp.MustCompile(`(?m)^Benchmark/(\S+?)(?:-\d+)?\s+\d+\s.*?([0-9.]+) cpu-ns/op`)

// offTimes compares times per operation.
func offTimes(b *bench, r *report) {
	ns := map[string]map[string][]float64{"stock": {}, "fork": {}}
	var order []string
	for i := 0; i < 2*b.rounds; i++ {
		tc := b.stock
		if i%4 == 1 || i%4 == 2 { // the order changes
			tc = b.fork
		}
		out := output(exec.Command(b.build(tc, "test", "./bench/off"), "-test.run=^$", "-test.bench=.", "-test.benchtime=30ms"))
		for _, m := range nsLine.FindAllStringSubmatch(out, -1) {
			x, _ := strconv.ParseFloat(m[2], 64)
			if i == 0 {
				order = append(order, m[1])
			}
			ns[tc.Name][m[1]] = append(ns[tc.Name][m[1]], x)
		}
	}
	t := newTable("operation", "stock", "this Go", "ratio", "ratio of the fastest")
	for _, name := range order {
		s, f := ns["stock"][name], ns["fork"][name]
		t.row(name, "%.1f", stats.Median(s), "%.1f", stats.Median(f), "%s", ratio(stats.Ratios(f, s)), "%.3f", stats.Min(f)/stats.Min(s))
	}
	r.printf("Nanoseconds of CPU time per operation here, %d runs of each in turns; other load and where the linker puts the code make them differ by more than the fork does:\n\n", b.rounds)
	r.table(t)
}

// offCompile compares the two compilers at the same work.
func offCompile(b *bench, r *report) {
	const pkg = "go/types"
	rounds := pick(b, 4, 12)
	runs := b.interleave(compiling(pkg), []sampler{none, stockNone}, rounds)
	f, s := runs.cpus(none), runs.cpus(stockNone)
	r.printf("cmd/compile of %s, %d runs of each in turns: CPU time stock %.2f s, this Go %.2f s, ratio %s, of the fastest %.3f.\n\n",
		pkg, rounds, stats.Median(s), stats.Median(f), ratio(stats.Ratios(f, s)), stats.Min(f)/stats.Min(s))
	if !b.long {
		return
	}
	runs = b.interleave(program{"go build", func(b *bench, s sampler, _ string) *exec.Cmd {
		return s.toolchain(b).Command(b.module, nil, "build", "-a", "-o", os.DevNull, "strconv")
	}}, []sampler{none, stockNone}, 3)
	f, s = runs.cpus(none), runs.cpus(stockNone)
	r.printf("go build -a strconv and all that it imports, 3 runs of each in turns: CPU time stock %.1f s, this Go %.1f s, ratio %s.\n\n",
		stats.Median(s), stats.Median(f), ratio(stats.Ratios(f, s)))
}

func offSize(b *bench, r *report) {
	// Without -trimpath the programs would hold the names of all source files, in two
	// directories that have names of their own.
	size := func(tc tool.Toolchain) int64 {
		file := filepath.Join(b.dir, "hello.trimpath."+tc.Name)
		output(tc.Command(b.module, nil, "build", "-trimpath", "-o", file, "./bench/hello"))
		return need(os.Stat(file)).Size()
	}
	stock, fork := size(b.stock), size(b.fork)
	r.printf("Size of hello, world: stock %d bytes, this Go %d, ratio %.4f.\n\n", stock, fork, float64(fork)/float64(stock))
}
