// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of counting goroutines where something is in the way: sets that come and go,
// threads that can't be counted, very many goroutines, other processes.

package pprof

import (
	"errors"
	"internal/testenv"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
)

// anExactEvent is an exact event for tests in which signals do no harm.
func anExactEvent(t *testing.T) exactEvent {
	t.Helper()
	events := exactEvents(t)
	return events[len(events)-1]
}

// TestCountersGoroutineChurn opens and closes sets while goroutines that are accounted for
// them run, begin and end. What one counts while a set is open is exact.
func TestCountersGoroutineChurn(t *testing.T) {
	e := anExactEvent(t)
	if !inExactChild(t) {
		return
	}
	var current atomic.Pointer[Counters]
	var stop atomic.Bool
	var checked, closed atomic.Int64
	check := func(n int) {
		c := current.Load()
		var v [1]CounterValue
		before := c.Goroutine(v[:])
		had := v[0].Value
		for range n {
			e.cause()
			runtime.Gosched()
		}
		switch err := c.Goroutine(v[:]); {
		case err == nil && before == nil:
			checked.Add(1)
			if got := v[0].Value - had; got != uint64(n) {
				t.Errorf("%d events counted %d", n, got)
			}
		case errors.Is(err, errCountersClosed):
			closed.Add(1)
		default:
			t.Errorf("errors %v and %v", before, err)
		}
	}
	var wg sync.WaitGroup
	current.Store(mustOpenCounters(t, e.name))
	for i := range 4 {
		wg.Add(1)
		inNewAsync(func() {
			defer wg.Done()
			for !stop.Load() {
				check(3)
				done := make(chan bool)
				go func() {
					defer close(done)
					if i == 0 {
						runtime.LockOSThread() // ends the thread
					}
					check(2)
				}()
				<-done
			}
		})
	}
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	for range rounds {
		c, err := OpenCounters(e.name)
		if err != nil {
			t.Fatal(err)
		}
		old := current.Swap(c)
		was := checked.Load()
		waitFor(t, "goroutines have used the set", func() bool { return checked.Load() > was+4 || t.Failed() })
		if _, err := counterDivision(old); err != nil {
			t.Error(err)
		}
		old.Close()
	}
	stop.Store(true)
	wg.Wait()
	t.Logf("%d counts of goroutines are exact, %d found the set closed", checked.Load(), closed.Load())
}

var _ = emulated(TestCountersGoroutineChurn)

// TestCountersLedger reads the ledger while goroutines and threads begin and end: it has
// what there was to count before and no more than afterwards, and no account ever has
// less than before but for what a goroutine is just being given. At rest it is exact.
func TestCountersLedger(t *testing.T) {
	e := anExactEvent(t)
	if !inExactChild(t) {
		return
	}
	c := mustOpenCounters(t, e.name, "task-clock")
	var caused, ours, alone atomic.Uint64
	var stop atomic.Bool
	var wg sync.WaitGroup
	// The first one has a thread of its own that never has an accounted goroutine: it takes
	// it before there is one.
	taken := make(chan bool)
	for i := range 4 {
		wg.Add(1)
		inNewAsync(func() {
			defer wg.Done()
			if i == 0 {
				runtime.LockOSThread()
				close(taken)
			} else {
				<-taken
			}
			for !stop.Load() {
				if i == 0 {
					e.cause()
					alone.Add(1)
					caused.Add(1)
					continue
				}
				if i == 1 {
					counted(t, c)
				}
				done := make(chan bool)
				go func() {
					defer close(done)
					runtime.LockOSThread()
					for range 5 {
						e.cause()
						runtime.Gosched()
						caused.Add(1)
						if i == 1 {
							ours.Add(1)
						}
					}
				}()
				<-done
			}
		})
	}
	rounds := 500
	if testing.Short() {
		rounds = 50
	}
	for range rounds {
		before := c.read(t)
		l, err := counterDivision(c)
		if err != nil {
			t.Fatal(err)
		}
		after := c.read(t)
		for i := range before {
			sum := uint64(0)
			for _, v := range []CounterValue{l.goroutines[i], l.between[i], l.elsewhere[i]} {
				sum += v.Value
				if v.Value > after[i].Value || v.Enabled < 0 || v.Running < 0 {
					t.Fatalf("event %d: the ledger has %+v, the counters %+v", i, l, after[i])
				}
			}
			if sum < before[i].Value || sum > after[i].Value {
				t.Fatalf("event %d: the ledger has %d, the counters %d before and %d after", i, sum, before[i].Value, after[i].Value)
			}
		}
	}
	stop.Store(true)
	wg.Wait()
	l, err := counterDivision(c)
	if err != nil {
		t.Fatal(err)
	}
	g, b, el := l.goroutines[0].Value, l.between[0].Value, l.elsewhere[0].Value
	t.Logf("%d by goroutines, %d between them, %d elsewhere, of which %d by a thread that stayed so", g, b, el, alone.Load())
	if g != ours.Load() || g+b+el != caused.Load() || el < alone.Load() {
		t.Errorf("want %d by goroutines, %d elsewhere at least, %d in all", ours.Load(), alone.Load(), caused.Load())
	}
}

var _ = emulated(TestCountersLedger)

