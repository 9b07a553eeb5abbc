// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// TestPerfLostBuffer tests that samples which the profile's buffer had no room for
// are in the profile: its reader can't run while the only P makes them.
func TestPerfLostBuffer(t *testing.T) {
	perfNeedsExact(t)
	if !perfWithoutPreemption(t) {
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const n = 50000
	r := perfProfileOf(t, []perfReq{{perfCalls("counterTarget"), 1}}, func() { perfCallTarget(n) })[0]
	if r.lostBuffer() == 0 {
		t.Error("none lost")
	}
	r.near("samples", float64(r.total()), n, 0)
	r.near("events", float64(r.events()), n, 0)
}

// TestPerfLostBufferFaults tests that lost samples stand for the events that they
// were taken for, which a breakpoint at period 1 can't show. The overhead bound
// decides how many faults a sample is, so there are more and more of
// them until the buffer is full.
func TestPerfLostBufferFaults(t *testing.T) {
	perfNeeds(t, "page-faults")
	if !perfWithoutPreemption(t) {
		return
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	pageSize := os.Getpagesize()
	const pages = 1024
	b, err := syscall.Mmap(-1, 0, pages*pageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(b)
	syscall.Madvise(b, 15) // MADV_NOHUGEPAGE; may not be there
	fault := func(n int) {
		// Nothing here lets the scheduler take the P away.
		for ; n > 0; n -= pages {
			for i := 0; i < len(b); i += pageSize {
				b[i] = 1
			}
			syscall.RawSyscall(syscall.SYS_MADVISE, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)), syscall.MADV_DONTNEED)
		}
	}
	for n := 64 << 10; ; n *= 2 {
		// The longer the stack, the fewer samples the buffer holds.
		r := perfProfileOf(t, []perfReq{{"page-faults", 3}}, func() { perfDeep(60, func() { fault(n) }) })[0]
		longest := float64(perfMaxPeriod(r) * r.comment("threads"))
		r.near("events of all samples", float64(r.events()), float64(r.comment("counted")), longest)
		if r.lostBuffer() > 0 {
			break
		}
		if n > 64<<20 {
			t.Fatalf("none lost of %d faults", n)
		}
	}
}

var _ = emulated(TestPerfLostBufferFaults)

// lostBuffer returns how many samples the profile's buffer had no room for, and
// fails the test if the comments disagree.
func (r *perfResult) lostBuffer() int64 {
	r.t.Helper()
	lost := r.inFrame("runtime/pprof.lostProfileEvent")
	r.t.Logf("%d lost; ledger:\n%s", lost, r.ledger())
	if lost > 0 {
		if got := r.comment("lost in buffer"); got != lost {
			r.t.Errorf("the comments have %d lost samples, the profile %d", got, lost)
		}
	}
	return lost
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
		if got := r.comment("lost late"); got != late {
			t.Errorf("the comments have %d late samples, the profile %d", got, late)
		}
	}
}

var _ = emulated(TestPerfLostLate)

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
			perfWithin(t, r.name+": events counted and sampled", counted, float64(r.events()), 0.01+2*float64(perfMaxPeriod(r))/counted)
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
	if !perfWithoutPreemption(t) {
		return
	}
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
			perfFault(t, 2)
		}
	})
	for i, bp := range bps {
		rs[i].near("samples", float64(rs[i].count(perfStartsWith(bp))), calls, 0)
		rs[i].near("total", float64(rs[i].total()), calls, 0)
	}
	// All faults here are minor ones. The counters say so. The samples need not: the
	// overhead bound may take a longer period, and then what the last period of
	// either event has not reached is more than any 2 %.
	perfWithin(t, "page faults and minor faults", float64(rs[6].comment("counted")), float64(rs[7].comment("counted")), 0.01)
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
			perfFault(t, 2)
		}
	})
}

var _ = emulated(TestPerfEightHardware)

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

var _ = emulated(TestPerfMultiplexed)
