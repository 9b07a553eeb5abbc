// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Package life tests programs that are profiled while they do what a test of package
// runtime/pprof can't do in its own process: exit, run C code that blocks or handles
// SIGPROF, or open plugins.
package life

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pmu/internal/tool"
	"pmu/profile"
)

// build builds a package of testdata with the fork and returns the file.
func build(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return tool.MustFork(t).Build(t, nil, "./testdata/"+dir, args...)
}

// run runs a program, which must end within a minute, and returns its output
// and exit status.
func run(t *testing.T, env []string, exe string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	cmd.Wait()
	if !late.Stop() {
		t.Errorf("%v: no end after a minute", args)
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// works fails the test unless the program ends well, and returns its output.
func works(t *testing.T, env []string, exe string, args ...string) string {
	t.Helper()
	out, code := run(t, env, exe, args...)
	if code != 0 {
		t.Errorf("%v: exit status %d\n%s", args, code, out)
	}
	return out
}

// read reads a profile that a program has written.
func read(t *testing.T, file string) *profile.Summary {
	t.Helper()
	p, err := profile.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return p.Sum()
}

// balance fails the test unless the samples stand for what was counted, within the
// given part of it plus one period for each thread, which the overhead bound may have
// lengthened. Where the kernel is excluded, what the samples have cost may be missing: that is mostly the
// kernel's, which a clock counts nevertheless.
func balance(t *testing.T, p *profile.Summary, part float64) {
	t.Helper()
	counted, got := p.Number(profile.Counted), p.Sums[1]
	d := float64(counted)*part + float64(p.MaxPeriod()*p.Number(profile.Threads))
	less := d
	if slices.Contains(p.Comments, "kernel: excluded") {
		less += float64(p.Number("cost"))
	}
	if p.Count == 0 || float64(got) < float64(counted)-less || float64(got) > float64(counted)+d {
		t.Errorf("%d samples stand for %d, counted were %d:\n%s", p.Count, got, counted, strings.Join(p.Comments, "\n"))
	}
}

// TestEnd tests that a profiled program ends as it would without a profile.
func TestEnd(t *testing.T) {
	exe := build(t, "prog")
	for _, tt := range []struct {
		mode   string
		code   int
		output string // regular expression
	}{
		{"exit", 7, `^$`},
		{"goexit", 0, `^stopped\n$`},
		{"goexit-locked", 0, `^stopped\n$`},
		{"panic", 2, `^panic: at the disco\n\ngoroutine 1 `},
		{"overflow", 2, `goroutine stack exceeds 1048576-byte limit`},
		{"fault", 0, `^recovered: true\nrecovered: true\n$`},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			out, code := run(t, nil, exe, tt.mode)
			if code != tt.code || !regexp.MustCompile(tt.output).MatchString(out) {
				t.Errorf("exit status %d, want %d; output, which should match %s:\n%.2000s", code, tt.code, tt.output, out)
			}
		})
	}
}

// TestSettings tests programs that change how signals, threads and memory are
// treated, under settings that change how goroutines are preempted.
func TestSettings(t *testing.T) {
	exe := build(t, "prog")
	for _, mode := range []string{"notify", "knobs"} {
		for _, env := range []string{"GODEBUG=", "GODEBUG=asyncpreemptoff=1"} {
			t.Run(mode+"/"+env, func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "prof")
				works(t, []string{env}, exe, mode, file)
				balance(t, read(t, file), 0.05)
			})
		}
	}
}

// TestStorm tests that processes can be started at a high rate of samples, and
// have no counters.
func TestStorm(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prof")
	if out := works(t, nil, build(t, "prog"), "storm", file); out != "processes: 200\n" {
		t.Error(out)
	}
	p := read(t, file)
	if p.Count == 0 {
		t.Error("no samples")
	}
}

// TestInterruptedC counts how many blocking calls of C code return EINTR, on
// threads of C and of Go. Software events, and clocks with :u, overflow before a call
// or after it, and never interrupt one. (Hardware events do: see TestPerfInterrupted
// in package runtime/pprof.) Those with the kernel included, as clocks have it, can
// overflow in the call: that is the same with the timer.
func TestInterruptedC(t *testing.T) {
	exe := build(t, "cprog")
	line := regexp.MustCompile(`(\w+): (\d+) calls, (\d+) interrupted`)
	for _, tt := range []struct {
		event  string
		period string
		none   bool
	}{
		{"task-clock:u", "50000", true},
		{"cpu-clock:u", "50000", true},
		{"page-faults", "1", true},
		{"task-clock", "50000", false},
		{"page-faults:uk", "1", false},
		{"context-switches", "1", false},
		{"timer", "0", false},
	} {
		t.Run(tt.event, func(t *testing.T) {
			out := works(t, nil, exe, "block", tt.event, tt.period)
			ms := line.FindAllStringSubmatch(out, -1)
			if len(ms) != 5 {
				t.Fatal(out)
			}
			for _, m := range ms {
				calls, _ := strconv.Atoi(m[2])
				eintr, _ := strconv.Atoi(m[3])
				t.Log(m[0])
				if calls == 0 {
					t.Errorf("no calls of %s", m[1])
				}
				if eintr > 0 && (tt.none || m[1] == "read") {
					t.Errorf("%d of %d calls of %s were interrupted", eintr, calls, m[1])
				}
			}
		})
	}
}

