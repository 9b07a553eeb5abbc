// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/xml"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pmu/bench/chart"
	"pmu/demo/truth"
	"pmu/internal/tool"
	"pmu/profile"
)

func fake(counts map[string]int64) *profile.Profile {
	p := &profile.Profile{Types: [][2]string{{"samples", "count"}, {"task-clock", "nanoseconds"}}}
	for f, n := range counts {
		p.Samples = append(p.Samples, profile.Sample{Stack: []string{f, "main.main"}, Values: []int64{n, 1000 * n}})
	}
	return p
}

func TestSummarize(t *testing.T) {
	funcs := []truth.Function{{Name: "a", Want: 20}, {Name: "b", Want: 30}, {Name: "c", Want: 50}}
	s, err := summarize("name", funcs, []*profile.Profile{
		fake(map[string]int64{"a": 20, "b": 30, "c": 50, "elsewhere": 4}),
		fake(map[string]int64{"a": 60, "c": 40, "elsewhere": 4}),
	})
	if err != nil {
		t.Fatal(err)
	}
	rms := math.Sqrt((40*40 + 30*30 + 10*10) / 3.)
	if s.samples != 104 || s.worst != 40 || s.missing != 1 || math.Abs(s.rms-rms/2) > 1e-9 {
		t.Errorf("samples %v, worst %v, missing %v, rms %v; want 104, 40, 1, %v", s.samples, s.worst, s.missing, s.rms, rms/2)
	}
	// The second profile has the ranks 3, 1, 2 for 1, 2, 3.
	if want := (1 - 0.5) / 2; math.Abs(s.rank-want) > 1e-9 {
		t.Errorf("rank %v, want %v", s.rank, want)
	}
	if _, err := summarize("name", funcs, []*profile.Profile{fake(nil)}); err == nil {
		t.Error("no error for a profile without samples")
	}
}

