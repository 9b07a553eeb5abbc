// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of perfbreak_linux.go in package runtime: breakpoints that sample each hit.

package pprof

import (
	"fmt"
	"internal/msan"
	"internal/testenv"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

// TestPerfCalls tests that each call of a function with a breakpoint is one
// sample, with the right caller, at period 1, and that N calls are N/p samples
// at period p.
func TestPerfCalls(t *testing.T) {
	perfNeedsExact(t)
	if perfInChild() == "" {
		// Preemption by signals finds a function with a breakpoint mostly on
		// the breakpoint, so both ways to be preempted matter.
		t.Run("asyncpreemptoff", func(t *testing.T) {
			perfChild(t, "asyncpreemptoff", func(cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, "GODEBUG=asyncpreemptoff=1")
			})
		})
	}
	for _, tt := range []struct {
		procs   int
		preempt bool
	}{
		{1, false},
		{4, false},
		{4, true},
	} {
		for _, period := range []uint64{1, 7, 101} {
			t.Run(fmt.Sprintf("procs=%d,preempt=%t,period=%d", tt.procs, tt.preempt, period), func(t *testing.T) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(tt.procs))
				// All samples fit in the profile's buffer: without preemption by
				// signals nobody reads it while these calls are made.
				calls, run := perfCallersOfA(tt.procs, 200)
				again := int64(0) // how many calls may have been preempted
				r := perfProfileOf(t, []perfReq{{perfCalls("perfTargetA"), period}}, func() {
					if tt.preempt {
						stop := perfPreempter()
						defer func() { again = stop() * int64(tt.procs) }()
					}
					run()
				})[0]
				perfCheckCalls(t, r, calls, again)
			})
		}
	}
}

// perfTargetGrow has a frame too large for the stack of a new goroutine.
//
//go:noinline
func perfTargetGrow(n *int) {
	var buf [16 << 10]byte
	perfTargetA(n)
	buf[*n%len(buf)] = 1
	*n += int(buf[0])
}

//go:noinline
func perfCallerGrow(x *int) { perfTargetGrow(x) }

