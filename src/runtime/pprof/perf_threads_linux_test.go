// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests that threads have the samples that are due to them, however short they
// live, and whatever they do when the profile starts.

package pprof

import (
	"context"
	"internal/race"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// perfTimeEvent returns an event that measures CPU time.
func perfTimeEvent(t *testing.T) string {
	if perfCan("cycles") {
		return "cycles"
	}
	perfNeeds(t, "task-clock:uk")
	return "task-clock:uk"
}

//go:noinline
func shortThreadWork(n int) int { return cpuHog0(2, n) }

//go:noinline
func oneThreadWork(n int) int { return cpuHog0(2, n) }

// TestPerfShortThreadsTime tests that work has the samples that are due to it in
// thousands of threads, each much shorter than a period, as in one thread.
func TestPerfShortThreadsTime(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector's part of a short thread is large")
	}
	event := perfTimeEvent(t)
	const (
		work    = 60e3 // iterations
		threads = 3000
		period  = 1e6 // many times as long as a thread's work
	)
	n := threads
	if testing.Short() {
		n /= 3
	}
	// CPU time of the work, in ns, and what the hypervisor stole meanwhile,
	// which is in task-clock and not in CPU time.
	var shortTime, oneTime atomic.Int64
	var stole int64
	timed := func(sum *atomic.Int64, f func(int) int) {
		start := threadTime(t)
		f(work)
		sum.Add(threadTime(t) - start)
	}
	r := perfUnstalled(t, func() []*perfResult {
		shortTime.Store(0)
		oneTime.Store(0)
		stolen := stolen(t)
		rs := perfProfileOnce(t, []perfReq{{event, period}}, func() {
			// In turns, for what else the machine does.
			const turns = 10
			for range turns {
				for range n / turns / 4 {
					var wg sync.WaitGroup
					for range 4 {
						wg.Go(func() {
							runtime.LockOSThread() // for ever, so the thread exits
							timed(&shortTime, shortThreadWork)
						})
					}
					wg.Wait()
				}
				runtime.LockOSThread()
				for range n / turns / 4 * 4 {
					timed(&oneTime, oneThreadWork)
				}
				runtime.UnlockOSThread()
			}
		})
		stole = stolen()
		return rs
	})[0]
	in := func(fn string) (n float64) { // in periods: where samples cost much, one stands for several
		for _, s := range r.Sample {
			if slices.Contains(perfFrames(s), "runtime/pprof."+fn) {
				n += float64(s.Value[1]) / float64(r.comment("period"))
			}
		}
		return n
	}
	short, one := in("shortThreadWork"), in("oneThreadWork")
	if armed := r.comment("threads"); armed < int64(n/40*40) {
		t.Errorf("%d threads were armed of %d", armed, n)
	}
	t.Logf("%.0f samples in %d threads, %.0f in one", short, n, one)
	// The work is the same number of cycles. Its time is its own: caches are
	// cold in a new thread, and the machine may be busy with something else.
	want, tol := one, 0.05*one
	if event != "cycles" {
		period := float64(r.comment("period"))
		tol = 0.05*float64(oneTime.Load())/period + float64(stole)/period
		r.near("samples in one thread", one, float64(oneTime.Load())/period, tol+4)
		want = float64(shortTime.Load()) / period
		tol = 0.05*want + float64(stole)/period
	}
	if one < 40 {
		t.Errorf("only %.0f samples in one thread:\n%s", one, r.ledger())
	}
	// A thread has a sample with the probability of the part of a period that
	// its work takes.
	p := want / float64(n)
	sigma := math.Sqrt(float64(n) * p)
	r.near("samples in short threads", short, want, 5*sigma+tol)
}

var _ = emulated(TestPerfShortThreadsTime)

