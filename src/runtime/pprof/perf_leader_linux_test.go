// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"errors"
	"internal/profile"
	"internal/runtime/perf"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// A ledOption is a PerfEvent whose counters are led by counters of another event. The
// machines of the tests have no events that need that, so these are others of the same PMU. (Of two
// PMUs, as dummy and task-clock are, they would not do: since Linux 6.12, starting a
// counter schedules the groups of its own PMU only, so the counter runs from the next switch
// of its thread on. See ctx_resched in kernel/events/core.c, commit 2d17cf1abcbe.)
type ledOption struct {
	ProfilingOption
	leader uint64
}

func (o ledOption) apply(s *perfSession) error {
	n := len(s.configs)
	err := o.ProfilingOption.apply(s)
	for i := range s.configs[n:] {
		cfg := &s.configs[n+i]
		cfg.Leader = o.leader | cfg.Config&^(1<<32-1) // which kind of core, if there are several
	}
	return err
}

const (
	perfNoLeader       = 0xfffffff // no event's Config
	perfHWInstructions = 1         // PERF_COUNT_HW_INSTRUCTIONS
)

// perfLeaders returns the descriptors of the counters that lead others: reads of them
// return the count alone.
func perfLeaders(t *testing.T) (leaders []int) {
	t.Helper()
	for _, fd := range perfFDs(t) {
		if n, _ := syscall.Read(fd, make([]byte, 8)); n == 8 {
			leaders = append(leaders, fd)
		}
	}
	return leaders
}

// perfStopLeaders stops the counters that lead others, and returns how many there are.
func perfStopLeaders(t *testing.T) int {
	t.Helper()
	leaders := perfLeaders(t)
	for _, fd := range leaders {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), 0x2401, 0); errno != 0 { // PERF_EVENT_IOC_DISABLE
			t.Error(errno)
		}
	}
	return len(leaders)
}

// TestPerfLeader tests that counters are in the group of one that runs before them, and
// that it ends with them.
func TestPerfLeader(t *testing.T) {
	if perfInChild() == "" { // where nothing else has events open
		perfChild(t, "leader", nil)
		return
	}
	for _, tt := range []struct {
		perfReq
		leader uint64
		work   func()
	}{
		{perfReq{"page-faults:u", 7}, perf.SWDummy, func() { perfFault(t, 1000) }},
		{perfReq{"cycles", 1e6}, perfHWInstructions, func() { salt1 = cpuHog0(salt1, 1e7) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			perfNeeds(t, tt.name)
			if err := StartCPUProfileWithConfig(ledOption{PerfEvent(io.Discard, tt.name, tt.period), perfNoLeader}); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOENT) {
				t.Errorf("with a leader that the kernel does not know: error is %v", err)
			}
			perfNothingOpen(t)

			clock, err := StartSession(PerfEvent(io.Discard, "task-clock", 1e6)) // not the last, so threads stay armed
			if err != nil {
				t.Fatal(err)
			}
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var buf bytes.Buffer
			s, err := StartSession(ledOption{PerfEvent(&buf, tt.name, tt.period), tt.leader})
			if err != nil {
				t.Fatal(err)
			}
			perfLeads(tt.work)
			leaders := perfStopLeaders(t)
			perfLeadsNot(tt.work)
			s.Stop()
			if left := perfLeaders(t); len(left) != 0 {
				t.Errorf("%d leaders are open after Stop", len(left))
			}
			clock.Stop()
			perfNothingOpen(t)

			p, err := profile.Parse(&buf)
			if err != nil {
				t.Fatal(err)
			}
			r := &perfResult{t, tt.name, p}
			in, not := r.inFrame("runtime/pprof.perfLeads"), r.inFrame("runtime/pprof.perfLeadsNot")
			t.Logf("%d leaders; %d samples, %d after they were stopped; ledger:\n%s", leaders, in, not, r.ledger())
			if n := r.comment("threads"); leaders < 1 || int64(leaders) > n {
				t.Errorf("%d leaders for %d threads", leaders, n)
			}
			if in == 0 || not != 0 {
				t.Errorf("%d samples in the group, %d while its leader does not count", in, not)
			}
			r.near("events of all samples", float64(r.events()), float64(r.comment("counted")), float64(perfMaxPeriod(r)*r.comment("threads")))
		})
	}
}

