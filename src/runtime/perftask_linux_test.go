// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"context"
	"runtime"
	"runtime/task"
	"sync"
	"testing"
	"time"
)

// perfTaskUses are ways to use tasks, each of which holds open tasks until hold returns, and
// gives all back then, but for those that goroutines end later, for which wg waits.
var perfTaskUses = []struct {
	name string
	use  func(kind string, wg *sync.WaitGroup, hold func())
}{
	{"ended", func(kind string, _ *sync.WaitGroup, hold func()) {
		_, t := task.New(context.Background(), kind)
		hold()
		t.End()
		t.End()
	}},
	{"goroutines outlive it", func(kind string, wg *sync.WaitGroup, hold func()) {
		_, t := task.New(context.Background(), kind)
		ended := make(chan bool)
		for range 2 {
			wg.Go(func() {
				<-ended
				wg.Go(func() {}) // is a member from birth, of a task that has ended
			})
		}
		hold()
		t.End()
		close(ended)
	}},
	{"children", func(kind string, _ *sync.WaitGroup, hold func()) {
		ctx, t := task.New(context.Background(), kind)
		var list []*task.Task
		for range 20 { // more than a tree is deep
			var c *task.Task
			ctx, c = task.New(ctx, kind)
			list = append(list, c)
		}
		hold()
		for _, c := range list {
			c.End() // before its children
		}
		t.End()
	}},
	{"children that outlive it", func(kind string, wg *sync.WaitGroup, hold func()) {
		ctx, t := task.New(context.Background(), kind)
		ended := make(chan bool)
		for range 2 {
			wg.Go(func() {
				_, c := task.New(ctx, kind)
				<-ended
				c.End()
			})
		}
		hold()
		t.End()
		close(ended)
	}},
	{"a call", func(kind string, wg *sync.WaitGroup, hold func()) {
		ctx, t := task.New(context.Background(), kind)
		_, c := task.NewClient(ctx, kind, "elsewhere:80")
		hold()
		wg.Go(c.End)
		t.End()
	}},
	{"entered", func(kind string, wg *sync.WaitGroup, hold func()) {
		ctx, t := task.New(context.Background(), kind)
		wg.Go(func() {
			e := task.Enter(ctx)
			ctx, c := task.New(ctx, kind)
			e2 := task.Enter(ctx)
			c.End()
			e2.Exit()
			e.Exit()
			task.Enter(ctx) // whichever of the tasks are there, it ends as a member
		})
		hold()
		t.End()
		defer task.Enter(ctx).Exit() // in vain
	}},
	{"its goroutine exits before", func(kind string, wg *sync.WaitGroup, hold func()) {
		begun := make(chan *task.Task)
		go func() {
			_, t := task.New(context.Background(), kind)
			begun <- t
			runtime.Goexit()
		}()
		t := <-begun
		hold()
		t.Usage()
		t.End()
	}},
}

// TestPerfTasksUsed tests that tasks, their members and the accounts of these are given back,
// in whatever order goroutines, children and the task end, and be it slow or not: the
// record of a slow one is made after its end.
func TestPerfTasksUsed(t *testing.T) {
	if err := task.Start(task.Config{Rate: 0.5, Slow: map[string]time.Duration{"slow": 1, "fast": time.Hour}}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()

	round := func(n int, use func(kind string, wg *sync.WaitGroup, hold func())) (most int64) {
		var in, out sync.WaitGroup
		release := make(chan bool)
		for i := range n {
			kind := "fast"
			if i%2 == 0 {
				kind = "slow"
			}
			in.Add(1)
			out.Go(func() {
				use(kind, &out, func() {
					in.Done()
					<-release
				})
			})
		}
		in.Wait()
		most = runtime.PerfTasksUsed()
		close(release)
		out.Wait()
		return most
	}
	used := func() int64 {
		task.ReadStats() // gives up tasks whose last goroutines have ended since
		return runtime.PerfTasksUsed()
	}
	// So that there are enough of all on the free lists.
	const n = 30
	for range 1000 { // goroutines of another test's tasks may be about to end
		if used() == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	before, members, most := used(), runtime.PerfMembersUsed(), runtime.PerfAccountsUsed()
	for _, u := range perfTaskUses {
		round(4*n, u.use)
	}
	wait := func(what string, get func() int64, want int64) {
		t.Helper()
		for range 10_000 { // until the last goroutines have ended
			if get() <= want {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Fatalf("%s: %d, before %d", what, get(), want)
	}
	wait("tasks, first", used, before)
	before = used() // fewer, if the last goroutines of another test's task have ended since
	// A goroutine that ends gives its account back last. (Before, there may have been one too
	// many: another test's.)
	for range 10_000 {
		if runtime.PerfAccountsUsed() <= most {
			break
		}
		time.Sleep(time.Millisecond)
	}
	// Ps keep some, but no more than they may of the many that were given back.
	if most, bound := runtime.PerfFreeKept(); most == 0 || most > bound {
		t.Errorf("a P keeps up to %d of a kind, of %d that it may", most, bound)
	}
	accounts := runtime.PerfAccountsUsed()
	for _, u := range perfTaskUses {
		if most := round(n, u.use) - before; most < n {
			t.Errorf("%s: %d tasks are in use while %d are open", u.name, most, n)
		}
		wait(u.name+": tasks", used, before)
		wait(u.name+": members", runtime.PerfMembersUsed, members)
		wait(u.name+": accounts", runtime.PerfAccountsUsed, accounts)
	}
}
