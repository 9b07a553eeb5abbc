// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of sampled events against the truth. Breakpoints are the oracle: we
// know how often a function was called, or a variable written, and from where.

package pprof

import (
	"context"
	"fmt"
	"internal/profile"
	"maps"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Functions with breakpoints. Their callers are told apart by their frames.

//go:noinline
func perfTargetA(n *int) { *n++ }

//go:noinline
func perfTargetB(n *int) { *n += 2 }

//go:noinline
func perfTargetC(n *int) { *n += 3 }

//go:noinline
func perfTargetD(n *int) { *n += 4 }

//go:noinline
func perfCaller1(n int) (x int) {
	for range n {
		perfTargetA(&x)
	}
	return x
}

//go:noinline
func perfCaller2(n int) (x int) {
	for range n {
		perfTargetA(&x)
	}
	return x
}

//go:noinline
func perfCaller3(n int) (x int) {
	for range n {
		perfTargetA(&x)
		runtime.Gosched()
	}
	return x
}

func perfCalls(fn string) string { return "mem:runtime/pprof." + fn + ":x" }

// perfCallersOfA runs three callers of perfTargetA in procs goroutines each, and
// returns how many calls each makes.
func perfCallersOfA(procs, scale int) (calls map[string]int64, run func()) {
	callers := []struct {
		name string
		f    func(int) int
		n    int
	}{
		{"perfCaller1", perfCaller1, 7 * scale},
		{"perfCaller2", perfCaller2, 11 * scale},
		{"perfCaller3", perfCaller3, 2 * scale},
	}
	calls = make(map[string]int64)
	for _, c := range callers {
		calls[c.name] = int64(c.n * procs)
	}
	return calls, func() {
		var wg sync.WaitGroup
		for _, c := range callers {
			for range procs {
				wg.Go(func() { c.f(c.n) })
			}
		}
		wg.Wait()
	}
}

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
				r := perfProfileOf(t, []perfReq{{perfCalls("perfTargetA"), period}}, func() {
					if tt.preempt {
						defer perfPreempter()()
					}
					run()
				})[0]
				perfCheckCalls(t, r, calls)
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
// that ends that.
func perfPreempter() (stop func()) {
	quit := make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() {
		var ms runtime.MemStats
		for {
			select {
			case <-quit:
				return
			default:
				runtime.ReadMemStats(&ms)
			}
		}
	})
	return func() {
		close(quit)
		wg.Wait()
	}
}

func perfCheckCalls(t *testing.T, r *perfResult, calls map[string]int64) {
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
		// Only at period 1 are those told apart.
		r.balance()
		r.near("counter", float64(r.comment("counted")), 1.1*float64(all), 0.1*float64(all))
	}
	if r.total() != found {
		t.Errorf("%d of %d samples are not in calls from these callers:\n%s", r.total()-found, r.total(), r.byStack())
	}
	if t.Failed() {
		t.Log(r.byStack())
	}
}

// perfShared is a variable that the functions below write.
var perfShared int64

//go:noinline
func perfWriterA(x int64) { perfShared = x }

//go:noinline
func perfWriterB(x int64) { perfShared = x }

