// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of where a goroutine's time goes, on every operating system.

package pprof

import (
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// sum returns the sum of all parts.
func (t *GoroutineTime) sum() (d time.Duration) {
	for _, p := range t.parts {
		d += p
	}
	return d
}

// timeOf returns where the time of f goes.
func timeOf(t *testing.T, f func()) (u GoroutineTime) {
	t.Helper()
	var iv Interval
	if err := iv.Start(nil); err != nil {
		t.Fatal(err)
	}
	f()
	if err := iv.Stop(&u, nil); err != nil {
		t.Fatal(err)
	}
	if u.sum() != u.Wall {
		t.Errorf("parts %v: their sum is %v, the time on the clock %v", u.parts, u.sum(), u.Wall)
	}
	return u
}

// inNew runs f in a goroutine that is not accounted, to its end.
func inNew(f func()) {
	var wg sync.WaitGroup
	wg.Add(1)
	inNewAsync(func() { defer wg.Done(); f() })
	wg.Wait()
}

// inNewAsync starts f in a goroutine that is not accounted, whoever calls it.
func inNewAsync(f func()) { unaccounted <- f }

var unaccounted = make(chan func())

func init() {
	go func() {
		for f := range unaccounted {
			go f()
		}
	}()
}

// TestTimeFields tests that GoroutineTime is what the runtime fills, that the names of
// parts are there, and that each is one.
func TestTimeFields(t *testing.T) {
	checkFields(t, reflect.TypeFor[GoroutineTime](), reflect.TypeOf(new(GoroutineTime).usage()).Elem())
	seen := make(map[string]bool)
	for p := range numTimeParts {
		if s := p.String(); s == "" || seen[s] {
			t.Errorf("part %d has name %q", p, s)
		} else {
			seen[s] = true
		}
	}
	if s := numTimeParts.String(); !strings.Contains(s, strconv.Itoa(int(numTimeParts))) {
		t.Errorf("a part that does not exist is %q", s)
	}
}

// TestCounterValueFields tests that CounterValue is what the runtime fills.
func TestCounterValueFields(t *testing.T) {
	checkFields(t, reflect.TypeFor[CounterValue](), reflect.TypeOf(new(CounterValue).runtime()).Elem())
}

// checkFields checks that a pointer to one of two types may be converted to one to the other: they
// have fields of the same names and sizes at the same offsets.
func checkFields(t *testing.T, ours, theirs reflect.Type) {
	if ours.NumField() != theirs.NumField() || ours.Size() != theirs.Size() {
		t.Fatalf("%v has %d fields, %v %d", ours, ours.NumField(), theirs, theirs.NumField())
	}
	for i := range ours.NumField() {
		a, b := ours.Field(i), theirs.Field(i)
		if !strings.EqualFold(a.Name, b.Name) || a.Offset != b.Offset || a.Type.Size() != b.Type.Size() {
			t.Errorf("field %d: %s at %d here, %s at %d there", i, a.Name, a.Offset, b.Name, b.Offset)
		}
	}
}

// clockError is by how much the accounts' clock may differ from time.Now: see perfNow in
// package runtime, whose test has the exact bound.
const clockError = 50 * time.Microsecond

// TestTimeWall tests that the parts are always all of the time on the clock, whatever the
// goroutine does.
func TestTimeWall(t *testing.T) {
	inNew(func() {
		var before, after GoroutineTime
		for i, f := range timeUses(t) {
			outer := time.Now()
			ReadGoroutineTime(&before)
			inner := time.Now()
			f()
			least := time.Since(inner)
			ReadGoroutineTime(&after)
			most := time.Since(outer)
			if before.sum() != before.Wall || after.sum() != after.Wall {
				t.Errorf("use %d: %+v: sums %v and %v", i, after, before.sum(), after.sum())
			}
			if d := after.Wall - before.Wall; d < least-clockError || d > most+clockError {
				t.Errorf("use %d: %v by the account, %v to %v on the clock", i, d, least, most)
			}
			for p := range numTimeParts {
				if after.parts[p] < before.parts[p] {
					t.Errorf("use %d: part %v went from %v to %v", i, p, before.parts[p], after.parts[p])
				}
			}
		}
	})
}

// timeUses are things that a goroutine does with its time.
func timeUses(t *testing.T) []func() {
	c := make(chan int)
	var mu sync.Mutex
	return []func(){
		func() {},
		func() { timeSpin(5 * time.Millisecond) },
		func() { time.Sleep(time.Millisecond) },
		func() { runtime.Gosched() },
		func() { runtime.GC() },
		func() { new(runtime.MemStats).Frees++; runtime.ReadMemStats(new(runtime.MemStats)) },
		func() { debug.FreeOSMemory() },
		func() { inNewAsync(func() { c <- 1 }); <-c },
		func() { inNewAsync(func() { <-c }); c <- 1 },
		func() {
			mu.Lock()
			inNewAsync(mu.Unlock)
			mu.Lock()
			mu.Unlock()
		},
		func() { runtime.LockOSThread(); runtime.Gosched(); runtime.UnlockOSThread() },
		func() { runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) },
		func() { timeDeep(1000) },
		func() { timeSwitch(20) },
		func() { os.ReadFile(os.Args[0]) },
		func() { new(sync.WaitGroup).Wait(); timePanic() },
		func() { timeStacks() },
	}
}

