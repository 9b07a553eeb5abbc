// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"pmu/internal/tool"
	"pmu/profile"
)

// A bench holds directories, toolchains, and the programs built so far.
type bench struct {
	long   bool
	rounds int    // of the section that runs
	module string // misc/pmu
	dir    string // for programs and profiles; ignores itself in git
	fork   tool.Toolchain
	stock  tool.Toolchain
	perf   string // the perf command, "" if there is none that works
	built  map[string]bool
}

func newBench(long bool) (*bench, error) {
	root, err := tool.Root()
	if err != nil {
		return nil, err
	}
	b := &bench{long: long, module: filepath.Join(root, "misc/pmu"), dir: filepath.Join(root, ".cache", "bench"), built: make(map[string]bool)}
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(b.dir, ".gitignore"), []byte("*\n"), 0o666); err != nil {
		return nil, err
	}
	if b.fork, err = tool.Fork(); err != nil {
		return nil, err
	}
	if b.stock, err = tool.Release(b.fork); err != nil {
		return nil, err
	}
	if perfVersion() != "none" {
		b.perf = "perf"
	}
	return b, nil
}

func perfVersion() string {
	v, err := tool.Output(exec.Command("perf", "version"))
	if err != nil {
		return "none"
	}
	return v
}

// output is tool.Output for a command that has to succeed.
func output(cmd *exec.Cmd) string { return need(tool.Output(cmd)) }

// pick returns short or long, as the form is.
func pick[T any](b *bench, short, long T) T {
	if b.long {
		return long
	}
	return short
}

// build returns the program of package pkg as built by tc: of this module with
// "go build", or with test, its test binary.
func (b *bench) build(tc tool.Toolchain, verb, pkg string, env ...string) string {
	name := strings.NewReplacer("./", "", "/", "-").Replace(pkg) + "." + verb + "." + tc.Name
	if env != nil {
		name += ".arm64"
	}
	file := filepath.Join(b.dir, name)
	if b.built[file] {
		return file
	}
	args := []string{"build", "-o", file, pkg}
	if verb == "test" {
		args = []string{"test", "-c", "-o", file, pkg}
	}
	output(tc.Command(b.module, env, args...))
	b.built[file] = true
	return file
}

// vm returns the command that runs a program of the fork on the emulated machine.
func (b *bench) vm(program string, args ...string) *exec.Cmd {
	return need(tool.VM(filepath.Join(b.dir, "vm"), program, args...))
}

// A sampler is a way to be profiled, or none.
type sampler struct {
	name   string
	stock  bool   // with the stock toolchain
	event  string // "timer", an event, or "" for none
	period uint64
	perf   bool   // by perf record instead
	ring   bool   // by the kernel alone, see command ring
	lookUp bool   // have perf report look up symbols after each run
	loose  bool   // without the overhead bound
	stacks string // who finds them; see GO_PPROF_STACKS
	bare   string // without a profiler, see work's flag
}

// clock is the event. It excludes the kernel, as perf record -e task-clock:u and the
// bare sampler do.
const clock = "task-clock:u"

var (
	none       = sampler{name: "none"}
	stockNone  = sampler{name: "none, stock", stock: true}
	timer      = sampler{name: "timer", event: "timer"}
	stockTimer = sampler{name: "timer, stock", event: "timer", stock: true}
	preset     = sampler{name: "preset", event: "task-clock"} // with the kernel, where that is allowed
)

// inside reports whether the program profiles itself.
func (s sampler) inside() bool { return s.event != "" && !s.perf && !s.ring }

func (s sampler) toolchain(b *bench) tool.Toolchain {
	if s.stock {
		return b.stock
	}
	return b.fork
}

// A run is what one run of a program cost and gave.
type run struct {
	cpu     float64 // s, user and system, of the program and of perf
	out     string
	profile string // file

	symbols float64 // s, CPU time of looking up symbols, of lookUp
	taken   float64 // samples of which perf knows, of lookUp
}

// cpuTime returns the seconds of CPU time that cmd took.
func cpuTime(cmd *exec.Cmd) float64 {
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
}

// numbers returns the numbers in lines "NAME<tab or space>NUMBER" of a program's
// output, and the names in order.
func numbers(out string) (names []string, value map[string]float64) {
	value = make(map[string]float64)
	for _, line := range strings.Split(out, "\n") {
		i := strings.LastIndexAny(line, "\t ")
		if i < 0 {
			continue
		}
		if x, err := strconv.ParseFloat(line[i+1:], 64); err == nil {
			names = append(names, line[:i])
			value[line[:i]] = x
		}
	}
	return names, value
}

// number returns the number that the program printed under the name.
func (r run) number(name string) float64 {
	_, value := numbers(r.out)
	return value[name]
}

// read reads the profile of a run.
func (r run) read() *profile.Profile { return need(profile.ReadFile(r.profile)) }

