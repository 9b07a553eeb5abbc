// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of the ledger: what could not be sampled is counted, by cause, and is
// in the profile under its own name, so that totals are right.

package pprof

import (
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestPerfLostRing tests that calls which the kernel's ring had no room for are
// in the profile: a thread that blocks SIGPROF makes more of them than the ring
// holds.
func TestPerfLostRing(t *testing.T) {
	perfNeedsExact(t)
	const n = 3000
	r := perfProfileOf(t, []perfReq{{perfCalls("perfTargetA"), 1}}, func() {
		defer perfBlockSIGPROF(t)()
		perfCaller1(n)
	})[0]
	lost, delayed := r.inFrame("runtime._PerfLostRing"), r.inFrame("runtime._PerfDelayed")
	t.Logf("%d lost, %d delayed; ledger:\n%s", lost, delayed, r.ledger())
	if lost == 0 || delayed == 0 {
		t.Error("none lost, or none delayed")
	}
	// A preemption on the breakpoint hits it once more, which is told from a
	// call only where the hit has not been lost.
	r.near("samples", float64(r.total()), n+2, 2)
	r.near("events", float64(r.events()), n+2, 2)
	if got := r.comment("samples lost: ring buffer full (runtime._PerfLostRing)"); got != lost {
		t.Errorf("the comments have %d lost samples, the profile %d", got, lost)
	}
	if t.Failed() {
		t.Log(r.byStack())
	}
}

// TestPerfLostBuffer tests that samples which the profile's buffer had no room for
// are in the profile: its reader can't run while the only P makes them.
func TestPerfLostBuffer(t *testing.T) {
	perfNeedsExact(t)
	if perfInChild() == "" {
		perfChild(t, "asyncpreemptoff", func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, "GODEBUG=asyncpreemptoff=1")
		})
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 50000
	r := perfProfileOf(t, []perfReq{{"mem:runtime/pprof.counterTarget:x", 1}}, func() {
		var x int
		for range n {
			counterTarget(&x) // has no stack check, so this loop can't be preempted
		}
	})[0]
	lost := r.inFrame("runtime/pprof.lostProfileEvent")
	t.Logf("%d lost; ledger:\n%s", lost, r.ledger())
	if lost == 0 {
		t.Error("none lost")
	}
	r.near("samples", float64(r.total()), n, 0)
	r.near("events", float64(r.events()), n, 0)
	if got := r.comment("samples lost: profile buffer full (runtime/pprof.lostProfileEvent)"); got != lost {
		t.Errorf("the comments have %d lost samples, the profile %d", got, lost)
	}
}

// TestPerfLostLate tests that overflows which the PMU's interrupt came too late for
// are in the profile. The emulated machine has them: it looks at the clock for
// the overflow of the cycle counter only, and an open counter of cycles has
// that, so that the profile's overflows are noticed some time later.
func TestPerfLostLate(t *testing.T) {
	perfNeeds(t, "cycles")
	mustOpenCounters(t, "cycles")
	r := perfProfileOnce(t, []perfReq{{"cycles", 1e6}}, func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		salt1 = cpuHog0(salt1, 2e7)
	})[0]
	late := r.inFrame("runtime._PerfLostLate")
	t.Logf("%d of %d late; ledger:\n%s", late, r.total(), r.ledger())
	counted, period := float64(r.comment("counted")), float64(r.comment("period"))
	r.near("samples against counter / period", float64(r.events())/period, counted/period, float64(r.comment("threads")))
	r.near("hogs and late", float64(late+r.inFrame("runtime/pprof.cpuHog0")), counted/period, 0.05*counted/period)
	if late != 0 {
		if got := r.comment("samples lost: interrupts came later than a period (runtime._PerfLostLate)"); got != late {
			t.Errorf("the comments have %d late samples, the profile %d", got, late)
		}
	}
}

