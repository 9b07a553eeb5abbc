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

// perfSessionTime is how long TestPerfSessions takes: PMU_TEST_SESSIONS, such as 5m,
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
			for !t.Failed() && time.Now().Before(end) {
				n.take(t, rnd)
			}
		})
	}
	wg.Wait()
	perfNothingOpen(t) // while threads come and go
	close(quit)
	work.Wait()
	t.Logf("%d profiles of events, %d of them partial, and %d of the timer, with %d samples; %d starts refused", n.events, n.partial, n.timer, n.samples, n.busy)
	if n.events == n.partial || n.timer == 0 || n.samples == 0 || n.busy == 0 {
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
	perfCheckCalls(t, r, calls)
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
	r := &perfResult{t, perfCalls("perfTargetA"), p}
	perfCheckCalls(t, r, map[string]int64{"perfCaller1": 200})
	if cpuBuf.Len() == 0 || timer.Len() == 0 {
		t.Error("a profile has not been written")
	}
	perfNothingOpen(t)
}