// timeSpin computes for a time on the clock.
func timeSpin(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
	}
}

//go:noinline
func timeDeep(n int) (x [100]byte) {
	if n > 0 {
		x = timeDeep(n - 1)
	}
	return x
}

// timeSwitch switches to a coroutine and back, n times.
func timeSwitch(n int) {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	})
	defer stop()
	for {
		if _, ok := next(); !ok {
			return
		}
	}
}

func timePanic() {
	defer func() { recover() }()
	panic("goes across")
}

func timeStacks() { runtime.Stack(make([]byte, 1<<16), true) }

// TestTimeMonotone tests that no part, and no number, ever decreases. (An earlier design,
// for another project, read the time where the goroutine's status changes, not where it
// gets its thread or leaves it, and went back: cockroach #95529.)
func TestTimeMonotone(t *testing.T) {
	stop := make(chan bool)
	var wg sync.WaitGroup
	wg.Go(func() { // stops the world, and has goroutines preempted and scanned
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
				runtime.ReadMemStats(new(runtime.MemStats))
			}
		}
	})
	const goroutines = 4
	var readers sync.WaitGroup
	readers.Add(goroutines)
	for range goroutines {
		inNewAsync(func() {
			defer readers.Done()
			timeRead(t)
		})
	}
	readers.Wait()
	close(stop)
	wg.Wait()
}

// timeRead reads the running time, and all of it, many times.
func timeRead(t *testing.T) {
	last, reads := RunningTime(), 0
	var before, after GoroutineTime
	for start := time.Now(); time.Since(start) < 300*time.Millisecond || reads < 1000; reads++ {
		now := RunningTime()
		if now < last {
			t.Errorf("read %d: running time went from %v to %v", reads, last, now)
			return
		}
		last = now
		if reads%16 == 0 {
			runtime.Gosched()
		}
		if reads%64 != 0 {
			continue
		}
		ReadGoroutineTime(&after)
		if after.parts[TimeRunning] < last {
			t.Errorf("read %d: running time went from %v to %v", reads, last, after.parts[TimeRunning])
		}
		if onThread := after.parts[TimeRunning] + after.parts[TimePreempted]; after.Measured < before.Measured || after.Measured > onThread {
			t.Errorf("read %d: measured went from %v to %v, of %v", reads, before.Measured, after.Measured, onThread)
		}
		for p := range numTimeParts {
			if after.parts[p] < before.parts[p] {
				t.Errorf("read %d: %v went from %v to %v", reads, p, before.parts[p], after.parts[p])
			}
		}
		if after.Switches < before.Switches || after.Preemptions < before.Preemptions || after.Migrations < before.Migrations {
			t.Errorf("read %d: %+v, then %+v", reads, before, after)
		}
		before, last = after, after.parts[TimeRunning]
	}
}

