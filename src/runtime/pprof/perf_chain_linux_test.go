// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of sampling without signals, perfchain_linux.go in package runtime.

package pprof

import (
	"context"
	"internal/profile"
	"io"
	"math/bits"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

//go:noinline
func chainWorkA(n int) (x int) {
	for i := range n {
		x += i * i
	}
	return x
}

//go:noinline
func chainWorkB(n int) (x int) {
	for i := range n {
		x += i * x
	}
	return x
}

// perfChainEvent has the kernel record stacks, and returns an event for it.
func perfChainEvent(t *testing.T) string {
	event := perfTimeEvent(t)
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("the kernel can't follow Go's stacks on this architecture")
	}
	t.Setenv(stacksEnv, "kernel")
	return event
}

// TestPerfChainLabels tests that samples whose stacks the kernel records have the
// labels of their time, although they are read later: a goroutine changes its labels,
// goroutines hand over their thread, and goroutines end.
func TestPerfChainLabels(t *testing.T) {
	event := perfChainEvent(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const unit = 20e3 // less than a period, so that samples wait for their turn
	label := func(name string, f func(int) int) {
		Do(context.Background(), Labels("work", name), func(context.Context) { f(unit) })
	}
	work := func(rounds int) {
		for range rounds {
			label("A", chainWorkA)
			label("B", chainWorkB)
			var wg sync.WaitGroup
			ping := make(chan bool)
			wg.Go(func() {
				SetGoroutineLabels(WithLabels(context.Background(), Labels("work", "A")))
				for range 3 {
					chainWorkA(unit)
					ping <- true
				}
			})
			wg.Go(func() {
				SetGoroutineLabels(WithLabels(context.Background(), Labels("work", "B")))
				for range 3 {
					chainWorkB(unit)
					<-ping
				}
			})
			wg.Add(1)
			time.AfterFunc(0, func() { // a goroutine that none has started
				defer wg.Done()
				SetGoroutineLabels(WithLabels(context.Background(), Labels("work", "A")))
				chainWorkA(2 * unit)
			})
			wg.Wait()
		}
	}
	r := perfProfileOf(t, []perfReq{{event, 300e3}}, func() { work(2000) })[0]
	r.balance()
	t.Log(r.ledger())
	if !strings.Contains(r.ledger(), "stacks: by the kernel on ") {
		t.Error("the ledger does not say that the kernel has recorded stacks")
	}
	var n [2]int64
	for i, name := range []string{"A", "B"} {
		n[i] = r.count(func(s *profile.Sample) bool {
			fs := perfFrames(s)
			if !slices.Contains(fs, "runtime/pprof.chainWork"+name) || slices.Contains(fs, "runtime._PerfDelayed") {
				return false
			}
			if !slices.Equal(s.Label["work"], []string{name}) {
				t.Errorf("%d samples of chainWork%s have the labels %v: %v", s.Value[0], name, s.Label, fs)
			}
			return true
		})
	}
	t.Logf("samples: %d", n)
	if n[0] < 50 || n[1] < 50 {
		t.Errorf("%d samples: too few", n)
	}
}

// TestPerfChainBell tests that a thread whose goroutine neither leaves it nor changes
// its labels reads its ring in time. There is more than two rings full, and the goroutine
// can't be preempted.
func TestPerfChainBell(t *testing.T) {
	event := perfChainEvent(t)
	if perfInChild() == "" {
		perfChild(t, "bell", func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, "GODEBUG=asyncpreemptoff=1", "GOGC=off", costEnv+"=off")
		})
		return
	}
	n := int(600e6)
	if event == "cycles" {
		n = 100e6 // slow and exact
	}
	// Interrupts that come late, as on a machine that runs something else, are so many samples less:
	// then it takes more work.
	for try := 1; ; try++ {
		r := perfProfileOf(t, []perfReq{{event, 200e3}}, func() { chainWorkA(n) })[0]
		r.balance()
		if n := r.inFrame("runtime._PerfLostRing"); n != 0 {
			t.Errorf("%d samples did not fit in the ring:\n%s", n, r.ledger())
		}
		got := r.inFrame("runtime/pprof.chainWorkA")
		if got >= 500 || t.Failed() {
			return
		}
		if try == 5 {
			t.Fatalf("%d samples, in the last of %d runs: too few:\n%s", got, try, r.ledger())
		}
		n *= 2
	}
}

// TestPerfChainBellRead tests that a thread which has read its ring at each of many switches
// reads it in time when there are no more of them: deep stacks fill it in some 10 ms.
//
// The timer may expire twice within less than a tick of the kernel's. So there are several runs, which begin
// at different times of a tick.
func TestPerfChainBellRead(t *testing.T) {
	const runs = 8
	run := 0
	allFits(t, runs, 100e3, "chainWorkA", func() {
		chainWorkA(run * 123e3)
		run++
		perfDeep(64, func() {
			for range 8 {
				for range 60 {
					chainWorkA(100e3)
					runtime.Gosched()
				}
				chainWorkA(10e6)
			}
		})
	})
}

