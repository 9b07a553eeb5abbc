// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"math/bits"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	"sync"
	"testing"
	"time"
)

// TestPerfWaits tests that each reason to wait is in a part, and that the goroutine keeps
// its thread for those reasons for which upstream says so.
func TestPerfWaits(t *testing.T) {
	for _, w := range runtime.PerfWaits() {
		if w.Part == 0 {
			t.Errorf("%q: no part in perfWaits", w.Reason)
		}
		// The heap is dumped in the thread, too; it stops the world, so nobody asks.
		if want := w.Suspendable || w.Reason == "dumping heap"; w.Keeps != want {
			t.Errorf("%q: keeps its thread: %t, want %t", w.Reason, w.Keeps, want)
		}
	}
}

func TestPerfTicksNanos(t *testing.T) {
	for range 100_000 {
		ticks := rand.Int64() >> rand.IntN(64)
		rate := rand.Uint64() >> (16 + rand.IntN(32))
		hi, lo := bits.Mul64(uint64(ticks), rate)
		want := int64(hi<<32 | lo>>32)
		if got := runtime.PerfTicksNanos(ticks, rate); got != want {
			t.Fatalf("%d ticks at a rate of %#x are %d ns, want %d", ticks, rate, got, want)
		}
	}
}

// TestPerfAccountSize tests what doc/pmu-counters.md says of the size of an account.
func TestPerfAccountSize(t *testing.T) {
	account, counts, epoch := runtime.PerfAccountSizes()
	t.Logf("an account has %d bytes, what it counts in a set %d, an earlier epoch %d", account, counts, epoch)
	if limit := uintptr(512); account > limit || counts > limit || epoch > limit {
		t.Errorf("want %d bytes at most", limit)
	}
}

// TestPerfAccountsUsed tests that the accounts of goroutines that have ended, and those
// for intervals alone, are given back, however the goroutine ends.
func TestPerfAccountsUsed(t *testing.T) {
	before := runtime.PerfAccountsUsed()
	var in, out sync.WaitGroup
	release := make(chan bool)
	const n = 300
	account := [...]func(){
		func() { pprof.RunningTime() },
		func() { new(pprof.Interval).Start(nil) }, // and never ends it
		func() {
			var iv pprof.Interval
			iv.Start(nil)
			iv.Stop(nil, nil)
		},
		func() {
			var iv pprof.Interval
			iv.Start(nil)
			iv.Stop(nil, nil)
		},
		func() { pprof.RunningTime(); runtime.LockOSThread() },
		func() {
			pprof.RunningTime()
			out.Add(1)
			go func() { defer out.Done(); <-release }()
		},
	}
	for i := range n {
		in.Add(1)
		out.Add(1)
		go func() {
			defer out.Done()
			account[i%len(account)]()
			in.Done()
			<-release
			if i%4 == 0 {
				runtime.Goexit()
			}
		}()
	}
	in.Wait()
	// One in each way, and one more in the last one. Those whose intervals have ended
	// have gone when the goroutine waits; there may be some that do not yet.
	if used := runtime.PerfAccountsUsed() - before; used < n*5/6 || used > n*7/6 {
		t.Errorf("%d accounts for %d goroutines", used, n)
	}
	close(release)
	out.Wait()
	for range 1000 { // until the last ones have ended
		if runtime.PerfAccountsUsed() == before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d accounts, %d before", runtime.PerfAccountsUsed(), before)
}