// TestTimePlanted tests that time is in the part in which it was spent. Each case waits
// for something that takes at least a planted time, and says what part that is in. What
// was planted is a lower bound of the part; the upper bound is what the clock says. On
// the emulated machine both are the same but for microseconds.
func TestTimePlanted(t *testing.T) {
	const planted = 30 * time.Millisecond
	later := func(f func()) { time.AfterFunc(planted, f) }
	c := make(chan int)
	var mu, held sync.RWMutex
	held.Lock()
	var wg sync.WaitGroup
	cond := sync.NewCond(new(sync.Mutex))
	for _, tt := range []struct {
		name string
		part TimePart
		wait func()
	}{
		{"sleep", TimeSleep, func() { time.Sleep(planted) }},
		{"receive", TimeChan, func() { later(func() { c <- 1 }); <-c }},
		{"send", TimeChan, func() { later(func() { <-c }); c <- 1 }},
		{"timer", TimeChan, func() { <-time.After(planted) }},
		{"select", TimeSelect, func() {
			select {
			case <-time.After(planted):
			case <-c:
			}
		}},
		{"mutex", TimeMutex, func() { mu.Lock(); later(mu.Unlock); mu.Lock(); mu.Unlock() }},
		{"rwmutex", TimeMutex, func() { later(held.Unlock); held.RLock(); held.RUnlock(); held.Lock() }},
		{"waitgroup", TimeSync, func() { wg.Add(1); later(wg.Done); wg.Wait() }},
		{"cond", TimeSync, func() {
			cond.L.Lock()
			later(func() { cond.L.Lock(); cond.Signal(); cond.L.Unlock() })
			cond.Wait()
			cond.L.Unlock()
		}},
		{"coroutine", TimeCoroutine, func() {
			next, stop := iter.Pull(func(yield func(int) bool) { time.Sleep(planted); yield(1) })
			next()
			stop()
		}},
		{"network", TimeNetwork, timeNetwork(t, planted)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inNew(func() { timePlanted(t, tt.part, planted, tt.wait) })
		})
	}
}

var _ = emulated(TestTimePlanted)

// timePlanted tests that f takes a planted time, in a part. A machine that is stalled
// between planting and waiting makes the wait shorter, but not each time.
func timePlanted(t *testing.T, part TimePart, planted time.Duration, f func()) {
	for try := 1; ; try++ {
		var elapsed time.Duration
		u := timeOf(t, func() {
			start := time.Now()
			f()
			elapsed = time.Since(start)
		})
		t.Logf("%v of %v in %v; running %v, runnable %v", u.parts[part], u.Wall, part, u.parts[TimeRunning], u.parts[TimeRunnable])
		wrong := plantedWrong(&u, part, planted, elapsed)
		if wrong == "" {
			return
		}
		if exactTime || try == 5 {
			t.Error(wrong)
			return
		}
	}
}

// plantedWrong returns what is wrong with u, of a time that took elapsed and was planted in
// a part.
func plantedWrong(u *GoroutineTime, part TimePart, planted, elapsed time.Duration) string {
	got := u.parts[part]
	// A lock may be spun for before it is waited for. All that is none of the planted part
	// is running and runnable.
	rest := u.parts[TimeRunning] + u.parts[TimeRunnable] + u.parts[TimePreempted] + u.parts[TimeSyscall]
	switch {
	case got+rest < planted-clockError || got > elapsed+clockError:
		return fmt.Sprintf("%v in %v and %v running or runnable, planted %v, took %v", got, part, rest, planted, elapsed)
	case u.Wall-got-rest > planted/20:
		return fmt.Sprintf("%v in other parts: %v", u.Wall-got-rest, u.parts)
	case got < planted/2 || exactTime && (got < planted-planted/20 || got > planted+planted/20 || rest > planted/20):
		return fmt.Sprintf("%v in %v and %v running or runnable, planted %v", got, part, rest, planted)
	}
	return ""
}