// TestPerfCallsGrow tests that a call is one sample even if the function starts
// anew, because its stack had to grow or the goroutine had to yield.
func TestPerfCallsGrow(t *testing.T) {
	perfNeedsExact(t)
	if perfInChild() == "" {
		t.Run("asyncpreemptoff", func(t *testing.T) {
			perfChild(t, "asyncpreemptoff", func(cmd *exec.Cmd) {
				cmd.Env = append(cmd.Env, "GODEBUG=asyncpreemptoff=1")
			})
		})
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const goroutines, calls = 500, 20
	r := perfProfileOf(t, []perfReq{{perfCalls("perfTargetGrow"), 1}}, func() {
		defer perfPreempter()()
		for range goroutines {
			var wg sync.WaitGroup
			wg.Go(func() {
				var x int
				for range calls {
					perfCallerGrow(&x)
				}
			})
			wg.Wait()
		}
	})[0]
	r.near("samples", float64(r.count(perfStartsWith("perfTargetGrow", "perfCallerGrow"))), goroutines*calls, 0)
	r.near("total", float64(r.total()), goroutines*calls, 0)
	if t.Failed() {
		t.Log(r.byStack())
	}
}

// perfPreempter starts to stop the world again and again. It returns a function
// that ends that, and returns how often it was.
func perfPreempter() (stop func() int64) {
	quit := make(chan bool)
	var wg sync.WaitGroup
	n := int64(0)
	wg.Go(func() {
		var ms runtime.MemStats
		for {
			select {
			case <-quit:
				return
			default:
				runtime.ReadMemStats(&ms)
				n++
			}
		}
	})
	return func() int64 {
		close(quit)
		wg.Wait()
		return n
	}
}

func perfCheckCalls(t *testing.T, r *perfResult, calls map[string]int64, again int64) {
	t.Helper()
	period := r.comment("period")
	var all, found int64
	for caller, n := range calls {
		got := r.count(perfStartsWith("perfTargetA", caller))
		all += n
		if period == 1 {
			r.near("samples from "+caller, float64(got), float64(n), 0)
		}
		found += got
	}
	if period == 1 {
		r.near("samples", float64(r.total()), float64(all), 0)
	} else {
		// The counter has a hit again for each preemption on the breakpoint.
		// Only at period 1 are those told apart. A few are the scheduler's.
		r.balance()
		most := max(float64(all)/5, float64(again))
		r.near("counter", float64(r.comment("counted")), float64(all)+most/2, most/2)
	}
	if r.total() != found {
		t.Errorf("%d of %d samples are not in calls from these callers:\n%s", r.total()-found, r.total(), r.byStack())
	}
	if t.Failed() {
		t.Log(r.byStack())
	}
}

// TestPerfBreakpoints tests several breakpoints at once, alone and beside
// clocks and the timer, whose signals coincide with theirs.
func TestPerfBreakpoints(t *testing.T) {
	perfNeedsExact(t)
	perfNeeds(t, "task-clock:uk")
	targets := []struct {
		name string
		f    func(*int)
		n    int64
	}{
		{"perfTargetA", perfTargetA, 3000},
		{"perfTargetB", perfTargetB, 1000},
		{"perfTargetC", perfTargetC, 4000},
		{"perfTargetD", perfTargetD, 2000},
	}
	for _, tt := range []struct {
		name   string
		bps    int
		others []perfReq
	}{
		{"2", 2, nil},
		{"4", 4, nil},
		{"2+clock", 2, []perfReq{{"task-clock:uk", 200e3}}},
		{"4+clock", 4, []perfReq{{"task-clock:uk", 200e3}}},
		{"4+timer", 4, []perfReq{{"", 0}}},
		{"4+clocks+timer", 4, []perfReq{{"task-clock:uk", 300e3}, {"cpu-clock:uk", 300e3}, {"", 0}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var events []perfReq
			for _, g := range targets[:tt.bps] {
				events = append(events, perfReq{perfCalls(g.name), 1})
			}
			rs := perfProfileOf(t, append(events, tt.others...), func() {
				for range 2 {
					var x int
					for i := range 2000 {
						for _, g := range targets {
							if int64(i) < g.n/2 {
								g.f(&x)
							}
						}
					}
				}
			})
			for i, r := range rs[:tt.bps] {
				g := targets[i]
				r.near("samples", float64(r.count(perfStartsWith(g.name))), float64(g.n), 0)
				r.near("total", float64(r.total()), float64(g.n), 0)
			}
			for _, r := range rs[tt.bps:] {
				if r.name != "" {
					r.balance()
				} else if r.total() == 0 {
					t.Error("no samples of the timer")
				}
			}
		})
	}
}

var perfInlinedVar, perfInlinedSum int

// perfInlinedWrite goes on after the write, where the breakpoint finds it.
func perfInlinedWrite() {
	perfInlinedVar++
	perfInlinedSum += 3*perfInlinedSum + 1
}

// TestPerfInlinedLeaf tests that an instruction of an inlined function has the
// same frames in a sample with a stack and in one that has the leaf only. (If
// not, the profile can't be built and the program panicked.)
func TestPerfInlinedLeaf(t *testing.T) {
	perfNeedsExact(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const n = 5
	r := perfProfileOf(t, []perfReq{{perfWrites(&perfInlinedVar), 1}}, func() {
		for i := range 2 * n {
			if i == n {
				defer perfBlockSIGPROF(t)()
			}
			perfInlinedWrite()
		}
	})[0]
	r.near("samples", float64(r.total()), 2*n, 0)
	const inlined, in = "runtime/pprof.perfInlinedWrite", "runtime/pprof.TestPerfInlinedLeaf.func1"
	whole := r.count(perfStartsWithFrames(inlined, in, "runtime/pprof.perfProfileOnce"))
	r.near("samples with their stack", float64(whole), n, 0)
	leaf := r.count(perfStartsWithFrames(inlined, in, "runtime._PerfDelayed"))
	r.near("samples with their leaf", float64(leaf), n, 0)
	if t.Failed() {
		t.Log(r.byStack())
	}
}

// TestPerfStuck tests breakpoints on functions that the profiler's own signal
// handler calls, before it looks for samples and while it records them. Each
// sample then causes another: the program must get on, and the profile say so,
// however much of the machine and of the thread's own time is taken by others
// between two samples.
func TestPerfStuck(t *testing.T) {
	perfNeedsExact(t)
	mode := perfInChild()
	if mode == "busy" {
		for { // until it is killed
			perfCompute(1e6)
		}
	}
	if mode == "" {
		for _, mode := range []string{"quiet", "neighbours", "gaps", "no ring"} {
			t.Run(mode, func(t *testing.T) {
				if mode == "neighbours" {
					perfBusyNeighbours(t)
				}
				perfChild(t, mode, nil) // with threads of its own
			})
		}
		return
	}
	if mode == "no ring" {
		forbidRings(t)
	}
	// A thread that makes no progress uses CPU time for ever: kill it when it has
	// had far more than it takes.
	if err := syscall.Setrlimit(syscall.RLIMIT_CPU, &syscall.Rlimit{Cur: 10, Max: 10}); err != nil {
		t.Fatal(err)
	}
	fns := []string{"sigtrampgo", "perfSessionSigprof"}
	if !msan.Enabled { // where libc installs the handler, with a sigreturn of its own
		fns = append(fns, "sigreturn__sigaction")
	}
	if mode == "quiet" {
		fns = append(fns, "memmove") // of which there are several in each run of the handler
	}
	for _, fn := range fns {
		t.Run(fn, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			runs := func() int64 { return 0 } // of the handler
			if fn == "memmove" {
				c := mustOpenCounters(t, "mem:runtime.perfSessionSigprof:x")
				runs = func() int64 { return int64(c.read(t)[0].Value) }
			}
			r := perfProfileOf(t, []perfReq{{"mem:runtime." + fn + ":x", 1}}, func() {
				if mode == "gaps" {
					// Time between two samples that no handler sees.
					defer mustOpenCounters(t, "mem:runtime.sigtramp:x", "mem:runtime.sigfwdgo:x", "mem:runtime.sighandler:x").Close()
				}
				perfCopyAndSignal(t)
			})[0]
			stopped := r.stopped()
			if stopped == 0 {
				t.Errorf("the profile does not say that the breakpoint was stopped:\n%s", r.ledger())
			}
			// A thousand runs of the handler on each thread are enough. Other signals
			// make some hits between them. How many there are of memmove in a run depends
			// on what it finds, so its runs are counted.
			t.Logf("%d samples, stopped on %d threads after %d runs", r.total(), stopped, runs())
			what, n, most := "samples", r.total(), 3000*stopped
			if fn == "memmove" {
				what, n, most = "runs of the handler", runs(), 1100*stopped
			}
			if n > most {
				t.Errorf("stopped after %d %s, want %d at most:\n%s", n, what, most, r.ledger())
			}
			if fn == "memmove" && n < 50*stopped {
				t.Errorf("stopped after %d %s, want a hundred on each thread", n, what)
			}
		})
	}
}

// perfBusyNeighbours runs four processes that compute until the test ends.
func perfBusyNeighbours(t *testing.T) {
	for range 4 {
		cmd := testenv.Command(t, testenv.Executable(t), "-test.run=^TestPerfStuck$")
		cmd.Env = append(cmd.Environ(), "PMU_TEST_CHILD=busy")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
	}
}

// perfCopyAndSignal copies memory, sends its thread signals, and computes.
func perfCopyAndSignal(t *testing.T) {
	t.Helper()
	src, dst := make([]byte, 1000), make([]byte, 1000)
	for i := range 1000 {
		src[0] = byte(i)
		copy(dst, src[:500+i%500])
	}
	for _, sig := range []syscall.Signal{syscall.SIGURG, syscall.SIGPROF} {
		if err := syscall.Tgkill(syscall.Getpid(), syscall.Gettid(), sig); err != nil {
			t.Fatal(err)
		}
	}
	perfSpin(100 * time.Millisecond)
	if dst[0] != src[0] {
		t.Errorf("copied %d, want %d", dst[0], src[0])
	}
}

// TestPerfNotStuck tests that a program is not taken for one that makes no
// progress, whose hits of a breakpoint all come where the signal does not: while
// SIGPROF is blocked. From one to the next it is in the same place.
func TestPerfNotStuck(t *testing.T) {
	perfNeedsExact(t)
	if !perfWithoutPreemption(t) {
		return
	}
	const calls = 5000
	r := perfProfileOf(t, []perfReq{{"mem:runtime/pprof.counterTarget:x", 1}}, func() {
		for range calls {
			unblock := perfBlockSIGPROF(t)
			perfCallTarget(1)
			unblock()
		}
	})[0]
	if n := r.total(); n != calls || r.stopped() != 0 {
		t.Errorf("%d samples of %d calls:\n%s", n, calls, r.ledger())
	}
}
