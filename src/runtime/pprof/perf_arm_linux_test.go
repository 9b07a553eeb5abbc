// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of perfarm_linux.go and perfdisarm_linux.go in package runtime: threads that
// come and go, starts and stops.

package pprof

import (
	"bytes"
	"internal/profile"
	"internal/race"
	"internal/runtime/perf"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

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

// TestPerfStop tests that when StopCPUProfile returns no counter is open and no
// ring is mapped, whatever the threads did meanwhile, and that SIGPROF is
// treated as before.
func TestPerfStop(t *testing.T) {
	perfNeeds(t, "task-clock")
	t.Setenv(multipleEnv, "true")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	disposition := func() string { return perfStatus(t, "SigIgn") + " " + perfStatus(t, "SigCgt") }
	signals, goroutines := disposition(), runtime.NumGoroutine()
	fds := len(perfAllFDs(t))
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for i := range rounds {
		var a, b bytes.Buffer
		if err := StartCPUProfileWithConfig(PerfEvent(&a, "task-clock", 100e3), PerfEvent(&b, "page-faults", 10)); err != nil {
			t.Fatal(err)
		}
		if n := len(perfFDs(t)); n < 4 {
			t.Errorf("round %d: %d counters are open while sampling", i, n)
		}
		quit := make(chan bool)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { perfChurn(quit) })
		}
		cpuHogger(cpuHog1, &salt1, time.Duration(i%5)*time.Millisecond)
		StopCPUProfile() // while threads come and go
		perfNothingOpen(t)
		close(quit)
		wg.Wait()
		perfNothingOpen(t)
		for _, buf := range []*bytes.Buffer{&a, &b} {
			if _, err := profile.Parse(buf); err != nil {
				t.Error(err)
			}
		}
	}
	if got := disposition(); got != signals {
		t.Errorf("ignored and caught signals were %s and are %s", signals, got)
	}
	// The last goroutine's end is not synchronous with its last signal to us.
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), goroutines)
		}
	}
	// os/exec and others keep some descriptors, but not one per round.
	if n := len(perfAllFDs(t)); n > fds+5 {
		t.Errorf("%d descriptors are open, before %d", n, fds)
	}
}