// TestPerfAliasing tests that two functions that take turns in writing a
// variable get half of the samples each, although the period is even.
//
// Each pair of writes has a label of its own, so that a sample says which write it
// is of, and the test need not know how often the overhead bound had to take a
// longer period: whatever periods there were, a sample stands for the writes
// since the one before. All periods are odd, so the writers take turns in the
// samples as they do in the program, and one has at most one sample more.
func TestPerfAliasing(t *testing.T) {
	perfNeedsExact(t)
	for _, tt := range []struct {
		period uint64
		pairs  int64 // at most 4000 samples, which the profile's buffer holds if nobody reads it
	}{
		{2, 6000},
		{1000, 50e3},
	} {
		t.Run(fmt.Sprint(tt.period), func(t *testing.T) {
			r := perfProfileOf(t, []perfReq{{perfWrites(&perfShared), tt.period}}, func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				defer SetGoroutineLabels(context.Background())
				for i := range tt.pairs {
					SetGoroutineLabels(WithLabels(context.Background(), Labels("pair", strconv.FormatInt(i, 10))))
					perfWriterA(i)
					perfWriterB(i)
				}
			})[0]
			stands := make(map[int64]int64) // by write
			inA, inB := perfStartsWith("perfWriterA"), perfStartsWith("perfWriterB")
			var a, b int
			for _, s := range r.Sample {
				if len(s.Label["pair"]) != 1 || s.Value[0] != 1 || !inA(s) && !inB(s) {
					t.Errorf("%d samples of no single write: %v %s", s.Value[0], s.Label, strings.Join(perfFrames(s), " < "))
					continue
				}
				write := 2 * perfAtoi(t, s.Label["pair"][0])
				if inA(s) {
					a++
				} else {
					b++
					write++
				}
				stands[write] = s.Value[1]
			}
			if a+b == 0 || max(a, b)-min(a, b) > 1 {
				t.Errorf("%d samples are of writer A, and %d of writer B", a, b)
			}
			// A thread's first period is shorter than the others by a random
			// number, so that the first sample stands for more writes than
			// there were.
			before := int64(-1)
			for i, write := range slices.Sorted(maps.Keys(stands)) {
				n := write - before
				if i == 0 && stands[write] < n || i > 0 && stands[write] != n || stands[write]%2 == 0 {
					t.Fatalf("the sample of write %d, %d after the one before, stands for %d", write, n, stands[write])
				}
				before = write
			}
			if rest := 2*tt.pairs - 1 - before; rest >= perfMaxPeriod(r) {
				t.Errorf("no sample of the last %d writes", rest)
			}
			t.Logf("%d samples are of writer A, and %d of writer B; ledger:\n%s", a, b, r.ledger())
		})
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

// TestPerfLabels tests that every sample has the label of the goroutine that it
// interrupted: goroutine i writes a variable i times under label i, and moves
// from thread to thread.
func TestPerfLabels(t *testing.T) {
	perfNeedsExact(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const goroutines = 60
	r := perfProfileOf(t, []perfReq{{perfWrites(&perfShared), 1}}, func() {
		var wg sync.WaitGroup
		for i := 1; i <= goroutines; i++ {
			wg.Go(func() {
				for range i {
					Do(context.Background(), Labels("i", strconv.Itoa(i)), func(context.Context) { perfWriterA(1) })
					runtime.Gosched()
					Do(context.Background(), Labels("j", strconv.Itoa(i)), func(context.Context) { perfWriterB(1) })
				}
				perfWriterB(1) // without a label
			})
		}
		wg.Wait()
	})[0]
	for i := 1; i <= goroutines; i++ {
		for key, writer := range map[string]string{"i": "perfWriterA", "j": "perfWriterB"} {
			inWriter := perfStartsWith(writer)
			got := r.count(func(s *profile.Sample) bool {
				return inWriter(s) && len(s.Label) == 1 && slices.Equal(s.Label[key], []string{strconv.Itoa(i)})
			})
			if got != int64(i) {
				t.Errorf("label %s=%d has %d samples in %s, want %d", key, i, got, writer, i)
			}
		}
	}
	if got := r.count(func(s *profile.Sample) bool { return len(s.Label) == 0 }); got != goroutines {
		t.Errorf("%d samples without a label, want %d", got, goroutines)
	}
	const all = goroutines*(goroutines+1) + goroutines
	if r.total() != all {
		t.Errorf("%d samples, want %d", r.total(), all)
	}
	if t.Failed() {
		t.Logf("%s\n%s", r.ledger(), r.byStack())
	}
}

// TestPerfShortThreads tests that threads that live shorter than a period are
// represented: they get a sample with the probability that is due to them.
func TestPerfShortThreads(t *testing.T) {
	perfNeedsExact(t)
	if !perfWithoutPreemption(t) {
		return
	}
	const (
		threads = 2000
		calls   = 100
		period  = 167
	)
	r := perfProfileOf(t, []perfReq{{perfCalls("counterTarget"), period}}, func() {
		for range threads / 4 {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					runtime.LockOSThread() // for ever, so the thread exits
					perfCallTarget(calls)
				})
			}
			wg.Wait()
		}
	})[0]
	// Each thread has a sample with probability p.
	p := float64(calls) / period
	sigma := math.Sqrt(threads * p * (1 - p))
	r.near("samples", float64(r.count(perfStartsWith("counterTarget", "perfCallTarget"))), threads*p, 5*sigma)
	if n := r.comment("threads"); n < threads {
		t.Errorf("%d threads were armed, want %d at least", n, threads)
	}
	r.near("calls counted", float64(r.comment("counted")), threads*calls, 0)
}
