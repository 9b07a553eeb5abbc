// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"errors"
	"fmt"
	"io"
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
	fds := len(perfAllFDs(t))
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
	if n := len(perfAllFDs(t)); n != fds {
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
				fds, open := len(perfAllFDs(t)), len(perfFDs(t))
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
				if f, o := len(perfAllFDs(t)), len(perfFDs(t)); f >= fds+rounds || open > 0 && o == 0 {
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

// TestPerfTooMany checks that more events than can be sampled are refused
// before their names are looked at: it allocates nothing for each.
func TestPerfTooMany(t *testing.T) {
	const n = 10_000
	var names []string
	var opts []ProfilingOption
	for i := range n {
		names = append(names, fmt.Sprintf("r%x", i+1))
		opts = append(opts, PerfEvent(new(bytes.Buffer), names[i], 0))
	}
	for _, test := range []struct {
		what  string
		start func(n int) error
		want  string
	}{
		{"PerfEvents", func(n int) error { return StartCPUProfileWithConfig(PerfEvents(io.Discard, 0, names[:n]...)) },
			"cpu profile: %d events at once; at most 8 can be sampled"},
		{"options", func(n int) error { return StartCPUProfileWithConfig(opts[0], opts[1:n]...) },
			"cpu profile: %d events at once; at most 8 can be sampled"},
		{"both", func(n int) error {
			return StartCPUProfileWithConfig(opts[0], PerfEvents(io.Discard, 0, names[1:n]...))
		}, "cpu profile: %d events at once; at most 8 can be sampled"},
		{"OpenCounters", func(n int) error { _, err := OpenCounters(names[:n]...); return err },
			"counters: %d events at once; at most 8 can be counted"},
	} {
		var allocs [2]uint64
		for i, n := range []int{9, n} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := test.start(n)
			runtime.ReadMemStats(&after)
			allocs[i] = after.Mallocs - before.Mallocs
			if want := fmt.Sprintf(test.want, n); err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", test.what, err, want)
			}
		}
		t.Logf("%s: %d allocations for 9 events, %d for %d", test.what, allocs[0], allocs[1], n)
		if allocs[1] > allocs[0]+1000 {
			t.Errorf("%s: %d allocations for 9 events, %d for %d", test.what, allocs[0], allocs[1], n)
		}
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

// TestPerfSeccompLater tests a filter that the program installs while events are
// sampled: the threads that come later are missing, and the profile says why.
func TestPerfSeccompLater(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	switch mode := perfInChild(); mode {
	case "":
		for _, mode := range []string{"EPERM", "EACCES"} {
			perfChild(t, mode, nil)
		}
	default:
		errno, remedy := syscall.EPERM, "seccomp"
		if mode == "EACCES" {
			errno, remedy = syscall.EACCES, "perf_event_paranoid"
		}
		const later = 20
		sum := 0
		r := perfProfileOnce(t, []perfReq{{"task-clock:uk", 1e6}}, func() {
			forbid(t, errno, perfEventOpenNr(t))
			perfSpin(50 * time.Millisecond) // on a thread that is armed
			perfThreads(later, func() { sum += perfCompute(1000) })
		})[0]
		if want := later * perfCompute(1000); sum != want {
			t.Errorf("the later threads computed %d, want %d", sum, want)
		}
		if n := r.warned(); n < later/2 { // the first ones may be threads that were idle
			t.Errorf("%d threads were not sampled by the profile, want %d at least", n, later/2)
		}
		if l := r.ledger(); !strings.Contains(l, remedy) || !strings.Contains(l, errno.Error()[:10]) {
			t.Errorf("the profile does not say why:\n%s", l)
		}
		if r.total() == 0 {
			t.Error("no samples of the threads from before")
		}
		perfNothingOpen(t)
	}
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
