// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27 && (amd64 || arm64)

package countbench

import (
	"os"
	"os/exec"
	"regexp"
	"runtime/pprof"
	"slices"
	"strconv"
	"testing"
)

//go:noinline
func call(x *int) { *x++ }

// BenchmarkCall takes a few nanoseconds.
func BenchmarkCall(b *testing.B) {
	x := new(int)
	for b.Loop() {
		call(x)
	}
}

// Counters cost nothing while nobody reads them: a benchmark has the same
// ns/op with and without. On a real machine others disturb the benchmark, which
// makes it slower now and then but never faster, so the fastest of many
// interleaved runs of both kinds are compared, and of more if there have not
// been enough undisturbed ones: what the counters cost would not go away by
// this. In the emulated machine all runs are nearly equal.
func TestOverhead(t *testing.T) {
	events, minRounds, maxRounds, n := "task-clock,page-faults", 20, 200, "1000000x"
	if c, err := pprof.OpenCounters("cycles", "instructions"); err == nil {
		c.Close()
		events = "cycles,instructions"
		minRounds, maxRounds, n = 1, 1, "5000000x"
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	nsPerOp := regexp.MustCompile(`BenchmarkCall\S*\s+\d+\t\s*([0-9.]+) ns/op`)
	run := func(counters string) (ns []float64) {
		out, err := exec.Command(exe, "-test.run=^$", "-test.bench=^BenchmarkCall$", "-test.benchtime="+n,
			"-test.count=20", "-test.counters="+counters).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, m := range nsPerOp.FindAllSubmatch(out, -1) {
			x, err := strconv.ParseFloat(string(m[1]), 64)
			if err != nil {
				t.Fatal(err)
			}
			ns = append(ns, x)
		}
		return ns
	}
	var with, without []float64
	ratio := 0.0
	for i := 0; i < maxRounds && (i < minRounds || ratio < 0.99 || ratio > 1.01); i++ {
		without = append(without, run("")...)
		with = append(with, run(events)...)
		ratio = slices.Min(with) / slices.Min(without)
	}
	if len(with) < 20*minRounds || len(without) != len(with) {
		t.Fatalf("%d results without counters, %d with", len(without), len(with))
	}
	t.Logf("%s: fastest of %d: %.4g ns/op without, %.4g ns/op with: ratio %.4f", events, len(with),
		slices.Min(without), slices.Min(with), ratio)
	if ratio < 0.99 || ratio > 1.01 {
		t.Errorf("counters change ns/op by a factor of %.4f", ratio)
	}
}