// TestPerfShorterThreads tests that threads have the samples that are due to them
// which end before the first interrupt can come: as lost ones.
func TestPerfShorterThreads(t *testing.T) {
	event := perfTimeEvent(t)
	const (
		threads = 8000
		// Not so short that the threads which start all the others get a longer
		// one: what a thread does after its last sample has none.
		period = 1e6
	)
	r := perfProfileOf(t, []perfReq{{event, period}}, func() {
		for range threads / 4 {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(runtime.LockOSThread)
			}
			wg.Wait()
		}
	})[0]
	var events int64
	for _, s := range r.Sample {
		events += s.Value[1]
	}
	// For each thread, at most one with the probability of the part of a
	// period that it ran.
	p := float64(r.comment("period"))
	want := float64(r.comment("counted")) / p
	r.near("periods in the profile", float64(events)/p, want, 5*math.Sqrt(want)+3)
	if lost := r.inFrame("runtime._PerfLostStart"); lost == 0 || lost != r.comment("lost at start") {
		t.Errorf("%d in the frame of samples that were due before the counter could interrupt; ledger:\n%s", lost, r.ledger())
	}
}

var _ = emulated(TestPerfShorterThreads)

const blockedThreads = 4

// perfProfileBlocked profiles threads that are in a system call at the start, and
// then do 1, 2, 3, ... units of work. It also returns the CPU time of each, in ns.
func perfProfileBlocked(t *testing.T, event string, unit int) (r *perfResult, own [blockedThreads]int64) {
	var fds [2]int
	if err := syscall.Pipe(fds[:]); err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fds[0])
	defer syscall.Close(fds[1])
	var wg sync.WaitGroup
	var tids [blockedThreads]int
	var ready sync.WaitGroup
	for i := range blockedThreads {
		ready.Add(1)
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			tids[i] = syscall.Gettid()
			Do(context.Background(), Labels("blocked", strconv.Itoa(i)), func(context.Context) {
				ready.Done()
				var b [1]byte
				for {
					if _, err := syscall.Read(fds[0], b[:]); err != syscall.EINTR {
						break
					}
				}
				start := threadTime(t)
				shortThreadWork((i + 1) * unit)
				own[i] = threadTime(t) - start
			})
		})
	}
	ready.Wait()
	for _, tid := range tids {
		waitFor(t, "threads are in read(2)", func() bool {
			b, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(tid) + "/syscall")
			return err != nil || len(b) > 0 && b[0] >= '0' && b[0] <= '9' // "running" if it is not in one
		})
	}
	r = perfProfileOnce(t, []perfReq{{event, 1e6}}, func() {
		if _, err := syscall.Write(fds[1], make([]byte, blockedThreads)); err != nil {
			t.Error(err)
		}
		wg.Wait()
	})[0]
	return r, own
}

// TestPerfBlockedThreads tests that threads which are in a system call when the
// profile starts are measured from then on.
func TestPerfBlockedThreads(t *testing.T) {
	event := perfTimeEvent(t)
	unit := int(40e6) // iterations
	if event == "cycles" {
		unit = 10e6 // slow and exact
	}
	var own [blockedThreads]int64
	var stole int64
	r := perfUnstalled(t, func() []*perfResult {
		var r *perfResult
		stolen := stolen(t)
		r, own = perfProfileBlocked(t, event, unit)
		stole = stolen()
		return []*perfResult{r}
	})[0]
	r.balance()
	var n [blockedThreads]float64
	var all float64
	for i := range n {
		// In periods: where samples cost much, one stands for several.
		for _, s := range r.Sample {
			if slices.Equal(s.Label["blocked"], []string{strconv.Itoa(i)}) && slices.Contains(perfFrames(s), "runtime/pprof.shortThreadWork") {
				n[i] += float64(s.Value[1]) / float64(r.comment("period"))
			}
		}
		all += n[i]
	}
	t.Logf("samples: %v", n)
	for i := range n {
		// The work of a thread is exact in cycles, otherwise its own time is
		// the truth, but for what the hypervisor steals: the event's clock
		// ticks on, and interrupts are late.
		want, tol := float64(i+1)*all/10, 1.5
		if event != "cycles" {
			period := float64(r.comment("period"))
			want = float64(own[i]) / period
			tol += 0.1*want + float64(stole)/period
		}
		r.near("samples of thread "+strconv.Itoa(i), n[i], want, tol)
	}
	if all < 100 {
		t.Errorf("only %v samples", all)
	}
}

var _ = emulated(TestPerfBlockedThreads)
