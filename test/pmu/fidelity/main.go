// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Fidelity measures how accurate profiles are. It runs programs whose correct profiles
// are known under several profilers, and prints a table: the truth, and what each
// profiler reports.
//
//	go run ./fidelity [-stock GO] [-vm] [-rounds N] [CASE...]
//
// -stock is a stock go command of the same version, and -vm adds the emulated
// machine. perf must be in PATH, and permitted to use breakpoints.
package main

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pmu/internal/tool"
	"pmu/profile"
)

var (
	stock  = flag.String("stock", "", "stock go `command`; without it, there is no column for it")
	onVM   = flag.Bool("vm", false, "run on the emulated machine too")
	rounds = flag.Int("rounds", 3, "runs of each, of which all are shown")
)

// A column is a way to profile.
type column struct {
	name    string
	profile func(b *builds, c *testCase, file string) (out string, stacks []stack, err error)
}

// A stack is a sampled stack, innermost function first, with its counts.
type stack struct {
	funcs   []string
	label   string
	samples int64
	events  int64
}

var columns = []column{
	{"this Go, software events", fork},
	{"this Go, cycles, emulated arm64", forkVM},
	{"stock Go, timer", timer},
	{"perf record", perf},
}

// A testCase is one row of the table.
type testCase struct {
	name, title string

	// event is what to sample on the host, with %s for the address of symbol
	// where a name will not do, and period its period. timer and vm say
	// whether the timer, and cycles on the emulated machine, can see it.
	event  string
	symbol string
	period uint64
	timer  bool
	vm     bool
	scale  float64 // on the emulated machine

	truth   string
	measure func(truth map[string]float64, stacks []stack) string
}

const clock = "task-clock"

var cases = []*testCase{
	{
		name: "calls", title: "18,000 calls of one function by two callers, every call sampled: samples by caller",
		event: "mem:main.Target:x", symbol: "main.Target", period: 1,
		truth: "7000 and 11000",
		measure: func(_ map[string]float64, s []stack) string {
			return fmt.Sprintf("%d and %d of %d", in(s, "main.CallerA"), in(s, "main.CallerB"), in(s, "main.Target"))
		},
	},
	{
		name: "alternate", title: "two functions write a variable in turns, period 1000: part of each",
		event: "mem:main.Shared:w", symbol: "main.Shared", period: 1000,
		truth: "50 %, 50 %",
		measure: func(_ map[string]float64, s []stack) string {
			return percents(s, "main.WriterA", "main.WriterB")
		},
	},
	{
		name: "labels", title: "goroutine i writes a variable i times under label i, i = 1 to 60: labels with exactly i samples",
		event: "mem:main.Shared:w", symbol: "main.Shared", period: 1,
		truth: "60",
		measure: func(_ map[string]float64, s []stack) string {
			n := make(map[string]int64)
			for _, x := range s {
				n[x.label] += x.samples
			}
			exact := 0
			for i := int64(1); i <= 60; i++ {
				if n[strconv.FormatInt(i, 10)] == i {
					exact++
				}
			}
			return strconv.Itoa(exact)
		},
	},
	{
		name: "short", title: "a work in 3,000 short threads and in one thread: samples for its CPU time in the former to those in the latter",
		event: clock, period: 1e6, timer: true, vm: true, scale: 0.2,
		truth: "1.00",
		measure: func(truth map[string]float64, s []stack) string {
			const short, one = "main.ShortThreads", "main.OneThread"
			a, b := in(s, short), in(s, one)
			return fmt.Sprintf("%.2f (%d in %.0f ms, %d in %.0f)", float64(a)/float64(b)*truth[one]/truth[short],
				a, truth[short]/1e6, b, truth[one]/1e6)
		},
	},
	{
		name: "blocked", title: "four threads, in a system call when the profile starts, do 1 to 4 times a work: parts",
		event: clock, period: 1e6, timer: true, vm: true, scale: 0.2,
		truth: "10 %, 20 %, 30 %, 40 %",
		measure: func(_ map[string]float64, s []stack) string {
			return percents(s, "main.Blocked1", "main.Blocked2", "main.Blocked3", "main.Blocked4")
		},
	},
	{
		name: "brief", title: "four functions do 1 to 4 times a work, in 0.05 s: parts",
		event: clock, period: 100e3, timer: true, vm: true, scale: 1,
		truth: "10 %, 20 %, 30 %, 40 %",
		measure: func(_ map[string]float64, s []stack) string {
			return percents(s, "main.Brief1", "main.Brief2", "main.Brief3", "main.Brief4")
		},
	},
	{
		name: "mutex", title: "locking 32 mutexes, work, unlocking them, again and again: parts, and those of the CPU time of each alone",
		event: clock, period: 100e3, timer: true, vm: true, scale: 1,
		truth: "alike",
		measure: func(truth map[string]float64, s []stack) string {
			parts := []string{"main.MutexLock", "main.MutexWork", "main.MutexUnlock"}
			var all float64
			for _, part := range parts {
				all += truth[part]
			}
			var alone []string
			for _, part := range parts {
				alone = append(alone, fmt.Sprintf("%.1f", 100*truth[part]/all))
			}
			return percents(s, parts...) + " and " + strings.Join(alone, ", ")
		},
	},
	{
		name: "time", title: "four goroutines compute: CPU time of the profile to that of getrusage",
		event: clock, period: 1e6, timer: true, vm: true, scale: 0.2,
		truth: "1.000",
		measure: func(truth map[string]float64, s []stack) string {
			var ns int64
			for _, x := range s {
				ns += x.events
			}
			return fmt.Sprintf("%.3f", float64(ns)/truth["ns"])
		},
	},
}