// TestResults tests that results.md has the sections that were measured, with their
// charts, and marks the others.
func TestResults(t *testing.T) {
	dir := t.TempDir()
	r := &report{dir: dir, name: "floor"}
	r.printf("## Floor\n\n")
	tab := newTable("a", "b", "c")
	tab.row(1, "%d %%", 2)
	tab.add("%.1f", 3.0)
	r.table(tab)
	r.chart("depth", &chart.Chart{Title: "depth", Groups: []string{"g"}, Series: []chart.Series{{Name: "s", Points: []chart.Point{{Y: 1}}}}})
	if err := os.WriteFile(filepath.Join(dir, "floor.md"), []byte(r.text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := join(dir, "some machine"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "results.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, want := range []string{"some machine", "| a | b | c |\n|---|--:|--:|\n| 1 | 2 % | 3.0 |\n", "![depth](floor-depth.svg)", "section `accuracy` of bench"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "floor-depth.svg")); err != nil || xml.Unmarshal(svg, new(struct{})) != nil || strings.Contains(string(svg), "NaN") {
		t.Errorf("chart: %v, %.20q", err, svg)
	}
}

// TestInterleave tests that runs take turns, each filed under its sampler.
func TestInterleave(t *testing.T) {
	b := &bench{dir: t.TempDir()}
	var order string
	p := program{"p", func(b *bench, s sampler, file string) *exec.Cmd {
		if file != "" {
			order += s.name
		}
		return exec.Command("echo", s.name)
	}}
	runs := b.interleave(p, []sampler{{name: "a"}, {name: "b"}, {name: "c"}}, 3)
	if order != "abcbcacab" {
		t.Errorf("order %q, want abcbcacab", order)
	}
	for name, rs := range runs {
		if len(rs) != 3 || rs[0].out != name {
			t.Errorf("runs of %s: %+v", name, rs)
		}
	}
}

// TestLongRow tests the row of long runs: ratios, the cost of a sample, what perf's
// symbols add, and what is said where the overhead bound acted.
func TestLongRow(t *testing.T) {
	l := samplersAt(1000, "cycles:u", 3e9)
	for _, s := range []sampler{l.chains, l.signals, l.perf, l.ring} {
		if ours := s == l.chains || s == l.signals; s.period != 3e6 || s.event != "cycles:u" || s.inside() != ours || s.loose != ours || (s.stacks != "") != ours {
			t.Errorf("sampler %+v", s)
		}
	}
	all := runs{
		none.name:     {{cpu: 10}, {cpu: 20}},
		l.chains.name: {{cpu: 11}, {cpu: 24}},
		l.ring.name:   {{cpu: 10.5, out: "events 30000000000"}, {cpu: 20.5, out: "events 60000000000"}},
	}
	p := &profile.Profile{Comments: []string{"event: cycles:u", "period: 3000000", "counted: 33000000000 cycles", "samples: 9800", "delayed: 200 samples", "lost in ring: 1000"}}
	bounded := &profile.Profile{Comments: append(p.Comments, "longest period: 6000011 (the overhead bound took it)")}
	read := func(rn run) *profile.Profile {
		if rn.profile == "bounded" {
			return bounded
		}
		return p
	}
	got := strings.Join(longRow("load", 1000, all, read, l, 2), "|")
	if want := "load|1000 Hz|15.00 s|1.150 (1.10–1.20)||||1.038 (1.02–1.05)|125.0 (50.0–200.0)||||37.5 (25.0–50.0)|91 %"; got != want {
		t.Errorf("alone\n%s, want\n%s", got, want)
	}
	all[l.perf.name] = []run{{cpu: 12, symbols: 1, taken: 10000}, {cpu: 22, symbols: 4, taken: 10000}}
	all[l.signals.name] = []run{{cpu: 10.5}, {cpu: 22, profile: "bounded"}}
	got = strings.Join(longRow("load", 1000, all, read, l, 2), "|")
	if want := "load|1000 Hz|15.00 s|1.150 (1.10–1.20)|1.075 (1.05–1.10)|1.150 (1.10–1.20)|1.300 (1.30–1.30)|1.038 (1.02–1.05)|125.0 (50.0–200.0)|62.5 (25.0–100.0)|200.0 (200.0–200.0)|450.0 (300.0–600.0)|37.5 (25.0–50.0)|91 %, 91 % *"; got != want {
		t.Errorf("with perf\n%s, want\n%s", got, want)
	}
}

// TestChoose tests which sections run.
func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		only      string
		long      bool
		has, lack string
	}{
		{"", false, "overhead", "pgo"},
		{"", false, "overhead", "long"},
		{"", true, "pgo", "long"},
		{"long,pgo", false, "long", "overhead"},
	} {
		chosen, err := choose(tt.only, tt.long)
		names := ","
		for _, s := range chosen {
			names += s.name + ","
		}
		if err != nil || !strings.Contains(names, ","+tt.has+",") || strings.Contains(names, ","+tt.lack+",") {
			t.Errorf("%q, %v: %s, %v; want %s and no %s", tt.only, tt.long, names, err, tt.has, tt.lack)
		}
	}
	if _, err := choose("nonsense", false); err == nil {
		t.Error("no error for a section that does not exist")
	}
}

// TestLongAmount tests how much work makes a run as long as it should be.
func TestLongAmount(t *testing.T) {
	for _, tt := range []struct {
		seconds, one float64
		whole        bool
		want         float64
	}{{10, 2.5, false, 4}, {1, 2.5, false, 0.4}, {10, 3, true, 4}, {1, 3, true, 1}} {
		if got := amountFor(tt.seconds, tt.one, tt.whole); got != tt.want {
			t.Errorf("%g s of what takes %g s: %g, want %g", tt.seconds, tt.one, got, tt.want)
		}
	}
	p := program{"p", func(*bench, sampler, string) *exec.Cmd {
		cmd := exec.Command("echo", "two words", "$n")
		cmd.Env = []string{"A=1"}
		return cmd
	}}
	cmd := repeated(p, 3).command(nil, none, "")
	if len(cmd.Env) != 1 {
		t.Errorf("environment %q", cmd.Env)
	}
	if got := output(cmd); got != "two words $n\ntwo words $n\ntwo words $n" {
		t.Errorf("repeated: %q", got)
	}
	for parts, want := range map[string]bool{"": true, "http": true, "x,net": true, "x,y": false} {
		if containsAny("net/http", parts) != want {
			t.Errorf("containsAny(%q) is not %v", parts, want)
		}
	}
}

