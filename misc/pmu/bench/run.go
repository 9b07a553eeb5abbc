// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"pmu/bench/stats"
	"pmu/profile"
)

// A bench knows the places and has built the programs.
type bench struct {
	long  bool
	root  string // of the repository
	dir   string // for programs and profiles; ignores itself in git
	fork  toolchain
	stock toolchain
	perf  string // the perf command, "" if there is none that works
	built map[string]string
}

// A toolchain is a Go that programs are built with.
type toolchain struct {
	name   string // "fork" or "stock"
	goroot string
}

func (tc toolchain) gocmd() string { return filepath.Join(tc.goroot, "bin", "go") }

// command returns the go command with args in directory dir.
func (tc toolchain) command(dir string, env []string, args ...string) *exec.Cmd {
	cmd := exec.Command(tc.gocmd(), args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=", "GOROOT=")
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

func newBench(root string, long bool) (*bench, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	b := &bench{long: long, root: root, dir: filepath.Join(root, ".cache", "bench"), built: make(map[string]string)}
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(b.dir, ".gitignore"), []byte("*\n"), 0o666); err != nil {
		return nil, err
	}
	b.fork = toolchain{"fork", filepath.Join(root, "goroot")}
	if dir := os.Getenv("BENCH_GOROOT"); dir != "" {
		b.fork.goroot = dir
	}
	version, err := output(b.fork.command(root, nil, "env", "GOVERSION"))
	if err != nil {
		return nil, fmt.Errorf("%v (./make.bash builds it)", err)
	}
	base, _, _ := strings.Cut(version, "-")
	// The host's go command finds the release, and downloads it if it must.
	cmd := exec.Command("go", "env", "GOROOT")
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+base, "GOWORK=off", "GOFLAGS=", "GOROOT=")
	goroot, err := output(cmd)
	if err != nil {
		return nil, err
	}
	b.stock = toolchain{"stock", goroot}
	if perfVersion() != "none" {
		b.perf = "perf"
	}
	return b, nil
}

func perfVersion() string {
	v, err := output(exec.Command("perf", "version"))
	if err != nil {
		return "none"
	}
	return v
}

