// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of errors from StartCPUProfileWithConfig: each says what is wrong and
// what would help, and nothing has been started.

package pprof

import (
	"bytes"
	"errors"
	"internal/race"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// perfWantError fails the test unless Start fails with all these words in the
// error and nothing is left behind.
func perfWantError(t *testing.T, opts []ProfilingOption, words ...string) error {
	t.Helper()
	start := func() error { return StartCPUProfileWithConfig(opts[0], opts[1:]...) }
	if start() == nil { // the first one may open what the process keeps, like the poller's
		StopCPUProfile()
	}
	fds, _ := perfFDs(t)
	err := start()
	if err == nil {
		StopCPUProfile()
		t.Fatalf("no error, want one with %q", words)
	}
	t.Log(err)
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q has no %q", err, w)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error has several lines: %q", err)
	}
	perfNothingOpen(t)
	if n, _ := perfFDs(t); n != fds {
		t.Errorf("%d descriptors are open, before %d", n, fds)
	}
	return err
}

// perfStartWorks fails the test unless a profile can be taken now.
func perfStartWorks(t *testing.T) {
	t.Helper()
	r := perfProfileOf(t, []perfReq{{"task-clock", 1e6}}, func() { perfSpin(30 * time.Millisecond) })[0]
	if r.total() == 0 {
		t.Errorf("no samples after an error:\n%s", r.ledger())
	}
}

func TestPerfErrors(t *testing.T) {
	perfNeeds(t, "task-clock")
	w := io.Discard
	buf := new(bytes.Buffer)
	for _, tt := range []struct {
		name  string
		multi bool
		opts  []ProfilingOption
		words []string
	}{
		{"unknown", false, []ProfilingOption{PerfEvent(w, "cycels", 0)}, []string{"cycels", "cycles"}},
		{"empty", false, []ProfilingOption{PerfEvent(w, "", 0)}, []string{"event"}},
		{"modifier", false, []ProfilingOption{PerfEvent(w, "task-clock:z", 0)}, []string{"task-clock:z", "modifier"}},
		{"nil option", false, []ProfilingOption{nil}, []string{"nil"}},
		{"nil writer", false, []ProfilingOption{PerfEvent(nil, "task-clock", 0)}, []string{"task-clock", "writer"}},
		{"no function", false, []ProfilingOption{PerfEvent(w, "mem:runtime/pprof.noSuchFunction:x", 1)}, []string{"noSuchFunction"}},
		{"period", false, []ProfilingOption{PerfEvent(w, "task-clock", 1<<64-1)}, []string{"task-clock", "period"}},
		{"not allowed", false, []ProfilingOption{PerfEvent(w, "task-clock", 0), PerfEvent(buf, "cpu-clock", 0)},
			[]string{"GO_PPROF_ENABLE_MULTIPLE_CPU_PROFILES=true"}},
		{"not allowed with timer", false, []ProfilingOption{PerfEvent(w, "task-clock", 0), OSTimer(buf)},
			[]string{"GO_PPROF_ENABLE_MULTIPLE_CPU_PROFILES=true"}},
		{"same writer", true, []ProfilingOption{PerfEvent(buf, "task-clock", 0), PerfEvent(buf, "cpu-clock", 0)}, []string{"same writer"}},
		{"same writer as timer", true, []ProfilingOption{PerfEvent(buf, "task-clock", 0), OSTimer(buf)}, []string{"same writer"}},
		{"same event", true, []ProfilingOption{PerfEvent(w, "task-clock", 0), PerfEvent(buf, "task-clock", 0)}, []string{"task-clock", "twice"}},
		{"same clock", true, []ProfilingOption{PerfEvent(w, "task-clock", 0), PerfEvent(buf, "task-clock:uk", 0)}, []string{"task-clock:uk", "twice"}},
		{"two timers", true, []ProfilingOption{OSTimer(w), OSTimer(buf)}, []string{"twice"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.multi {
				t.Setenv(multipleEnv, "true")
			} else {
				t.Setenv(multipleEnv, "")
			}
			perfWantError(t, tt.opts, tt.words...)
		})
	}
	if buf.Len() != 0 {
		t.Error("something was written")
	}
	perfStartWorks(t)
}

