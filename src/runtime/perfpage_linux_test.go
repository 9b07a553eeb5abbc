// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"internal/runtime/perf"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// noCounters skips the test, or fails it if counters are required.
func noCounters(t *testing.T, format string, args ...any) {
	t.Helper()
	if strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "instructions") {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// allowUserCounters lets programs read the processor's counters until the test
// ends.
func allowUserCounters(t *testing.T) {
	const file = "/proc/sys/kernel/perf_user_access" // arm64's
	if old, err := os.ReadFile(file); err == nil {
		if err := os.WriteFile(file, []byte("1"), 0); err != nil {
			noCounters(t, "programs may not read counters here, and this test not change that: %v", err)
		}
		t.Cleanup(func() { os.WriteFile(file, old, 0) })
	}
}

// openCycles opens a set that counts cycles and instructions.
func openCycles(t *testing.T) (set perf.SetID) {
	set, f := runtime.PerfCountStart([]perf.Attr{
		{Type: 0, Config: 0, ExcludeKernel: true, ExcludeHV: true},
		{Type: 0, Config: 1, ExcludeKernel: true, ExcludeHV: true},
	})
	if f.Op != perf.OpNone {
		noCounters(t, "no counters: %+v", f)
	}
	t.Cleanup(func() { runtime.PerfCountStop(set) })
	return set
}

func readCounters(t *testing.T, set perf.SetID) (c [2]perf.Count) {
	t.Helper()
	if missed, f := runtime.PerfCountRead(set, c[:]); missed != 0 {
		t.Fatalf("%d threads missed: %+v", missed, f)
	}
	return c
}

// TestPerfCountRegisters tests that counters are read without system calls where
// that is possible, and that it makes no difference to what is read.
func TestPerfCountRegisters(t *testing.T) {
	allowUserCounters(t)
	set, calls := openCycles(t), openCycles(t)
	if !runtime.PerfCountUser(set, false) {
		noCounters(t, "the counters are not readable in user mode")
	}
	runtime.PerfCountUser(calls, true)

	// Threads that sleep, and come and go.
	var wg sync.WaitGroup
	stop := make(chan bool)
	for range 4 {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			<-stop
		})
	}
	defer wg.Wait()
	defer close(stop)

	var late sync.WaitGroup
	for round := range 20 {
		inner, outer := readCounters(t, calls), readCounters(t, set)
		spinSomewhere(round, &late)
		after := readCounters(t, set)
		innerAfter := readCounters(t, calls)
		for i, name := range []string{"cycles", "instructions"} {
			// From inner to innerAfter is a longer time than from outer to after.
			most := innerAfter[i].Value - inner[i].Value
			got := after[i].Value - outer[i].Value
			if got > most || got < 1e6 || round%4 != 3 && most-got > most/10 {
				t.Errorf("round %d: %d %s read in user mode, %d by system calls before and after that", round, got, name, most)
			}
			if after[i].Enabled != after[i].Running {
				t.Errorf("round %d: %s: enabled for %d ns, running for %d", round, name, after[i].Enabled, after[i].Running)
			}
			// The times in a page are those of when the kernel last updated its
			// own, which was some microseconds before it wrote the page.
			enabled, longer := int64(after[i].Enabled-outer[i].Enabled), int64(innerAfter[i].Enabled-inner[i].Enabled)
			if enabled > longer+200e3 || round%4 != 3 && longer-enabled > longer/2+1e6 {
				t.Errorf("round %d: enabled for %d ns read in user mode, for %d by system calls before and after that", round, enabled, longer)
			}
		}
	}
	late.Wait()

	// What wakes other threads meanwhile is the runtime's own.
	const reads = 1000
	got, threads := countCalls(t, set, reads)
	all, _ := countCalls(t, calls, reads)
	t.Logf("%d reads of %d threads: %d system calls, without user mode %d", reads, threads, got, all)
	if all < reads*uint64(threads) {
		t.Errorf("%d reads of %d threads took %d system calls without user mode", reads, threads, all)
	}
	if got > all/10 {
		t.Errorf("%d reads of %d threads took %d system calls", reads, threads, got)
	}
}

// countCalls reads the set so many times, and returns how many system calls that took and
// of how many threads it is.
func countCalls(t *testing.T, set perf.SetID, reads int) (calls uint64, threads int) {
	t.Helper()
	before, _ := runtime.PerfCountCalls(set)
	for range reads {
		readCounters(t, set)
	}
	after, threads := runtime.PerfCountCalls(set)
	return after - before, threads
}

// spinSomewhere computes on other threads from round to round. In each fourth round one
// of them goes on, which is in late.
func spinSomewhere(round int, late *sync.WaitGroup) {
	spin := func(n int) (x int) {
		for i := range n {
			x += i
		}
		return x
	}
	switch round % 4 {
	case 0:
		spin(1e6)
	case 1: // on another thread, which then ends
		done := make(chan bool)
		go func() {
			runtime.LockOSThread()
			spin(1e6)
			close(done)
		}()
		<-done
	case 2: // on two at once
		var wg sync.WaitGroup
		wg.Go(func() { spin(1e6) })
		spin(1e6)
		wg.Wait()
	case 3: // goes on while it is read
		late.Go(func() { spin(3e6) })
		spin(1e6)
	}
}
