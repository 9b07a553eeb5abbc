// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"internal/profile"
	"internal/testenv"
	"math"
	"runtime"
	"slices"
	"sync"
	"testing"
)

// The three parts of mutexRounds. Each is a loop in a function of its own, so that it
// executes as many instructions beside the others as alone.

//go:noinline
func mutexLock(mus []sync.Mutex) {
	for i := range mus {
		mus[i].Lock()
	}
}

//go:noinline
func mutexWork(n int) {
	for ; n > 0; n-- {
	}
}

//go:noinline
func mutexUnlock(mus []sync.Mutex) {
	for i := range mus {
		mus[i].Unlock()
	}
}

//go:noinline
func mutexNothing([]sync.Mutex) {}

//go:noinline
func mutexNoWork(int) {}

var mutexParts = [...]string{"runtime/pprof.mutexLock", "runtime/pprof.mutexWork", "runtime/pprof.mutexUnlock"}

const mutexesOfRound = 32

// A mutexWorkload says how much work there is in each round: 0 to 255 loops. Were it the
// same, samples at a fixed period would see the same few places of a round for long.
type mutexWorkload uint32

func (w *mutexWorkload) next() int {
	*w = *w*1664525 + 1013904223
	return int(*w >> 24)
}

// mutexRounds locks mutexes, works, and unlocks them, n times.
func mutexRounds(n int) {
	mus := make([]sync.Mutex, mutexesOfRound)
	var w mutexWorkload
	for range n {
		mutexLock(mus)
		mutexWork(w.next())
		mutexUnlock(mus)
	}
}

// TestPerfMutex tests what section 5.3 of proposal 36821 is about: how much of a
// program locking takes, and how much unlocking, which comes right after. Samples of
// cycles must have for each part what a counter says of it alone. The timer's profile
// of as much work is shown beside them.
func TestPerfMutex(t *testing.T) {
	perfNeeds(t, "cycles")
	testenv.SkipIfOptimizationOff(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	const alone = 4096 // rounds
	c := mustOpenCounters(t, "cycles:u")
	counted(t, c) // from now on
	mus := make([]sync.Mutex, alone*mutexesOfRound)
	each := func(part func(mus []sync.Mutex)) float64 {
		before := counted(t, c)
		for m := range slices.Chunk(mus, mutexesOfRound) {
			part(m)
		}
		return float64(counted(t, c) - before)
	}
	var work, noWork mutexWorkload
	nothing := each(mutexNothing)
	truth := [len(mutexParts)]float64{
		each(mutexLock) - nothing,
		each(func([]sync.Mutex) { mutexWork(work.next()) }) - each(func([]sync.Mutex) { mutexNoWork(noWork.next()) }),
		each(mutexUnlock) - nothing,
	}
	all := truth[0] + truth[1] + truth[2]
	c.Close()

	const rounds = 250e3
	shares := func(p *profile.Profile) (n float64, share [len(mutexParts)]float64) {
		for _, s := range p.Sample {
			for i, part := range mutexParts {
				if slices.Contains(perfFrames(s), part) {
					share[i] += float64(s.Value[0])
					n += float64(s.Value[0])
				}
			}
		}
		for i := range share {
			share[i] /= max(1, n)
		}
		return n, share
	}
	r := perfProfileOf(t, []perfReq{{"cycles", 100e3}}, func() { mutexRounds(rounds) })[0]
	r.balance()
	n, share := shares(r.Profile)
	if n < 1000 {
		t.Fatalf("only %.0f samples:\n%s", n, r.byStack())
	}

	var buf bytes.Buffer
	if err := StartCPUProfile(&buf); err != nil {
		t.Fatal(err)
	}
	mutexRounds(rounds)
	StopCPUProfile()
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	ticks, timer := shares(p)
	for i, part := range mutexParts {
		want := truth[i] / all
		t.Logf("%s: %.1f cycles a round; %.2f %% of them, %.2f %% of %.0f samples, and %.1f %% of the timer's %.0f",
			part, truth[i]/alone, 100*want, 100*share[i], n, 100*timer[i], ticks)
		// Samples at random would be this near in all but one of 1.7 million times.
		r.near("share of "+part+" in percent", 100*share[i], 100*want, 500*math.Sqrt(want*(1-want)/n))
	}
}

var _ = emulated(TestPerfMutex)