// TestPerfInUse tests that a running profile, of the timer or of an event, is not
// disturbed by another start.
func TestPerfInUse(t *testing.T) {
	perfNeeds(t, "task-clock")
	for _, first := range []perfReq{{"", 0}, {"task-clock", 1e6}} {
		t.Run(first.name, func(t *testing.T) {
			r := perfProfileOf(t, []perfReq{first}, func() {
				fds, open := perfFDs(t)
				const rounds = 50
				for range rounds {
					for _, err := range []error{
						StartCPUProfileWithConfig(PerfEvent(io.Discard, "cpu-clock", 0)),
						StartCPUProfileWithConfig(OSTimer(io.Discard)),
						StartCPUProfile(io.Discard),
					} {
						if err == nil || !strings.Contains(err.Error(), "already in use") {
							t.Fatalf("start while a profile runs: %v", err)
						}
					}
				}
				// The running profile opens a counter for each thread that the
				// scheduler starts meanwhile. That is a few, not one per round.
				if f, o := perfFDs(t); f >= fds+rounds || open > 0 && o == 0 {
					t.Errorf("%d descriptors, %d counters; before %d, %d", f, o, fds, open)
				}
				perfSpin(100 * time.Millisecond)
			})[0]
			if r.total() == 0 {
				t.Errorf("the first profile has no samples:\n%s", r.ledger())
			}
		})
	}
}

// TestPerfNoPMU tests the error for an event that this machine does not have.
func TestPerfNoPMU(t *testing.T) {
	perfNeeds(t, "task-clock")
	for _, event := range []string{"cycles", "cache-misses", "branch-misses"} {
		if err := StartCPUProfileWithConfig(PerfEvent(io.Discard, event, 0)); err == nil {
			StopCPUProfile()
			continue
		}
		err := perfWantError(t, []ProfilingOption{PerfEvent(io.Discard, event, 0)}, event, "not supported", "task-clock")
		if !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.EOPNOTSUPP) {
			t.Errorf("error is %v", errors.Unwrap(err))
		}
		// Two events of which the second can't be had: neither is started.
		t.Setenv(multipleEnv, "true")
		perfWantError(t, []ProfilingOption{PerfEvent(io.Discard, "task-clock", 0), PerfEvent(new(bytes.Buffer), event, 0)}, event, "not supported")
		perfStartWorks(t)
		return
	}
	t.Skip("this machine has them all")
}

// TestPerfDescriptors tests what happens when there are too few descriptors: an
// error if the first thread can't be armed, a remark in the profile otherwise.
func TestPerfDescriptors(t *testing.T) {
	perfNeeds(t, "task-clock")
	if perfInChild() == "" {
		perfChild(t, "limit", nil)
		return
	}
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	t.Setenv(multipleEnv, "true")
	// Threads enough that they can't all be armed below.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	release, ready := make(chan bool), make(chan bool)
	for range 8 {
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready <- true
			<-release
		}()
		<-ready
	}
	defer close(release)
	// limited calls f with so few descriptors that free are left for counters.
	limited := func(free int, f func(own int)) {
		// The limit is one above the highest descriptor allowed. Fill the
		// holes below.
		var fill []*os.File
		for {
			f, err := os.Open("/dev/null")
			if err != nil {
				t.Fatal(err)
			}
			fill = append(fill, f)
			if n, _ := perfFDs(t); int(f.Fd()) >= n-2 { // n includes ReadDir's own
				break
			}
		}
		used := int(fill[len(fill)-1].Fd()) + 1
		small := syscall.Rlimit{Cur: uint64(used + free), Max: lim.Max}
		for int(small.Cur-small.Cur/4) < used+free { // a quarter is the program's
			small.Cur++
		}
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &small); err != nil {
			t.Fatal(err)
		}
		f(int(small.Cur) - used - free)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
			t.Fatal(err)
		}
		for _, f := range fill {
			f.Close()
		}
		perfNothingOpen(t)
	}
	// With two events, the k'th open of a counter fails.
	events := []perfReq{{"task-clock", 1e6}, {"cpu-clock", 1e6}}
	two := []ProfilingOption{PerfEvent(io.Discard, "task-clock", 0), PerfEvent(new(bytes.Buffer), "cpu-clock", 0)}
	for free := range 7 {
		limited(free, func(own int) {
			if free < 2 {
				err := StartCPUProfileWithConfig(two[0], two[1:]...)
				if !errors.Is(err, syscall.EMFILE) {
					t.Errorf("with %d descriptors left: error is %v", free, err)
				} else if s := err.Error(); !strings.Contains(s, "ulimit -n") || !strings.Contains(s, "descriptor") {
					t.Errorf("error has no remedy: %s", s)
				}
				return
			}
			for _, r := range perfProfileOf(t, events, func() {
				cpuHogger(cpuHog1, &salt1, 30*time.Millisecond)
				perfOpenFiles(t, own-1) // in cgo programs, one is a look for threads
			}) {
				if l := r.ledger(); !strings.Contains(l, "not sampled") || !strings.Contains(l, "descriptors") {
					t.Errorf("with too few descriptors for all threads the profile says only:\n%s", l)
				}
				if n := r.comment("threads"); n > int64(free/2) {
					t.Errorf("with %d descriptors %d threads were sampled for two events", free, n)
				}
			}
		})
	}
	perfStartWorks(t)
}