func TestCountSamples(t *testing.T) {
	n, err := countSamples("Aggregated stats:\n           TOTAL events:        909\n          SAMPLE events:        884  (97.2%)\n\ntask-clock:u stats:\n          SAMPLE events:        885\n")
	if n != 884 || err != nil {
		t.Errorf("%v samples, %v, want 884", n, err)
	}
	if _, err := countSamples("nothing"); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("no samples: %v", err)
	}
}

// TestRing tests that rings count what all threads and children of a command do.
func TestRing(t *testing.T) {
	fork := tool.MustFork(t)
	ring, work := fork.Build(t, nil, "./ring"), fork.Build(t, nil, "./work")
	out, err := tool.Output(exec.Command(ring, "task-clock:u", "1000000", "sh", "-c", "$0 -load threads -n 4 -scale 0.1; $0 -load deep -scale 0.1", work))
	if err != nil {
		t.Skip(err)
	}
	// Each process says what CPU time it took; the shell's own is little.
	cpu, events := 0.0, run{out: out}.number("events")
	for _, line := range strings.Split(out, "\n") {
		cpu += run{out: line}.number("cpu")
	}
	if events < 0.9*cpu || events > 1.5*cpu+50e6 {
		t.Errorf("%.0f events in %.0f ns of CPU time", events, cpu)
	}
}

// TestGrunning tests that edits find their places in the release, and that they refuse a
// release in which these are not what they were.
func TestGrunning(t *testing.T) {
	stock, err := tool.Release(tool.MustFork(t))
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	if _, err := grunning(stock, dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"proc.go", "runtime2.go", "grunning.go"} {
		if _, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0); err != nil {
			t.Error(err)
		}
	}
	source := filepath.Join(dir, "src", "runtime")
	if err := os.MkdirAll(source, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"type g struct {\n}\n", "type g struct {\n\ttrackingSeq uint8\n\ttrackingSeq uint8\n}\n"} {
		if err := os.WriteFile(filepath.Join(source, "runtime2.go"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := grunning(tool.Toolchain{Goroot: dir}, dir); err == nil || !strings.Contains(err.Error(), "correct the edits") {
			t.Errorf("%v for %q", err, text)
		}
	}
}

// TestAccounts tests that each of the programs knows its calls and kinds, and that those
// are accounted as they should be, which the programs check.
func TestAccounts(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs by three toolchains")
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("needs linux on amd64 or arm64")
	}
	b, err := newBench(false)
	if err != nil {
		t.Skip(err)
	}
	b.dir, b.rounds = t.TempDir(), 1
	r := &report{dir: t.TempDir(), name: "accounts"}
	if err := try(func() {
		here := b.accountsHere()
		accountCallsTable(r, here, nil)
		accountSwitchesTable(r, here, nil)
	}); err != nil {
		t.Fatal(err)
	}
	text := r.text.String()
	if strings.Contains(text, "NaN") || strings.Contains(text, "| 0.0 ") || strings.Contains(text, "| +Inf") {
		t.Errorf("something was not measured:\n%s", text)
	}
}

func TestVerdict(t *testing.T) {
	got := verdicts(verdict(1, 0, "ns"), verdict(60, 60, "ns"), verdict(60.5, 60, "ns"), verdict(math.NaN(), 60, "ns"))
	if want := "60 ns: met; 60 ns: **missed**; 60 ns: not measured"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