// TestInterruptedGo is TestInterruptedC for a system call of Go code.
func TestInterruptedGo(t *testing.T) {
	exe := build(t, "prog")
	for _, event := range []string{"task-clock:u", "page-faults"} {
		if out := works(t, []string{"GODEBUG=asyncpreemptoff=1"}, exe, "sleep", event); out != "slept: true\n" {
			t.Errorf("%s: %s", event, out)
		}
	}
}

// TestTimerOfC tests a profile beside the SIGPROFs of a timer that C code has.
func TestTimerOfC(t *testing.T) {
	exe := build(t, "cprog")
	file := filepath.Join(t.TempDir(), "prof")
	works(t, nil, exe, "itimer", file)
	balance(t, read(t, file), 0.05)
	// A thread that blocks all signals is not stalled by interrupts.
	works(t, nil, exe, "blocked", file)
	balance(t, read(t, file), 0.1)
}

// TestInside tests that a thread that is in C when the profile starts is measured
// from the start, with the stack of the Go code that called C.
func TestInside(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prof")
	ns, err := strconv.ParseInt(strings.TrimSpace(works(t, nil, build(t, "cprog"), "inside", file)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	p := read(t, file)
	// Where the kernel allows few samples, one stands for several periods. If an
	// interrupt is late because the hypervisor ran something else, there is one
	// sample, and the rest of the time is in the profile without a stack: see
	// perfCounter.late in the runtime.
	period, got, late := p.Number(profile.Period), p.Events["main.inside"], p.Events["runtime._PerfLostLate"]
	t.Logf("%d ns in C, %d in the profile, %d late", ns, got, late)
	// Some samples are in the handler.
	if d := ns/50 + 2*period; got+late < ns-d || got > ns+d {
		t.Errorf("%d ns in C, %d in the profile, %d late:\n%s", ns, got, late, strings.Join(p.Comments, "\n"))
	}
}

// TestHandlerBefore tests a C program with a handler for SIGPROF, with the
// signal's default, or with neither, that profiles a Go library.
func TestHandlerBefore(t *testing.T) {
	dir := t.TempDir()
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	for _, mode := range []string{"c-archive", "c-shared"} {
		lib := filepath.Join(dir, mode+".a")
		if mode == "c-shared" {
			lib = filepath.Join(dir, "libshared.so")
		}
		exe := filepath.Join(dir, mode)
		for _, cmd := range []*exec.Cmd{
			tool.MustFork(t).Command(".", nil, "build", "-buildmode="+mode, "-o", lib, "./testdata/archive"),
			exec.Command(cc, "-o", exe, "testdata/archive_main.c", lib, "-lpthread", "-Wl,-rpath,"+dir),
		} {
			tool.Must(t, cmd)
		}
		for _, arg := range []string{"own", "default", "none"} {
			if out := works(t, nil, exe, arg); out != "done 1\n" {
				t.Errorf("%s, %s: %s", mode, arg, out)
			}
		}
	}
}

// TestPlugin tests that a plugin that is opened while the program is profiled
// is in the profile, with the CPU time that its function takes. Samples differ in
// what they stand for: the first ones, of the opening, are closer to each other than
// the bound on overhead lets later ones be.
func TestPlugin(t *testing.T) {
	plug := build(t, "plug", "-buildmode=plugin")
	host := build(t, "host")
	file := filepath.Join(t.TempDir(), "prof")
	var took int64 // ns of CPU time
	if _, err := fmt.Sscan(works(t, nil, host, plug, file), &took); err != nil {
		t.Fatal(err)
	}
	p := read(t, file)
	balance(t, p, 0.05)
	var ns int64
	for name, n := range p.Events {
		if strings.HasSuffix(name, ".Compute") {
			ns += n
		}
	}
	if took < 10e6 || ns < took-took/4 || ns > took+took/4 {
		t.Errorf("%d ns are the plugin's function's in the profile, want %d; of %d: %v", ns, took, p.Sums[1], p.Events)
	}
}

// TestClobberedFramePointer tests that a thread whose stacks the kernel can't follow goes
// back to signals, after a few samples whose callers are missing.
func TestClobberedFramePointer(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the program has assembly for amd64")
	}
	exe := build(t, "clobber")
	for _, stacks := range []string{"signal", "kernel"} {
		file := filepath.Join(t.TempDir(), "prof")
		works(t, []string{"GO_PPROF_STACKS=" + stacks, "GO_PPROF_MAX_OVERHEAD=off"}, exe, file)
		p := read(t, file)
		balance(t, p, 0.05)
		all, called, broken := p.Functions["main.spin"], p.Functions["main.caller"], p.Functions["runtime._PerfBroken"]
		t.Logf("%s: %d samples, %d with their caller, %d without", stacks, all, called, broken)
		// Where samples are dear, the overhead bound makes the period five times as long.
		if all < 100 || called < all*3/4 {
			t.Errorf("%s: %d of %d samples have their caller", stacks, called, all)
		}
		if (broken != 0) != (stacks == "kernel") {
			t.Errorf("%s: %d samples without callers", stacks, broken)
		}
	}
}
