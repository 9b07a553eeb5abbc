// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// A test that samples of a clock are where those of the timer are.

package pprof

import (
	"internal/race"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Work for TestPerfPlaceTimer: kinds of code that are unwound in different ways.

//go:noinline
func placeWorkInlined() {
	x := 1
	for range 20 {
		x = placeHog(x)
	}
	placeSink += x
}

func placeHog(x int) int { return placeHogLoop(x) }

func placeHogLoop(x int) int {
	for i := range 10000 {
		x = x*x + i
	}
	return x
}

//go:noinline
func placeWorkGeneric[T int | float64](x T) (y T) {
	for range 200000 {
		y = y*x + x
	}
	return y
}

//go:noinline
func placeWorkClosure() {
	x := 1
	f := func(i int) { x = x*x + i }
	for range 20 {
		slices.SortFunc(placeInts[:copy(placeInts, placeIntsFrom)], func(a, b int) int { f(a); return a - b })
	}
}

var (
	placeIntsFrom = func() []int {
		s := make([]int, 1000)
		for i := range s {
			s[i] = i * 7919 % len(s)
		}
		return s
	}()
	placeInts = make([]int, len(placeIntsFrom))
)

//go:noinline
func placeWorkDefer() {
	x := 1
	defer func() {
		for i := range 200000 {
			x = x*x + i
		}
		placeSink += x
	}()
}

//go:noinline
func placeWorkClock() {
	for range 5000 {
		placeSink += time.Now().Nanosecond()
	}
}

//go:noinline
func placeWorkCopy() {
	for range 4000 {
		copy(placeBuf[:], placeFrom)
	}
}

//go:noinline
func placeWorkClear() {
	for range 4000 {
		clear(placeBuf[:])
	}
}

//go:noinline
func placeWorkStack() {
	for range 20 {
		placeSink += runtime.Stack(placeBuf[:], false)
	}
}

//go:noinline
func placeWorkSyscall() {
	for range 200 {
		os.Getppid()
	}
}

type placeTree struct{ left, right *placeTree }

//go:noinline
func placeGrow(depth int) *placeTree {
	if depth == 0 {
		return nil
	}
	return &placeTree{placeGrow(depth - 1), placeGrow(depth - 1)}
}

//go:noinline
func placeWorkGC() {
	tree := placeGrow(14)
	runtime.GC()
	runtime.KeepAlive(tree)
}

// TestPerfPlaceTimer tests that an event of CPU time and the timer, sampled at the
// same time, find the same program: the same calls, as often.
func TestPerfPlaceTimer(t *testing.T) {
	// With the kernel, as the timer has it.
	event, unit := "cycles:uk", 1e9 // one takes a nanosecond or less, on the emulated machine 1 ns
	if !perfCan(event) {
		event = "task-clock:uk"
	}
	perfNeeds(t, event)
	if race.Enabled {
		t.Skip("most of the time is the thread sanitizer's, which has no stack")
	}
	d := 2 * time.Second // of CPU time
	if testing.Short() {
		d = time.Second
	}
	work := []func(){
		placeWorkInlined, func() { placeSink += placeWorkGeneric(1) }, func() { placeWorkGeneric(1.5) },
		placeWorkClosure, placeWorkDefer, placeWorkClock, placeWorkCopy, placeWorkClear, placeWorkStack, placeWorkSyscall, placeWorkGC,
	}
	sample := func(d time.Duration) []*perfResult {
		return perfProfileOf(t, []perfReq{{event, 1e6}, {"", 0}}, func() {
			// Each kind gets the same CPU time, in turns so short that the
			// machine's moods hit all alike.
			spent := make([]time.Duration, len(work))
			for start := rusage(t); cpuTime(rusage(t))-cpuTime(start) < int64(d); {
				least := 0
				for i, s := range spent {
					if s < spent[least] {
						least = i
					}
				}
				turn := time.Now()
				work[least]()
				spent[least] += time.Since(turn)
			}
		})
	}
	// A tick that is late is one sample of the timer for several. So where the machine is kept
	// from running, as many samples take longer.
	rs, enough := sample(d), 0.7*d.Seconds()*timerHz
	for more := 2 * d; float64(rs[1].total()) < enough && more <= 8*d; more *= 2 {
		t.Logf("%d samples of the timer in %v", rs[1].total(), more/2)
		rs = sample(more)
	}
	pmu, timer := rs[0], rs[1]
	n := float64(timer.total())
	if n < enough || float64(pmu.events()) < 0.7*d.Seconds()*unit {
		t.Fatalf("%.0f samples of the timer, %d %s", n, pmu.events(), event)
	}
	a, b := placeShares(pmu), placeShares(timer)
	for chain := range a {
		b[chain] += 0 // so that b has them all
	}
	var distance float64
	for chain, y := range b {
		x := a[chain]
		distance += math.Abs(x-y) / 2
		// Of n samples, a chain with a share of p has np, give or take sqrt(np).
		if n*max(x, y) >= 12 && min(x, y) == 0 {
			t.Errorf("%.2f %% of %s, %.2f %% of the timer: %s", 100*x, event, 100*y, chain)
		}
		if tol := 5*math.Sqrt(max(x, y, 1/n)/n) + 0.005; math.Abs(x-y) > tol {
			t.Errorf("%.2f %% of %s, %.2f %% of the timer (tolerance %.2f): %s", 100*x, event, 100*y, 100*tol, chain)
		} else if max(x, y) > 0.01 {
			t.Logf("%6.2f %% of %s, %6.2f %% of the timer: %s", 100*x, event, 100*y, chain)
		}
	}
	t.Logf("%d samples of %s, %.0f of the timer; their distributions over %d chains differ by %.1f %%", pmu.total(), event, n, len(b), 100*distance)
}

var _ = emulated(TestPerfPlaceTimer)

// placeShares returns the part of the samples in each chain of calls. What the
// profiler does, and what is too rare to compare, is left out.
func placeShares(r *perfResult) map[string]float64 {
	m := make(map[string]float64)
	var all float64
	for _, s := range r.Sample {
		fs := perfFrames(s)
		// Leafs differ between samples of the same call: compare callers.
		fs = slices.DeleteFunc(fs, func(f string) bool { return f == "runtime.asyncPreempt" })
		if slices.ContainsFunc(fs, func(f string) bool {
			return strings.HasPrefix(f, "runtime._Perf") || strings.HasPrefix(f, "runtime/pprof.(*perf") || strings.HasPrefix(f, "runtime/pprof.(*profile") || f == "runtime/pprof.profileWriter"
		}) {
			continue
		}
		i := slices.IndexFunc(fs, func(f string) bool { return strings.HasPrefix(f, "runtime/pprof.place") })
		var key string
		switch {
		case i >= 0:
			key = strings.Join(fs[i:], " < ")
			if i > 0 {
				key = "[callees] < " + key
			}
		case len(fs) > 0:
			key = fs[len(fs)-1] // a goroutine of the runtime
		}
		m[key] += float64(s.Value[1]) // a sample may stand for several periods
		all += float64(s.Value[1])
	}
	for k := range m {
		m[k] /= all
	}
	return m
}