// TestPerfStartStopRace tests that starting and stopping from several goroutines
// at once leaves either a whole profile or none.
func TestPerfStartStopRace(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	quit := make(chan bool)
	var wg, churn sync.WaitGroup
	churn.Go(func() { perfChurn(quit) })
	for i := range 4 {
		wg.Go(func() {
			for range 50 {
				if i%2 == 1 {
					StopCPUProfile()
					continue
				}
				err := StartCPUProfileWithConfig(PerfEvent(io.Discard, "task-clock:uk", 100e3))
				if err != nil && !strings.Contains(err.Error(), "already in use") {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	StopCPUProfile()
	perfNothingOpen(t)
	close(quit)
	churn.Wait()
	r := perfProfileOf(t, []perfReq{{"task-clock:uk", 1e6}}, func() { perfSpin(50 * time.Millisecond) })[0]
	r.balance()
}

// TestPerfManyThreads tests a thousand threads with eight events each, and that
// starting and stopping them costs no more for each than with a tenth of the
// threads: in CPU time, as the machine may be busy otherwise.
func TestPerfManyThreads(t *testing.T) {
	if race.Enabled {
		t.Skip("a thread of the race detector is not a thread's cost")
	}
	perfNeeds(t, "task-clock")
	perfNeeds(t, "page-faults:uk")
	t.Setenv(multipleEnv, "true")
	names := []string{"task-clock", "cpu-clock", "task-clock:u", "cpu-clock:u", "page-faults", "page-faults:uk", "minor-faults", "context-switches"}
	threads := min(1000, (perfMaxFD()-100)/len(names))
	defer perfParked(threads / 10)()
	start, stop := perfStartCost(t, names, threads/10)
	defer perfParked(threads - threads/10)()
	startAll, stopAll := perfStartCost(t, names, threads)
	// Were it the square, it would be ten times as much.
	if startAll > 3*start || stopAll > 3*stop {
		t.Errorf("of %d threads each counter costs %.1f times as much to start and %.1f times to stop as of %d", threads, startAll/start, stopAll/stop, threads/10)
	}
}

// perfStartCost returns the least CPU time that starting profiles of the events took for
// each counter, and stopping, when there are at least so many threads.
func perfStartCost(t *testing.T, names []string, threads int) (start, stop float64) {
	t.Helper()
	bufs := make([]bytes.Buffer, len(names))
	var opts []ProfilingOption
	for i, name := range names {
		opts = append(opts, PerfEvent(&bufs[i], name, 0))
	}
	start, stop = math.Inf(1), math.Inf(1)
	for range 3 {
		for i := range bufs {
			bufs[i].Reset()
		}
		took := func(f func()) float64 {
			user, sys := diffCPUTime(t, f)
			return float64(user + sys)
		}
		started := took(func() {
			if err := StartCPUProfileWithConfig(opts[0], opts[1:]...); err != nil {
				t.Fatal(err)
			}
		})
		perfSpin(10 * time.Millisecond)
		stopped := took(StopCPUProfile)
		perfNothingOpen(t)
		p, err := profile.Parse(&bufs[0])
		if err != nil {
			t.Fatal(err)
		}
		r := &perfResult{t, names[0], p}
		n := r.comment("threads") + r.warned()
		if n < int64(threads) {
			t.Errorf("%d threads in the ledger, want %d at least", n, threads)
		}
		counters := float64(n * int64(len(names)))
		start, stop = min(start, started/counters), min(stop, stopped/counters)
	}
	t.Logf("%d threads, %d events: start %.0f ns for each, stop %.0f", threads, len(names), start, stop)
	return start, stop
}

// perfStops stops the world again and again while it is called for.
type perfStops struct {
	n     atomic.Int64
	calls chan bool
}

// run stops the world once for each call until quit is closed.
func (s *perfStops) run(quit chan bool) {
	for {
		select {
		case <-quit:
			return
		case <-s.calls:
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			s.n.Add(1)
		}
	}
}

// during returns how often the world was stopped while f ran. It is at most cap(s.calls) and one
// more: a start or a stop that lets the world stop lets it do so as often as somebody wants, so
// with many CPUs there would be tens of thousands.
func (s *perfStops) during(f func()) int64 {
	for len(s.calls) < cap(s.calls) {
		s.calls <- true
	}
	before := s.n.Load()
	f()
	n := s.n.Load() - before
	for len(s.calls) > 0 {
		select {
		case <-s.calls:
		default:
		}
	}
	return n
}

// TestPerfStartYields tests that the world can stop while a profile of many threads
// starts and while it ends, as for the garbage collector, and that threads that
// come and go meanwhile leave nothing behind.
func TestPerfStartYields(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	threads := min(2000, perfMaxFD()-100)
	defer perfParked(threads)()

	var wg sync.WaitGroup
	defer wg.Wait()
	quit := make(chan bool)
	defer close(quit)
	stops := perfStops{calls: make(chan bool, 100)}
	wg.Go(func() { stops.run(quit) })
	wg.Go(func() { perfChurn(quit) })

	// The runtime's part only: what runtime/pprof does, waits for goroutines.
	cfg := perf.SampleConfig{Attr: perf.Attr{Type: perf.TypeSoftware, Config: perf.SWTaskClock}, Period: 10e6}
	cfg.Periods[0] = cfg.Period
	limits := perf.Limits{FD: perfMaxFD(), Cost: perf.MaxCost}

	// With the loops over the threads in one piece the world stopped once or twice
	// in each of them, before and after; or often if the goroutine was preempted there.
	var starting, stopping []int64
	for range 5 {
		var id int
		var f perf.Failure
		starting = append(starting, stops.during(func() { id, f = runtime_perfStart([]perf.SampleConfig{cfg}, limits) }))
		if f.Op != perf.OpNone {
			t.Fatal(perfError("task-clock:uk", f))
		}
		if n := len(perfFDs(t)); n < threads {
			t.Errorf("%d threads have a counter, of %d", n, threads)
		}
		stopping = append(stopping, stops.during(func() { runtime_perfStop(id) }))
		perfNothingOpen(t)
		for eof := false; !eof; {
			_, _, _, eof = runtime_perfRead(id)
		}
		runtime_perfDone(id)
	}
	slices.Sort(starting)
	slices.Sort(stopping)
	t.Logf("%d threads: the world stopped %d times while a profile started, %d while it stopped", threads, starting, stopping)
	if middle := len(starting) / 2; starting[middle] < 4 || stopping[middle] < 4 {
		t.Errorf("%d threads: the world stopped %d times while a profile started, %d while it stopped; want 4 in the middle", threads, starting, stopping)
	}
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
	var pipes perfPipes
	set, err := OpenCounters("task-clock")
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	rs := perfProfileOnce(t, events, func() {
		perfSpin(20 * time.Millisecond)
		// Threads with counters of their own. A thread that ends looks whether a number is still
		// that of its counter, and closes it: in between it must not become a pipe's.
		var tids []int
		perfThreads(3, func() { tids = append(tids, syscall.Gettid()) })
		perfThreadsEnd(t, tids)
		counters := perfFDs(t)
		for _, fd := range counters {
			syscall.Close(fd)
		}
		if len(counters) < len(events) {
			t.Fatalf("%d counters were open", len(counters))
		}
		pipes = perfTakeDescriptors(t, counters)
		perfSpin(20 * time.Millisecond)
		perfThreads(3, func() { perfCompute(1000) })
		perfFault(t, 100)
		set.Read(make([]CounterValue, 1)) // may fail, but not block
	})
	set.Close()
	pipes.check(t)
	for _, r := range rs {
		if n := r.comment("unread"); n == 0 {
			t.Errorf("the profile does not say that counters are gone:\n%s", r.ledger())
		}
	}
	perfNothingOpen(t)
	perfStartWorks(t)
}

// perfPipes are pipes of the program's, some with data and some that don't block.
type perfPipes [][2]int

const perfPipeData = "some data that is longer than what a counter reads"

// perfTakeDescriptors makes pipes until they have taken the numbers of closed
// descriptors, but for those that a new thread's counters have. Reading a pipe that is
// empty blocks.
func perfTakeDescriptors(t *testing.T, fds []int) (pipes perfPipes) {
	t.Helper()
	closed := func(fd int) bool {
		_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFD, 0)
		return errno == syscall.EBADF
	}
	for slices.ContainsFunc(fds, closed) {
		var p [2]int
		if err := syscall.Pipe(p[:]); err != nil {
			t.Fatal(err)
		}
		i := len(pipes)
		pipes = append(pipes, p)
		syscall.SetNonblock(p[0], i%2 == 1)
		if i%3 == 0 {
			syscall.Write(p[1], []byte(perfPipeData))
		}
	}
	return pipes
}

// check fails the test unless the pipes are as they were made, and closes them.
func (pipes perfPipes) check(t *testing.T) {
	t.Helper()
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
			if n, err := syscall.Read(p[0], b); err != nil || string(b[:n]) != perfPipeData {
				t.Errorf("pipe %d: %q, %v", i, b[:max(n, 0)], err)
			}
		}
		for _, fd := range p {
			if err := syscall.Close(fd); err != nil {
				t.Errorf("pipe %d: close: %v", i, err)
			}
		}
	}
}

// TestPerfExitBlocked tests the same for threads that end before their handler has
// run at all. (A thread may start another one as it ends, with its signals
// blocked, and samples of that are what nearly every short thread has.)
func TestPerfExitBlocked(t *testing.T) {
	perfNeedsExact(t)
	const threads, calls, period = 20, 260, 13
	r := perfProfileOf(t, []perfReq{{perfCalls("counterTarget"), period}}, func() {
		var wg sync.WaitGroup
		for range threads {
			wg.Go(func() {
				perfBlockSIGPROF(t) // for ever, and locks the thread, so it exits
				perfCallTarget(calls)
			})
		}
		wg.Wait()
	})[0]
	if n := r.comment("threads"); n < threads {
		t.Errorf("%d threads, want at least %d", n, threads)
	}
	counted := r.comment("counted")
	if counted < threads*calls { // a call may be preempted on the breakpoint, and hit it again
		t.Errorf("%d calls counted of %d", counted, threads*calls)
	}
	r.near("events", float64(r.events()), float64(counted), threads*period)
}