// output returns what cmd writes, without space around it. Its error has what
// cmd complains about.
func output(cmd *exec.Cmd) (string, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %v: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

// build returns the program of package pkg as built by tc: of this module with
// "go build", or with test, its test binary.
func (b *bench) build(tc toolchain, pkg string, test bool, env ...string) (string, error) {
	name := strings.NewReplacer("./", "", "/", "-").Replace(pkg)
	if test {
		name += ".test"
	}
	name += "." + tc.name
	for _, e := range env {
		if arch, ok := strings.CutPrefix(e, "GOARCH="); ok {
			name += "." + arch
		}
	}
	file := filepath.Join(b.dir, name)
	if b.built[file] != "" {
		return file, nil
	}
	args := []string{"build", "-o", file, pkg}
	if test {
		args = []string{"test", "-c", "-o", file, pkg}
	}
	if _, err := output(tc.command(filepath.Join(b.root, "misc/pmu"), env, args...)); err != nil {
		return "", err
	}
	b.built[file] = file
	return file, nil
}

// onVM are the settings of programs for the emulated machine.
var onVM = []string{"GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0"}

// vm returns the command that runs a program on the emulated machine.
func (b *bench) vm(program string, args ...string) (*exec.Cmd, error) {
	state := os.Getenv("PMUVM")
	if state == "" {
		state = filepath.Join(b.root, ".cache", "vm")
	}
	if _, err := os.Stat(filepath.Join(state, "ready")); err != nil {
		return nil, fmt.Errorf("the emulated machine is not set up: run misc/pmu/vm/setup.bash")
	}
	out := filepath.Join(b.dir, "vm")
	if err := os.MkdirAll(out, 0o777); err != nil {
		return nil, err
	}
	cmd := exec.Command(filepath.Join(b.root, "misc/pmu/vm/go_linux_arm64_exec"), append([]string{program}, args...)...)
	cmd.Dir = out
	cmd.Env = append(os.Environ(), "PMUVM_OUT="+out)
	return cmd, nil
}

// A sampler is a way to be profiled, or none.
type sampler struct {
	name   string
	stock  bool   // with the stock toolchain
	event  string // "timer", an event, or "" for none
	period uint64
	perf   bool   // by perf record instead
	bare   string // without a profiler, see work's flag
}

func (s sampler) toolchain(b *bench) toolchain {
	if s.stock {
		return b.stock
	}
	return b.fork
}

// A run is what one run of a program cost and gave.
type run struct {
	cpu     float64 // s, user and system, of the program and of perf
	wall    float64 // s
	out     string
	profile string // file
}

var samplesLine = regexp.MustCompile(`(?m)^samples (\d+)$`)

// bareSamples returns the samples that work -bare tells of.
func (r run) bareSamples() float64 {
	m := samplesLine.FindStringSubmatch(r.out)
	if m == nil {
		return 0
	}
	n, _ := strconv.ParseFloat(m[1], 64)
	return n
}

// do runs cmd, under perf if s is that.
func (b *bench) do(s sampler, cmd *exec.Cmd, profile string) (run, error) {
	if s.perf {
		// With frame pointers. In user mode only.
		args := []string{"perf", "record", "-q", "-g", "-e", s.event, "-c", strconv.FormatUint(s.period, 10), "-o", profile, "--"}
		path, err := exec.LookPath(b.perf)
		if err != nil {
			return run{}, err
		}
		cmd.Args = append(args, cmd.Args...)
		cmd.Path = path
	}
	start := time.Now()
	out, err := output(cmd)
	if err != nil {
		return run{}, err
	}
	st := cmd.ProcessState
	return run{
		cpu: (st.UserTime() + st.SystemTime()).Seconds(), wall: time.Since(start).Seconds(),
		out: out, profile: profile,
	}, nil
}

// A program is a kind of work that can be run under any sampler.
type program struct {
	name string
	// command returns the command that does the work under s and leaves the
	// profile in the file. Where s is perf, it is the command to put under it.
	command func(b *bench, s sampler, file string) (*exec.Cmd, error)
}

// ours is a program with the flags of package demo.
func ours(name, pkg string, scale float64, args ...string) program {
	return program{name, func(b *bench, s sampler, file string) (*exec.Cmd, error) {
		exe, err := b.build(s.toolchain(b), pkg, false)
		if err != nil {
			return nil, err
		}
		a := append([]string{"-scale", fmt.Sprint(scale)}, args...)
		switch {
		case s.bare != "":
			a = append(a, "-bare", s.bare, "-event", s.event, "-period", fmt.Sprint(s.period))
		case s.event != "" && !s.perf:
			a = append(a, "-event", s.event, "-period", fmt.Sprint(s.period), "-o", file)
		}
		return exec.Command(exe, a...), nil
	}}
}

// benchmarks are benchmarks of a package of the standard library, each done n
// times.
func benchmarks(pkg, pattern string, n int) program {
	return program{pkg, func(b *bench, s sampler, file string) (*exec.Cmd, error) {
		tc := s.toolchain(b)
		exe, err := b.build(tc, pkg, true)
		if err != nil {
			return nil, err
		}
		a := []string{"-test.run=^$", "-test.bench=" + pattern, fmt.Sprintf("-test.benchtime=%dx", n)}
		if s.event != "" && !s.perf {
			a = append(a, "-test.cpuprofile="+file)
			if s.event != "timer" {
				a = append(a, "-test.cpuprofileevent="+s.event, fmt.Sprintf("-test.cpuprofileperiod=%d", s.period))
			}
		}
		cmd := exec.Command(exe, a...)
		cmd.Dir = filepath.Join(tc.goroot, "src", pkg)
		return cmd, nil
	}}
}

// interleave runs p under each sampler in turn, rounds times, and begins each
// round with another one.
func (b *bench) interleave(p program, samplers []sampler, rounds int) (map[string][]run, error) {
	runs := make(map[string][]run)
	for _, s := range samplers { // build first
		if _, err := p.command(b, s, ""); err != nil {
			return nil, err
		}
	}
	for i := 0; i < rounds; i++ {
		for j := range samplers {
			s := samplers[(i+j)%len(samplers)]
			file := filepath.Join(b.dir, strings.NewReplacer(" ", "_", "/", "_").Replace(p.name+"-"+s.name)+".prof")
			os.Remove(file)
			cmd, err := p.command(b, s, file)
			if err != nil {
				return nil, err
			}
			r, err := b.do(s, cmd, file)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %v", p.name, s.name, err)
			}
			runs[s.name] = append(runs[s.name], r)
		}
	}
	return runs, nil
}

func cpus(runs []run) []float64 {
	x := make([]float64, len(runs))
	for i, r := range runs {
		x[i] = r.cpu
	}
	return x
}

// ratio returns a median of ratios with its range, as text.
func ratio(r []float64) string {
	low, high := stats.Range(r)
	return fmt.Sprintf("%.3f (%.2f–%.2f)", stats.Median(r), low, high)
}

// samples returns the number of samples in a profile, and how many of these
// stand for lost ones.
func samples(p *profile.Profile) (n, lost float64) {
	if len(p.Types) > 2 {
		return ledgerSamples(p) // the column has those of the first event
	}
	i := p.Index("samples")
	for _, s := range p.Samples {
		n += float64(s.Values[i])
		if len(s.Stack) > 0 && strings.Contains(strings.ToLower(s.Stack[len(s.Stack)-1]+s.Stack[0]), "lost") {
			lost += float64(s.Values[i])
		}
	}
	return n, lost
}

// ledgerSamples is samples by the ledgers of all events of the profile.
func ledgerSamples(p *profile.Profile) (n, lost float64) {
	for _, c := range p.Comments {
		key, value, _ := strings.Cut(c, ": ")
		number, _, _ := strings.Cut(value, " ")
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			continue
		}
		switch key {
		case "lost in ring", "lost late", "lost at start", "lost in buffer":
			lost += x
			n += x
		case "samples", "delayed", "in handler":
			n += x
		}
	}
	return n, lost
}

// bounded returns the longest period that the overhead bound took, 0 if it did
// not act.
func bounded(p *profile.Profile) uint64 {
	for _, c := range p.Comments {
		if s, ok := strings.CutPrefix(c, "longest period: "); ok {
			s, _, _ = strings.Cut(s, " ")
			n, _ := strconv.ParseUint(s, 10, 64)
			return n
		}
	}
	return 0
}
