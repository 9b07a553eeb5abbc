// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"pmu/demo/truth"
	"pmu/profile"
)

// fake returns a profile with the given number of samples for each function,
// and for elsewhere.
func fake(counts map[string]int64, elsewhere int64) *profile.Profile {
	p := &profile.Profile{Types: [][2]string{{"samples", "count"}, {"cycles", "count"}}, PeriodType: [2]string{"cycles", "count"}, Period: 1000}
	add := func(n int64, stack ...string) {
		p.Samples = append(p.Samples, profile.Sample{Stack: stack, Values: []int64{n, n * p.Period}})
	}
	for f, n := range counts {
		add(n-1, f, "main.main")
		add(1, "runtime.asyncPreempt", f, "main.main")
	}
	add(elsewhere, "runtime.schedule")
	// What is the machine's doing does not count.
	add(100, "pvm_irq_enable [k]", "__schedule [k]", "runtime.futex")
	add(100, "runtime.usleep", "runtime.sysmon")
	add(100, "runtime._PerfLostLate")
	return p
}

func exact(program string, n float64) map[string]int64 {
	counts := make(map[string]int64)
	for _, f := range truth.Programs[program] {
		counts[f.Name] = int64(f.Want*n/100 + 0.5)
	}
	return counts
}

func TestReport(t *testing.T) {
	off := exact("goroutine", 1000)
	off["main.f3"] += 20
	missing := exact("serial", 5500)
	delete(missing, "main.A_expect_1_82")
	for _, tt := range []struct {
		name, program string
		counts        map[string]int64
		elsewhere     int64
		least         int64
		err           string // part of the error, "" for none
	}{
		{"exact goroutine", "goroutine", exact("goroutine", 1000), 5, 1, ""},
		{"exact serial", "serial", exact("serial", 5500), 5, 5500, ""},
		{"one too many", "goroutine", off, 0, 1, "from the truth"},
		{"one missing", "serial", missing, 0, 1, "from the truth"},
		{"elsewhere", "goroutine", exact("goroutine", 1000), 20, 1, "none of the functions"},
		{"few", "serial", exact("serial", 5500), 0, 6000, "want at least 6000"},
		{"empty", "serial", nil, 0, 1, "0 samples"},
	} {
		err := report(io.Discard, fake(tt.counts, tt.elsewhere), truth.Programs[tt.program], 0.5, tt.least)
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: error %v, want %q", tt.name, err, tt.err)
		}
	}
}

// TestExpected checks that the shares add up.
func TestExpected(t *testing.T) {
	for name, funcs := range truth.Programs {
		var sum float64
		for _, f := range funcs {
			sum += f.Want
		}
		if sum < 99.999 || sum > 100.001 {
			t.Errorf("%s: %d functions, %v %%; want 100 %%", name, len(funcs), sum)
		}
	}
}

//go:noinline
func burn(d time.Duration) (n int) {
	for start := time.Now(); time.Since(start) < d; n++ {
	}
	return n
}

// TestReadProfile reads a profile that runtime/pprof wrote.
func TestReadProfile(t *testing.T) {
	var buf bytes.Buffer
	if err := pprof.StartCPUProfile(&buf); err != nil {
		t.Fatal(err)
	}
	burn(500 * time.Millisecond)
	pprof.StopCPUProfile()
	name := filepath.Join(t.TempDir(), "cpu.prof")
	if err := os.WriteFile(name, buf.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := profile.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if p.PeriodType != [2]string{"cpu", "nanoseconds"} || p.Period != 10e6 {
		t.Errorf("period %v of %v, want 1e7 of cpu nanoseconds", p.Period, p.PeriodType)
	}
	count, _, err := truth.Attribute(p, []truth.Function{{Name: "pmu/demo/report.burn", Want: 100}})
	if err != nil || count["pmu/demo/report.burn"] == 0 {
		t.Errorf("samples in burn: %v, %v; want some", count, err)
	}
	var twice bytes.Buffer
	z := gzip.NewWriter(&twice)
	z.Write(buf.Bytes())
	z.Close()
	if _, err := profile.Read(&twice); err == nil {
		t.Error("compressed data was taken for a profile")
	}
}
