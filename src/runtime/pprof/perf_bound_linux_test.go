// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of perfbound_linux.go in package runtime: whatever the period, the program
// makes progress.

package pprof

import (
	"errors"
	"internal/runtime/perf"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// perfMaxSlowdown is what doc/pmu.md promises: samples take a quarter of the CPU
// time at the most, which makes the program 1.33 times slower, and the rest is for
// the first few samples of a thread, until the periods are right.
const perfMaxSlowdown = 1.4

// What the kernel takes to count page faults for each of several events is not the
// profiler's to bound: 1.19 to 1.33 times with eight events, on a busy virtual machine.
// From perfDearCounting on samples alone must keep the promise.
const (
	perfDearCounting = 1.1
	perfMaxBeside    = 4.0 / 3 // a quarter of the CPU time
)

// A perfTimed is how much CPU time each of many equal parts of a program took, in
// ns: some ten microseconds, less than the time between samples.
type perfTimed []int64

// perfTimedCompute computes in 50,000 n steps.
func perfTimedCompute(t *testing.T, n int) (ns perfTimed) {
	for range n {
		start := threadTime(t)
		perfCompute(50e3)
		ns = append(ns, threadTime(t)-start)
	}
	return ns
}

// perfTimedFault causes 16 n page faults, or as many as a second of CPU time is
// enough for, which are fewer only where something else interrupts it, too: beside
// perf record with a sample each 20 us, 64,000 took 5.6 s.
func perfTimedFault(t *testing.T, n int) (ns perfTimed) {
	t.Helper()
	page := os.Getpagesize()
	b, err := syscall.Mmap(-1, 0, 1024*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(b)
	syscall.Madvise(b, syscall.MADV_NOHUGEPAGE)
	for end := threadTime(t) + 1e9; len(ns) < n && threadTime(t) < end; {
		for some := b; len(some) > 0; some = some[16*page:] {
			start := threadTime(t)
			for i := 0; i < 16*page; i += page {
				some[i] = 1
			}
			ns = append(ns, threadTime(t)-start)
		}
		if err := syscall.Madvise(b, syscall.MADV_DONTNEED); err != nil {
			t.Fatal(err)
		}
	}
	return ns
}

// quick returns the time of a part that nothing interrupts: a tenth takes no longer.
func (ns perfTimed) quick() float64 {
	s := slices.Sorted(slices.Values(ns))
	return float64(s[len(s)/10])
}

// interrupted returns how much longer the parts took than if nothing had
// interrupted them. A machine can be twice as fast for a tenth of a second as
// before, so each is compared with its neighbours. Most of them are not
// interrupted; if they were, quick would show it. Parts that took very much
// longer waited for the hypervisor, whose time counts.
func (ns perfTimed) interrupted() float64 {
	const neighbours = 32
	took, would := int64(0), int64(0)
	for len(ns) >= neighbours {
		s := slices.Sorted(slices.Values(ns[:neighbours]))
		median := s[neighbours/2]
		for _, d := range s {
			if d < 40*median {
				took += d
				would += median
			}
		}
		ns = ns[neighbours:]
	}
	return float64(took) / float64(would)
}

// perfTimedCounting returns how much longer parts take where samples do not interrupt
// them but the events are counted. A machine can be twice as fast at one time as at
// another, for some tenths of a second, so the profile is a short one.
func perfTimedCounting(t *testing.T, work func(*testing.T, int) perfTimed, events []perfReq) float64 {
	const parts = 64
	before := work(t, parts)
	var with perfTimed
	perfProfileOnce(t, events, func() { with = work(t, parts) })
	after := work(t, parts)
	return 2 * with.quick() / (before.quick() + after.quick())
}

// perfDear are functions that run once for each sample. A breakpoint that counts
// them makes a sample dearer by an exception, which takes about as long as
// what it takes otherwise: in a virtual machine with 30 us for a sample it was
// 15 us. Neither is seen by code that looks at the time only in the handler: the
// first is before its first instruction, the second after its last.
var perfDear = []string{"sigtrampgo", "sigreturn__sigaction", "sighandler", "perfSessionSigprof"}

// perfEight are eight events of which each interrupts too often.
var perfEight = []perfReq{
	{"task-clock:uk", 5e3}, {"cpu-clock:uk", 5e3}, {"task-clock:u", 5e3}, {"cpu-clock:u", 5e3},
	{"page-faults:uk", 1}, {"minor-faults", 2}, {"minor-faults:uk", 1}, {"page-faults", 3}}

// perfMakeDear makes handlers take longer, until the test ends: n of the functions that
// they call have breakpoints that are counted.
func perfMakeDear(t *testing.T, n int) {
	t.Helper()
	if n == 0 {
		return
	}
	perfNeedsExact(t)
	var names []string
	for _, fn := range perfDear[:n] {
		names = append(names, "mem:runtime."+fn+":x")
	}
	mustOpenCounters(t, names...)
}

// perfBoundTests are the cases of TestPerfBound.
var perfBoundTests = []struct {
	name   string
	work   func(*testing.T, int) perfTimed
	events []perfReq
	dear   int // of perfDear, how many
}{
	{"task-clock", perfTimedCompute, []perfReq{{"task-clock", 1e3}}, 0},
	{"task-clock/dear", perfTimedCompute, []perfReq{{"task-clock", 1e3}}, 2},
	{"task-clock/dearer", perfTimedCompute, []perfReq{{"task-clock", 1e3}}, 4},
	{"task-clock:u", perfTimedCompute, []perfReq{{"task-clock:u", 1e3}}, 0},
	{"cpu-clock:uk", perfTimedCompute, []perfReq{{"cpu-clock:uk", 10e3}}, 0},
	{"page-faults", perfTimedFault, []perfReq{{"page-faults", 1}}, 0},
	{"page-faults/dear", perfTimedFault, []perfReq{{"page-faults", 1}}, 2},
	{"page-faults/dearer", perfTimedFault, []perfReq{{"page-faults", 1}}, 4},
	{"page-faults:uk", perfTimedFault, []perfReq{{"page-faults:uk", 1}}, 0},
	{"eight", perfTimedFault, perfEight, 0},
	{"eight/dear", perfTimedFault, perfEight, 2},
	{"eight/dearer", perfTimedFault, perfEight, 4},
}

// TestPerfBound tests that at periods that are shorter than what a sample costs
// the program is not slower than promised, whatever a sample costs on the
// machine, and that the totals stay right.
func TestPerfBound(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	for _, tt := range perfBoundTests {
		t.Run(tt.name, func(t *testing.T) {
			if testing.Short() && (tt.dear > 0 || strings.Contains(tt.name, ":")) {
				t.Skip("a short test")
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			perfMakeDear(t, tt.dear)
			var rs []*perfResult
			var sampled, counted []float64
			tooSlow := func() bool {
				// Samples make parts longer, and counting the events all of them.
				samples, counting := perfMedian(sampled), perfMedian(counted)
				t.Logf("%.3f times slower: %.3f by samples, %.3f by counting", samples*counting, samples, counting)
				if counting > perfDearCounting {
					return samples > perfMaxBeside
				}
				return samples*counting > perfMaxSlowdown
			}
			for len(sampled) < 3 || len(sampled) < 9 && tooSlow() {
				const parts = 4000
				before := tt.work(t, parts)
				var with perfTimed
				rs = perfProfileOnce(t, tt.events, func() { with = tt.work(t, parts) })
				after := tt.work(t, parts)
				// Without a profile there are interrupts, too.
				samples := 2 * with.interrupted() / (before.interrupted() + after.interrupted())
				sampled = append(sampled, samples)
				// What the profile says of the cost, TestPerfHandlerCost tests.
				cost, said := 1-1/samples, float64(rs[0].comment("cost"))/float64(rs[0].comment("time enabled"))
				t.Logf("cost of samples %.3f, said to be %.3f", cost, said)

				for range 15 {
					counted = append(counted, perfTimedCounting(t, tt.work, tt.events))
				}
			}
			if tooSlow() {
				t.Errorf("the program has become slower than it may:\n%s", rs[0].ledger())
			}
			bounded := false
			for _, r := range rs {
				if !strings.HasSuffix(r.name, "-clock:u") { // which is counted in the kernel, too, but not sampled
					r.near("events of all samples", float64(r.events()), float64(r.comment("counted")), float64(perfMaxPeriod(r)*r.comment("threads")))
				}
				bounded = bounded || strings.Contains(r.ledger(), "longest period")
			}
			if !bounded {
				t.Errorf("no event has a longer period:\n%s", rs[0].ledger())
			}
		})
	}
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

// TestPerfBoundTightened tests the variable that tightens the bound: samples are fewer. (A
// single period says little, as one window can be much dearer than others.)
func TestPerfBoundTightened(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	mean := func(cost string) int64 {
		t.Setenv(costEnv, cost)
		r := perfProfileOf(t, []perfReq{{"task-clock:uk", 30e3}}, func() { perfCompute(300e6) })[0]
		n := r.events() / max(r.total(), 1)
		t.Logf("%s=%s: a sample in %d events, periods up to %d", costEnv, cost, n, perfMaxPeriod(r))
		return n
	}
	if loose, tight := mean(""), mean("1"); tight < 2*loose {
		t.Errorf("a sample in %d events, at 1 percent in %d", loose, tight)
	}
	perfNothingOpen(t)
}

// TestPerfBoundSetting tests what the variable may be, and that nothing is armed where it
// is something else.
func TestPerfBoundSetting(t *testing.T) {
	for _, tt := range []struct {
		value string
		cost  int // 0 for an error
	}{
		{"", 25}, {"1", 1}, {"25", 25}, {"26", 26}, {"100", 100}, {"off", 100},
		{"0", 0}, {"101", 0}, {"-1", 0}, {"x", 0}, {"OFF", 0}, {"off ", 0}, {"50%", 0}, {"1e1", 0},
		{"18446744073709551617", 0},
	} {
		t.Setenv(costEnv, tt.value)
		cost, err := perfMaxCost()
		if cost != tt.cost || (err == nil) != (tt.cost != 0) {
			t.Errorf("%s=%s: %d percent, %v; want %d", costEnv, tt.value, cost, err, tt.cost)
		}
		if tt.cost != 0 {
			continue
		}
		if err := StartCPUProfileWithConfig(PerfEvent(io.Discard, "task-clock:u", 0)); err == nil {
			StopCPUProfile()
			t.Errorf("%s=%s is accepted", costEnv, tt.value)
		} else if s := err.Error(); !errors.Is(err, errors.ErrUnsupported) && (!strings.Contains(s, costEnv) || !strings.Contains(s, "from 1 to 100, or off")) {
			t.Errorf("%s=%s: %v", costEnv, tt.value, err)
		}
	}
	perfNothingOpen(t)
}

// perfBoundActed reports whether the overhead bound has lengthened the event's period
// while f ran, with the variable set to cost. It reports what part of the time the samples
// took, and how many ns each, by the bound's estimate, or 0 if there were none.
func perfBoundActed(t *testing.T, cost string, event perfReq, f func()) (acted bool, part, each float64) {
	t.Helper()
	t.Setenv(costEnv, cost)
	r := perfProfileOf(t, []perfReq{event}, f)[0]
	if r.name != "task-clock:u" { // of which the kernel's time is counted but not sampled
		r.near("events of all samples", float64(r.events()), float64(r.comment("counted")), float64(perfMaxPeriod(r)*r.comment("threads")))
	}
	acted = perfMaxPeriod(r) > r.comment("period")
	if strings.Contains(r.ledger(), "longest period") != acted {
		t.Errorf("periods up to %d:\n%s", perfMaxPeriod(r), r.ledger())
	}
	t.Logf("%s=%s: %d samples for %d events, periods up to %d", costEnv, cost, r.total(), r.comment("counted"), perfMaxPeriod(r))
	sum := float64(r.comment("cost"))
	if r.total() > 0 {
		each = sum / float64(r.total())
	}
	return acted, sum / float64(r.comment("time running")), each
}

// perfBoundOff tests that with the variable samples may cost more than a quarter: each
// stands for the period that was asked for, which is lengthened without it. In some windows
// samples are much dearer than in others, as where a deep stack is unwound or the machine is
// busy, and then the bound acts whatever the variable says. So there is more than one try,
// with a longer period where it has acted, and else with a shorter one.
func perfBoundOff(t *testing.T, event perfReq) {
	t.Helper()
	run := func() { perfCompute(20e6) } // a hundred samples or more, in many windows
	for range 20 {
		bounded, _, _ := perfBoundActed(t, "", event, run)
		off, part, cost := perfBoundActed(t, "off", event, run)
		if bounded && !off && part > float64(perf.MaxCost)/100 {
			return
		}
		t.Logf("period %d: %.1f %% of the time, %.0f ns a sample", event.period, 100*part, cost)
		if off {
			event.period += event.period / 10
		} else {
			event.period -= event.period / 10
		}
	}
	t.Errorf("%s=off makes no difference", costEnv)
}

func TestPerfBoundOff(t *testing.T) {
	perfNeeds(t, "task-clock:u")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// Rare samples can be twice as dear as frequent ones, as nothing is in the caches.
	_, _, each := perfBoundActed(t, "", perfReq{"task-clock:u", 1e6}, func() { perfCompute(100e6) })
	period := 2.5 * each
	if period < 10e3 {
		t.Skip("a sample is cheap, and clocks have no shorter periods")
	}
	perfBoundOff(t, perfReq{"task-clock:u", uint64(period)})
}

// perfBoundOffCycles takes 40,000 or 50,000 samples per second where a cycle is a nanosecond,
// as a sample takes 7 or 12 us. The kernel throttles more than the sysctl says, which it
// lowers itself where interrupts have taken long, those of the tests before included:
// perf_sample_event_took in kernel/events/core.c. After one run of all these tests it was at
// 51,000. At 100 percent it leaves it alone, and does not take another rate either.
func perfBoundOffCycles(t *testing.T) {
	perfNeedsRoot(t)
	perfSetSysctl(t, "perf_event_max_sample_rate", "100000")
	perfSetSysctl(t, "perf_cpu_time_max_percent", "100")
	perfBoundOff(t, perfReq{"cycles:u", 13e3})
}

var _ = emulated(perfBoundOffCycles)

// TestPerfBoundOffAlive tests that a program comes to an end with the loosest bound and
// periods that leave it no time, whoever else samples: without a bound, clocks of 1 us
// keep a thread in interrupts, and a page fault that is sampled is taken again.
func TestPerfBoundOffAlive(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	t.Setenv(costEnv, "off")
	clocks := []perfReq{{"task-clock:u", 1e3}, {"task-clock:uk", 1e3}, {"cpu-clock:u", 1e3}, {"cpu-clock:uk", 1e3}}
	for _, tt := range []struct {
		name   string
		events []perfReq
		beside []string // sessions
		run    func()
	}{
		{"clock", clocks[1:2], nil, func() { perfCompute(20e6) }},
		{"clocks", clocks, nil, func() { perfCompute(20e6) }},
		{"sessions", clocks[:1], []string{"task-clock:uk", "cpu-clock:u", "cpu-clock:uk"}, func() { perfCompute(20e6) }},
		{"page-faults", []perfReq{{"page-faults:uk", 1}}, nil, func() { perfFault(t, 4000) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range tt.beside {
				s, err := StartSession(PerfEvent(io.Discard, name, 1e3))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Stop()
			}
			for _, r := range perfProfileOnce(t, tt.events, tt.run) {
				// Not all machines take long for a page fault's sample.
				if perfMaxPeriod(r) == r.comment("period") && r.name != "page-faults:uk" {
					t.Errorf("nothing has kept the program alive:\n%s", r.ledger())
				}
				t.Log(r.ledger())
			}
		})
	}
}

// TestPerfBoundStrictest tests that a session whose owner allows less holds for those
// that run beside it.
func TestPerfBoundStrictest(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	run := func() { perfCompute(200e6) } // 100 samples or more
	// A sample costs a twelfth of the period: much more than 1 percent, and not so much that
	// the loosest bound acts where interrupts become several times as dear. On a busy machine
	// some look much dearer than they are, so the cheapest run counts, and in no case are
	// there fewer than 1,000 in a second.
	cheapest := 1e6 / 12
	for range 3 {
		_, _, each := perfBoundActed(t, "", perfReq{"task-clock:uk", 1e6}, run)
		cheapest = min(cheapest, each)
	}
	clock := perfReq{"task-clock:uk", max(uint64(12*cheapest), 20e3)}
	if acted, _, _ := perfBoundActed(t, "off", clock, run); acted {
		t.Error("alone: a longer period")
	}
	if acted, _, _ := perfBoundActed(t, "off", clock, func() {
		t.Setenv(costEnv, "1")
		s, err := StartSession(PerfEvent(io.Discard, "page-faults", 1e6))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Stop()
		run()
	}); !acted {
		t.Error("beside a session that allows 1 percent: no longer period")
	}
}

// TestPerfThrottled tests counters that the kernel throttles: the program gets
// on, and the profile says so.
func TestPerfThrottled(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	perfNeedsRoot(t)
	// It is a limit per tick, of 1 to 10 ms.
	perfSetSysctl(t, "perf_event_max_sample_rate", "1000")
	r := perfProfileOf(t, []perfReq{{"task-clock:uk", 60e3}}, func() { perfCompute(1e9) })[0]
	if n := r.comment("throttled"); n == 0 {
		t.Errorf("not throttled:\n%s", r.ledger())
	}
	t.Log(r.ledger())
	// It takes some ticks until the period is long enough.
	perfWithin(t, "events counted, and of all samples", float64(r.comment("counted")), float64(r.events()), 0.1)
}