var _ = emulated(TestPerfLeader)

//go:noinline
func perfLeads(f func()) { f() }

//go:noinline
func perfLeadsNot(f func()) { f() }

// TestPerfLeaderThrottled is TestPerfThrottled for counters that are led. Since Linux 6.16
// the kernel throttles their groups, and says so of what leads them.
func TestPerfLeaderThrottled(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	perfNeedsRoot(t)
	name, leader := "task-clock:uk", uint64(perf.SWTaskClock)
	if perfCan("cycles") {
		name, leader = "cycles", perfHWInstructions
	}
	perfSetSysctl(t, "perf_event_max_sample_rate", "1000")
	var buf bytes.Buffer
	if err := StartCPUProfileWithConfig(ledOption{PerfEvent(&buf, name, 60e3), leader}); err != nil {
		t.Fatal(err)
	}
	perfCompute(1e9)
	StopCPUProfile()
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	r := &perfResult{t, name, p}
	if n := r.comment("throttled"); n == 0 {
		t.Error("not throttled")
	}
	t.Log(r.ledger())
	perfWithin(t, "events counted, and of all samples", float64(r.comment("counted")), float64(r.events()), 0.1)
}

var _ = emulated(TestPerfLeaderThrottled)

// TestPerfLeaderProbe tests that what a probe opens is led, too.
func TestPerfLeaderProbe(t *testing.T) {
	perfNeeds(t, "page-faults:u")
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cfg := perf.SampleConfig{Attr: perf.Attr{Type: perf.TypeSoftware, Config: perf.SWPageFaults, ExcludeKernel: true, Leader: perf.SWDummy}, Period: 1}
	before := len(perfFDs(t))
	var leaders int
	step := func() { perfFault(t, 100) }
	stopped := func() { leaders = perfStopLeaders(t); step() }
	if samples, counted, ran, f := runtime_perfProbe(&cfg, 1, step); samples < 100 || counted < 100 || !ran || f.Op != perf.OpNone {
		t.Errorf("%d samples of %d, ran %v, %+v", samples, counted, ran, f)
	}
	if samples, counted, _, f := runtime_perfProbe(&cfg, 1, stopped); counted >= 100 || f.Op != perf.OpNone || leaders != 1 {
		t.Errorf("%d leaders stopped: %d samples of %d, %+v", leaders, samples, counted, f)
	}
	if counted, ran := runtime_perfProbeCount(&cfg, step); counted < 100 || !ran {
		t.Errorf("%d counted, ran %v", counted, ran)
	}
	if counted, _ := runtime_perfProbeCount(&cfg, stopped); counted >= 100 || leaders != 1 {
		t.Errorf("%d leaders stopped: %d counted", leaders, counted)
	}
	cfg.Leader = perfNoLeader
	if _, _, _, f := runtime_perfProbe(&cfg, 1, step); f.Op != perf.OpOpen {
		t.Errorf("with a leader that the kernel does not know: %+v", f)
	}
	cfg.Leader, cfg.Config = perf.SWDummy, perfNoLeader
	if _, _, _, f := runtime_perfProbe(&cfg, 1, step); f.Op != perf.OpOpen {
		t.Errorf("an event that the kernel does not know: %+v", f)
	}
	if after := len(perfFDs(t)); after != before {
		t.Errorf("%d descriptors were open, now %d", before, after)
	}
}

// TestPerfLeaderDescriptors tests that a counter that has no descriptor left for it, or for
// the one that leads it, leaves neither open.
func TestPerfLeaderDescriptors(t *testing.T) {
	perfNeeds(t, "page-faults:u")
	if perfInChild() == "" {
		perfChild(t, "limit", nil)
		return
	}
	for free := range 3 {
		perfWithDescriptors(t, free, func(int) {
			err := StartCPUProfileWithConfig(ledOption{PerfEvent(io.Discard, "page-faults:u", 1), perf.SWDummy})
			if free == 2 && err == nil {
				StopCPUProfile()
			} else if free == 2 || !errors.Is(err, syscall.EMFILE) || !strings.Contains(err.Error(), "ulimit -n") {
				t.Errorf("with %d descriptors left: error is %v", free, err)
			}
			perfNothingOpen(t)
		})
	}
	perfStartWorks(t)
}
