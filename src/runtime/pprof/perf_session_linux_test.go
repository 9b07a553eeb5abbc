// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"errors"
	"internal/profile"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// perfSessionTime is how long TestPerfSessions takes at least: PMU_TEST_SESSIONS, such as 5m,
// or not long.
func perfSessionTime(t *testing.T) time.Duration {
	s := os.Getenv("PMU_TEST_SESSIONS")
	if s == "" {
		return 2 * time.Second
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// A perfSessionTally is what the goroutines of TestPerfSessions have done.
type perfSessionTally struct {
	sync.Mutex
	events, partial, timer, samples, busy int64
}

// all reports whether everything has happened that is to happen.
func (n *perfSessionTally) all() bool {
	n.Lock()
	defer n.Unlock()
	return n.events > n.partial && n.timer > 0 && n.samples > 0 && n.busy > 0
}

// take takes one profile, or one of each of several events, and checks them.
func (n *perfSessionTally) take(t *testing.T, rnd *rand.Rand) {
	calls := perfReq{perfCalls("perfTargetA"), []uint64{1, 7}[rnd.IntN(2)]}
	reqs := []perfReq{
		{"task-clock:uk", 1e6}, {"cpu-clock:u", 500e3}, {"page-faults:uk", 10}, {"minor-faults:u", 7},
		{"task-clock:u", 200e3}, {"context-switches:uk", 1},
		calls, {"", 0},
	}
	rnd.Shuffle(len(reqs), func(i, j int) { reqs[i], reqs[j] = reqs[j], reqs[i] })
	reqs = reqs[:1+rnd.IntN(3)]
	bufs := make([]bytes.Buffer, len(reqs))
	var opts []ProfilingOption
	for i, r := range reqs {
		if r.name == "" {
			opts = append(opts, OSTimer(&bufs[i]))
		} else {
			opts = append(opts, PerfEvent(&bufs[i], r.name, r.period))
		}
	}
	s, err := StartSession(opts[0], opts[1:]...)
	if err != nil {
		// There are eight events, one timer, and fewer breakpoint registers than sessions.
		if !errors.Is(err, syscall.EBUSY) && !errors.Is(err, syscall.ENOSPC) && !strings.Contains(err.Error(), "already in use") {
			t.Errorf("%v: %v", reqs, err)
		}
		n.Lock()
		n.busy++
		n.Unlock()
		runtime.Gosched()
		return
	}
	time.Sleep(time.Duration(rnd.Int64N(10e6)))
	s.Stop()
	for i := range bufs {
		p, err := profile.Parse(&bufs[i])
		if err != nil {
			t.Errorf("profile of %s: %v", reqs[i].name, err)
			return
		}
		n.Lock()
		if reqs[i].name == "" {
			n.timer++
		} else {
			n.events++
			if ledgerPartial(perfLedger(p)) {
				n.partial++
			}
		}
		for _, s := range p.Sample {
			n.samples += s.Value[0]
		}
		n.Unlock()
		if reqs[i].name == "" {
			continue
		}
		if err := ledgerError(p); err != nil {
			t.Errorf("profile of %s: %v; ledger:\n\t%s", reqs[i].name, err, strings.Join(p.Comments, "\n\t"))
		}
	}
}

// TestPerfSessions tests that ten goroutines that start and stop sessions of events,
// and the timer, at random, get profiles whose ledgers balance, while threads come and
// go, and that nothing is left open.
func TestPerfSessions(t *testing.T) {
	perfNeedsExact(t)
	perfNeeds(t, "task-clock:uk")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	quit := make(chan bool)
	var work, wg sync.WaitGroup
	work.Go(func() { perfChurn(quit) })
	work.Go(func() {
		for x := 1; ; {
			select {
			case <-quit:
				return
			default:
			}
			perfCaller1(20)
			x = cpuHog0(x, 1e4)
			perfFault(t, 20)
		}
	})
	var n perfSessionTally
	end := time.Now().Add(perfSessionTime(t))
	seed := rand.Uint64()
	for i := range uint64(10) {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(seed, i))
			// A busy machine has time for few sessions, and not each is of the timer.
			for k := 0; !t.Failed() && (time.Now().Before(end) || k < 1000 && !n.all()); k++ {
				n.take(t, rnd)
			}
		})
	}
	wg.Wait()
	perfNothingOpen(t) // while threads come and go
	close(quit)
	work.Wait()
	t.Logf("%d profiles of events, %d of them partial, and %d of the timer, with %d samples; %d starts refused", n.events, n.partial, n.timer, n.samples, n.busy)
	if !n.all() {
		t.Error("something has not happened")
	}
	// What comes after is as ever, and its ledger balances.
	if r := perfProfileOf(t, []perfReq{{"task-clock:uk", 1e6}}, func() { perfSpin(50 * time.Millisecond) })[0]; r.total() == 0 {
		t.Errorf("no samples:\n%s", r.ledger())
	}
}

