// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"

	"pmu/bench/stats"
)

var (
	nsLine   = regexp.MustCompile(`(?m)^Benchmark/(\S+?)(?:-\d+)?\s+\d+\s.*?([0-9.]+) cpu-ns/op`)
	instLine = regexp.MustCompile(`(?m)^instructions\t(.+)\t([0-9.]+)$`)
)

// off compares this Go with the release where nothing is profiled.
func off(b *bench, r *report) error {
	r.printf("The same programs, built by this Go and by the stock release; nothing is profiled.\n\n")
	for _, part := range []func(*bench, *report) error{offInstructions, offTimes, offCompile, offSize} {
		if err := part(b, r); err != nil {
			return err
		}
	}
	return nil
}

// offInstructions compares what no load and no placement of code changes.
func offInstructions(b *bench, r *report) error {
	got := make(map[string]map[string]string)
	var order []string
	for _, tc := range []toolchain{b.stock, b.fork} {
		exe, err := b.build(tc, "./bench/off", true, onVM...)
		if err != nil {
			return err
		}
		cmd, err := b.vm(exe, "-test.run=Instructions")
		if err != nil {
			r.printf("**Instructions were not counted**: %v\n\n", err)
			return nil
		}
		out, err := output(cmd)
		if err != nil {
			return err
		}
		got[tc.name] = make(map[string]string)
		for _, m := range instLine.FindAllStringSubmatch(out, -1) {
			if tc.name == "stock" {
				order = append(order, m[1])
			}
			got[tc.name][m[1]] = m[2]
		}
	}
	if len(order) == 0 {
		return fmt.Errorf("the emulated machine counted nothing")
	}
	var rows [][]string
	for _, name := range order {
		s, _ := strconv.ParseFloat(got["stock"][name], 64)
		f, _ := strconv.ParseFloat(got["fork"][name], 64)
		rows = append(rows, []string{name, fmt.Sprintf("%.1f", s), fmt.Sprintf("%.1f", f), fmt.Sprintf("%.4f", f/s)})
	}
	r.printf("Instructions in user mode per operation, on the emulated arm64 machine:\n\n")
	r.table([]string{"operation", "stock", "this Go", "ratio"}, rows)
	return nil
}

func offTimes(b *bench, r *report) error {
	rounds := 6
	if b.long {
		rounds = 40
	}
	ns := map[string]map[string][]float64{"stock": {}, "fork": {}}
	var order []string
	for i := 0; i < 2*rounds; i++ {
		tc := b.stock
		if i%4 == 1 || i%4 == 2 { // the order changes
			tc = b.fork
		}
		exe, err := b.build(tc, "./bench/off", true)
		if err != nil {
			return err
		}
		out, err := output(exec.Command(exe, "-test.run=^$", "-test.bench=.", "-test.benchtime=30ms"))
		if err != nil {
			return err
		}
		for _, m := range nsLine.FindAllStringSubmatch(out, -1) {
			x, _ := strconv.ParseFloat(m[2], 64)
			if len(ns["stock"][m[1]])+len(ns["fork"][m[1]]) == 0 {
				order = append(order, m[1])
			}
			ns[tc.name][m[1]] = append(ns[tc.name][m[1]], x)
		}
	}
	var rows [][]string
	for _, name := range order {
		s, f := ns["stock"][name], ns["fork"][name]
		sl, _ := stats.Range(s)
		fl, _ := stats.Range(f)
		rows = append(rows, []string{name, fmt.Sprintf("%.1f", stats.Median(s)), fmt.Sprintf("%.1f", stats.Median(f)),
			ratio(stats.Ratios(f, s)), fmt.Sprintf("%.3f", fl/sl)})
	}
	r.printf("Nanoseconds of CPU time per operation here, %d runs of each in turns; other load and where the linker puts the code make them differ by more than the fork does:\n\n", rounds)
	r.table([]string{"operation", "stock", "this Go", "ratio", "ratio of the fastest"}, rows)
	return nil
}

// offCompile compares the two compilers at the same work.
func offCompile(b *bench, r *report) error {
	rounds := 4
	if b.long {
		rounds = 12
	}
	const pkg = "go/types"
	runs, err := b.interleave(compiling(pkg), []sampler{none, stockNone}, rounds)
	if err != nil {
		return err
	}
	f, s := cpus(runs[none.name]), cpus(runs[stockNone.name])
	fl, _ := stats.Range(f)
	sl, _ := stats.Range(s)
	r.printf("cmd/compile of %s, %d runs of each in turns: CPU time stock %.2f s, this Go %.2f s, ratio %s, of the fastest %.3f.\n\n",
		pkg, rounds, stats.Median(s), stats.Median(f), ratio(stats.Ratios(f, s)), fl/sl)
	if !b.long {
		return nil
	}
	var build [2][]float64
	for i := 0; i < 3; i++ {
		for j, tc := range []toolchain{b.fork, b.stock} {
			cmd := tc.command(b.root, nil, "build", "-a", "-o", os.DevNull, "strconv")
			if _, err := output(cmd); err != nil {
				return err
			}
			st := cmd.ProcessState
			build[j] = append(build[j], (st.UserTime() + st.SystemTime()).Seconds())
		}
	}
	r.printf("go build -a strconv and all that it imports, 3 runs of each in turns: CPU time stock %.1f s, this Go %.1f s, ratio %s.\n\n",
		stats.Median(build[1]), stats.Median(build[0]), ratio(stats.Ratios(build[0], build[1])))
	return nil
}

func offSize(b *bench, r *report) error {
	var size [2]int64
	for i, tc := range []toolchain{b.stock, b.fork} {
		exe, err := b.build(tc, "./bench/hello", false)
		if err != nil {
			return err
		}
		fi, err := os.Stat(exe)
		if err != nil {
			return err
		}
		size[i] = fi.Size()
	}
	r.printf("Size of hello, world: stock %d bytes, this Go %d, ratio %.4f.\n\n", size[0], size[1], float64(size[1])/float64(size[0]))
	return nil
}
