// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package testing_test

import (
	"fmt"
	"internal/testenv"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// The benchmarks below call counterTarget 10 times per operation while the
// timer is running, and some other number of times while it is not. The test
// runs them in a child process that counts the calls with a breakpoint.

// It is nosplit because a function whose stack check fails, be it to preempt
// the goroutine, begins once more.
//
//go:noinline
//go:nosplit
func counterTarget(x *int) { *x++ }

const counterTargetEvent = "mem:testing_test.counterTarget:x"

func callCounterTarget(n int) {
	var x int
	for range n {
		counterTarget(&x)
	}
}

func BenchmarkCountersLoop(b *testing.B) {
	callCounterTarget(7)
	for b.Loop() {
		callCounterTarget(10)
	}
	callCounterTarget(7)
}

func BenchmarkCountersN(b *testing.B) {
	for range b.N {
		callCounterTarget(10)
	}
}

func BenchmarkCountersStopTimer(b *testing.B) {
	for range b.N {
		callCounterTarget(4)
		b.StopTimer()
		callCounterTarget(100)
		b.StopTimer() // already
		b.StartTimer()
		b.StartTimer()
		callCounterTarget(6)
	}
	b.StopTimer()
	callCounterTarget(100)
}

func BenchmarkCountersResetTimer(b *testing.B) {
	callCounterTarget(100)
	b.ResetTimer() // running
	for range b.N {
		callCounterTarget(1)
	}
	b.StopTimer()
	b.ResetTimer() // stopped
	callCounterTarget(100)
	b.StartTimer()
	for range b.N {
		callCounterTarget(10)
	}
}

func BenchmarkCountersRunParallel(b *testing.B) {
	b.SetParallelism(3)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			callCounterTarget(10)
		}
	})
}

// Each operation ends a thread.
func BenchmarkCountersLockedThreads(b *testing.B) {
	for range b.N {
		var wg sync.WaitGroup
		wg.Go(func() {
			runtime.LockOSThread()
			callCounterTarget(10)
		})
		wg.Wait()
	}
}

func BenchmarkCountersSub(b *testing.B) {
	callCounterTarget(3)
	b.Run("Outer", func(b *testing.B) {
		callCounterTarget(3)
		b.Run("Inner", BenchmarkCountersN)
		callCounterTarget(3)
	})
	b.Run("Loop", BenchmarkCountersLoop)
}

// A benchmark's own metric comes first.
func BenchmarkCountersOwnMetric(b *testing.B) {
	for b.Loop() {
		callCounterTarget(11)
	}
	b.ReportMetric(10, counterTargetEvent+"/op")
}

// runCounters runs this program's benchmarks with counters.
func runCounters(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	cmd := testenv.Command(t, testenv.Executable(t), append([]string{"-test.run=^$"}, args...)...)
	// A preemption at the breakpoint would make it hit again.
	cmd.Env = append(cmd.Environ(), "GODEBUG=asyncpreemptoff=1")
	b, err := cmd.CombinedOutput()
	return string(b), err
}

func TestCountersExact(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("performance events are counted on Linux only")
	}
	// 300: few enough for a single call to show in the digits printed.
	out, err := runCounters(t, "-test.bench=^BenchmarkCounters", "-test.benchtime=300x",
		"-test.counters="+counterTargetEvent+",task-clock", "-test.count=2", "-test.cpu=1,3")
	if strings.Contains(out, "accepts breakpoints but does not stop at them") {
		t.Skip(out)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	unit := "Unit " + counterTargetEvent + "/op better=lower\nUnit task-clock-ns/op better=lower\n"
	if n := strings.Count(out, unit); n != 1 {
		t.Errorf("unit metadata is there %d times", n)
	}
	line := regexp.MustCompile(`(?m)^BenchmarkCounters(\S+)\s+\d+\t.*\t\s*([0-9.]+) ` + regexp.QuoteMeta(counterTargetEvent) + `/op\t\s*([0-9.]+) task-clock-ns/op$`)
	seen := make(map[string]int)
	for _, m := range line.FindAllStringSubmatch(out, -1) {
		name, _, _ := strings.Cut(m[1], "-")
		seen[name]++
		if m[2] != "10.00" {
			t.Errorf("%s: %s calls per operation, want 10.00", m[1], m[2])
		}
		if ns, err := strconv.ParseFloat(m[3], 64); err != nil || ns <= 0 {
			t.Errorf("%s: %s ns of CPU time per operation", m[1], m[3])
		}
	}
	for _, name := range []string{"Loop", "N", "StopTimer", "ResetTimer", "RunParallel", "LockedThreads", "Sub/Outer/Inner", "Sub/Loop", "OwnMetric"} {
		if seen[name] != 4 {
			t.Errorf("%s: %d results, want 4", name, seen[name])
		}
	}
	if t.Failed() {
		t.Logf("\n%s", out)
	}
}

func TestCountersFlagErrors(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-test.counters=task-clock"}, "-test.counters=task-clock needs -test.bench"},
		{[]string{"-test.bench=^BenchmarkCountersN$", "-test.counters=task-clocks"}, "task-clock"},
		{[]string{"-test.bench=^BenchmarkCountersN$", "-test.counters=task-clock,"}, "counters: "},
	} {
		out, err := runCounters(t, tt.args...)
		if err == nil || !strings.Contains(out, tt.want) {
			t.Errorf("%q: error %v, want %q, in\n%s", tt.args, err, tt.want, out)
		}
		if strings.Contains(out, "ns/op") {
			t.Errorf("%q: benchmarks have run", tt.args)
		}
	}
}

// What StartTimer and StopTimer cost with counters, which the benchmarks
// themselves don't see. It is the difference between the two results.
func BenchmarkStartStopTimer(b *testing.B) {
	threads := 0
	if d, err := os.ReadDir("/proc/self/task"); err == nil {
		threads = len(d)
	}
	b.Run(fmt.Sprint("threads=", threads), func(b *testing.B) {
		var inner testing.B
		inner.ResetTimer()
		for b.Loop() {
			inner.StartTimer()
			inner.StopTimer()
		}
	})
}
