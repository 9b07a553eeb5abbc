// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of perfrecord_linux.go and perffit_linux.go in package runtime: overflows
// without a ring, that did not fit in it, or whose signal came late.

package pprof

import (
	"bytes"
	"context"
	"fmt"
	"internal/profile"
	"internal/race"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// TestPerfNoRing tests sampling without rings, which need locked memory: the
// profile says so, and is still right.
func TestPerfNoRing(t *testing.T) {
	if perfInChild() == "" {
		perfNeeds(t, "task-clock")
		perfNeedsRoot(t)
		perfSetSysctl(t, "perf_event_mlock_kb", "0")
		// Memory is locked on the account of a user, and root has no limit.
		user := perfOrdinaryUser(t)
		out := perfChild(t, "no memory", func(cmd *exec.Cmd) {
			user(cmd)
			cmd.Env = append(cmd.Env, "PMU_TEST_REQUIRE=")
		})
		if !strings.Contains(out, "PASS") {
			t.Error("the child did not pass")
		}
		return
	}
	if err := syscall.Setrlimit(8 /* RLIMIT_MEMLOCK */, new(syscall.Rlimit)); err != nil {
		t.Fatal(err)
	}
	event := "cycles"
	if !perfCan(event) {
		event = "task-clock"
	}
	r := perfProfileOf(t, []perfReq{{event, 500e3}}, func() { perfSpin(300 * time.Millisecond) })[0]
	if n, _ := perfMappings(t); n != 0 {
		t.Errorf("%d rings are mapped", n)
	}
	l := r.ledger()
	for _, w := range []string{"threads without a ring", "perf_event_mlock_kb", "ulimit -l"} {
		if !strings.Contains(l, w) {
			t.Errorf("the profile does not say %q:\n%s", w, l)
		}
	}
	if event == "cycles" {
		perfWithin(t, "cycles: counter / period, and samples",
			float64(r.comment("counted"))/float64(r.comment("period")), float64(r.total()), 0.01)
	} else if r.total() == 0 { // those in the kernel are missing, however many
		t.Errorf("no samples:\n%s", l)
	}

	// A session that joins does not have the thread read a ring that there is not.
	alone, beside := 0, 0
	r = perfProfileOf(t, []perfReq{{event, 500e3}}, func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		perfCompute(100e6)
		s, err := StartSession(PerfEvent(io.Discard, "page-faults:u", 1<<40))
		if err != nil {
			t.Error(err)
			return
		}
		perfComputeBeside(100e6)
		s.Stop()
	})[0]
	for _, s := range r.Sample {
		switch fs := perfFrames(s); {
		case slices.Contains(fs, "runtime/pprof.perfComputeBeside"):
			beside += int(s.Value[0])
		case slices.Contains(fs, "runtime/pprof.perfCompute"):
			alone += int(s.Value[0])
		}
	}
	if alone < 10 || beside < alone/2 {
		t.Errorf("%d samples, and then %d beside another session:\n%s", alone, beside, r.ledger())
	}

	if race.Enabled || !perfCan(perfCalls("perfTargetA")) {
		return
	}
	const calls = 3000
	r = perfProfileOf(t, []perfReq{{perfCalls("perfTargetA"), 1}}, func() { perfCaller1(calls) })[0]
	r.near("samples", float64(r.count(perfStartsWith("perfTargetA", "perfCaller1"))), calls, 0)

	rs := perfProfileOf(t, []perfReq{{perfCalls("perfTargetA"), 1}, {perfCalls("perfTargetB"), 1}}, func() {
		var x int
		for range calls {
			perfTargetA(&x)
			perfTargetB(&x)
		}
	})
	for _, r := range rs {
		r.near("samples beside another breakpoint", float64(r.total()), calls, 0)
	}
}

var _ = emulated(TestPerfNoRing)

//go:noinline
func perfComputeBeside(ns int) { perfCompute(ns) }

// TestPerfNoMmap tests rings that can't be mapped: the samples are right without.
func TestPerfNoMmap(t *testing.T) {
	perfNeedsExact(t)
	if perfInChild() == "" {
		perfChild(t, "no mmap", nil)
		return
	}
	forbidRings(t)
	const calls = 1000
	r := perfProfileOf(t, []perfReq{{perfCalls("perfTargetA"), 1}}, func() { perfCaller1(calls) })[0]
	if n, _ := perfMappings(t); n != 0 {
		t.Errorf("%d rings are mapped", n)
	}
	if l := r.ledger(); !strings.Contains(l, "threads without a ring: ") {
		t.Errorf("the profile does not say that there was no ring:\n%s", l)
	}
	r.near("samples", float64(r.count(perfStartsWith("perfTargetA", "perfCaller1"))), calls, 0)
}