// in returns the samples with the function in their stack.
func in(stacks []stack, fn string) int64 {
	samples, _ := sum(stacks, fn)
	return samples
}

// sum returns the samples with the function in their stack, and the events
// that they stand for.
func sum(stacks []stack, fn string) (samples, events int64) {
	for _, s := range stacks {
		for _, f := range s.funcs {
			if f == fn {
				samples += s.samples
				events += s.events
				break
			}
		}
	}
	return samples, events
}

// percents returns the functions' parts of their events.
func percents(stacks []stack, fns ...string) string {
	var samples, all int64
	for _, f := range fns {
		n, events := sum(stacks, f)
		samples += n
		all += events
	}
	if all == 0 {
		return "no samples"
	}
	var parts []string
	for _, f := range fns {
		_, events := sum(stacks, f)
		parts = append(parts, fmt.Sprintf("%.1f", 100*float64(events)/float64(all)))
	}
	return strings.Join(parts, ", ") + fmt.Sprintf(" %% in %d", samples)
}

// builds are the probe as built by each toolchain.
type builds struct {
	dir                 string
	fork, forkVM, stock string
}

func main() {
	flag.Parse()
	if err := run(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "fidelity:", err)
		os.Exit(1)
	}
}

func run(names []string) error {
	b, err := build()
	if err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	head := []string{"test", "truth"}
	var cols []column
	for _, c := range columns {
		if c.name == columns[1].name && b.forkVM == "" || c.name == columns[2].name && b.stock == "" {
			continue
		}
		cols = append(cols, c)
		head = append(head, c.name)
	}
	fmt.Printf("| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, c := range cases {
		if len(names) > 0 && !slices.Contains(names, c.name) {
			continue
		}
		cells := []string{c.title, c.truth}
		for _, col := range cols {
			cell, err := measure(b, c, col)
			if err != nil {
				return fmt.Errorf("%s: %s: %v", c.name, col.name, err)
			}
			cells = append(cells, cell)
		}
		fmt.Printf("| %s |\n", strings.Join(cells, " | "))
	}
	return nil
}

// measure runs the case under the profiler, and returns what it found.
func measure(b *builds, c *testCase, col column) (string, error) {
	var cells []string
	for i := 0; i < *rounds; i++ {
		file := filepath.Join(b.dir, "profile")
		os.Remove(file)
		out, stacks, err := col.profile(b, c, file)
		if err == errCannot {
			return "cannot", nil
		}
		if err != nil {
			return "", err
		}
		cell := c.measure(parseTruth(out), stacks)
		if len(cells) == 0 || cells[len(cells)-1] != cell {
			cells = append(cells, cell)
		}
	}
	return strings.Join(cells, "; "), nil
}

// parseTruth reads the probe's "name value" lines.
func parseTruth(out string) map[string]float64 {
	truth := make(map[string]float64)
	for _, line := range strings.Split(out, "\n") {
		if f := strings.Fields(line); len(f) == 2 {
			if v, err := strconv.ParseFloat(f[1], 64); err == nil {
				truth[f[0]] = v
			}
		}
	}
	return truth
}

// build builds the probe.
func build() (*builds, error) {
	ours, err := tool.Fork()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "fidelity")
	if err != nil {
		return nil, err
	}
	b := &builds{dir: dir}
	for _, x := range []struct {
		exe  *string
		name string
		tc   tool.Toolchain
		env  []string
		want bool
	}{
		{&b.fork, "probe.fork", ours, nil, true},
		{&b.forkVM, "probe.arm64", ours, tool.OnVM, *onVM},
		{&b.stock, "probe.stock", tool.Toolchain{Goroot: filepath.Dir(filepath.Dir(*stock))}, nil, *stock != ""},
	} {
		if !x.want {
			continue
		}
		*x.exe = filepath.Join(dir, x.name)
		if _, err := tool.Output(x.tc.Command(".", x.env, "build", "-o", *x.exe, "pmu/test/fidelity/probe")); err != nil {
			return nil, err
		}
	}
	return b, nil
}

