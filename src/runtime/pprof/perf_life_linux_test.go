// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of what a session of sampled events leaves behind: nothing.

package pprof

import (
	"bytes"
	"fmt"
	"internal/profile"
	"internal/race"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"sync"
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
	names := []string{"task-clock", "cpu-clock", "task-clock:uk", "cpu-clock:uk", "page-faults", "page-faults:uk", "minor-faults", "context-switches"}
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