// forbidRings has mmap fail for rings.
func forbidRings(t *testing.T) {
	t.Helper()
	const mapShared = 1
	mmap := seccompCheck{seccompNr, syscall.SYS_MMAP}
	if runtime.GOARCH == "386" {
		mmap.value = 192 // mmap2
	}
	flags := seccompCheck{seccompArg3, mapShared}
	forbid(t, syscall.ENOMEM, mmap, flags)
}

// TestPerfLostRing tests that calls which the kernel's ring had no room for are
// in the profile: a thread that blocks SIGPROF makes more of them than the ring
// holds.
func TestPerfLostRing(t *testing.T) {
	perfNeedsExact(t)
	if !perfWithoutPreemption(t) {
		return
	}
	const n = 3000
	r := perfProfileOf(t, []perfReq{{perfCalls("counterTarget"), 1}}, func() {
		defer perfBlockSIGPROF(t)()
		perfCallTarget(n)
	})[0]
	lost, delayed := r.inFrame("runtime._PerfLostRing"), r.inFrame("runtime._PerfDelayed")
	t.Logf("%d lost, %d delayed; ledger:\n%s", lost, delayed, r.ledger())
	if lost == 0 || delayed == 0 {
		t.Error("none lost, or none delayed")
	}
	r.near("delayed and lost", float64(delayed+lost), n, 0)
	r.near("samples", float64(r.total()), n, 0)
	r.near("events", float64(r.events()), n, 0)
	if got := r.comment("lost in ring"); got != lost {
		t.Errorf("the comments have %d lost samples, the profile %d", got, lost)
	}
	if t.Failed() {
		t.Log(r.byStack())
	}
}

// TestPerfLostRingFirst tests that calls are lost as what they are on threads whose
// handler runs for the first time when the ring has long been full: until then
// a thread's first period stays, which is random, and nearly always shorter than
// the event's.
func TestPerfLostRingFirst(t *testing.T) {
	perfNeedsExact(t)
	if !perfWithoutPreemption(t) {
		return
	}
	const threads, calls = 4, 8000
	r := perfProfileOf(t, []perfReq{{perfCalls("counterTarget"), 13}}, func() {
		perfThreads(threads, func() {
			defer perfBlockSIGPROF(t)()
			perfCallTarget(calls)
		})
	})[0]
	if r.inFrame("runtime._PerfLostRing") == 0 {
		t.Error("none lost")
	}
	r.near("counted", float64(r.comment("counted")), threads*calls, 0)
	r.near("events", float64(r.events()), threads*calls, threads*13)
}

// TestPerfSameFaults tests that counters of the same occurrences are told apart, be
// they of one session or of several, though Linux gives their records the same ID
// when one occurrence makes several overflow.
func TestPerfSameFaults(t *testing.T) {
	perfNeeds(t, "page-faults:uk")
	faults := func() {
		for range 1000 { // with time between them, so that the overhead bound does not act
			perfFault(t, 1)
			perfCompute(200e3)
		}
	}
	for i, reqs := range [][]perfReq{
		{{"page-faults", 3}, {"page-faults:uk", 5}, {"page-faults:k", 2}, {"minor-faults", 3}},
		{{"page-faults:uk", 1}, {"page-faults:uk", 1}, {"page-faults:uk", 29}, {"page-faults:uk", 97}},
		{{"page-faults:uk", 97}, {"page-faults:uk", 29}, {"page-faults:uk", 1}, {"page-faults", 1}},
	} {
		bufs := make([]bytes.Buffer, len(reqs))
		var sessions []*Session
		for i, req := range reqs {
			s, err := StartSession(PerfEvent(&bufs[i], req.name, req.period))
			if err != nil {
				t.Fatal(err)
			}
			sessions = append(sessions, s)
		}
		faults()
		for _, s := range sessions {
			s.Stop()
		}
		var rs []*perfResult
		for i, req := range reqs {
			p, err := profile.Parse(&bufs[i])
			if err != nil {
				t.Fatal(err)
			}
			rs = append(rs, &perfResult{t, req.name, p})
		}
		if i == 0 { // a session has each event once
			rs = append(rs, perfProfileOf(t, reqs, faults)...)
		}
		for _, r := range rs {
			t.Logf("%s with periods of %d to %d: %d counted, %d in the profile", r.name, r.comment("period"), perfMaxPeriod(r), r.comment("counted"), r.events())
			r.near("events of all samples", float64(r.events()), float64(r.comment("counted")), float64(perfMaxPeriod(r)*r.comment("threads")))
		}
	}
}

