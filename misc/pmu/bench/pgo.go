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
	"pmu/internal/tool"
)

const (
	pgoPackage = "encoding/json"
	pgoPattern = "^BenchmarkCode(Encoder|Decoder)$"
)

// pgo compares what the compiler makes of profiles of the same run of a
// benchmark.
func pgo(b *bench, r *report) {
	times := pick(b, 12, 40)
	r.printf("Benchmarks CodeEncoder and CodeDecoder of %s, each %d times, profiled once in each way; then built by this Go without and with each profile and run %d times in turns. ", pgoPackage, times, b.rounds)
	samplers := []sampler{timer, {name: "task-clock, 100 µs", event: clock, period: 100000}}
	runs := b.interleave(benchmarks(pgoPackage, pgoPattern, times), samplers, 1)
	if err := try(func() { runs["cycles"] = []run{b.pgoCycles()} }); err != nil {
		r.printf("**Cycles were not compared**: %s. ", firstLine(err))
	} else {
		samplers = append(samplers, sampler{name: "cycles"})
		r.printf("The profile by cycles is from the emulated arm64 machine, of one run of each benchmark at a period of 100003. ")
	}
	r.printf("\n\n")
	variants := append([]sampler{none}, samplers...)
	exes := make(map[string]string)
	for i, v := range variants {
		flag := "-pgo=off"
		if i > 0 {
			flag = "-pgo=" + runs[v.name][0].profile
		}
		exes[v.name] = filepath.Join(b.dir, fmt.Sprintf("pgo%d.test", i))
		output(b.fork.Command(b.module, nil, "test", "-c", flag, "-o", exes[v.name], pgoPackage))
	}
	built := b.interleave(program{"pgo", func(b *bench, s sampler, file string) *exec.Cmd {
		cmd := exec.Command(exes[s.name], "-test.run=^$", "-test.bench="+pgoPattern, fmt.Sprintf("-test.benchtime=%dx", times))
		cmd.Dir = filepath.Join(b.fork.Goroot, "src", pgoPackage)
		return cmd
	}}, variants, b.rounds)
	t := newTable("built with the profile by", "samples", "CPU time", "ratio to none")
	for i, v := range variants {
		count := "–"
		if i > 0 {
			n, _ := samples(runs.profile(v))
			count = fmt.Sprint(n)
		}
		cpu := built.cpus(v)
		t.row(v.name, count, "%.2f s", stats.Median(cpu), "%s", ratio(stats.Ratios(cpu, built.cpus(none))))
	}
	r.table(t)
}

// pgoCycles profiles the benchmark on the emulated machine.
func (b *bench) pgoCycles() run {
	exe := b.build(b.fork, "test", pgoPackage, tool.OnVM...)
	file := filepath.Join(b.dir, "vm", "pgo.prof")
	os.Remove(file)
	cmd := b.vm(exe, "-test.run=^$", "-test.bench="+pgoPattern, "-test.benchtime=1x", "-test.cpuprofile="+file, "-test.cpuprofileevent=cycles", "-test.cpuprofileperiod=100003")
	cmd.Dir = filepath.Join(b.fork.Goroot, "src", pgoPackage)
	cmd.Env = append(cmd.Env, "PMUVM_FILES="+cmd.Dir)
	return run{out: output(cmd), profile: file}
}
