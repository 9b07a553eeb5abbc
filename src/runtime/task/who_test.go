// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"fmt"
	"internal/taskrecord"
	"math/rand/v2"
	"runtime"
	"runtime/pprof"
	. "runtime/task"
	"sync"
	"testing"
	"time"
)

// A commanded goroutine does what it is told, one thing at a time.
type commanded chan func()

func command() commanded {
	c := make(commanded)
	go func() {
		for f := range c {
			f()
			c <- nil
		}
	}()
	return c
}

func (c commanded) do(f func()) { c <- f; <-c }
func (c commanded) end()        { close(c) }

// TestGoroutinesOnce compares how many goroutines have worked for tasks with a model, in which
// they enter and leave them at random.
func TestGoroutinesOnce(t *testing.T) {
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		r := start(t, Config{})
		// Of no task, so that they are born to none.
		var workers []commanded
		for range 1 + rnd.IntN(40) {
			workers = append(workers, command())
		}
		type node struct {
			ctx  context.Context
			task *Task
			up   *node
			who  map[int]bool
		}
		var nodes []*node
		for i := range 6 {
			n := &node{who: map[int]bool{}}
			ctx := context.Background()
			if i > 0 && rnd.IntN(3) > 0 {
				n.up = nodes[rnd.IntN(i)]
				ctx = n.up.ctx
			}
			for u := n; u != nil; u = u.up {
				u.who[-1-i] = true // its first goroutine
			}
			n2 := n
			c := command()
			c.do(func() { n2.ctx, n2.task = New(ctx, fmt.Sprint("once ", i)) })
			defer c.end()
			nodes = append(nodes, n)
		}
		entries := make([][]Entry, len(workers))
		for range 300 {
			w := rnd.IntN(len(workers))
			if len(entries[w]) > 0 && rnd.IntN(2) == 0 {
				last := len(entries[w]) - 1
				workers[w].do(func() { entries[w][last].Exit() })
				entries[w] = entries[w][:last]
			} else if len(entries[w]) < 8 {
				n := nodes[rnd.IntN(len(nodes))]
				workers[w].do(func() { entries[w] = append(entries[w], Enter(n.ctx)) })
				for ; n != nil; n = n.up {
					n.who[w] = true
				}
			}
		}
		for w, list := range entries {
			for i := len(list) - 1; i >= 0; i-- {
				workers[w].do(list[i].Exit)
			}
			close(workers[w])
		}
		for i, n := range nodes {
			if u, _ := n.task.Usage(); u.Goroutines != int64(len(n.who)) {
				t.Errorf("seed %d: task %d: %d goroutines, want %d", seed, i, u.Goroutines, len(n.who))
			}
			n.task.End()
		}
		for range nodes {
			if rec := r.Next(); rec == nil || rec.Lost.Unfound != 0 {
				t.Errorf("seed %d: %+v", seed, rec)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// TestOutliving tests who outlives a task: not the goroutine that began it, whoever ends it.
func TestOutliving(t *testing.T) {
	bg := context.Background()
	for _, test := range []struct {
		name string
		want int64
		f    func(kind string) (after func())
	}{
		{"ended elsewhere", 0, func(kind string) func() {
			_, a := New(bg, kind)
			command().do(a.End)
			return func() {}
		}},
		{"its goroutine ends it in a child", 0, func(kind string) func() {
			ctx, a := New(bg, kind)
			_, b := New(ctx, "child")
			a.End()
			return b.End
		}},
		{"ended elsewhere, in a child", 0, func(kind string) func() {
			c := command()
			ctx, a := New(bg, kind)
			_, b := New(ctx, "child")
			c.do(a.End)
			return b.End
		}},
		{"a child's goroutine", 1, func(kind string) func() {
			ctx, a := New(bg, kind)
			c := command()
			var b *Task
			c.do(func() { _, b = New(ctx, "child") })
			a.End()
			return func() { c.do(b.End); c.end() }
		}},
		{"started, entered", 2, func(kind string) func() {
			d := command()
			ctx, a := New(bg, kind)
			c := command()
			var e Entry
			d.do(func() { e = Enter(ctx) })
			a.End()
			return func() { d.do(e.Exit); d.end(); c.end() }
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := start(t, Config{})
			c := command()
			c.do(func() {
				defer test.f("outliving")()
				for rec := r.Next(); rec != nil; rec = r.Next() {
					if rec.Kind == "outliving" && (rec.Outliving != test.want || len(rec.Outlived) != 0) {
						t.Errorf("%d outlive it, want %d", rec.Outliving, test.want)
					}
				}
			})
			c.end()
		})
	}
}

// TestOutlivedTime tests that it is counted for how long a goroutine runs when its task has ended,
// in the ways in which it may outlive it: while it goes on, and when it has ended.
func TestOutlivedTime(t *testing.T) {
	bg := context.Background()
	hold := make(chan bool)
	defer close(hold)
	for _, test := range []struct {
		name string
		// begin has worker work for a task, and returns what ends that.
		begin func(worker func() commanded) (c commanded, end func())
	}{
		{"a worker pool that a request has started", func(worker func() commanded) (commanded, func()) {
			_, a := New(bg, "a")
			return worker(), a.End
		}},
		{"a slow one", func(worker func() commanded) (commanded, func()) {
			Slow("slow one", 1)
			_, a := New(bg, "slow one")
			return worker(), a.End
		}},
		{"of a child, whose parent ends later", func(worker func() commanded) (commanded, func()) {
			ctx, a := New(bg, "a")
			_, b := New(ctx, "b")
			c := worker()
			b.End()
			return c, a.End
		}},
		{"of a child, whose parent has ended", func(worker func() commanded) (commanded, func()) {
			ctx, a := New(bg, "a")
			_, b := New(ctx, "b")
			c := worker()
			a.End()
			return c, b.End
		}},
		{"of a child, whose parent has ended and is outlived, too", func(worker func() commanded) (commanded, func()) {
			ctx, a := New(bg, "a")
			go func() { <-hold }()
			_, b := New(ctx, "b")
			c := worker()
			a.End()
			return c, b.End
		}},
		{"of a child, whose parent has ended and has the same number", func(worker func() commanded) (commanded, func()) {
			// A task is known by its memory and the number of the use of that. If those
			// before don't have the same one, two that use theirs for the first time do.
			var parent, child context.Context
			var a, b *Task
			var others []*Task
			for Use(a) == 0 || Use(a) != Use(b) {
				others = append(others, a, b)
				done := make(chan bool)
				go func() { // nobody works for them then
					defer close(done)
					parent, a = New(bg, "a")
					child, b = New(parent, "b")
				}()
				<-done
			}
			for _, t := range others {
				t.End()
			}
			e := Enter(parent)
			go func() { <-hold }()
			e.Exit()
			e = Enter(child)
			c := worker()
			e.Exit()
			a.End()
			return c, b.End
		}},
		{"started by one that was started", func(worker func() commanded) (commanded, func()) {
			_, a := New(bg, "a")
			first := command()
			var c commanded
			first.do(func() { c = worker() })
			first.end()
			return c, a.End
		}},
		{"entered", func(worker func() commanded) (commanded, func()) {
			c := worker()
			ctx, a := New(bg, "a")
			c.do(func() { Enter(ctx) })
			return c, a.End
		}},
		{"began it", func(worker func() commanded) (commanded, func()) {
			c := worker()
			var a *Task
			c.do(func() { _, a = New(bg, "a") })
			return c, a.End
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := start(t, Config{})
			done := make(chan bool)
			go func() {
				defer close(done)
				c, end := test.begin(command)
				c.do(burn)
				before := OutlivedTime()
				from := time.Now()
				end()
				var iv pprof.Interval
				var used pprof.GoroutineTime
				c.do(func() {
					if got := labelsNow(); got != "" {
						t.Errorf("labels %s of a task that has ended", got)
					}
					iv.Start(nil)
					burn()
					iv.Stop(&used, nil)
				})
				check := func(when string) {
					got := OutlivedTime() - before
					least, most := used.Part(pprof.TimeRunning), time.Since(from)
					if got < least-10*time.Microsecond || got > most {
						t.Errorf("%s: ran for %v when its task had ended, want %v to %v", when, got, least, most)
					}
				}
				check("while it goes on")
				n := runtime.NumGoroutine()
				c.end()
				for runtime.NumGoroutine() >= n {
					runtime.Gosched()
				}
				check("at its end")
			}()
			<-done
			for rec := r.Next(); rec != nil; rec = r.Next() {
			}
		})
	}
}

// TestOutlivingMany tests that no more tasks are remembered than there is room for, that others are
// counted, and that tasks go whose goroutines have ended.
func TestOutlivingMany(t *testing.T) {
	start(t, Config{})
	_, dropped := Outliving()
	const n = MaxOutliving + 100
	for range 2 {
		hold := make(chan bool)
		var wg sync.WaitGroup
		for range n {
			_, a := New(t.Context(), "outlived")
			wg.Go(func() { <-hold })
			a.End()
		}
		tasks, more := Outliving()
		if tasks > MaxOutliving || int(more-dropped) < n-MaxOutliving {
			t.Errorf("%d tasks are remembered, and %d are not, of %d", tasks, more-dropped, n)
		}
		dropped = more
		close(hold)
		wg.Wait()
		for range n {
			_, a := New(t.Context(), "ended")
			end := make(chan bool)
			wg.Go(func() { <-end })
			a.End()
			close(end)
			wg.Wait()
		}
		if tasks, more := Outliving(); tasks > n/10 || more != dropped {
			t.Errorf("%d tasks are remembered and %d are not, all of whose goroutines have ended", tasks, more-dropped)
		}
	}
	// The last goroutine may have said so a little before it ends.
	for try := 0; ; try++ {
		OutlivedTime()
		tasks, _ := Outliving()
		if tasks == 0 {
			break
		}
		if try == 1000 {
			t.Fatalf("%d tasks are remembered whose goroutines have ended", tasks)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestUnfound tests that a record counts goroutines that nest so many tasks that they don't come
// back, and children that are too deep.
func TestUnfound(t *testing.T) {
	r := start(t, Config{})
	c := command()
	c.do(func() {
		_, a := New(context.Background(), "first")
		var tasks []*Task
		for range 17 {
			_, b := New(context.Background(), "nested")
			tasks = append(tasks, b)
		}
		for i := len(tasks) - 1; i >= 0; i-- {
			tasks[i].End()
		}
		a.End()
		ctx := context.Background()
		tasks = nil
		for range 20 {
			var b *Task
			ctx, b = New(ctx, "deep")
			tasks = append(tasks, b)
		}
		for i := len(tasks) - 1; i >= 0; i-- {
			tasks[i].End()
		}
	})
	c.end()
	unfound := map[string]int64{}
	for rec := r.Next(); rec != nil; rec = r.Next() {
		unfound[rec.Kind] += rec.Lost.Unfound
	}
	// A goroutine remembers 15 tasks besides the one that it works for. Tasks are 16 deep at
	// most.
	if unfound["first"] != 1 || unfound["nested"] != 1 || unfound["deep"] == 0 {
		t.Errorf("not found back to: %v", unfound)
	}
}

// TestSetTrace tests that a task is in the trace that an adapter says, with what comes after it.
func TestSetTrace(t *testing.T) {
	r := start(t, Config{})
	trace, span := taskrecord.TraceID{1, 2, 15: 3}, taskrecord.SpanID{4, 7: 5}
	ctx, a := New(context.Background(), "a")
	was := a.Trace()
	a.SetTrace([16]byte{}, span, true)
	if a.Trace() != was {
		t.Error("a trace without an ID")
	}
	a.SetTrace(trace, span, true)
	_, b := New(ctx, "b")
	cctx, c := NewClient(ctx, "c", "server:80")
	h := header{}
	Inject(cctx, h)
	if want := "00-" + trace.String() + "-" + c.Span() + "-01"; h["Traceparent"] != want {
		t.Errorf("the call has %q, want %q", h["Traceparent"], want)
	}
	c.End()
	b.End()
	a.End()
	a.SetTrace(taskrecord.TraceID{9}, span, false) // it has ended
	(*Task)(nil).SetTrace(trace, span, true)
	n := 0
	for rec := r.Next(); rec != nil; rec = r.Next() {
		n++
		parent := a.Span()
		if rec.Kind == "a" {
			parent = span.String()
		}
		if rec.Trace != trace || rec.Parent.String() != parent {
			t.Errorf("%s: trace %v, parent %v", rec.Kind, rec.Trace, rec.Parent)
		}
	}
	if n != 3 {
		t.Errorf("%d records", n)
	}
}

// TestClientKinds tests that calls and other tasks of one name are not added up.
func TestClientKinds(t *testing.T) {
	start(t, Config{})
	const kind = "TestClientKinds"
	count := func() (tasks, calls int64) {
		for _, k := range AllStats().Kinds {
			switch {
			case k.Kind != kind:
			case k.Client:
				calls += k.Count
			default:
				tasks += k.Count
			}
		}
		return tasks, calls
	}
	tasks, calls := count() // kinds stay
	for range 3 {
		ctx, a := New(context.Background(), kind)
		_, c := NewClient(ctx, kind, "server:80")
		_, d := NewClient(ctx, kind, "server:80")
		c.End()
		d.SetKind(kind + "!")
		d.SetKind(kind)
		d.End()
		a.End()
	}
	allTasks, allCalls := count()
	if allTasks-tasks != 3 || allCalls-calls != 6 {
		t.Errorf("%d tasks and %d calls, want 3 and 6", allTasks-tasks, allCalls-calls)
	}
}

// TestRenamedWaker tests that who has ended a wait has the kind in the record that it has at its
// end, whenever it got that.
func TestRenamedWaker(t *testing.T) {
	for _, test := range []struct {
		name  string
		early func(*Task) // before it ends the wait
		late  func(*Task) // after its end
		last  func(*Task) // after the end of the task that waited
	}{
		{"before", rename, nil, nil},
		{"after", nil, rename, nil},
		{"after the other's end", nil, nil, rename},
		{"by a pattern", nil, func(t *Task) { NameTask(t, "renamed") }, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := start(t, Config{Slow: map[string]time.Duration{"waits": 1}})
			worker, waiter := command(), command()
			wake := make(chan bool)
			var a *Task
			worker.do(func() { _, a = New(context.Background(), "guessed") })
			waits := make(chan bool)
			var b *Task
			waiter <- func() {
				_, b = New(context.Background(), "waits")
				waits <- true
				<-wake
				if test.last == nil {
					<-wake
				}
				b.End()
			}
			<-waits
			worker.do(func() {
				time.Sleep(time.Millisecond) // so that the wait is long enough
				if test.early != nil {
					test.early(a)
				}
				wake <- true
				if test.late != nil {
					test.late(a)
				}
			})
			if test.last == nil {
				wake <- true
			}
			<-waiter
			worker.do(func() {
				if test.last != nil {
					test.last(a)
				}
				a.End()
			})
			worker.end()
			waiter.end()
			n := 0
			for rec := r.Next(); rec != nil; rec = r.Next() {
				for _, s := range rec.Timeline {
					if s.Waker.Span.String() == a.Span() {
						n++
						if s.Waker.Kind != "renamed" {
							t.Errorf("ended by task %q", s.Waker.Kind)
						}
					}
				}
			}
			if n == 0 {
				t.Error("nobody has ended the wait")
			}
		})
	}
}

func rename(t *Task) { t.SetKind("renamed") }
