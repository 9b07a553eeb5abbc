// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of the numbers in accounts, and of what reading them costs.

package pprof

import (
	"internal/race"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestTimeNumbers tests the numbers of switches, and who is said to have woken whom.
func TestTimeNumbers(t *testing.T) {
	const n = 100
	a, b := make(chan int), make(chan int)
	var partner uint64
	inNewAsync(func() {
		partner = goid()
		for x := range a {
			b <- x
		}
		close(b)
	})
	inNew(func() {
		a <- 0
		<-b
		u := timeOf(t, func() {
			for range n {
				a <- 1
				<-b
			}
		})
		// Each turn waits once at least, and once for each channel at most.
		if u.Switches < n/2 || u.Switches > 2*n+n {
			t.Errorf("%d switches in %d turns", u.Switches, n)
		}
		if u.Waker != partner {
			t.Errorf("woken by goroutine %d, want %d", u.Waker, partner)
		}
		// The same where the account does not have to be exact meanwhile.
		var before, after GoroutineTime
		ReadGoroutineTime(&before)
		for range n {
			a <- 1
			<-b
		}
		ReadGoroutineTime(&after)
		if after.Waker != partner || after.Switches-before.Switches < n/2 {
			t.Errorf("woken by goroutine %d, want %d; %d switches", after.Waker, partner, after.Switches-before.Switches)
		}
		close(a)
		<-b
		if u := timeOf(t, func() { time.Sleep(time.Millisecond) }); u.Waker != 0 || u.Switches == 0 {
			t.Errorf("after time.Sleep: %d switches, woken by goroutine %d", u.Switches, u.Waker)
		}
		u = timeOf(t, func() {
			for range n {
				runtime.Gosched()
			}
		})
		if u.Switches < n {
			t.Errorf("%d switches by %d calls of Gosched", u.Switches, n)
		}
		u = timeOf(t, func() {})
		if u.Migrations > u.Switches || u.Preemptions > u.Switches {
			t.Errorf("%+v", u)
		}
	})
}

// goid returns the ID of the calling goroutine, as stack traces have it.
func goid() uint64 {
	b := make([]byte, 64)
	f := strings.Fields(string(b[:runtime.Stack(b, false)]))
	id, _ := strconv.ParseUint(f[1], 10, 64)
	return id
}

// TestTimeAllocs tests that reading allocates nothing.
func TestTimeAllocs(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	inNew(func() {
		var u GoroutineTime
		var iv, outer Interval
		for name, f := range map[string]func(){
			"RunningTime":       func() { RunningTime() },
			"ReadGoroutineTime": func() { ReadGoroutineTime(&u) },
			"Interval":          func() { iv.Start(nil); iv.Stop(&u, nil) },
			"Checkpoint":        func() { iv.Start(nil); iv.Checkpoint(&u, nil); iv.Stop(nil, nil) },
			"nested":            func() { outer.Start(nil); iv.Start(nil); runtime.Gosched(); iv.Stop(&u, nil); outer.Stop(&u, nil) },
		} {
			if n := testing.AllocsPerRun(100, f); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	})
}