var errCannot = errors.New("this profiler cannot see it")

// do runs cmd as the case and returns its output.
func do(c *testCase, cmd *exec.Cmd) (string, error) {
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, "PMU_FIDELITY_CASE="+c.name)
	return tool.Output(cmd)
}

// withKernel returns the event's name for samples in the kernel too.
func withKernel(event string) string {
	if event == clock || event == "cycles" {
		return event + ":uk"
	}
	return event
}

func fork(b *builds, c *testCase, file string) (string, []stack, error) {
	return goProfile(c, file, exec.Command(b.fork, "-event", withKernel(c.event), "-period", strconv.FormatUint(c.period, 10), "-o", file))
}

func timer(b *builds, c *testCase, file string) (string, []stack, error) {
	if !c.timer {
		return "", nil, errCannot
	}
	return goProfile(c, file, exec.Command(b.stock, "-event", "timer", "-o", file))
}

func forkVM(b *builds, c *testCase, file string) (string, []stack, error) {
	if !c.vm {
		return "", nil, errCannot
	}
	cmd, err := tool.VM(b.dir, b.forkVM, "-event", withKernel("cycles"), "-period", strconv.FormatUint(c.period, 10), "-scale", fmt.Sprint(c.scale), "-o", file)
	if err != nil {
		return "", nil, err
	}
	return goProfile(c, file, cmd)
}

// goProfile runs cmd, which writes a pprof profile to the file.
func goProfile(c *testCase, file string, cmd *exec.Cmd) (string, []stack, error) {
	out, err := do(c, cmd)
	if err != nil {
		return "", nil, err
	}
	stacks, err := goStacks(file)
	return out, stacks, err
}

// goStacks reads a pprof profile.
func goStacks(file string) ([]stack, error) {
	p, err := profile.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var stacks []stack
	for _, s := range p.Samples {
		var label string
		for _, v := range s.Labels {
			label = v
		}
		stacks = append(stacks, stack{s.Stack, label, s.Values[0], s.Values[len(s.Values)-1]})
	}
	return stacks, nil
}

// perf profiles with perf record, with frame pointers, which Go programs have.
func perf(b *builds, c *testCase, file string) (string, []stack, error) {
	event := c.event
	if c.symbol != "" {
		addr, err := address(b.fork, c.symbol)
		if err != nil {
			return "", nil, err
		}
		event = strings.Replace(event, c.symbol, addr, 1)
	}
	out, err := do(c, exec.Command("perf", "record", "-q", "-g", "-e", event, "-c", strconv.FormatUint(c.period, 10), "-o", file, "--", b.fork))
	if err != nil {
		return "", nil, err
	}
	script, err := tool.Output(exec.Command("perf", "script", "-i", file, "-F", "period,ip,sym"))
	if err != nil {
		return "", nil, err
	}
	stacks, err := perfStacks(script)
	return out, stacks, err
}

// address returns the address of a symbol of the program, as perf wants it.
func address(exe, symbol string) (string, error) {
	out, err := tool.Output(exec.Command("go", "tool", "nm", exe))
	if err != nil {
		return "", err
	}
	for _, line := range strings.Split(out, "\n") {
		if f := strings.Fields(line); len(f) >= 3 && f[2] == symbol {
			return "0x" + f[0], nil
		}
	}
	return "", fmt.Errorf("%s has no %s", exe, symbol)
}

// perfStacks reads the output of perf script: a line with the period, a line
// for each function, and an empty line.
func perfStacks(script string) (stacks []stack, err error) {
	for _, block := range strings.Split(script, "\n\n") {
		lines := strings.Split(strings.Trim(block, "\n"), "\n")
		events, err := strconv.ParseInt(strings.TrimSpace(lines[0]), 10, 64)
		if err != nil || events > math.MaxInt64/2 {
			if strings.TrimSpace(block) == "" {
				continue
			}
			return nil, fmt.Errorf("perf script wrote %q", lines[0])
		}
		s := stack{samples: 1, events: events}
		for _, line := range lines[1:] {
			if f := strings.Fields(line); len(f) >= 2 {
				s.funcs = append(s.funcs, f[1])
			}
		}
		stacks = append(stacks, s)
	}
	return stacks, nil
}