// perfOpenFiles fails the test unless n files can be opened.
func perfOpenFiles(t *testing.T, n int) {
	t.Helper()
	for i := range n {
		f, err := os.Open("/dev/null")
		if err != nil {
			t.Errorf("the program's own open %d of %d: %v", i+1, n, err)
			return
		}
		defer f.Close()
	}
}

// perfOrdinaryUser makes a command run as a user without capabilities. The test
// binary's directory may not be accessible to it, so the command is a copy of
// the binary that is.
func perfOrdinaryUser(t *testing.T) func(*exec.Cmd) {
	dir, err := os.MkdirTemp("/tmp", "perf")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return func(cmd *exec.Cmd) {
		b, err := os.ReadFile(cmd.Path)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path = dir + "/pprof.test"
		if err := os.WriteFile(cmd.Path, b, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			t.Fatal(err)
		}
		cmd.Dir = "/"
		const nobody = 65534
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

// TestPerfDenied tests the errors for an ordinary user and a strict kernel. Some
// distributions' kernels refuse all at 3 or 4; others take these for 2.
func TestPerfDenied(t *testing.T) {
	if paranoid := perfInChild(); paranoid != "" {
		words := []string{"perf_event_paranoid (now " + paranoid + ")", "CAP_PERFMON"}
		err := perfWantError(t, []ProfilingOption{PerfEvent(io.Discard, "task-clock:k", 0)}, append(words, "task-clock:k")...)
		if !errors.Is(err, syscall.EACCES) && !errors.Is(err, syscall.EPERM) {
			t.Errorf("error is %v", errors.Unwrap(err))
		}
		err = StartCPUProfileWithConfig(PerfEvent(io.Discard, "task-clock", 0))
		StopCPUProfile()
		if err == nil {
			perfStartWorks(t) // the user mode is allowed
			perfCheckUserOnly(t)
		} else if paranoid == "2" {
			t.Error(err)
		} else {
			perfWantError(t, []ProfilingOption{PerfEvent(io.Discard, "task-clock", 0)}, words...)
		}
		return
	}
	perfNeeds(t, "task-clock")
	perfNeedsRoot(t)
	user := perfOrdinaryUser(t)
	for _, paranoid := range []string{"2", "3", "4"} {
		t.Run(paranoid, func(t *testing.T) {
			perfSetSysctl(t, "perf_event_paranoid", paranoid)
			perfChild(t, paranoid, user)
		})
	}
}

// TestPerfSeccomp tests the error where a seccomp filter forbids
// perf_event_open, as in a container.
func TestPerfSeccomp(t *testing.T) {
	perfNeeds(t, "task-clock")
	if perfInChild() == "" {
		perfChild(t, "filter", nil)
		return
	}
	forbid(t, syscall.EPERM, perfEventOpenNr(t))
	err := perfWantError(t, []ProfilingOption{PerfEvent(io.Discard, "task-clock", 0)}, "seccomp", "container", "task-clock")
	if !errors.Is(err, syscall.EPERM) {
		t.Errorf("error is %v", errors.Unwrap(err))
	}
	// The timer needs no such permission.
	var buf bytes.Buffer
	if err := StartCPUProfileWithConfig(OSTimer(&buf)); err != nil {
		t.Error(err)
	}
	StopCPUProfile()
}

// Offsets in struct seccomp_data on little-endian machines.
const (
	seccompNr   = 0
	seccompArg3 = 16 + 8*3
)

// A seccompCheck is a part of a filter's condition.
type seccompCheck struct {
	offset uint32 // in struct seccomp_data, of a word
	value  uint32
}

// perfEventOpenNr is the condition for perf_event_open.
func perfEventOpenNr(t *testing.T) seccompCheck {
	t.Helper()
	nr, ok := map[string]uint32{"386": 336, "amd64": 298, "arm64": 241}[runtime.GOARCH]
	if !ok {
		t.Skip("system call numbers are not known here")
	}
	return seccompCheck{seccompNr, nr}
}

// forbid installs a seccomp filter (seccomp(2)) that makes the system calls
// fail that meet all conditions, on all threads of this process.
func forbid(t *testing.T, errno syscall.Errno, checks ...seccompCheck) {
	t.Helper()
	seccomp, ok := map[string]uintptr{"386": 354, "amd64": 317, "arm64": 277}[runtime.GOARCH]
	if !ok {
		t.Skip("system call numbers are not known here")
	}
	const (
		prSetNoNewPrivs = 38
		setModeFilter   = 1
		filterTsync     = 1
		retAllow        = 0x7fff0000
		retErrno        = 0x00050000
		loadAbs         = 0x20 // BPF_LD|BPF_W|BPF_ABS
		jumpEqual       = 0x15 // BPF_JMP|BPF_JEQ|BPF_K
		ret             = 0x06 // BPF_RET|BPF_K
	)
	type instruction struct {
		code   uint16
		jt, jf uint8
		k      uint32
	}
	var prog []instruction
	for i, c := range checks {
		// If not equal, jump behind the rest and the failure.
		prog = append(prog, instruction{loadAbs, 0, 0, c.offset},
			instruction{jumpEqual, 0, uint8(2*(len(checks)-1-i) + 1), c.value})
	}
	prog = append(prog, instruction{ret, 0, 0, retErrno | uint32(errno)}, instruction{ret, 0, 0, retAllow})
	fprog := struct {
		len    uint16
		filter *instruction
	}{uint16(len(prog)), &prog[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 {
		t.Fatalf("prctl: %v", errno)
	}
	if _, _, errno := syscall.RawSyscall(seccomp, setModeFilter, filterTsync, uintptr(unsafe.Pointer(&fprog))); errno != 0 {
		t.Fatalf("seccomp: %v", errno)
	}
}

// TestPerfNoRing tests sampling without rings, which need locked memory: the
// profile says so, and is still right.
func TestPerfNoRing(t *testing.T) {
	if perfInChild() == "" {
		perfNeeds(t, "task-clock")
		perfNeedsRoot(t)
		perfSetSysctl(t, "perf_event_mlock_kb", "0")
		// Memory is locked on the account of a user, and root has no limit.
		user := perfOrdinaryUser(t)
		out := perfChild(t, "no memory", func(cmd *exec.Cmd) {
			user(cmd)
			cmd.Env = append(cmd.Env, "PMU_TEST_REQUIRE=")
		})
		if !strings.Contains(out, "PASS") {
			t.Error("the child did not pass")
		}
		return
	}
	if err := syscall.Setrlimit(8 /* RLIMIT_MEMLOCK */, new(syscall.Rlimit)); err != nil {
		t.Fatal(err)
	}
	event := "cycles"
	if !perfCan(event) {
		event = "task-clock"
	}
	r := perfProfileOf(t, []perfReq{{event, 500e3}}, func() { perfSpin(300 * time.Millisecond) })[0]
	if n := perfMappings(t); n != 0 {
		t.Errorf("%d rings are mapped", n)
	}
	l := r.ledger()
	for _, w := range []string{"threads without a ring", "perf_event_mlock_kb", "ulimit -l"} {
		if !strings.Contains(l, w) {
			t.Errorf("the profile does not say %q:\n%s", w, l)
		}
	}
	if event == "cycles" {
		perfWithin(t, "cycles: counter / period, and samples",
			float64(r.comment("counted"))/float64(r.comment("period")), float64(r.total()), 0.01)
	} else if r.total() == 0 { // those in the kernel are missing, however many
		t.Errorf("no samples:\n%s", l)
	}

	if race.Enabled || !perfCan(perfCalls("perfTargetA")) {
		return
	}
	const calls = 3000
	r = perfProfileOf(t, []perfReq{{perfCalls("perfTargetA"), 1}}, func() { perfCaller1(calls) })[0]
	r.near("samples", float64(r.count(perfStartsWith("perfTargetA", "perfCaller1"))), calls, 0)

	rs := perfProfileOf(t, []perfReq{{perfCalls("perfTargetA"), 1}, {perfCalls("perfTargetB"), 1}}, func() {
		var x int
		for range calls {
			perfTargetA(&x)
			perfTargetB(&x)
		}
	})
	for _, r := range rs {
		r.near("samples beside another breakpoint", float64(r.total()), calls, 0)
	}
}

var _ = emulated(TestPerfNoRing)
