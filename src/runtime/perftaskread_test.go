// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"context"
	"internal/taskrecord"
	"runtime"
	"runtime/pprof"
	"runtime/task"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// TestPerfTaskReadLetsGo tests that who asks for a task's numbers lets go of its lock while
// there is more to look at, and that the numbers don't suffer: no goroutine is left out that
// leaves meanwhile, or counts twice. Then a number that only grows would be less the next
// time.
func TestPerfTaskReadLetsGo(t *testing.T) {
	const askers, members, generations = 2, 500, 6
	if err := task.Start(task.Config{}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	ctx, tk := task.New(context.Background(), "letsgo")
	before := runtime.PerfLetGo()
	var members0, all sync.WaitGroup
	gate := make(chan int)
	var work func(ctx context.Context, left int)
	work = func(ctx context.Context, left int) {
		defer all.Done()
		// Some make a child, so that there is a tree to go through.
		if left%2 == 0 {
			child, c := task.New(ctx, "letsgo child")
			defer c.End()
			ctx = child
		}
		if left == generations {
			members0.Done()
		}
		<-gate
		runtime.Gosched()
		if left > 1 { // another one, who takes this one's place
			all.Add(1)
			go work(ctx, left-1)
		}
	}
	members0.Add(members)
	all.Add(members)
	for range members {
		go work(ctx, generations)
	}
	members0.Wait()

	var done atomic.Bool
	var asking, first sync.WaitGroup
	asked := make([]int, askers)
	for i := range askers {
		asking.Add(1)
		first.Add(1)
		go func() {
			defer asking.Done()
			// While all are there. It also says what there is to compare with.
			last, ok := tk.Usage()
			first.Done()
			for ; !done.Load(); asked[i]++ {
				var u task.Usage
				if u, ok = tk.Usage(); !ok {
					t.Error("the task has ended")
					return
				}
				if u.Switches < last.Switches || u.Goroutines < last.Goroutines || u.Working > u.Goroutines || u.Part(0) < 0 {
					t.Errorf("after %d switches of %d goroutines there are %d of %d, of which %d work",
						last.Switches, last.Goroutines, u.Switches, u.Goroutines, u.Working)
					return
				}
				last = u
			}
		}()
	}
	first.Wait()
	for range members * generations {
		gate <- 1
	}
	all.Wait()
	done.Store(true)
	asking.Wait()
	// Those who ask inherit the task.
	if u, _ := tk.Usage(); u.Goroutines != 1+members*generations+askers || u.Working > 1+members+askers {
		t.Errorf("%d goroutines, of which %d work; want %d", u.Goroutines, u.Working, 1+members*generations+askers)
	}
	tk.End()
	n := runtime.PerfLetGo() - before
	t.Logf("asked %v times, in which the lock was let go of %d times", asked, n)
	if n < askers*members/64 {
		t.Errorf("who asks let go of the lock %d times, of %d members", n, members)
	}
}

// perfReadMembers starts goroutines of a task of its own, which wait for stop.
func perfReadMembers(kind string, n int, stop chan bool) *task.Task {
	_, tk := task.New(context.Background(), kind)
	var started sync.WaitGroup
	started.Add(n)
	for range n {
		go func() {
			started.Done()
			<-stop
		}()
	}
	started.Wait()
	return tk
}

// TestPerfTaskReadStops tests that the world can be stopped while somebody asks about a task
// with many goroutines: when a few more have been looked at.
func TestPerfTaskReadStops(t *testing.T) {
	const members = 20_000
	if err := task.Start(task.Config{}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	stop, done := make(chan bool), make(chan bool)
	defer close(stop)
	tk := perfReadMembers("readstops", members, stop)
	defer tk.End()
	runtime.PerfAskedFor()
	var quit atomic.Bool
	go func() {
		for !quit.Load() {
			tk.Usage()
		}
		close(done)
	}()
	// Each stop that finds the other one asking is one that it has made way for.
	var m runtime.MemStats
	before, stops := runtime.PerfMadeWay(), 0
	for ; stops < 10_000 && runtime.PerfMadeWay() < before+10; stops++ {
		for n := runtime.PerfLetGo(); runtime.PerfLetGo() == n; {
			runtime.Gosched() // until somebody asks
		}
		runtime.ReadMemStats(&m)
	}
	n := runtime.PerfMadeWay() - before
	quit.Store(true)
	<-done
	t.Logf("who asks made way %d times for %d stops of the world", n, stops)
	if n < 10 {
		t.Errorf("who asks made way %d times for %d stops of the world", n, stops)
	}
	if most, limit := runtime.PerfAskedFor(); most == 0 || most > limit {
		t.Errorf("%d was looked at in one go; want at most %d", most, limit)
	}
}

// TestPerfTaskEndLate tests that the end of a task looks at few of its goroutines, and that
// what they have used is summed up nevertheless, also of those that end before.
func TestPerfTaskEndLate(t *testing.T) {
	const members = 1000
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // nobody else runs until this goroutine waits
	for _, leave := range []bool{false, true} {
		if err := task.Start(task.Config{Rate: 1}); err != nil {
			t.Fatal(err)
		}
		r := taskrecord.NewRingReader(false)
		stop := make(chan bool)
		tk := perfReadMembers("endlate", members, stop)
		runtime.PerfAskedFor()
		t0 := time.Now()
		u, _ := tk.Usage()
		before := runtime.PerfLetGo()
		tk.End()
		most, limit := runtime.PerfAskedFor()
		if n := runtime.PerfLetGo() - before; n != 0 || most > limit {
			t.Errorf("the end looked at %d goroutines, and let others have the lock %d times", most, n)
		}
		if r.Next() != nil {
			t.Error("there is a record already")
		}
		if leave {
			close(stop)
			runtime.Gosched()
		}
		task.Stop() // waits for it
		if rec := r.Next(); rec == nil {
			t.Error("there is no record")
		} else if rec.Goroutines != members+1 || rec.Outliving != members {
			t.Errorf("%d goroutines, %d outliving; want %d and %d", rec.Goroutines, rec.Outliving, members+1, members)
		} else {
			// Each member is there once: as it was before, and not longer than until now.
			sum, was := time.Duration(0), time.Duration(0)
			for i, d := range rec.Parts {
				sum += time.Duration(d)
				was += u.Part(pprof.TimePart(i))
			}
			if most := was + (members+1)*time.Since(t0); sum < was || sum > most {
				t.Errorf("%v in %d goroutines; want %v to %v", sum, members, was, most)
			}
		}
		if !leave {
			close(stop)
		}
	}
}

// TestPerfTaskReadWaits tests that the times of others are right if who asks had to wait for
// the lock: no part of them goes down.
func TestPerfTaskReadWaits(t *testing.T) {
	const members = 10
	if err := task.Start(task.Config{}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	// Who holds it works for no task: what a goroutine that gets a thread has been in since is
	// known a little later.
	hold := make(chan unsafe.Pointer)
	var held uint32
	var all sync.WaitGroup
	all.Go(func() {
		if tree := <-hold; tree != nil {
			runtime.PerfLockTree(tree, 20e6, &held)
		}
	})
	defer all.Wait()
	defer close(hold)
	_, tk := task.New(context.Background(), "readwaits")
	defer tk.End()
	stop := make(chan bool)
	defer close(stop)
	for range members {
		all.Go(func() {
			for start := time.Now(); time.Since(start) < time.Millisecond; {
			}
			perfReadWaitsBlock(stop)
		})
	}
	// Until all of them wait, and know that.
	for stack := make([]byte, 1<<20); ; time.Sleep(time.Millisecond) {
		n := 0
		for g := range strings.SplitSeq(string(stack[:runtime.Stack(stack, true)]), "\n\n") {
			if strings.Contains(g, "perfReadWaitsBlock") && strings.Contains(g, " [chan receive") {
				n++
			}
		}
		if n == members {
			break
		}
	}
	hold <- runtime.PerfTaskTree()
	last, _ := tk.Usage()
	for atomic.LoadUint32(&held) == 0 {
		last, _ = tk.Usage()
	}
	u, _ := tk.Usage()
	for p := range pprof.TimeParts() {
		if d := u.Part(p); d < last.Part(p)-10*time.Microsecond {
			t.Errorf("%v of %v, and %v before", d, p, last.Part(p))
		}
	}
}

// TestPerfPeekLater tests that what a goroutine was in does not become less if it has been
// in something else since the moment of which somebody asks.
func TestPerfPeekLater(t *testing.T) {
	if d := time.Duration(runtime.PerfPeekLater()); d < 999*time.Millisecond || d > 1001*time.Millisecond {
		t.Errorf("it was runnable for %v, want a second", d)
	}
}

//go:noinline
func perfReadWaitsBlock(stop chan bool) { <-stop }
