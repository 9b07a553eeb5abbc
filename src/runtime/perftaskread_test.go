// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"context"
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
				if u.Switches < last.Switches || u.Goroutines < last.Goroutines || u.Working > u.Goroutines || u.Parts[0] < 0 {
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
	for i, d := range u.Parts {
		if d < last.Parts[i]-10*time.Microsecond {
			t.Errorf("%v of %v, and %v before", d, pprof.TimePart(i), last.Parts[i])
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