// TestCountersGoroutineNoDescriptors tests goroutines on threads that can't be armed for
// want of descriptors: their counts say what is missing and why, and others are exact.
func TestCountersGoroutineNoDescriptors(t *testing.T) {
	e := anExactEvent(t)
	if !inExactChild(t) {
		return
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		t.Fatal(err)
	}
	c := mustOpenCounters(t, e.name)
	lim := old
	lim.Cur = 3
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		t.Fatal(err)
	}
	n := 2*threadCount() + 20
	var in, out sync.WaitGroup
	release := make(chan bool)
	var exact, missing atomic.Int64
	in.Add(n)
	out.Add(n)
	inNew(func() {
		counted(t, c)
		for range n {
			go func() {
				defer out.Done()
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				in.Done()
				<-release
				e.cause()
				var v [1]CounterValue
				switch err := c.Goroutine(v[:]); {
				case err == nil && v[0].Value == 1:
					exact.Add(1)
				case err == nil:
					t.Errorf("1 event counted %d", v[0].Value)
				case v[0].Value == 0 && errors.Is(err, syscall.EMFILE) && strings.Contains(err.Error(), "stretches of the goroutine's execution"):
					missing.Add(1)
				default:
					t.Errorf("%d counted; %v", v[0].Value, err)
				}
			}()
		}
	})
	in.Wait()
	close(release)
	out.Wait()
	syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
	t.Logf("%d goroutines counted exactly, %d said why not", exact.Load(), missing.Load())
	if missing.Load() == 0 || exact.Load()+missing.Load() != int64(n) {
		t.Errorf("of %d goroutines, %d counted exactly, and %d said why not", n, exact.Load(), missing.Load())
	}
}

// TestCountersGoroutineClosed tests a program that closes the counters' descriptors, as
// some do before they start another one, and opens something else in their place.
func TestCountersGoroutineClosed(t *testing.T) {
	if !inExactChild(t) {
		return
	}
	c := mustOpenCounters(t, "page-faults", "task-clock")
	inNew(func() {
		v := make([]CounterValue, 2)
		if err := c.Goroutine(v); err != nil {
			t.Fatal(err)
		}
		fds := perfFDs(t)
		if len(fds) == 0 {
			t.Fatal("no descriptors")
		}
		for _, fd := range fds {
			syscall.Close(fd)
		}
		var pipes [][2]int // whose readers would wait for ever
		for range fds {
			var p [2]int
			if err := syscall.Pipe(p[:]); err != nil {
				t.Fatal(err)
			}
			pipes = append(pipes, p)
		}
		for range 10 {
			runtime.Gosched()
		}
		had := v[1].Value
		err := c.Goroutine(v)
		if !errors.Is(err, syscall.EBADF) || !strings.Contains(err.Error(), "stretches of the goroutine's execution") || v[1].Value < had {
			t.Errorf("without descriptors: %v; %v", err, v)
		}
		t.Log(err)
		var iv Interval
		var u GoroutineTime
		if err := iv.Start(c); err != nil {
			t.Error(err)
		}
		runtime.Gosched()
		if err := iv.Stop(&u, v); !errors.Is(err, syscall.EBADF) || u.Wall <= 0 || u.sum() != u.Wall {
			t.Errorf("an interval without descriptors: %v; %+v", err, u)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		for _, p := range pipes {
			if syscall.Close(p[0]) != nil || syscall.Close(p[1]) != nil {
				t.Error("one of the program's own descriptors has been closed")
			}
		}
	})
}

// TestCountersGoroutineMany accounts 10,000 goroutines at once, each of which counts what
// it does, and tests that their memory is used again for the next ones.
func TestCountersGoroutineMany(t *testing.T) {
	e := anExactEvent(t)
	if !inExactChild(t) {
		return
	}
	const n = 10_000
	c := mustOpenCounters(t, e.name)
	wave := func() {
		var in, out sync.WaitGroup
		release := make(chan bool)
		in.Add(n)
		out.Add(n)
		inNew(func() {
			counted(t, c)
			for i := range n {
				go func() {
					defer out.Done()
					for range i % 3 {
						e.cause()
					}
					in.Done()
					<-release
					e.cause()
					if got := counted(t, c); got != uint64(i%3+1) {
						t.Errorf("%d events counted %d", i%3+1, got)
					}
				}()
			}
		})
		in.Wait()
		close(release)
		out.Wait()
	}
	other := func() int64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.OtherSys)
	}
	before := other()
	wave()
	first := other() - before
	for range 3 {
		wave()
	}
	more := other() - before - first
	t.Logf("%d bytes for each goroutine at first, %d bytes more for three times as many", first/n, more)
	// Each P takes memory in pieces, of which it may have used as good as nothing. Later waves may
	// be on more Ps, so what is bounded is the sum: it doesn't grow with the number of waves.
	const piece = 256 << 10 // runtime.persistentChunkSize
	pieces := int64(runtime.GOMAXPROCS(0) * piece)
	if most := int64(n*1100) + pieces; first < n*512 || first > most || first+more > most+n*1100/20 {
		t.Errorf("%d goroutines took %d bytes, and three times as many took %d more afterwards; want %d to %d, and in all %d at most", n, first, more, n*512, most, most+n*1100/20)
	}
}

// TestCountersGoroutineExec tests that what another process does is not counted, and that
// starting one takes nothing from the goroutine's counts.
func TestCountersGoroutineExec(t *testing.T) {
	e := anExactEvent(t)
	if os.Getenv("PMU_TEST_CHILD") == "exec" {
		e.cause()
		return
	}
	if !inExactChild(t) {
		return
	}
	c := mustOpenCounters(t, e.name)
	inNew(func() {
		counted(t, c)
		const n = 3
		for range n {
			e.cause()
			cmd := testenv.Command(t, testenv.Executable(t), "-test.run=^TestCountersGoroutineExec$")
			cmd.Env = append(cmd.Environ(), "PMU_TEST_CHILD=exec")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		}
		if got := counted(t, c); got != n {
			t.Errorf("%d events, and some in other processes, counted %d", n, got)
		}
	})
}

var _ = emulated(TestCountersGoroutineExec)