// exactTime says that the machine has time for nothing else.
var exactTime = strings.Contains(os.Getenv("PMU_TEST_REQUIRE"), "cycles")

func timeNetwork(t *testing.T, planted time.Duration) func() {
	return func() {
		r, w, err := os.Pipe()
		if err != nil {
			t.Error(err)
			return
		}
		defer r.Close()
		time.AfterFunc(planted, func() { w.Close() })
		r.Read(make([]byte, 1))
	}
}

// TestTimeRunnable tests that of two goroutines that share one P each is runnable for as
// long as the other is running, and for as long as their thread waits for a CPU between
// two turns, which is less than all that the process's threads do.
func TestTimeRunnable(t *testing.T) {
	delay := runDelay(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const turns = 100
	const turn = 2 * time.Millisecond
	var took [2][turns]time.Duration // each turn, on a thread
	var taken [2]atomic.Int32        // turns
	var running, runnable [2]time.Duration
	var done sync.WaitGroup
	done.Add(2)
	for i := range taken {
		inNewAsync(func() {
			defer done.Done()
			other := 1 - i
			var before, after int32
			u := timeOf(t, func() {
				before = taken[other].Load()
				for n := range turns {
					u := timeOf(t, func() { timeSpin(turn) })
					took[i][n] = u.parts[TimeRunning] + u.parts[TimePreempted]
					taken[i].Add(1)
					runtime.Gosched()
				}
				after = taken[other].Load()
			})
			runnable[i] = u.parts[TimeRunnable]
			for _, d := range took[other][before:after] {
				running[i] += d
			}
		})
	}
	done.Wait()
	delay = runDelay(t) - delay
	for i := range running {
		t.Logf("runnable for %v while the other was running for %v; the threads waited for %v", runnable[i], running[i], delay)
		// At the beginning and at the end, the other one may be in the middle of a turn.
		if slack := running[i]/100 + turn; runnable[i] < running[i]-slack || runnable[i] > running[i]+slack+delay {
			t.Errorf("runnable for %v while the other was running for %v, and the threads waited for %v", runnable[i], running[i], delay)
		}
		if exactTime && (runnable[i] < running[i]*99/100 || runnable[i] > running[i]*101/100) {
			t.Errorf("runnable for %v while the other was running for %v: they differ by more than 1 %%", runnable[i], running[i])
		}
	}
}

var _ = emulated(TestTimeRunnable)

// runDelay returns for how long the process's threads have waited for a CPU, on Linux.
func runDelay(t *testing.T) (d time.Duration) {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat") // proc(5)
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		if f := strings.Fields(string(b)); len(f) == 3 {
			ns, _ := strconv.ParseInt(f[1], 10, 64)
			d += time.Duration(ns)
		}
	}
	return d
}

// TestTimeGC tests that a goroutine that has to help the garbage collector has the time in
// the part for that: at least what the runtime's own metric of it says.
func TestTimeGC(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	s := []metrics.Sample{{Name: "/cpu/classes/gc/mark/assist:cpu-seconds"}}
	assist := func() time.Duration {
		runtime.GC() // which brings the metric up to date
		metrics.Read(s)
		return time.Duration(s[0].Value.Float64() * 1e9)
	}
	inNew(func() {
		live := make([][]*int, 2000)
		before := assist()
		u := timeOf(t, func() {
			for i := range 200_000 {
				p := make([]*int, 64)
				p[0] = new(int)
				live[i%len(live)] = p
			}
		})
		metric := assist() - before
		t.Logf("%v for the collector, of %v; assists by the metric: %v", u.parts[TimeGC], u.Wall, metric)
		// The metric is also that of other goroutines, which hardly allocate.
		if got := u.parts[TimeGC]; got == 0 || got < metric*9/10-time.Millisecond {
			t.Errorf("%v for the collector, assists took %v", got, metric)
		} else if exactTime && got > metric*21/20 {
			t.Errorf("%v for the collector, assists took %v: they differ by more than 5 %%", got, metric)
		}
		runtime.KeepAlive(live)
	})
}

var _ = emulated(TestTimeGC)
