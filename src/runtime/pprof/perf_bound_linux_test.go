// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of the overhead bound: whatever the period, the program gets on.

package pprof

import (
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// perfThreadCPU returns the CPU time of the current thread, interrupts
// included. (Wall-clock time on a busy machine is not about this process.)
func perfThreadCPU(t *testing.T) time.Duration {
	t.Helper()
	const rusageThread = 1
	var u syscall.Rusage
	if err := syscall.Getrusage(rusageThread, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perfFault causes a number of page faults.
func perfFault(t *testing.T, faults int) {
	t.Helper()
	const pages = 512
	for ; faults > 0; faults -= pages {
		b, err := syscall.Mmap(-1, 0, pages*4096, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		if err != nil {
			t.Fatal(err)
		}
		syscall.Madvise(b, syscall.MADV_NOHUGEPAGE)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		syscall.Munmap(b)
	}
}

// TestPerfBound tests that at periods that are shorter than what a sample
// costs a thread keeps at least half its speed, and the totals stay right.
func TestPerfBound(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	compute := func() { perfCompute(200e6) }
	fault := func() { perfFault(t, 50e3) }
	for _, tt := range []struct {
		name   string
		work   func()
		events []perfReq
	}{
		{"task-clock", compute, []perfReq{{"task-clock", 1e3}}},
		{"task-clock:uk", compute, []perfReq{{"task-clock:uk", 1e3}}},
		{"cpu-clock:uk", compute, []perfReq{{"cpu-clock:uk", 10e3}}},
		{"page-faults", fault, []perfReq{{"page-faults", 1}}},
		{"page-faults:uk", fault, []perfReq{{"page-faults:uk", 1}}},
		{"several", fault, []perfReq{
			{"task-clock:uk", 5e3}, {"cpu-clock:uk", 5e3}, {"task-clock", 5e3}, {"cpu-clock", 5e3},
			{"page-faults:uk", 1}, {"minor-faults", 2}, {"minor-faults:uk", 1}, {"page-faults", 3}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			took := func(f func()) time.Duration {
				t0 := perfThreadCPU(t)
				f()
				return perfThreadCPU(t) - t0
			}
			var without, with []time.Duration
			var rs []*perfResult
			// The machine's own speed varies by more than half while it does other
			// things. A program that is slower than allowed is so each time.
			ratio := math.Inf(1)
			for round := 0; round < 2 || round < 8 && ratio > 2; round++ {
				without = append(without, took(tt.work))
				rs = perfProfileOnce(t, tt.events, func() { with = append(with, took(tt.work)) })
				ratio = float64(slices.Min(with)) / float64(slices.Min(without))
			}
			t.Logf("CPU time %v without, %v with: %.2f", without, with, ratio)
			if ratio > 2 {
				t.Errorf("the program has become %.2f times slower", ratio)
			}
			bounded := false
			for _, r := range rs {
				counted, sampled := float64(r.comment("counted")), float64(r.events())
				t.Logf("%s: counted %.0f, sampled %.0f", r.name, counted, sampled)
				if strings.HasSuffix(r.name, "-clock") {
					// It is counted in the kernel, too, but not sampled.
				} else if sampled < 0.95*counted || sampled > 1.05*counted {
					t.Errorf("%s: counted %.0f, sampled %.0f:\n%s", r.name, counted, sampled, r.ledger())
				}
				bounded = bounded || strings.Contains(r.ledger(), "overhead bound")
			}
			if !bounded {
				t.Errorf("no event has a longer period:\n%s", rs[0].ledger())
			}
		})
	}
}

//go:noinline
func perfCompute(n int) (x int) {
	for i := range n {
		x += i * i
	}
	return x
}

// TestPerfBoundSeveral tests that changes of one event's period, for what
// another one costs too, drop nothing: the samples stand for every event.
func TestPerfBoundSeveral(t *testing.T) {
	perfNeeds(t, "page-faults:uk")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	bounded := false
	for _, r := range perfProfileOf(t, []perfReq{{"page-faults:uk", 7}, {"minor-faults:uk", 7}, {"minor-faults", 7}}, func() {
		for range 20 {
			perfFault(t, 2000)
			perfCompute(1e6)
		}
	}) {
		t.Log(r.ledger())
		longest := perfMaxPeriod(r)
		r.near("events of all samples", float64(r.events()), float64(r.comment("counted")), float64(longest*r.comment("threads")))
		bounded = bounded || longest > r.comment("period")
	}
	if !bounded {
		t.Error("no event has a longer period")
	}
}

// TestPerfBoundTightened tests the variable that tightens the bound.
func TestPerfBoundTightened(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	longest := func(cost string) int64 {
		t.Setenv(costEnv, cost)
		r := perfProfileOf(t, []perfReq{{"task-clock:uk", 300e3}}, func() { perfCompute(300e6) })[0]
		n := perfMaxPeriod(r)
		t.Logf("%s=%s: periods up to %d", costEnv, cost, n)
		return n
	}
	if loose, tight := longest(""), longest("1"); tight <= loose {
		t.Errorf("periods up to %d, at 1 percent %d", loose, tight)
	}
	for _, cost := range []string{"0", "26", "x", "-1"} {
		t.Setenv(costEnv, cost)
		if err := StartCPUProfileWithConfig(PerfEvent(io.Discard, "task-clock:uk", 0)); err == nil {
			StopCPUProfile()
			t.Errorf("%s=%s is accepted", costEnv, cost)
		} else if !strings.Contains(err.Error(), costEnv) || !strings.Contains(err.Error(), "1 to 25") {
			t.Errorf("%s=%s: %v", costEnv, cost, err)
		}
	}
	perfNothingOpen(t)
}

// perfMaxPeriod returns the longest period that the overhead bound has taken.
func perfMaxPeriod(r *perfResult) int64 {
	if strings.Contains(r.ledger(), "overhead bound") {
		for _, c := range r.Comments {
			if v, ok := strings.CutPrefix(c, "overhead bound: periods up to "); ok {
				v, _, _ = strings.Cut(v, ",")
				return perfAtoi(r.t, v)
			}
		}
	}
	return r.comment("period")
}

func perfAtoi(t *testing.T, s string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestPerfStuck tests breakpoints on functions that the profiler's own signal
// handler calls, before it looks for samples and while it records them. Each
// sample then causes another: the program must get on, and the profile say so.
func TestPerfStuck(t *testing.T) {
	perfNeedsExact(t)
	if perfInChild() == "" {
		perfChild(t, "stuck", nil) // with threads of its own
		return
	}
	for _, fn := range []string{"memmove", "sigtrampgo", "sighandler"} {
		t.Run(fn, func(t *testing.T) {
			r := perfProfileOf(t, []perfReq{{"mem:runtime." + fn + ":x", 1}}, func() {
				src, dst := make([]byte, 1000), make([]byte, 1000)
				for i := range 1000 {
					src[0] = byte(i)
					copy(dst, src[:500+i%500])
				}
				if err := syscall.Kill(syscall.Getpid(), syscall.SIGURG); err != nil {
					t.Fatal(err)
				}
				perfSpin(100 * time.Millisecond)
				if dst[0] != src[0] {
					t.Errorf("copied %d, want %d", dst[0], src[0])
				}
			})[0]
			if !strings.Contains(r.ledger(), "warning: stopped on ") {
				t.Errorf("the profile does not say that the breakpoint was stopped:\n%s", r.ledger())
			}
		})
	}
}
