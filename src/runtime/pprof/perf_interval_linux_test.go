// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of what is counted in intervals.

package pprof

import (
	"errors"
	"internal/race"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestCountersInterval tests that intervals, one after the other, nested, overlapping, of
// two sets and on several threads, each count exactly what happens in them.
func TestCountersInterval(t *testing.T) {
	events := exactEvents(t)
	if !inExactChild(t) {
		return
	}
	for _, e := range events {
		t.Run(e.name, func(t *testing.T) {
			a, b := mustOpenCounters(t, e.name), mustOpenCounters(t, "page-faults", e.name)
			inNew(func() { intervalsCount(t, e, a, b) })
			// In a goroutine that is accounted for one of them always.
			inNew(func() { counted(t, a); intervalsCount(t, e, a, b) })
			inNew(func() { counted(t, b); intervalsCount(t, e, a, b) })
		})
	}
}

var _ = emulated(TestCountersInterval)

// TestCountersRunning tests that a set counts from its beginning, in a thread that runs all
// the time.
func TestCountersRunning(t *testing.T) {
	events := exactEvents(t)
	if !inExactChild(t) {
		return
	}
	for _, e := range events {
		t.Run(e.name, func(t *testing.T) {
			const n = 1000
			var running, opened atomic.Bool
			done := make(chan bool)
			go func() {
				defer close(done)
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				running.Store(true)
				for !opened.Load() {
				}
				for range n {
					e.cause()
				}
			}()
			for !running.Load() {
				runtime.Gosched()
			}
			c := mustOpenCounters(t, "page-faults", e.name)
			opened.Store(true)
			<-done
			var got [2]CounterValue
			if err := c.Read(got[:]); err != nil {
				t.Fatal(err)
			}
			if got[1].Value != n || !got[1].Exact() {
				t.Errorf("counted %+v, want %d", got[1], n)
			}
		})
	}
}

// intervalsCount counts e in sets in which it is the first event, and the second.
func intervalsCount(t *testing.T, e exactEvent, a, b *Counters) {
	var u GoroutineTime
	var va, vb [2]CounterValue
	var wantOuter, wantLong uint64
	cause := func(n int) {
		for i := range n {
			e.cause()
			if i%3 == 0 {
				runtime.Gosched()
			}
			if i%7 == 0 {
				time.Sleep(time.Microsecond)
			}
		}
		wantOuter += uint64(n)
		wantLong += uint64(n)
	}
	check := func(what string, err error, got CounterValue, want uint64) {
		t.Helper()
		if err != nil || got.Value != want || !got.Exact() || got.Enabled <= 0 || u.sum() != u.Wall {
			t.Errorf("%s: counted %+v, want %d; error %v; %+v", what, got, want, err, u)
		}
	}
	var outer, inner, long, chain Interval
	for round := range 20 {
		if err := outer.Start(a); err != nil {
			t.Fatal(err)
		}
		wantOuter = 0
		cause(round)
		if err := inner.Start(b); err != nil {
			t.Fatal(err)
		}
		cause(3)
		if round%2 == 0 {
			if err := long.Start(a); err != nil {
				t.Fatal(err)
			}
			wantLong = 0
		}
		err := inner.Stop(&u, vb[:])
		check("inner", err, vb[1], 3)
		chain.Start(b)
		for n := range 4 {
			cause(n)
			err := chain.Checkpoint(&u, vb[:])
			check("checkpoint", err, vb[1], uint64(n))
		}
		cause(2)
		err = chain.Stop(&u, vb[:])
		check("last of the chain", err, vb[1], 2)
		if round%2 == 1 {
			err := long.Stop(&u, va[:])
			check("long", err, va[0], wantLong)
		}
		err = outer.Stop(&u, va[:])
		check("outer", err, va[0], wantOuter)
		// Nothing in between.
		outer.Start(a)
		err = outer.Stop(&u, va[:])
		if err != nil || va[0].Value != 0 {
			t.Errorf("nothing: counted %+v; error %v", va[0], err)
		}
	}
}

// TestCountersIntervalErrors tests what is said of counters that are closed meanwhile, on
// another goroutine, and where there is no room.
func TestCountersIntervalErrors(t *testing.T) {
	c := mustOpenCounters(t, "task-clock", "page-faults")
	var u GoroutineTime
	var iv Interval
	v := make([]CounterValue, 2)
	if err := iv.Start(c); err != nil {
		t.Fatal(err)
	}
	if err := iv.Checkpoint(&u, v[:1]); err == nil || !strings.Contains(err.Error(), "room for 1 of 2") {
		t.Errorf("with room for one: %v", err)
	}
	if err := iv.Checkpoint(&u, nil); err != nil || u.Wall <= 0 {
		t.Errorf("for time alone: %v, %+v", err, u)
	}
	var err error
	inNew(func() { err = iv.Stop(&u, v) })
	if err == nil || !strings.Contains(err.Error(), "started by goroutine") {
		t.Errorf("on another goroutine: %v", err)
	}
	if err := c.Goroutine(v[:1]); err == nil || !strings.Contains(err.Error(), "room for 1 of 2") {
		t.Errorf("Goroutine with room for one: %v", err)
	}
	timeSpin(time.Millisecond)
	if err := iv.Start(c); err != nil {
		t.Fatal(err)
	}
	c.Close()
	timeSpin(time.Millisecond)
	u = GoroutineTime{}
	if err := iv.Stop(&u, v); !errors.Is(err, errCountersClosed) || u.Wall < time.Millisecond-clockError || u.sum() != u.Wall {
		t.Errorf("after Close: %v; %+v", err, u)
	}
	if err := c.Goroutine(v); !errors.Is(err, errCountersClosed) {
		t.Errorf("Goroutine after Close: %v", err)
	}
	if _, err := counterDivision(c); !errors.Is(err, errCountersClosed) {
		t.Errorf("division after Close: %v", err)
	}
	// Other counters in the same place are not those.
	if err := iv.Start(mustOpenCounters(t, "task-clock")); err != nil {
		t.Error(err)
	}
	iv.Stop(nil, nil)
	if err := iv.Start(c); !errors.Is(err, errCountersClosed) {
		t.Errorf("Start after Close: %v", err)
	}
}

var _ = emulated(TestCountersIntervalErrors)

// TestCountersIntervalAllocs tests that counting allocates nothing.
func TestCountersIntervalAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	c := mustOpenCounters(t, "task-clock", "page-faults")
	inNew(func() {
		var u GoroutineTime
		var iv, outer Interval
		v := make([]CounterValue, 2)
		for name, f := range map[string]func(){
			"Goroutine":  func() { c.Goroutine(v) },
			"Interval":   func() { iv.Start(c); iv.Stop(&u, v) },
			"Checkpoint": func() { iv.Start(c); iv.Checkpoint(&u, v); iv.Stop(nil, nil) },
			"nested":     func() { outer.Start(c); iv.Start(nil); runtime.Gosched(); iv.Stop(&u, nil); outer.Stop(&u, v) },
		} {
			if n := testing.AllocsPerRun(100, f); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	})
}

var _ = emulated(TestCountersIntervalAllocs)

// TestCountersIntervalTaskClock tests a goroutine's counts by the clock of its thread:
// what a locked goroutine has counted is between two readings of that, from both sides.
func TestCountersIntervalTaskClock(t *testing.T) {
	c := mustOpenCounters(t, "task-clock")
	var mu sync.Mutex
	inNew(func() {
		runtime.LockOSThread()
		var iv Interval
		var u GoroutineTime
		v := make([]CounterValue, 1)
		for i := range 20 {
			stolen := stolen(t)
			outer := threadTime(t)
			if err := iv.Start(c); err != nil {
				t.Fatal(err)
			}
			inner := threadTime(t)
			timeSpin(time.Duration(i) * 100 * time.Microsecond)
			mu.Lock()
			mu.Unlock()
			least := threadTime(t) - inner
			err := iv.Stop(&u, v)
			most := threadTime(t) - outer
			// The thread's clock leaves out what a hypervisor takes, task-clock does not.
			slack := stolen() + int64(50*time.Microsecond)
			if got := int64(v[0].Value); err != nil || got < least-slack || got > most+slack {
				t.Errorf("task-clock %d, by the thread's clock %d to %d, and %d may have been stolen; error %v", got, least, most, slack, err)
			}
			if v[0].Enabled != v[0].Running || u.sum() != u.Wall {
				t.Errorf("%+v; %+v", v[0], u)
			}
		}
	})
}

// TestCountersGoroutineMultiplexed tests that counts of events that took turns say so,
// and that those of a goroutine that ran meanwhile are scaled as well as the others.
func TestCountersGoroutineMultiplexed(t *testing.T) {
	events := []string{"instructions", "instructions:k", "instructions:uk", "cycles", "cycles:k", "cycles:uk", "branches"}
	if c, err := OpenCounters(events...); err == nil {
		c.Close()
	} else {
		events[6] = "r8" // the emulated machine has no branches
	}
	sets := make([]*Counters, 4)
	for i := range sets {
		sets[i] = openPMU(t, events...)
	}
	inNew(func() {
		iv := make([]Interval, len(sets))
		for i, c := range sets {
			if err := iv[i].Start(c); err != nil {
				t.Fatal(err)
			}
		}
		const loops, each = 256, 1 << 20
		for range loops {
			counterSpin(each)
		}
		v := make([]CounterValue, len(events))
		marked := 0
		for i := range slices.Backward(sets) {
			if err := iv[i].Stop(nil, v); err != nil {
				t.Fatal(err)
			}
			t.Logf("%.3v instructions scaled, in %.1f %% of the time", v[0].Scaled(), 100*float64(v[0].Running)/float64(v[0].Enabled))
			if v[0].Running > v[0].Enabled {
				t.Errorf("%+v", v[0])
			}
			if !v[0].Exact() {
				marked++
			}
			if per := v[0].Scaled() / (loops * each); v[0].Running > 0 && (per < 0.9*2 || per > 1.1*6) {
				t.Errorf("%.2f instructions in a loop that counts down", per)
			}
		}
		if marked == 0 {
			t.Error("all are exact, as if the processor had so many counters")
		}
	})
}

var _ = emulated(TestCountersGoroutineMultiplexed)
