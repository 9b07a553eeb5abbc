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

// TestForeignDue tests when threads are listed: new ones when some may have come or gone,
// and all when that has been long ago, or when some may have been missed, but never so
// often that it takes much CPU time.
func TestForeignDue(t *testing.T) {
	old := threadState{threads: 3, last: 10}
	more, other, wrapped := threadState{threads: 4, last: 10}, threadState{threads: 3, last: 11}, threadState{threads: 3, last: 9}
	for _, tt := range []struct {
		state     threadState
		since     time.Duration // when all were listed
		rest      time.Duration // from then on
		missed    bool
		part, all bool
	}{
		{old, foreignInterval, 0, false, false, false},
		{more, foreignInterval, 0, false, true, false},
		{other, foreignInterval, 0, false, true, false},
		{wrapped, foreignInterval, 0, false, true, true},
		{old, foreignInterval, 0, true, false, true},
		{old, foreignSweep - 1, 0, false, false, false},
		{old, foreignSweep, 0, false, false, true},
		{old, foreignSweep, foreignSweep + 1, false, false, false},
		{wrapped, foreignSweep, foreignSweep + 1, true, true, false},
		{wrapped, foreignSweep + 1, foreignSweep + 1, true, true, true},
	} {
		start := time.Now()
		f := foreignThreads{list: threadList{state: old}, swept: start, allAt: start.Add(tt.rest), all: tt.missed}
		if part, all := f.due(tt.state, start.Add(tt.since)); part != tt.part || all != tt.all {
			t.Errorf("%+v: due are new ones: %v, all: %v", tt, part, all)
		}
	}
}

// TestForeignList tests the list of threads, and that each one that begins and each
// that ends is noticed.
func TestForeignList(t *testing.T) {
	f := foreignThreads{dir: taskDir{buf: make([]byte, 512)}} // for some threads at a time
	const n = 50
	before := readThreadState()
	if before.threads == 0 || before.last == 0 {
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
	if err := f.dir.open(0); err != nil {
		t.Fatal(err)
	}
	defer f.dir.close()
	got, _, ok := f.list.read(&f.dir, 1, true, nil) // more than were counted
	if !ok {
		t.Error("the end of the list was not reached")
	}
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
	if _, ended, ok := f.list.read(&f.dir, 0, false, nil); !ended || !ok {
		t.Errorf("some have ended: %v, the end of the list was reached: %v", ended, ok)
	}
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
		a := allowance{share: foreignShare}
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
	a := allowance{share: foreignShare}
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