// do runs cmd, under perf or ring if s is that.
func (b *bench) do(s sampler, cmd *exec.Cmd, profile string) run {
	period := strconv.FormatUint(s.period, 10)
	switch {
	case s.perf:
		// With frame pointers. In user mode only.
		args := []string{"perf", "record", "-q", "-g", "-e", s.event, "-c", period, "-o", profile, "--"}
		cmd.Path = need(exec.LookPath(b.perf))
		cmd.Args = append(args, cmd.Args...)
	case s.ring:
		cmd.Path = b.build(b.fork, "build", "./bench/ring")
		cmd.Args = append([]string{"ring", s.event, period}, cmd.Args...)
	}
	if s.loose {
		cmd.Env = append(cmd.Environ(), "GO_PPROF_MAX_OVERHEAD=off")
	}
	if s.stacks != "" {
		cmd.Env = append(cmd.Environ(), "GO_PPROF_STACKS="+s.stacks)
	}
	out := output(cmd)
	r := run{cpu: cpuTime(cmd), out: out, profile: profile}
	if s.lookUp {
		r.symbols, r.taken = b.lookUp(profile)
	}
	return r
}

// A program is a kind of work that can be run under any sampler.
type program struct {
	name string
	// command returns the command that does the work under s and leaves the
	// profile in the file. Where s is perf, it is the command to put under it.
	command func(b *bench, s sampler, file string) *exec.Cmd
}

// ours is a program with the flags of package demo.
func ours(name, pkg string, scale float64, args ...string) program {
	return program{name, func(b *bench, s sampler, file string) *exec.Cmd {
		a := append([]string{"-scale", fmt.Sprint(scale)}, args...)
		switch {
		case s.bare != "":
			a = append(a, "-bare", s.bare, "-event", s.event, "-period", fmt.Sprint(s.period))
		case s.inside():
			a = append(a, "-event", s.event, "-period", fmt.Sprint(s.period), "-o", file)
		}
		return exec.Command(b.build(s.toolchain(b), "build", pkg), a...)
	}}
}

// load is a load of bench/work.
func load(name string, scale float64, kind string, n int) program {
	return ours(name, "./bench/work", scale, "-load", kind, "-n", strconv.Itoa(n))
}

// benchmarks are benchmarks of a package of the standard library, each done n
// times.
func benchmarks(pkg, pattern string, n int) program {
	return program{pkg, func(b *bench, s sampler, file string) *exec.Cmd {
		tc := s.toolchain(b)
		a := []string{"-test.run=^$", "-test.bench=" + pattern, fmt.Sprintf("-test.benchtime=%dx", n)}
		if s.inside() {
			a = append(a, "-test.cpuprofile="+file)
			if s.event != "timer" {
				a = append(a, "-test.cpuprofileevent="+s.event, fmt.Sprintf("-test.cpuprofileperiod=%d", s.period))
			}
		}
		cmd := exec.Command(b.build(tc, "test", pkg), a...)
		cmd.Dir = filepath.Join(tc.Goroot, "src", pkg)
		return cmd
	}}
}

// runs are the runs of a program, by the samplers' names.
type runs map[string][]run

// interleave runs p under each sampler in turn, rounds times. Each round begins with
// a different sampler.
func (b *bench) interleave(p program, samplers []sampler, rounds int) runs {
	all := make(runs)
	for _, s := range samplers { // build first
		p.command(b, s, "")
	}
	for i := 0; i < rounds; i++ {
		for j := range samplers {
			s := samplers[(i+j)%len(samplers)]
			name := strings.NewReplacer(" ", "_", "/", "_").Replace(p.name + "-" + s.name)
			file := filepath.Join(b.dir, fmt.Sprintf("%s.%d.prof", name, i))
			os.Remove(file)
			start := time.Now()
			err := try(func() { all[s.name] = append(all[s.name], b.do(s, p.command(b, s, file), file)) })
			if err != nil {
				must(fmt.Errorf("%s, %s, after %v: %w", p.name, s.name, time.Since(start), err))
			}
		}
	}
	return all
}

// cpus returns the CPU times of the sampler's runs.
func (r runs) cpus(s sampler) (x []float64) {
	for _, run := range r[s.name] {
		x = append(x, run.cpu)
	}
	return x
}

// profile returns the profile of the sampler's first run.
func (r runs) profile(s sampler) *profile.Profile { return r[s.name][0].read() }

// samples returns the number of samples in a profile, and how many of these
// stand for lost ones. A profile by the timer has no ledger.
func samples(p *profile.Profile) (n, lost int64) {
	if n, lost = p.Ledger(); n > 0 {
		return n, lost
	}
	return p.Sum().Count, 0
}

// mark returns a mark for profiles in which the overhead bound acted.
func mark(p *profile.Profile) string {
	if p.Number(profile.LongestPeriod) != 0 {
		return " *"
	}
	return ""
}