// perfEightEvents samples eight events at once and the timer beside them, and
// tests that each has the samples that its counter says.
func perfEightEvents(t *testing.T, events []perfReq, f func()) []*perfResult {
	t.Helper()
	if len(events) != 8 {
		t.Fatalf("%d events", len(events))
	}
	rs := perfProfileOf(t, append(slices.Clone(events), perfReq{}), f)
	for _, r := range rs[:8] {
		t.Logf("ledger:\n%s", r.ledger())
		r.balance()
		if counted := float64(r.comment("counted")); counted > 100*float64(r.comment("period")) {
			// 1 %, and what the first and the last sample of two threads may make.
			perfWithin(t, r.name+": events counted and sampled", counted, float64(r.events()), 0.01+2*float64(r.comment("period"))/counted)
		}
	}
	if rs[8].total() == 0 {
		t.Error("no samples of the timer")
	}
	return rs
}

// TestPerfEightHost tests eight software events and breakpoints on one thread.
func TestPerfEightHost(t *testing.T) {
	perfNeedsExact(t)
	perfNeeds(t, "task-clock:uk")
	const calls = 1000
	bps := []string{"perfTargetA", "perfTargetB", "perfTargetC", "perfTargetD"}
	var events []perfReq
	for _, bp := range bps {
		events = append(events, perfReq{perfCalls(bp), 1})
	}
	events = append(events, perfReq{"task-clock:uk", 1e6}, perfReq{"cpu-clock:uk", 1e6}, perfReq{"page-faults:uk", 7}, perfReq{"minor-faults:uk", 7})
	rs := perfEightEvents(t, events, func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		var x int
		for range calls {
			perfTargetA(&x)
			perfTargetB(&x)
			perfTargetC(&x)
			perfTargetD(&x)
			x = cpuHog0(2, 1e5)
			perfTouch(t, 2*os.Getpagesize())
		}
	})
	for i, bp := range bps {
		rs[i].near("samples", float64(rs[i].count(perfStartsWith(bp))), calls, 0)
		rs[i].near("total", float64(rs[i].total()), calls, 0)
	}
	perfWithin(t, "page faults and minor faults", float64(rs[6].events()), float64(rs[7].events()), 0.02)
}

// TestPerfEightHardware tests eight events on one thread, of which four, two of
// cycles and two of instructions, are of the PMU.
func TestPerfEightHardware(t *testing.T) {
	perfNeeds(t, "cycles")
	perfNeeds(t, "instructions")
	events := []perfReq{{"cycles", 1e6}, {"r11", 1e6}, {"instructions", 1e6}, {"r08", 1e6},
		{"task-clock:uk", 1e6}, {"cpu-clock:uk", 1e6}, {"page-faults:uk", 7}, {"minor-faults:uk", 7}}
	for _, e := range events {
		perfNeeds(t, e.name)
	}
	perfEightEvents(t, events, func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		for range 1000 {
			salt1 = cpuHog0(salt1, 5e4)
			perfTouch(t, 2*os.Getpagesize())
		}
	})
}

// TestPerfMultiplexed tests that the profiles of more events than the PMU has
// counters are scaled to what they would be if there were enough, and say so.
func TestPerfMultiplexed(t *testing.T) {
	perfNeeds(t, "cycles")
	work := func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		cpuHog0(2, 1e8)
	}
	alone := perfProfileOf(t, []perfReq{{"cycles", 1e6}}, work)[0]
	want := float64(alone.events())
	// Counters that are only read take part in the turns.
	mustOpenCounters(t, "cycles", "instructions", "r11", "r8", "cycles:uk", "instructions:uk", "cycles:k", "instructions:k")
	// None of these with the kernel, where there is more to do when events take
	// turns.
	rs := perfProfileOnce(t, []perfReq{{"cycles", 1e6}, {"r11", 1e6}, {"instructions", 1e6}, {"r8", 1e6}}, work)
	multiplexed := false
	for _, r := range rs {
		t.Logf("ledger:\n%s", r.ledger())
		perfWithin(t, r.name+": cycles multiplexed and alone", float64(r.events()), want, 0.03)
		for _, c := range r.Comments {
			if strings.HasPrefix(c, "multiplexed: ") {
				multiplexed = true
			}
		}
	}
	if !multiplexed {
		t.Skip("there are enough counters for all")
	}
}
