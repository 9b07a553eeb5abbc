// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of what goes wrong while events are sampled: the program goes on
// unharmed, and the profile says what is missing.

package pprof

import (
	"bytes"
	"fmt"
	"internal/abi"
	"internal/profile"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// perfBlockSIGPROF blocks SIGPROF on the current thread, to which it locks the
// goroutine, and returns a function that undoes both.
func perfBlockSIGPROF(t *testing.T) (unblock func()) {
	t.Helper()
	setmask := func(how uintptr) {
		set := uint64(1) << (syscall.SIGPROF - 1) // on the architectures that the tests run on
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, how, uintptr(unsafe.Pointer(&set)), 0, 8, 0, 0); errno != 0 {
			t.Fatalf("rt_sigprocmask: %v", errno)
		}
	}
	const block, unblockHow = 0, 1
	runtime.LockOSThread()
	setmask(block)
	return func() {
		setmask(unblockHow)
		runtime.UnlockOSThread()
	}
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
				calls := func() {
					for range n {
						tt.f()
					}
				}
				calls()
				unblock := perfBlockSIGPROF(t)
				calls()
				unblock()
				calls()
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

// perfThreads has n threads run f one after the other, each on a thread that is
// new, and exits with it.
func perfThreads(n int, f func()) {
	for range n {
		done := make(chan bool)
		go func() {
			defer close(done)
			runtime.LockOSThread() // for ever, so the thread exits
			f()
		}()
		<-done
	}
}

// TestPerfSeccompLater tests a filter that the program installs while events are
// sampled: the threads that come later are missing, and the profile says why.
func TestPerfSeccompLater(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	switch mode := perfInChild(); mode {
	case "":
		for _, mode := range []string{"EPERM", "EACCES"} {
			perfChild(t, mode, nil)
		}
	default:
		errno, remedy := syscall.EPERM, "seccomp"
		if mode == "EACCES" {
			errno, remedy = syscall.EACCES, "perf_event_paranoid"
		}
		const later = 20
		sum := 0
		r := perfProfileOnce(t, []perfReq{{"task-clock:uk", 1e6}}, func() {
			forbid(t, errno, perfEventOpenNr(t))
			perfSpin(50 * time.Millisecond) // on a thread that is armed
			perfThreads(later, func() { sum += perfCompute(1000) })
		})[0]
		if want := later * perfCompute(1000); sum != want {
			t.Errorf("the later threads computed %d, want %d", sum, want)
		}
		if n := r.warned(); n < later/2 { // the first ones may be threads that were idle
			t.Errorf("%d threads were not sampled by the profile, want %d at least", n, later/2)
		}
		if l := r.ledger(); !strings.Contains(l, remedy) || !strings.Contains(l, errno.Error()[:10]) {
			t.Errorf("the profile does not say why:\n%s", l)
		}
		if r.total() == 0 {
			t.Error("no samples of the threads from before")
		}
		perfNothingOpen(t)
	}
}

// warned returns the number of threads that were not sampled.
func (r *perfResult) warned() int64 { return perfLedger(r.Profile)["threads not sampled"] }

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
	if n := perfMappings(t); n != 0 {
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

// TestPerfNoPendingSignals tests RLIMIT_SIGPENDING 0, at which the kernel sends
// signals without their information.
func TestPerfNoPendingSignals(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	if perfInChild() == "" {
		perfChild(t, "limit", nil)
		return
	}
	const rlimitSigpending = 11
	if err := syscall.Setrlimit(rlimitSigpending, new(syscall.Rlimit)); err != nil {
		t.Fatal(err)
	}
	r := perfProfileOf(t, []perfReq{{"task-clock:uk", 1e6}}, func() { perfSpin(100 * time.Millisecond) })[0]
	r.balance()
}

// TestPerfReusedDescriptors tests a program that closes all descriptors, as
// daemons do, and opens files of its own that get the numbers. They are not
// read, closed or changed; the profile says what could not be read.
func TestPerfReusedDescriptors(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	if perfInChild() == "" {
		perfChild(t, "daemon", nil)
		return
	}
	t.Setenv(multipleEnv, "true")
	events := []perfReq{{"task-clock:uk", 1e6}, {"page-faults:uk", 1}, {"cpu-clock:uk", 1e6}}
	var pipes [][2]int
	set, err := OpenCounters("task-clock")
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	rs := perfProfileOnce(t, events, func() {
		perfSpin(20 * time.Millisecond)
		perfThreads(3, func() {}) // with counters of their own
		counters := perfCounterFDs(t)
		for _, fd := range counters {
			syscall.Close(fd)
		}
		if len(counters) < len(events) {
			t.Fatalf("%d counters were open", len(counters))
		}
		// The pipes take the numbers, but for those that a new thread's counters
		// have. Reading one that is empty blocks.
		closed := func(fd int) bool {
			_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
			return errno == syscall.EBADF
		}
		for slices.ContainsFunc(counters, closed) {
			var p [2]int
			if err := syscall.Pipe(p[:]); err != nil {
				t.Fatal(err)
			}
			pipes = append(pipes, p)
		}
		for i, p := range pipes {
			syscall.SetNonblock(p[0], i%2 == 1)
			if i%3 == 0 {
				syscall.Write(p[1], []byte("some data that is longer than what a counter reads"))
			}
		}
		perfSpin(20 * time.Millisecond)
		perfThreads(3, func() { perfCompute(1000) })
		perfFault(t, 100)
		set.Read(make([]CounterValue, 1)) // may fail, but not block
	})
	set.Close()
	for i, p := range pipes {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(p[0]), syscall.F_GETFL, 0)
		if errno != 0 {
			t.Errorf("pipe %d: %v", i, errno)
		}
		if got := flags&syscall.O_NONBLOCK != 0; got != (i%2 == 1) {
			t.Errorf("pipe %d: non-blocking is %v", i, got)
		}
		if flags&syscall.O_ASYNC != 0 {
			t.Errorf("pipe %d sends signals", i)
		}
		if i%3 == 0 {
			b := make([]byte, 100)
			if n, err := syscall.Read(p[0], b); err != nil || string(b[:n]) != "some data that is longer than what a counter reads" {
				t.Errorf("pipe %d: %q, %v", i, b[:max(n, 0)], err)
			}
		}
		for _, fd := range p {
			if err := syscall.Close(fd); err != nil {
				t.Errorf("pipe %d: close: %v", i, err)
			}
		}
	}
	for _, r := range rs {
		if n := r.comment("unread"); n == 0 {
			t.Errorf("the profile does not say that counters are gone:\n%s", r.ledger())
		}
	}
	perfNothingOpen(t)
	perfStartWorks(t)
}

// perfCounterFDs returns the descriptors of counters.
func perfCounterFDs(t *testing.T) (fds []int) {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range d {
		if link, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.Contains(link, "perf_event") {
			fds = append(fds, int(perfAtoi(t, e.Name())))
		}
	}
	return fds
}

// A slowWriter waits before it takes anything.
type slowWriter struct {
	entered, release chan bool
	n                int
}

func (w *slowWriter) Write(b []byte) (int, error) {
	if w.n == 0 {
		close(w.entered)
		<-w.release
	}
	w.n += len(b)
	return len(b), nil
}

// TestPerfSlowWriter tests that a writer that takes its time holds up nobody but
// who stops the profile: the counters are closed before.
func TestPerfSlowWriter(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	w := &slowWriter{entered: make(chan bool), release: make(chan bool)}
	if err := StartCPUProfileWithConfig(PerfEvent(w, "task-clock:uk", 1e6)); err != nil {
		t.Fatal(err)
	}
	perfSpin(20 * time.Millisecond)
	stopped := make(chan bool)
	go func() {
		StopCPUProfile()
		close(stopped)
	}()
	<-w.entered
	perfNothingOpen(t)
	perfThreads(5, func() { perfCompute(1000) })
	runtime.GC()
	select {
	case <-stopped:
		t.Error("StopCPUProfile did not wait for the writer")
	default:
	}
	close(w.release)
	<-stopped
	if w.n == 0 {
		t.Error("nothing was written")
	}
	perfStartWorks(t)
}

func TestReadKallsyms(t *testing.T) {
	k := readKallsyms(strings.NewReader(`0000000000000000 A fixed_percpu_data
ffffffff81000000 T _text
ffffffff81000000 T startup_64
ffffffff81000040 t secondary
ffffffff81000100 D data
not an address
ffffffff81000200
ffffffffc0000000 t of_a_module	[module]
ffffffff81000300 W last
`))
	for _, test := range []struct {
		addr uint64
		want string
	}{
		{0xffffffff80ffffff, ""},
		{0xffffffff81000000, "_text"},
		{0xffffffff8100003f, "_text"},
		{0xffffffff81000040, "secondary"},
		{0xffffffff81000100, "secondary"},
		{0xffffffff81000300, "last"},
		{0xffffffffbfffffff, "last"},
		{0xffffffffc0000000, ""}, // no telling where it ends
	} {
		if got := k.at(test.addr); got != test.want {
			t.Errorf("%#x: %q, want %q", test.addr, got, test.want)
		}
	}
}

// TestPerfKernelMark tests that whoever reads only the names of functions, as in
// pprof -top, tells the kernel's from the program's.
func TestPerfKernelMark(t *testing.T) {
	name := func(addr uintptr) string {
		f := perfKernelFrame(addr)
		if len(f) != 1 || f[0].File != "[kernel]" {
			t.Fatalf("%#x: %v", addr, f)
		}
		return f[0].Function
	}
	if got := name(^uintptr(4095)); got != "[kernel]" {
		t.Errorf("unknown instruction: %q", got)
	}
	syms := kernelSymbols().syms
	if len(syms) < 2 || unsafe.Sizeof(uintptr(0)) == 4 {
		t.Skip("/proc/kallsyms shows no addresses to this process, or they do not fit in its words")
	}
	addr := syms[len(syms)/2].addr
	if got, want := name(uintptr(addr)+1), kernelSymbol(addr)+" [k]"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if perfKernelFrame(abi.FuncPCABIInternal(perfKernelFrame)) != nil {
		t.Error("a function of the program is the kernel's")
	}
}

// TestPerfNoKernelAddresses tests that a profile with kernel time says nothing
// of where the kernel is: names, if the process may see them, but no address.
func TestPerfNoKernelAddresses(t *testing.T) {
	perfNeeds(t, "page-faults:uk")
	r := perfProfileOf(t, []perfReq{{"task-clock:uk", 200e3}}, func() { perfFault(t, 50e3) })[0]
	kernel := 0
	for _, loc := range r.Location {
		if uint64(loc.Address)>>63 != 0 {
			t.Errorf("location %d has the address %#x", loc.ID, loc.Address)
		}
		for _, line := range loc.Line {
			name := line.Function.Name
			if line.Function.Filename == "[kernel]" {
				kernel++
				if name != "[kernel]" && !strings.HasSuffix(name, " [k]") {
					t.Errorf("the kernel's function %q is not marked", name)
				}
			} else if strings.HasSuffix(name, " [k]") {
				t.Errorf("%q is not the kernel's", name)
			}
		}
	}
	for _, m := range r.Mapping {
		// The one that is the same everywhere is in each profile on x86.
		if m.File != "[vsyscall]" && m.Start>>63 != 0 {
			t.Errorf("mapping of %#x to %#x", m.Start, m.Limit)
		}
	}
	if kernel == 0 {
		t.Errorf("no kernel frames:\n%s", r.byStack())
	}
}
