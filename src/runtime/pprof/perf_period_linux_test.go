// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of perfperiod_linux.go in package runtime: first periods, and periods that
// don't lock onto loops.

package pprof

import (
	"cmp"
	"context"
	"fmt"
	"internal/race"
	"maps"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

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

// TestPerfTwoClocks tests that two events that overflow at the same time are
// both sampled, every time: one signal then stands for both.
func TestPerfTwoClocks(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	for _, tt := range []struct {
		name   string
		events []perfReq
	}{
		{"alone", []perfReq{{"task-clock:uk", 1e6}, {"cpu-clock:uk", 1e6}}},
		{"timer", []perfReq{{"task-clock:uk", 1e6}, {"cpu-clock:uk", 1e6}, {"", 0}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rs, share := perfClockRound(t, tt.events)
			a, b := rs[0], rs[1]
			var hogs [2]int64
			for i, r := range rs[:2] {
				t.Logf("%s:\n%s", r.name, r.ledger())
				r.balance()
				hog := &hogs[i]
				for _, s := range r.Sample {
					// A sample whose signal was late has only its leaf, which may be
					// what cpuHog1 calls. One clock may have more of these than the
					// other, if its interrupt tends to come in the other's handler.
					if slices.ContainsFunc(perfFrames(s), func(name string) bool {
						return name == "runtime/pprof.cpuHog1" || name == "runtime._PerfHandler" || name == "runtime._PerfDelayed"
					}) {
						*hog += s.Value[1]
					}
				}
				// The hog's thread executes the scheduler and the handlers of other
				// signals besides, the longer the dearer interrupts are.
				if want := share * float64(r.events()) / 2; float64(*hog) < want {
					t.Errorf("%s: only %d of %d ns are in cpuHog1, the handler or late, want %.0f:\n%s", r.name, *hog, r.events(), want, r.byStack())
				}
			}
			perfWithin(t, "events of the two clocks in cpuHog1, the handler or late", float64(hogs[0]), float64(hogs[1]), 0.05) // of the same interrupts, mostly
			// Each differs from its counter by less than a period for each thread.
			part := float64(perfMaxPeriod(a)*a.comment("threads")+perfMaxPeriod(b)*b.comment("threads")) / float64(a.events())
			perfWithin(t, "events of the two clocks", float64(a.events()), float64(b.events()), 0.01+part)
			if len(rs) > 2 {
				// It has 100 Hz, with the first tick anywhere.
				if want := a.comment("counted") / 1e7 * 3 / 4; rs[2].total() < want {
					t.Errorf("the timer beside them has %d samples, want %d at least", rs[2].total(), want)
				}
			}
		})
	}
}

// perfClockRound takes the profiles of two clocks, five times, and returns those with
// the median of the losses, and the part of the CPU time of all threads that the hog
// had. An interrupt that comes later than a period stands for all the periods that have
// passed (perf_swevent_hrtimer in the kernel), and the samples are fewer than the
// counter says. That is not the engine's doing; a busy virtual machine does it, for 3 %
// of the periods at times. An engine that samples only one of two events loses a third
// where they keep overflowing together, which is in most rounds.
func perfClockRound(t *testing.T, events []perfReq) (rs []*perfResult, share float64) {
	t.Helper()
	type round struct {
		rs    []*perfResult
		share float64 // of the hog's thread in the CPU time of all
	}
	lost := func(r round) float64 { return max(r.rs[0].lost(), r.rs[1].lost()) }
	var rounds []round
	for range 5 {
		var r round
		r.rs = perfProfileOnce(t, events, func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			own, all := threadTime(t), cpuTime(rusage(t))
			// By CPU time, so that there are as many samples on a busy machine.
			for end := own + 300e6; threadTime(t) < end; {
				perfSpin(10 * time.Millisecond)
			}
			own, all = threadTime(t)-own, cpuTime(rusage(t))-all
			r.share = min(1, float64(own)/float64(all))
		})
		t.Logf("lost: %.2f %%", 100*lost(r))
		rounds = append(rounds, r)
	}
	slices.SortFunc(rounds, func(a, b round) int { return cmp.Compare(lost(a), lost(b)) })
	return rounds[2].rs, rounds[2].share
}

var _ = emulated(TestPerfTwoClocks)

// TestPerfClockTime tests that a clock's profile agrees with the CPU time that
// the kernel reports for the process.
func TestPerfClockTime(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	var cpu time.Duration
	var stole int64
	r := perfProfileOf(t, []perfReq{{"task-clock:uk", 1e6}}, func() {
		stolen := stolen(t)
		user, sys := diffCPUTime(t, func() {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() { perfSpin(300 * time.Millisecond) })
			}
			wg.Wait()
		})
		cpu, stole = user+sys, stolen()
	})[0]
	r.balance()
	// The event's clock ticks on in stolen time, CPU time may not.
	most := 1.03*float64(cpu) + float64(stole)
	if got := float64(r.events()); got < 0.97*float64(cpu) || got > most {
		t.Errorf("%.0f ns in the profile; getrusage has %d, so want up to %.0f", got, cpu, most)
	} else {
		t.Logf("%.0f ns in the profile, %d by getrusage", got, cpu)
	}
}

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
	r := perfUnstalled(t, func() []*perfResult {
		shortTime.Store(0)
		oneTime.Store(0)
		stolen := stolen(t)
		rs := perfProfileOnce(t, []perfReq{{event, period}}, func() {
			perfShortAndOne(t, n, work, &shortTime, &oneTime)
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

// perfShortAndOne has n threads do some work each, and one thread as much as all of them.
// It adds the CPU time that this takes.
func perfShortAndOne(t *testing.T, n, work int, shortTime, oneTime *atomic.Int64) {
	timed := func(sum *atomic.Int64, f func(int) int) {
		start := threadTime(t)
		f(work)
		sum.Add(threadTime(t) - start)
	}
	// In turns, for what else the machine does.
	const turns = 10
	for range turns {
		for range n / turns / 4 {
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					runtime.LockOSThread() // for ever, so the thread exits
					timed(shortTime, shortThreadWork)
				})
			}
			wg.Wait()
		}
		runtime.LockOSThread()
		for range n / turns / 4 * 4 {
			timed(oneTime, oneThreadWork)
		}
		runtime.UnlockOSThread()
	}
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
