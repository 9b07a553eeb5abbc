// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"pmu/bench/stats"
	"pmu/profile"
)

// pgo compares what the compiler makes of profiles of the same run of a
// benchmark.
func pgo(b *bench, r *report) error {
	const pkg, pattern = "encoding/json", "^BenchmarkCode(Encoder|Decoder)$"
	times, rounds := 12, 5
	if b.long {
		times, rounds = 40, 15
	}
	r.printf("Benchmarks CodeEncoder and CodeDecoder of %s, each %d times, profiled once in each way; then built by this Go without and with each profile and run %d times in turns. ", pkg, times, rounds)
	samplers := []sampler{
		{name: "timer", event: "timer"},
		{name: "task-clock, 100 µs", event: clock, period: 100000},
	}
	files := make(map[string]string)
	counts := make(map[string]float64)
	runs, err := b.interleave(benchmarks(pkg, pattern, times), samplers, 1)
	if err != nil {
		return err
	}
	for _, s := range samplers {
		files[s.name] = runs[s.name][0].profile
	}
	variants := []string{"", samplers[0].name, samplers[1].name}
	if file, err := b.pgoCycles(pkg, pattern); err != nil {
		r.printf("**Cycles were not compared**: %s. ", firstLine(err.Error()))
	} else {
		files["cycles"] = file
		variants = append(variants, "cycles")
		r.printf("The profile by cycles is from the emulated arm64 machine, of one run of each benchmark at a period of 100003. ")
	}
	r.printf("\n\n")
	exes := make(map[string]string)
	for _, v := range variants {
		exe := filepath.Join(b.dir, fmt.Sprintf("pgo%d.test", len(exes)))
		flag := "-pgo=off"
		if v != "" {
			flag = "-pgo=" + files[v]
			p, err := profile.ReadFile(files[v])
			if err != nil {
				return err
			}
			counts[v], _ = samples(p)
		}
		if _, err := output(b.fork.command(b.root, nil, "test", "-c", flag, "-o", exe, pkg)); err != nil {
			return err
		}
		exes[v] = exe
	}
	cpu := make(map[string][]float64)
	for i := 0; i < rounds; i++ {
		for j := range variants {
			v := variants[(i+j)%len(variants)]
			cmd := exec.Command(exes[v], "-test.run=^$", "-test.bench="+pattern, fmt.Sprintf("-test.benchtime=%dx", times))
			cmd.Dir = filepath.Join(b.fork.goroot, "src", pkg)
			rn, err := b.do(none, cmd, "")
			if err != nil {
				return err
			}
			cpu[v] = append(cpu[v], rn.cpu)
		}
	}
	var rows [][]string
	for _, v := range variants {
		name, n := v, fmt.Sprintf("%.0f", counts[v])
		if v == "" {
			name, n = "none", "–"
		}
		rows = append(rows, []string{name, n, fmt.Sprintf("%.2f s", stats.Median(cpu[v])), ratio(stats.Ratios(cpu[v], cpu[""]))})
	}
	r.table([]string{"built with the profile by", "samples", "CPU time", "ratio to none"}, rows)
	return nil
}

// pgoCycles profiles the benchmark on the emulated machine.
func (b *bench) pgoCycles(pkg, pattern string) (string, error) {
	exe, err := b.build(b.fork, pkg, true, onVM...)
	if err != nil {
		return "", err
	}
	file := filepath.Join(b.dir, "vm", "pgo.prof")
	os.Remove(file)
	cmd, err := b.vm(exe, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime=1x", "-test.cpuprofile="+file, "-test.cpuprofileevent=cycles", "-test.cpuprofileperiod=100003")
	if err != nil {
		return "", err
	}
	src := filepath.Join(b.fork.goroot, "src", pkg)
	cmd.Env = append(cmd.Env, "PMUVM_FILES="+src)
	cmd.Dir = src
	if _, err := output(cmd); err != nil {
		return "", err
	}
	return file, nil
}
