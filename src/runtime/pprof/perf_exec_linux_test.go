// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"internal/msan"
	"internal/race"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestPerfExec tests that a child process has none of the counters' descriptors.
func TestPerfExec(t *testing.T) {
	if perfInChild() != "" {
		n := len(perfFDs(t))
		fmt.Printf("counters: %d\n", n)
		return
	}
	perfNeeds(t, "task-clock:uk")
	if err := StartCPUProfileWithConfig(PerfEvent(io.Discard, "task-clock:uk", 1e6)); err != nil {
		t.Fatal(err)
	}
	defer StopCPUProfile()
	if n := len(perfFDs(t)); n == 0 {
		t.Error("no counters are open while sampling")
	}
	if out := perfChild(t, "list", nil); !strings.Contains(out, "counters: 0\n") {
		t.Errorf("a child has counters:\n%s", out)
	}
}

// TestPerfExecSelf tests that a process lives on in another program, of which it
// becomes one while events in the kernel are sampled, and system calls are a part
// of the time: that program has SIGPROF's default, which would kill it. A process
// does so 60 times, from several threads.
func TestPerfExecSelf(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	const times = 60
	left := perfInChild()
	if left == "" {
		left = strconv.Itoa(times)
		if out := perfChild(t, left, nil); strings.Count(out, "another program\n") != times+1 {
			t.Errorf("a process became another program %d times, want %d", strings.Count(out, "another program\n")-1, times)
		}
		return
	}
	fmt.Println("another program")
	n, err := strconv.Atoi(left)
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		if mask := perfStatus(t, "SigBlk"); mask != "0000000000000000" {
			t.Errorf("signals are blocked: %s", mask)
		}
		return
	}
	if err := StartCPUProfileWithConfig(PerfEvent(io.Discard, "task-clock:uk", 50e3)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		go func() {
			for {
				perfCompute(1e5)
			}
		}()
	}
	os.Setenv("PMU_TEST_CHILD", strconv.Itoa(n-1))
	os.Setenv("PMU_TEST_LONG", strings.Repeat("x", 100e3)) // for the kernel to copy
	exec := func() error { return syscall.Exec(os.Args[0], os.Args, os.Environ()) }
	failed := make(chan error)
	if n%2 == 0 {
		go func() {
			runtime.LockOSThread() // on another thread than the first
			failed <- exec()
		}()
	} else {
		go func() { failed <- exec() }()
	}
	t.Fatal(<-failed)
}

// TestPerfExecFails tests that a profile goes on when the program could not be
// replaced by another, and that what the attempts took is theirs.
func TestPerfExecFails(t *testing.T) {
	if race.Enabled || msan.Enabled {
		t.Skip("sanitizers look at all of the arguments, without a stack")
	}
	perfNeeds(t, "task-clock:uk")
	noProgram := filepath.Join(t.TempDir(), "no program")
	if err := os.WriteFile(noProgram, []byte("this is no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	args := slices.Repeat([]string{strings.Repeat("x", 100e3)}, 10) // for the kernel to copy
	var exec, compute int64
	r := perfProfileOf(t, []perfReq{{"task-clock:uk", 100e3}}, func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		exec, compute = 0, 0
		for i := range 100 {
			start := threadTime(t)
			if err := syscall.Exec(noProgram, args, nil); err != syscall.ENOEXEC {
				t.Errorf("execve: %v", err)
			}
			executed := threadTime(t)
			n := 100000
			if i == 99 {
				n = 400e6 // more samples than a ring holds, if there are no signals
			}
			perfCompute(n)
			exec += executed - start
			compute += threadTime(t) - executed
		}
	})[0]
	r.balance()
	// The profile's clock ticks on where the hypervisor steals, which CPU time does
	// not, so these are lower limits.
	var inExec, inCompute int64
	for _, s := range r.Sample {
		switch fs := perfFrames(s); {
		case slices.Contains(fs, "syscall.Exec"), slices.Contains(fs, "runtime._PerfDelayed"):
			inExec += s.Value[1]
		case slices.Contains(fs, "runtime/pprof.perfCompute"):
			inCompute += s.Value[1]
		}
	}
	t.Logf("%d ns in Exec, %d in the profile; %d ns computing, %d in the profile", exec, inExec, compute, inCompute)
	if inExec < exec*3/4 || inCompute < compute*3/4 {
		t.Errorf("%d ns in Exec, %d in the profile; %d ns computing, %d in the profile:\n%s", exec, inExec, compute, inCompute, r.byStack())
	}
}
