// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"bytes"
	"fmt"
	"internal/asan"
	"internal/msan"
	"internal/profile"
	"internal/testenv"
	"maps"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// perfCgoProg returns testprogcgo. why is what sanitizers do that the test can't bear.
func perfCgoProg(t *testing.T, why string) (exe string) {
	t.Helper()
	if asan.Enabled || msan.Enabled {
		t.Skip(why)
	}
	testenv.MustHaveCGO(t)
	testenv.MustHaveGoBuild(t)
	exe, err := buildTestProg(t, "testprogcgo")
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// TestCgoPerfPlace tests that calls that come through C, or from a thread that C
// created, are one sample each, with the stack that the callee sees.
func TestCgoPerfPlace(t *testing.T) {
	exe := perfCgoProg(t, "sanitizers call the signal handler late")
	out, err := testenv.CleanCmdEnv(exec.Command(exe, "CgoPerfPlace")).Output()
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok && strings.Contains(string(e.Stderr), "cpu profile: event mem:") {
			t.Skipf("%s", e.Stderr)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	f, err := os.Open(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(lines[0])
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	sampled := make(map[string]int64)
	for _, s := range p.Sample {
		var stk []string
		for _, loc := range s.Location {
			for _, line := range loc.Line {
				stk = append(stk, line.Function.Name)
			}
		}
		sampled[strings.Join(stk, " < ")] += s.Value[0]
	}
	// Called directly, from Go through C in three ways, and from a thread.
	if len(lines) != 1+5 {
		t.Errorf("%d different stacks called:\n%s", len(lines)-1, out)
	}
	for _, line := range lines[1:] {
		n, stk, _ := strings.Cut(line, " ")
		if got := fmt.Sprint(sampled[stk]); got != n {
			t.Errorf("%s calls from here have %s samples:\n\t%s", n, got, stk)
		}
		delete(sampled, stk)
	}
	for stk, n := range sampled {
		t.Errorf("no call from here, but %d samples:\n\t%s", n, stk)
	}
}

// perfCross runs CgoPerfCross of testprogcgo and returns how many samples each stack
// has, leaf first.
func perfCross(t *testing.T, env ...string) map[string]int64 {
	t.Helper()
	exe := perfCgoProg(t, "sanitizers call the signal handler late")
	cmd := testenv.CleanCmdEnv(exec.Command(exe, "CgoPerfCross"))
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.Output()
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok && strings.Contains(string(e.Stderr), "cpu profile: event mem:") {
			t.Skipf("%s", e.Stderr)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	stacks := make(map[string]int64)
	for line := range strings.Lines(string(out)) {
		var n int64
		count, stk, _ := strings.Cut(strings.TrimSpace(line), " ")
		fmt.Sscan(count, &n)
		stacks[stk] = n
	}
	return stacks
}

// TestCgoPerfCross tests that each call on a thread of C that has called Go is one
// sample where the call was made: by C or by Go, with SIGPROF blocked or not, and
// not where the signal was handled.
func TestCgoPerfCross(t *testing.T) {
	const n = 50
	const (
		inC      = "perfCrossTarget < runtime._ExternalCode"
		marked   = "perfCrossMarker"
		delayed  = "main.perfCrossGoTarget < runtime._PerfDelayed"
		callback = "main.perfCrossGoTarget < main.goPerfCrossCall < "
		release  = "main.perfCrossGoTarget < main.goPerfCrossRelease < "
		exported = "_cgoexp < runtime.cgocallbackg1 < runtime.cgocallbackg < runtime.cgocallback"
	)
	for _, tt := range []struct {
		mode, target string
		traceback    bool
		want         map[string]int64
	}{
		{"open", "c", false, map[string]int64{inC: 2 * n}},
		{"open", "go", false, map[string]int64{callback + exported: n}},
		{"blocked", "c", false, map[string]int64{inC: 2 * n}},
		{"blocked", "go", false, map[string]int64{delayed: n}},
		{"released", "c", false, map[string]int64{inC: 2 * n}},
		{"released", "go", false, map[string]int64{release + exported: n}},
		{"open", "c", true, map[string]int64{marked: 2 * n}},
		{"open", "go", true, map[string]int64{callback + exported: n}},
		{"blocked", "c", true, map[string]int64{inC: 2 * n}},
		{"released", "c", true, map[string]int64{inC: n, marked: n}},
	} {
		name := tt.mode + "," + tt.target
		env := []string{"PERF_CROSS_MODE=" + tt.mode, "PERF_CROSS_TARGET=" + tt.target}
		if tt.traceback {
			name += ",traceback"
			env = append(env, "PERF_CROSS_TRACEBACK=1")
		}
		t.Run(name, func(t *testing.T) {
			got := make(map[string]int64)
			for stk, n := range perfCross(t, env...) {
				got[perfCrossExport.ReplaceAllString(stk, "_cgoexp ")] += n
			}
			if !maps.Equal(got, tt.want) {
				t.Errorf("samples:\n%v\nwant:\n%v", got, tt.want)
			}
		})
	}
}

// TestPerfStacksDue tests which records of a thread of C are read while it runs: those that have
// a stack, and others at the second look.
func TestPerfStacksDue(t *testing.T) {
	for _, tt := range []struct {
		name                            string
		tail, head, looked, until, want uint64
	}{
		{"new", 0, 96, 0, 0, 0},
		{"the second look", 0, 96, 96, 0, 96},
		{"one is new", 0, 192, 96, 0, 96},
		{"one has a stack", 0, 192, 0, 96, 96},
		{"all have", 0, 192, 96, 192, 192},
		{"new since others have read", 192, 288, 96, 0, 96},
		{"half of the ring", 0, 2047, 0, 0, 0},
		{"more than half", 0, 2048, 0, 0, 2048},
		{"of an earlier ring", 0, 96, 960, 0, 96},
	} {
		if got := runtime.PerfStacksDue(tt.tail, tt.head, tt.looked, tt.until); got != tt.want {
			t.Errorf("%s: up to %d, want %d", tt.name, got, tt.want)
		}
	}
}

// perfCrossExport is the name of the function that cgo makes for an exported one.
var perfCrossExport = regexp.MustCompile(`_cgoexp_[0-9a-f]+_\w+ `)

// TestCgoPerfEngine tests that the programs that upstream's tests build sample the
// event of PMU_TEST_EVENT; see runtime/pprof/perf_engine.go.
func TestCgoPerfEngine(t *testing.T) {
	if os.Getenv("PMU_TEST_EVENT") == "" {
		t.Skip("PMU_TEST_EVENT is not set")
	}
	for _, prog := range []string{"testprog", "testprogcgo"} {
		if prog == "testprogcgo" {
			testenv.MustHaveCGO(t)
		}
		exe, err := buildTestProg(t, prog)
		if err != nil {
			t.Fatal(err)
		}
		name := map[string]string{"testprog": "TimeProf", "testprogcgo": "CgoPprof"}[prog]
		out, err := testenv.CleanCmdEnv(exec.Command(exe, name)).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		file := strings.TrimSpace(string(out))
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		os.Remove(file)
		p, err := profile.Parse(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if want := "event: " + os.Getenv("PMU_TEST_EVENT"); len(p.Comments) == 0 || p.Comments[0] != want {
			t.Errorf("%s sampled %v, want %s", name, p.Comments, want)
		}
	}
}

// TestCgoPerfAccount tests what goroutines count that call C, are called by it, or are on
// a thread that it has created, and where their time goes.
func TestCgoPerfAccount(t *testing.T) {
	exe := perfCgoProg(t, "sanitizers make system calls of their own")
	out, err := testenv.CleanCmdEnv(exec.Command(exe, "CgoPerfAccount")).Output()
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok && strings.Contains(string(e.Stderr), "counters: event mem:") {
			t.Skipf("%s", e.Stderr)
		}
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}

// TestCgoPerfTask tests what tasks have of goroutines that call C, are called by it, or
// are on a thread that it has created.
func TestCgoPerfTask(t *testing.T) {
	exe := perfCgoProg(t, "sanitizers make system calls of their own")
	if out, err := testenv.CleanCmdEnv(exec.Command(exe, "CgoPerfTask")).CombinedOutput(); err != nil || string(out) != "OK\n" {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestCgoPerfIdle tests that a profile leaves a program alone whose threads of C wait, that
// none of their samples is lost when they no longer do, even if they use little CPU time,
// and that a thread that comes then is sampled.
func TestCgoPerfIdle(t *testing.T) {
	exe := perfCgoProg(t, "sanitizers call the signal handler late")
	for _, tt := range []struct {
		mode, threads string
		env           []string
	}{
		{"calls", "1", nil},
		{"calls", "50", nil},
		{"rare", "1", nil},
		{"new", "1", nil},
		{"new", "1", []string{"GOMAXPROCS=1"}},
	} {
		t.Run(strings.Join(append(tt.env, tt.mode, tt.threads), ","), func(t *testing.T) {
			cmd := testenv.CleanCmdEnv(exec.Command(exe, "CgoPerfIdle"))
			cmd.Env = append(append(cmd.Env, tt.env...), "GO_PPROF_MAX_OVERHEAD=off", "PERF_IDLE_MODE="+tt.mode, "PERF_IDLE_THREADS="+tt.threads)
			out, err := cmd.Output()
			if err != nil {
				if e, ok := err.(*exec.ExitError); ok {
					if strings.Contains(string(e.Stderr), "cpu profile: event page-faults") {
						t.Skipf("%s", e.Stderr)
					}
					out = e.Stderr
				}
				t.Fatalf("%v\n%s", err, out)
			}
			var slept, used, calls, sampled, lost int64
			if _, err := fmt.Sscanf(string(out), "slept %d\nused %d\ncalls %d\nsampled %d\nlost %d", &slept, &used, &calls, &sampled, &lost); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			t.Logf("slept %d times and used %d ns in an idle second; %d calls, %d samples, %d lost", slept, used, calls, sampled, lost)
			// Each look at the rings is several sleeps, of the looking thread and of
			// those of the scheduler. CPU time calls for some.
			if most := 30 + used/1e6; slept > most {
				t.Errorf("the idle program's threads slept %d times a second and used %d ns, want at most %d times", slept, used, most)
			}
			// A new thread has none before it is seen, soon. The overhead bound makes longer
			// periods, of which each thread may be in the midst of one at the end.
			least := calls * 9 / 10
			if tt.mode == "new" {
				least = calls / 2
			}
			if sampled < least || lost != 0 {
				t.Errorf("%d calls: %d samples, %d lost", calls, sampled, lost)
			}
		})
	}
}

// TestCgoPerfHeld tests that the rings of threads of C have room for foreignLate of
// runtime/pprof, also those of threads that have had no sample before.
func TestCgoPerfHeld(t *testing.T) {
	exe := perfCgoProg(t, "sanitizers call the signal handler late")
	cmd := testenv.CleanCmdEnv(exec.Command(exe, "CgoPerfHeld"))
	cmd.Env = append(cmd.Env, "GOMAXPROCS=1", "GODEBUG=asyncpreemptoff=1", "GO_PPROF_MAX_OVERHEAD=off")
	out, err := cmd.Output()
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok {
			if strings.Contains(string(e.Stderr), "cpu profile: event task-clock") {
				t.Skipf("%s", e.Stderr)
			}
			out = e.Stderr
		}
		t.Fatalf("%v\n%s", err, out)
	}
	var ms, sampled, late, lost int64
	if _, err := fmt.Sscanf(string(out), "ms %d\nsampled %d\nlate %d\nlost %d", &ms, &sampled, &late, &lost); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%d ms in C: %d samples, %d late, %d lost", ms, sampled, late, lost)
	if lost != 0 || sampled+late < ms*9/10 {
		t.Errorf("%d ms in C: %d samples, %d late, %d lost", ms, sampled, late, lost)
	}
}