// TestPerfSessionsExact tests that a session has each call, with its caller, while
// others come and go on the same threads.
func TestPerfSessionsExact(t *testing.T) {
	perfNeedsExact(t)
	perfNeeds(t, "task-clock:uk")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	var buf bytes.Buffer
	s, err := StartSession(PerfEvent(&buf, perfCalls("perfTargetA"), 1))
	if err != nil {
		t.Fatal(err)
	}
	calls, run := perfCallersOfA(2, 50)
	others := 0
	for range 20 {
		done := make(chan bool)
		go func() {
			run()
			close(done)
		}()
		for ended := false; !ended; {
			o, err := StartSession(PerfEvent(new(bytes.Buffer), "task-clock:uk", 200e3), PerfEvent(new(bytes.Buffer), "page-faults:uk", 1),
				PerfEvent(new(bytes.Buffer), perfCalls("perfTargetA"), 3))
			if err != nil {
				t.Fatal(err)
			}
			others++
			o.Stop()
			select {
			case <-done:
				ended = true
			default:
			}
		}
	}
	s.Stop()
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	if err := ledgerError(p); err != nil {
		t.Error(err)
	}
	for name := range calls {
		calls[name] *= 20
	}
	r := &perfResult{t, perfCalls("perfTargetA"), p}
	t.Logf("%d other sessions; ledger:\n%s", others, r.ledger())
	perfCheckCalls(t, r, calls, 0)
	perfNothingOpen(t)
}

// TestPerfSessionsApart tests that sessions and the process's CPU profile leave each
// other alone.
func TestPerfSessionsApart(t *testing.T) {
	perfNeedsExact(t)
	perfNeeds(t, "task-clock:uk")
	start := func(opts ...ProfilingOption) *Session {
		t.Helper()
		s, err := StartSession(opts[0], opts[1:]...)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	refused := func(err error, target error, text string) {
		t.Helper()
		if err == nil || target != nil && !errors.Is(err, target) || !strings.Contains(err.Error(), text) {
			t.Errorf("error %v, want %q", err, text)
		}
	}
	var buf, timer, cpuBuf bytes.Buffer
	timed := start(OSTimer(&timer))
	StopCPUProfile() // is somebody else's
	refused(StartCPUProfile(io.Discard), nil, "already in use")
	refused(StartCPUProfileWithConfig(PerfEvent(io.Discard, "page-faults", 0)), nil, "already in use")
	timed.Stop()
	timed.Stop()
	if err := StartCPUProfileWithConfig(PerfEvent(&cpuBuf, "task-clock:uk", 1e6)); err != nil {
		t.Fatal(err)
	}
	_, err := StartSession(OSTimer(io.Discard))
	refused(err, nil, "already in use")
	watch := start(PerfEvent(&buf, perfCalls("perfTargetA"), 1))
	_, err = StartSession(PerfEvent(io.Discard, perfCalls("perfTargetA"), 1))
	refused(err, syscall.EBUSY, "another session samples every execution")
	faults := func(names ...string) (opts []ProfilingOption) {
		for _, name := range names {
			opts = append(opts, PerfEvent(new(bytes.Buffer), name, 1000))
		}
		return opts
	}
	more := start(faults("page-faults:u", "page-faults:k", "page-faults:uk")...)
	opts := faults("minor-faults:u", "minor-faults:k", "minor-faults:uk", "major-faults:u")
	_, err = StartSession(opts[0], opts[1:]...)
	refused(err, syscall.EBUSY, "8 events")
	three := start(opts[:3]...)
	three.Stop()
	perfCaller1(100)
	StopCPUProfile()
	perfCaller1(100)
	watch.Stop()
	perfCaller1(100)
	more.Stop()
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	perfCheckCalls(t, &perfResult{t, perfCalls("perfTargetA"), p}, map[string]int64{"perfCaller1": 200}, 0)
	if cpuBuf.Len() == 0 || timer.Len() == 0 {
		t.Error("a profile has not been written")
	}
	perfNothingOpen(t)
}

// TestPerfEventsNoSwitch checks that several events of one profile need no
// environment variable, and several profiles do.
func TestPerfEventsNoSwitch(t *testing.T) {
	perfNeeds(t, "task-clock")
	t.Setenv(multipleEnv, "")
	var buf bytes.Buffer
	names := []string{"task-clock", "cpu-clock", "page-faults", "minor-faults", "major-faults", "alignment-faults", "emulation-faults", "task-clock:I"}
	if err := StartCPUProfileWithConfig(PerfEvents(&buf, 0, names...)); err != nil {
		t.Fatal(err)
	}
	StopCPUProfile()
	if buf.Len() == 0 {
		t.Error("no profile")
	}
	const remedy = "cpu profile: 2 profiles at once need GO_PPROF_ENABLE_MULTIPLE_CPU_PROFILES=true in the environment; one profile of several events, by PerfEvents, does not"
	for _, opts := range [][]ProfilingOption{
		{PerfEvent(&buf, "task-clock", 0), PerfEvent(io.Discard, "page-faults", 0)},
		{PerfEvents(&buf, 0, "task-clock", "page-faults"), PerfEvent(io.Discard, "cpu-clock", 0)},
		{OSTimer(&buf), PerfEvents(io.Discard, 0, "task-clock", "page-faults")},
	} {
		if err := perfWantError(t, opts); err.Error() != remedy {
			t.Errorf("%v", err)
		}
	}
	// Nine are as many as ever.
	perfWantError(t, []ProfilingOption{PerfEvents(&buf, 0, append(names, "cs")...)}, "9 events at once; at most 8")
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
