// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of what a session of sampled events leaves behind: nothing.

package pprof

import (
	"bytes"
	"fmt"
	"internal/msan"
	"internal/profile"
	"internal/race"
	"internal/runtime/perf"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// perfStatus returns a line of /proc/self/status.
func perfStatus(t *testing.T, key string) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if v, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(v)
		}
	}
	t.Fatalf("/proc/self/status has no %s", key)
	return ""
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
	fds, _ := perfFDs(t)
	rounds := 20
	if testing.Short() {
		rounds = 5
	}
	for i := range rounds {
		var a, b bytes.Buffer
		if err := StartCPUProfileWithConfig(PerfEvent(&a, "task-clock", 100e3), PerfEvent(&b, "page-faults", 10)); err != nil {
			t.Fatal(err)
		}
		if _, n := perfFDs(t); n < 4 {
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
	if n, _ := perfFDs(t); n > fds+5 {
		t.Errorf("%d descriptors are open, before %d", n, fds)
	}
}

// perfChurn starts threads that compute a little and exit, until quit is closed.
func perfChurn(quit chan bool) {
	for {
		select {
		case <-quit:
			return
		default:
		}
		done := make(chan bool)
		go func() {
			runtime.LockOSThread() // for ever, so the thread exits
			x := 1
			x = cpuHog0(x, 2e4)
			done <- x == 0
		}()
		<-done
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

// TestPerfExec tests that a child process has none of the counters' descriptors.
func TestPerfExec(t *testing.T) {
	if perfInChild() != "" {
		_, n := perfFDs(t)
		fmt.Printf("counters: %d\n", n)
		return
	}
	perfNeeds(t, "task-clock:uk")
	if err := StartCPUProfileWithConfig(PerfEvent(io.Discard, "task-clock:uk", 1e6)); err != nil {
		t.Fatal(err)
	}
	defer StopCPUProfile()
	if _, n := perfFDs(t); n == 0 {
		t.Error("no counters are open while sampling")
	}
	if out := perfChild(t, "list", nil); !strings.Contains(out, "counters: 0\n") {
		t.Errorf("a child has counters:\n%s", out)
	}
}

// TestPerfExecSelf tests that a process lives on in another program, of which it
// becomes one while events in the kernel are sampled, and system calls are a part
// of the time: that program has SIGPROF's default, which would kill it. A process
// does so 60 times, from several threads.
func TestPerfExecSelf(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	const times = 60
	left := perfInChild()
	if left == "" {
		left = strconv.Itoa(times)
		if out := perfChild(t, left, nil); strings.Count(out, "another program\n") != times+1 {
			t.Errorf("a process became another program %d times, want %d", strings.Count(out, "another program\n")-1, times)
		}
		return
	}
	fmt.Println("another program")
	n, err := strconv.Atoi(left)
	if err != nil {
		t.Fatal(err)
	}
	if n == 0 {
		if mask := perfStatus(t, "SigBlk"); mask != "0000000000000000" {
			t.Errorf("signals are blocked: %s", mask)
		}
		return
	}
	if err := StartCPUProfileWithConfig(PerfEvent(io.Discard, "task-clock:uk", 50e3)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		go func() {
			for {
				perfCompute(1e5)
			}
		}()
	}
	os.Setenv("PMU_TEST_CHILD", strconv.Itoa(n-1))
	os.Setenv("PMU_TEST_LONG", strings.Repeat("x", 100e3)) // for the kernel to copy
	exec := func() error { return syscall.Exec(os.Args[0], os.Args, os.Environ()) }
	failed := make(chan error)
	if n%2 == 0 {
		go func() {
			runtime.LockOSThread() // on another thread than the first
			failed <- exec()
		}()
	} else {
		go func() { failed <- exec() }()
	}
	t.Fatal(<-failed)
}

// TestPerfExecFails tests that a profile goes on when the program could not be
// replaced by another, and that what the attempts took is theirs.
func TestPerfExecFails(t *testing.T) {
	if race.Enabled || msan.Enabled {
		t.Skip("sanitizers look at all of the arguments, without a stack")
	}
	perfNeeds(t, "task-clock:uk")
	noProgram := filepath.Join(t.TempDir(), "no program")
	if err := os.WriteFile(noProgram, []byte("this is no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	args := slices.Repeat([]string{strings.Repeat("x", 100e3)}, 10) // for the kernel to copy
	var exec, compute int64
	r := perfProfileOf(t, []perfReq{{"task-clock:uk", 100e3}}, func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		exec, compute = 0, 0
		for i := range 100 {
			start := threadTime(t)
			if err := syscall.Exec(noProgram, args, nil); err != syscall.ENOEXEC {
				t.Errorf("execve: %v", err)
			}
			executed := threadTime(t)
			n := 100000
			if i == 99 {
				n = 400e6 // more samples than a ring holds, if there are no signals
			}
			perfCompute(n)
			exec += executed - start
			compute += threadTime(t) - executed
		}
	})[0]
	r.balance()
	// The profile's clock ticks on where the hypervisor steals, which CPU time does
	// not, so these are lower limits.
	var inExec, inCompute int64
	for _, s := range r.Sample {
		switch fs := perfFrames(s); {
		case slices.Contains(fs, "syscall.Exec"), slices.Contains(fs, "runtime._PerfDelayed"):
			inExec += s.Value[1]
		case slices.Contains(fs, "runtime/pprof.perfCompute"):
			inCompute += s.Value[1]
		}
	}
	t.Logf("%d ns in Exec, %d in the profile; %d ns computing, %d in the profile", exec, inExec, compute, inCompute)
	if inExec < exec*3/4 || inCompute < compute*3/4 {
		t.Errorf("%d ns in Exec, %d in the profile; %d ns computing, %d in the profile:\n%s", exec, inExec, compute, inCompute, r.byStack())
	}
}

// failingWriter fails at the n'th write.
type failingWriter struct{ n int }

func (w *failingWriter) Write(b []byte) (int, error) {
	if w.n--; w.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(b), nil
}

// TestPerfFailingWriter tests that a profile that can't be written harms neither
// the one beside it nor the next.
func TestPerfFailingWriter(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	t.Setenv(multipleEnv, "true")
	r := perfUnstalled(t, func() []*perfResult {
		var good bytes.Buffer
		err := StartCPUProfileWithConfig(
			PerfEvent(new(failingWriter), "task-clock:uk", 1e6),
			PerfEvent(&good, "cpu-clock:uk", 1e6))
		if err != nil {
			t.Fatal(err)
		}
		perfSpin(50 * time.Millisecond)
		StopCPUProfile()
		perfNothingOpen(t)
		p, err := profile.Parse(&good)
		if err != nil {
			t.Fatal(err)
		}
		return []*perfResult{{t, "cpu-clock:uk", p}}
	})[0]
	r.balance()
	perfProfileOf(t, []perfReq{{"task-clock:uk", 1e6}}, func() { perfSpin(50 * time.Millisecond) })[0].balance()
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
	release := make(chan bool)
	var wg sync.WaitGroup
	more := func(n int) {
		var ready sync.WaitGroup
		ready.Add(n)
		for range n {
			wg.Go(func() {
				runtime.LockOSThread() // for ever, so the thread exits
				ready.Done()
				<-release
			})
		}
		ready.Wait()
	}
	defer wg.Wait()
	defer close(release)

	// cost returns the least CPU time that starting took for each counter, and
	// stopping, when there are at least so many threads.
	cost := func(threads int) (start, stop float64) {
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
	more(threads / 10)
	start, stop := cost(threads / 10)
	more(threads - threads/10)
	startAll, stopAll := cost(threads)
	// Were it the square, it would be ten times as much.
	if startAll > 3*start || stopAll > 3*stop {
		t.Errorf("of %d threads each counter costs %.1f times as much to start and %.1f times to stop as of %d", threads, startAll/start, stopAll/stop, threads/10)
	}
}

// TestPerfStartYields tests that the world can stop while a profile of many threads
// starts and while it ends, as for the garbage collector, and that threads that
// come and go meanwhile leave nothing behind.
func TestPerfStartYields(t *testing.T) {
	perfNeeds(t, "task-clock:uk")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	threads := min(2000, perfMaxFD()-100)
	release := make(chan bool)
	var wg, ready sync.WaitGroup
	ready.Add(threads)
	for range threads {
		wg.Go(func() {
			runtime.LockOSThread() // for ever, so the thread exits
			ready.Done()
			<-release
		})
	}
	ready.Wait()
	defer wg.Wait()
	defer close(release)

	quit := make(chan bool)
	defer close(quit)
	var stops atomic.Int64
	wg.Go(func() {
		for {
			select {
			case <-quit:
				return
			default:
				var m runtime.MemStats
				runtime.ReadMemStats(&m) // stops the world
				stops.Add(1)
			}
		}
	})
	wg.Go(func() { perfChurn(quit) })

	// The runtime's part only: what runtime/pprof does, waits for goroutines.
	cfg := perf.Config{Attr: perf.Attr{Type: perf.TypeSoftware, Config: perf.SWTaskClock}, Period: 10e6}
	cfg.Periods[0] = cfg.Period
	limits := perf.Limits{FD: perfMaxFD(), Cost: perf.MaxCost}

	// With the loops over the threads in one piece the world stopped once or twice
	// in each of them, before and after; or often if the goroutine was preempted there.
	var starting, stopping []int64
	for range 11 {
		before := stops.Load()
		id, f := runtime_perfStart([]perf.Config{cfg}, limits)
		if f.Op != perf.OpNone {
			t.Fatal(perfError("task-clock:uk", f))
		}
		started := stops.Load()
		if _, n := perfFDs(t); n < threads {
			t.Errorf("%d threads have a counter, of %d", n, threads)
		}
		stop := stops.Load()
		runtime_perfStop(id)
		stopped := stops.Load()
		perfNothingOpen(t)
		for eof := false; !eof; {
			_, _, _, eof = runtime_perfRead(id)
		}
		runtime_perfDone(id)
		starting = append(starting, started-before)
		stopping = append(stopping, stopped-stop)
	}
	slices.Sort(starting)
	slices.Sort(stopping)
	t.Logf("%d threads: the world stopped %d times while a profile started, %d while it stopped", threads, starting, stopping)
	if middle := len(starting) / 2; starting[middle] < 4 || stopping[middle] < 4 {
		t.Errorf("%d threads: the world stopped %d times while a profile started, %d while it stopped; want 4 in the middle", threads, starting, stopping)
	}
}
