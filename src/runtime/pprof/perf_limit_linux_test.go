// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestPerfDescriptors tests what happens when there are too few descriptors: an
// error if the first thread can't be armed, a remark in the profile otherwise.
func TestPerfDescriptors(t *testing.T) {
	perfNeeds(t, "task-clock")
	if perfInChild() == "" {
		perfChild(t, "limit", nil)
		return
	}
	t.Setenv(multipleEnv, "true")
	// Threads enough that they can't all be armed below.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	defer perfParked(8)()
	// With two events, the k'th open of a counter fails.
	events := []perfReq{{"task-clock", 1e6}, {"cpu-clock", 1e6}}
	two := []ProfilingOption{PerfEvent(io.Discard, "task-clock", 0), PerfEvent(new(bytes.Buffer), "cpu-clock", 0)}
	for free := range 7 {
		perfWithDescriptors(t, free, func(own int) {
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

// perfWithDescriptors calls f with so few descriptors that free are left for counters,
// and own for the program.
func perfWithDescriptors(t *testing.T, free int, f func(own int)) {
	t.Helper()
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	// The limit is one above the highest descriptor allowed. Fill the holes below.
	var fill []*os.File
	for {
		f, err := os.Open("/dev/null")
		if err != nil {
			t.Fatal(err)
		}
		fill = append(fill, f)
		if int(f.Fd()) >= len(perfAllFDs(t))-2 {
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

// TestPerfNoPendingSignals tests RLIMIT_SIGPENDING 0, at which the kernel sends
// signals without their information.
func TestPerfNoPendingSignals(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	if perfInChild() == "" {
		perfChild(t, "limit", nil)
		return
	}
	const rlimitSigpending = 11
	if err := syscall.Setrlimit(rlimitSigpending, new(syscall.Rlimit)); err != nil {
		t.Fatal(err)
	}
	r := perfProfileOf(t, []perfReq{{"task-clock:uk", 1e6}}, func() { perfSpin(100 * time.Millisecond) })[0]
	r.balance()
}