// perfClock has the kernel write the time to ts. It is not called through the vDSO.
//
//go:noinline
func perfClock(ts *syscall.Timespec) {
	const clockMonotonic = 1
	if _, _, errno := syscall.RawSyscall(perfSysClockGettime, clockMonotonic, uintptr(unsafe.Pointer(ts)), 0); errno != 0 {
		panic(errno)
	}
}

// perfSysClockGettime is the number of the system call clock_gettime.
var perfSysClockGettime = map[string]uintptr{"386": 265, "amd64": 228, "arm64": 113}[runtime.GOARCH]

// TestPerfDelayed tests that what overflows while SIGPROF is blocked is not taken
// for work of the code that unblocks it: each call is one sample with its own leaf,
// in user mode or in the kernel. What overflows before and after has its stack.
func TestPerfDelayed(t *testing.T) {
	perfNeedsExact(t)
	if !perfWithoutPreemption(t) {
		return
	}
	ts := new(syscall.Timespec)
	const n = 20
	for _, tt := range []struct {
		name, event string
		f           func()
	}{
		{"user", perfCalls("counterTarget"), func() { perfCallTarget(1) }},
		{"user and kernel", perfCalls("counterTarget") + ":uk", func() { perfCallTarget(1) }},
		{"kernel", fmt.Sprintf("mem:%p/8:w:uk", &ts.Sec), func() { perfClock(ts) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			kernel := tt.name == "kernel"
			if kernel && perfSysClockGettime == 0 {
				t.Skip("no number of clock_gettime")
			}
			perfNeedsAs(t, "breakpoints", tt.event)
			r := perfProfileOf(t, []perfReq{{tt.event, 1}}, func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				perfRepeat(n, tt.f)
				unblock := perfBlockSIGPROF(t)
				perfRepeat(n, tt.f)
				unblock()
				perfRepeat(n, tt.f)
			})[0]
			// The kernel may need several writes.
			all := float64(r.total())
			r.near("samples", all, float64(r.comment("counted")), 0)
			if all < 3*n || !kernel && all > 3*n {
				t.Errorf("%.0f samples of %d calls", all, 3*n)
			}
			var delayed, whole int64
			for _, s := range r.Sample {
				fs := perfFrames(s)
				switch {
				case kernel && len(fs) == 2 && fs[1] == "runtime._PerfDelayed",
					!kernel && slices.Equal(fs, []string{"runtime/pprof.counterTarget", "runtime._PerfDelayed"}):
					delayed += s.Value[0]
				case kernel && slices.Contains(fs[1:], "runtime/pprof.perfClock"),
					!kernel && perfStartsWith("counterTarget", "perfCallTarget")(s):
					whole += s.Value[0]
				}
			}
			r.near("samples with their leaf", float64(delayed), all/3, 0)
			r.near("samples with their stack", float64(whole), all*2/3, 0)
			if t.Failed() {
				t.Log(r.byStack())
			}
		})
	}
}

// perfStartsWithFrames is perfStartsWith for functions of any package.
func perfStartsWithFrames(fn ...string) func(*profile.Sample) bool {
	return func(s *profile.Sample) bool {
		fs := perfFrames(s)
		return len(fs) >= len(fn) && slices.Equal(fs[:len(fn)], fn)
	}
}

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
	// Samples that have their leaf only, as their signal came late, have no label.
	// They are counted, and any thread may have lost them.
	unlabeled := float64(perfLedger(r.Profile)["delayed"])
	if unlabeled > 2+all/100 {
		t.Errorf("%v samples came late, of %v", unlabeled, all)
	}
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
		if n[i] < want {
			tol += unlabeled
		}
		r.near("samples of thread "+strconv.Itoa(i), n[i], want, tol)
	}
	if all < 100 {
		t.Errorf("only %v samples", all)
	}
}

var _ = emulated(TestPerfBlockedThreads)
