// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestForeignDue tests when threads are listed: when some may have come or gone,
// when none seem to have for long, and never so often that it takes much CPU time.
func TestForeignDue(t *testing.T) {
	old, now := threadState{threads: 3}, threadState{threads: 4}
	for _, tt := range []struct {
		cost, since time.Duration
		state       threadState
		want        bool
	}{
		{time.Microsecond, foreignInterval, now, true},
		{time.Microsecond, foreignInterval, old, false},
		{time.Microsecond, foreignSweep - 1, old, false},
		{time.Microsecond, foreignSweep, old, true},
		{time.Millisecond, foreignShare*time.Millisecond - 1, now, false},
		{time.Millisecond, foreignShare * time.Millisecond, now, true},
		{10 * time.Millisecond, foreignSweep, old, false},
		{10 * time.Millisecond, 10*foreignShare*time.Millisecond - 1, now, false},
		{10 * time.Millisecond, 10 * foreignShare * time.Millisecond, old, true},
	} {
		start := time.Now()
		f := foreignThreads{seen: old, listed: start, rest: foreignShare * tt.cost}
		if got := f.due(tt.state, start.Add(tt.since)); got != tt.want {
			t.Errorf("a list that takes %v, %v ago, threads changed %v: due is %v", tt.cost, tt.since, tt.state != old, got)
		}
	}
}

// TestForeignList tests the list of threads, and that each one that begins and each
// that ends is noticed.
func TestForeignList(t *testing.T) {
	f := foreignThreads{buf: make([]byte, 512)} // for some threads at a time
	const n = 50
	before := readThreadState()
	if before.threads == 0 || before.last == [16]byte{} {
		t.Fatalf("no state of threads: %+v", before)
	}
	tids, end := make(chan int32), make(chan bool)
	var want []int32
	for range n {
		go func() {
			runtime.LockOSThread()
			tids <- int32(syscall.Gettid())
			<-end
		}()
		want = append(want, <-tids)
	}
	if after := readThreadState(); after.threads < before.threads || after.last == before.last {
		t.Errorf("state before %d threads began: %+v, after: %+v", n, before, after)
	}
	got := f.list(nil)
	for _, tid := range append(want, int32(os.Getpid())) {
		if !slices.Contains(got, tid) {
			t.Errorf("thread %d is not in the list: %d", tid, got)
		}
	}
	many := readThreadState().threads
	close(end)
	waitFor(t, "threads have ended", func() bool {
		_, err := os.Stat("/proc/self/task/" + strconv.Itoa(int(want[n-1])))
		return err != nil && readThreadState().threads < many
	})
}

// TestForeignAllowance tests that dear looks among cheap ones put off none for long, even
// the first, and that looking takes no more than its share of a CPU in the long run.
func TestForeignAllowance(t *testing.T) {
	const cheap, dear, dearest = 10 * time.Microsecond, time.Millisecond, 100 * time.Millisecond
	for _, tt := range []struct {
		name  string
		costs []time.Duration // in turns
		late  bool            // whether some looks may come later than foreignLate
	}{
		{"cheap", []time.Duration{cheap}, false},
		{"dear", []time.Duration{dear}, true},
		{"dearest", []time.Duration{dearest}, true},
		{"some dear", []time.Duration{dear, cheap, cheap, cheap, cheap}, false},
		{"most dear", []time.Duration{dear, dear, dear, cheap, cheap}, true},
	} {
		var a allowance
		begin := time.Now()
		now := begin
		var spent time.Duration
		for i := range 1000 {
			cost := tt.costs[i%len(tt.costs)]
			wait := a.spend(cost, now)
			if wait > foreignLate && !tt.late {
				t.Fatalf("%s: look %d, of %v, puts off the next by %v", tt.name, i, cost, wait)
			}
			spent += cost
			now = now.Add(max(wait, foreignInterval))
		}
		// The first ones are not known to be usual.
		most := now.Sub(begin)/foreignShare + foreignSweep/foreignShare + time.Duration(len(a.recent))*tt.costs[0]
		if spent > most || spent < most*8/10 && tt.costs[0] != cheap {
			t.Errorf("%s: looks took %v in %v, want %v", tt.name, spent, now.Sub(begin), most)
		}
	}

	// One that is dearer than anything puts off others for a second, and those little.
	var a allowance
	now := time.Now()
	dearAt := now
	for i := range 200 {
		cost := cheap
		if i == 10 {
			cost, dearAt = dearest, now
		}
		wait, after := a.spend(cost, now), now.Sub(dearAt)
		if wait > foreignLate || wait > 0 && after > foreignSweep+foreignLate {
			t.Fatalf("look %d puts off the next by %v, %v after one of %v", i, wait, after, dearest)
		}
		now = now.Add(max(wait, foreignInterval))
	}
}

// TestForeignIdle tests that hardly anybody looks while the program does nothing, but that
// looks go on where the system can't sleep until it does something, and that all ends.
func TestForeignIdle(t *testing.T) {
	if runtime_perfHasForeign() {
		t.Skip("sessions have threads looked for themselves; see TestCgoPerfIdle in package runtime")
	}
	for _, sleepless := range []bool{false, true} {
		s, err := StartSession(PerfEvent(io.Discard, "page-faults", 0))
		if err != nil {
			t.Skip(err)
		}
		f := newForeign()
		f.sleepless = sleepless
		go f.run()
		if sleepless {
			waitFor(t, "looks go on", func() bool { return f.looks.Load() > 10 })
		} else {
			time.Sleep(100 * time.Millisecond)
			looks, used := f.looks.Load(), cpuTime(rusage(t))
			time.Sleep(2 * time.Second)
			looks, used = f.looks.Load()-looks, cpuTime(rusage(t))-used
			if most := 5 + 2*used/int64(foreignIdle); looks > most {
				t.Errorf("%d looks at an idle program that has used %d ns of CPU time, want at most %d", looks, used, most)
			}
		}
		f.end()
		s.Stop()
	}
}
