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