// TestPerfChainBellDeeper tests that a thread reads its ring in time when its stacks become
// deep at once, after a time in which their records were a fourth as long.
func TestPerfChainBellDeeper(t *testing.T) {
	allFits(t, 1, 135e3, "chainWorkB", func() {
		var wg sync.WaitGroup
		wg.Go(func() { // whose stack is short
			for range 8 {
				chainWorkA(15e6)
				perfDeep(64, func() { chainWorkB(10e6) })
			}
		})
		wg.Wait()
	})
}

// allFits fails the test if a sample of work, most of which are in a function, did not fit
// in the ring, in any of so many runs. The goroutine can't be preempted.
func allFits(t *testing.T, runs int, period uint64, fn string, work func()) {
	t.Helper()
	perfNeeds(t, "cycles") // of a clock that nothing stops
	event := perfChainEvent(t)
	if perfInChild() == "" {
		perfChild(t, "bell", func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, "GODEBUG=asyncpreemptoff=1", "GOGC=off", costEnv+"=off")
		})
		return
	}
	for run := range runs {
		r := perfProfileOf(t, []perfReq{{event, period}}, work)[0]
		r.balance()
		if n := r.inFrame("runtime._PerfLostRing"); n != 0 {
			t.Errorf("run %d: %d samples of %d did not fit in the ring:\n%s", run, n, r.total(), r.ledger())
		}
		if n := r.inFrame("runtime/pprof." + fn); n < 1000 {
			t.Errorf("run %d: %d samples: too few", run, n)
		}
	}
}

// TestPerfChainFull tests that a thread goes back to signals when deep stacks fill its ring
// from one tick to the next, before any timer can have it read. It tries again without after
// 1,024 of them, then after 2,048, and so on.
func TestPerfChainFull(t *testing.T) {
	perfNeeds(t, "task-clock:u")
	perfChainEvent(t)
	if perfInChild() == "" {
		perfChild(t, "full", func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, "GODEBUG=asyncpreemptoff=1", "GOGC=off", costEnv+"=off")
		})
		return
	}
	r := perfProfileOnce(t, []perfReq{{"task-clock:u", 20e3}}, func() { perfDeep(64, func() { chainWorkA(600e6) }) })[0]
	t.Log(r.ledger())
	all, lost := r.total(), r.inFrame("runtime._PerfLostRing")
	t.Logf("%d samples, of which %d did not fit in the ring", all, lost)
	if lost == 0 {
		t.Skip("the ring was never full: the kernel's tick is short")
	}
	// Each time there are a few intervals of some ticks of 4 ms with 200 samples, of which 100
	// fit. Without signals most of all samples are lost.
	if most := int64(2000 * bits.Len64(uint64(all>>10))); lost > most {
		t.Errorf("%d samples of %d did not fit in the ring, want at most %d", lost, all, most)
	}
}

// TestPerfChainSetting tests values of the variable.
func TestPerfChainSetting(t *testing.T) {
	perfTimeEvent(t)
	for _, s := range []string{"", "signal", "kernel"} {
		t.Setenv(stacksEnv, s)
		if err := StartCPUProfileWithConfig(PerfEvent(io.Discard, "task-clock:u", 0)); err != nil {
			t.Errorf("%s=%s: %v", stacksEnv, s, err)
		} else {
			StopCPUProfile()
		}
	}
	t.Setenv(stacksEnv, "chains")
	err := StartCPUProfileWithConfig(PerfEvent(io.Discard, "task-clock:u", 0))
	if err == nil {
		StopCPUProfile()
		t.Fatal("a wrong value is accepted")
	}
	if want := stacksEnv + `="chains": not signal or kernel`; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	perfNothingOpen(t)
}

var _ = emulated(TestPerfChainLabels)
var _ = emulated(TestPerfChainBell)
var _ = emulated(TestPerfChainBellRead)
var _ = emulated(TestPerfChainBellDeeper)

// TestPerfChainSaid tests that the comments count threads whose stacks the kernel has recorded
// in this session, and not in one before it on a thread that others sample as well.
func TestPerfChainSaid(t *testing.T) {
	event := perfChainEvent(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	s, err := StartSession(PerfEvent(io.Discard, "page-faults:u", 1<<40))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Stop()
	const said = "stacks: by the kernel on "
	for _, tt := range []struct {
		period uint64
		said   bool
	}{{3e6, true}, {1 << 50, false}} { // neither needs a larger ring than the thread has
		r := perfProfileOf(t, []perfReq{{event, tt.period}}, func() { perfCompute(100e6) })[0]
		if got := strings.Contains(r.ledger(), said); got != tt.said {
			t.Errorf("period %d: %q is said: %v, want %v:\n%s", tt.period, said, got, tt.said, r.ledger())
		}
	}
}

var _ = emulated(TestPerfChainSaid)
