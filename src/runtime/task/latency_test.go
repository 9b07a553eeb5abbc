// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"fmt"
	"internal/race"
	"internal/taskrecord"
	"runtime/pprof"
	"runtime/task"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A delay is a reason for which a task of several goroutines is slow. What these do that nobody
// waits for goes on beside it, for as long or longer.
type delay struct {
	name  string
	cause string          // of the first cause
	text  string          // in it
	part  taskrecord.Part // of the latency, that most of it is
	do    func(d *delayed, ctx context.Context, t *task.Task)
	ends  bool // do ends the task
}

// A delayed is a task that is delayed.
type delayed struct {
	*planted
	jobs    chan func()   // of a goroutine that works for tasks of its own
	over    chan struct{} // closed when the task has ended
	orphans sync.WaitGroup
}

// orphan starts a goroutine that goes on until the task has ended.
func (d *delayed) orphan(f func()) {
	ready := make(chan struct{})
	d.orphans.Go(func() {
		close(ready)
		f()
	})
	<-ready
}

func (d *delayed) idle() { <-d.over }

func (d *delayed) sleepy() {
	for {
		select {
		case <-d.over:
			return
		default:
			time.Sleep(time.Millisecond)
		}
	}
}

// fanOut has four goroutines work, the last one for long, and waits for them.
func (d *delayed) fanOut(long func()) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if i == 3 {
				long()
			}
		})
	}
	wg.Wait()
}

// worker does jobs, each as a task.
func worker(jobs chan func()) {
	for job := range jobs {
		_, t := task.New(context.Background(), "worker")
		job()
		t.End()
	}
}

func nap() { time.Sleep(plantedTime) }

var delays = []delay{
	{name: "mutex, beside a goroutine that waits", cause: "mutex", text: `mutex held by task "flush"`, part: pprof.TimeMutex,
		do: func(d *delayed, ctx context.Context, t *task.Task) { d.orphan(d.idle); d.lock(ctx, t) }},
	{name: "mutex, beside one that sleeps", cause: "mutex", text: `mutex held by task "flush"`, part: pprof.TimeMutex,
		do: func(d *delayed, ctx context.Context, t *task.Task) { d.orphan(d.sleepy); d.lock(ctx, t) }},
	{name: "sleep, beside many that wait", cause: "sleep", part: pprof.TimeSleep,
		do: func(d *delayed, ctx context.Context, t *task.Task) {
			for range 8 {
				d.orphan(d.idle)
			}
			nap()
		}},
	{name: "slow one of a WaitGroup", cause: "sleep", part: pprof.TimeSleep,
		do: func(d *delayed, ctx context.Context, t *task.Task) { d.fanOut(nap) }},
	{name: "slow one of a WaitGroup, with a mutex", cause: "mutex", text: `task "flush"`, part: pprof.TimeMutex,
		do: func(d *delayed, ctx context.Context, t *task.Task) {
			d.orphan(d.sleepy)
			d.fanOut(func() { d.lock(ctx, t) })
		}},
	{name: "slow one whose result comes by a channel", cause: "sleep", part: pprof.TimeSleep,
		do: func(d *delayed, ctx context.Context, t *task.Task) {
			results := make(chan int)
			for i := range 3 {
				go func() {
					if i == 1 {
						nap()
					}
					results <- i
				}()
			}
			for range 3 {
				<-results
			}
		}},
	{name: "slow one of a group with an error", cause: "sleep", part: pprof.TimeSleep,
		do: func(d *delayed, ctx context.Context, t *task.Task) {
			slots, errs := make(chan struct{}, 2), make(chan error, 1) // as errgroup has them
			var wg sync.WaitGroup
			for i := range 4 {
				slots <- struct{}{}
				wg.Go(func() {
					defer func() { <-slots }()
					if i == 2 {
						nap()
						errs <- context.Canceled
					}
				})
			}
			wg.Wait()
			<-errs
		}},
	{name: "worker that works for the task", cause: "sleep", part: pprof.TimeSleep,
		do: func(d *delayed, ctx context.Context, t *task.Task) {
			d.orphan(d.idle)
			done := make(chan struct{})
			d.jobs <- (func() {
				pprof.Do(ctx, pprof.Labels(), func(context.Context) { nap() })
				close(done)
			})
			<-done
		}},
	{name: "worker that works for itself", cause: "wait for a task", text: `ended by task "worker"`, part: pprof.TimeChan,
		do: func(d *delayed, ctx context.Context, t *task.Task) {
			d.orphan(d.sleepy)
			done := make(chan struct{})
			d.jobs <- (func() {
				nap()
				close(done)
			})
			<-done
		}},
	{name: "pool inside a call", cause: "wait for a task", text: `ended by task "worker"`, part: pprof.TimeChan,
		do: func(d *delayed, ctx context.Context, t *task.Task) {
			_, c := task.NewClient(ctx, "SELECT a", "db:5432")
			pool := make(chan int)
			d.jobs <- (func() {
				nap()
				pool <- 1
			})
			<-pool
			d.end(c)
		}},
	{name: "timer", cause: "wait", text: "select ", part: pprof.TimeSelect,
		do: func(d *delayed, ctx context.Context, t *task.Task) {
			d.orphan(d.sleepy)
			select {
			case <-time.After(plantedTime):
			case <-d.over:
			}
		}},
	{name: "goroutine that ends the task", cause: "sleep", part: pprof.TimeSleep, ends: true,
		do: func(d *delayed, ctx context.Context, t *task.Task) {
			go func() {
				nap()
				d.end(t)
				close(d.over)
			}()
			<-d.over
		}},
	{name: "nobody", cause: "elsewhere", text: "no goroutine at work", part: taskrecord.Elsewhere, ends: true,
		do: func(d *delayed, ctx context.Context, t *task.Task) {
			time.AfterFunc(plantedTime, func() {
				d.end(t)
				close(d.over)
			})
		}},
}

// one runs a task with a delay, and returns its record.
func (d *delayed) one(x *delay, r taskrecord.RingReader, n int) *taskrecord.Record {
	d.over = make(chan struct{})
	d.orphans.Go(func() { // a goroutine that ends, so that what it has begun is nobody's then
		ctx, t := task.New(context.Background(), "delayed")
		t.Note("n", fmt.Sprint(n))
		x.do(d, ctx, t)
		if !x.ends {
			d.end(t)
			close(d.over)
		}
	})
	<-d.over
	d.orphans.Wait()
	for {
		t := r.Next()
		if t == nil {
			return nil
		}
		if t.Kind == "delayed" && slices.Contains(t.Notes, taskrecord.Note{Key: "n", Value: fmt.Sprint(n)}) {
			return t
		}
	}
}

// TestDelays has tasks of several goroutines that are slow for a reason that is planted. It must be
// what the latency says, with a timeline and without, whatever goroutines nobody waited for did.
func TestDelays(t *testing.T) {
	if race.Enabled {
		t.Skip("with the race detector it is that for which tasks are slow")
	}
	p := &planted{t: t, flushes: make(chan flush)}
	jobs := make(chan func())
	var servers sync.WaitGroup
	defer servers.Wait()
	servers.Go(p.flusher)
	defer close(p.flushes)
	servers.Go(func() { worker(jobs) })
	defer close(jobs)
	times := 5
	if testing.Short() {
		times = 1
	}
	for _, slow := range []bool{true, false} {
		threshold := plantedSlow
		if !slow {
			threshold = time.Hour
		}
		if err := task.Start(task.Config{Rate: 1, Slow: map[string]time.Duration{"delayed": threshold}}); err != nil {
			t.Fatal(err)
		}
		defer task.Stop()
		defer task.Slow("delayed", 0)
		r := taskrecord.NewRingReader(false)
		for i := range delays {
			x := &delays[i]
			for n := range times {
				p.delay(x, jobs, r, n, slow)
			}
		}
	}
}

// delay checks a task with a delay. It repeats what the machine has delayed more.
func (p *planted) delay(x *delay, jobs chan func(), r taskrecord.RingReader, n int, slow bool) {
	for again := 0; ; again++ {
		d := &delayed{planted: p, jobs: jobs}
		rec := d.one(x, r, n)
		if rec == nil {
			p.t.Errorf("%s: no record", x.name)
			return
		}
		l, sum := rec.Latency(), time.Duration(0)
		for _, part := range l {
			sum += part
		}
		if sum != rec.Wall || slow != (rec.Flags&taskrecord.Slow != 0) {
			p.t.Errorf("%s: %v in sum, took %v, slow %v", x.name, sum, rec.Wall, rec.Flags&taskrecord.Slow != 0)
			return
		}
		causes := rec.Causes()
		if len(causes) > 0 && slices.Contains(busy, causes[0].Name) && again < 10 {
			continue
		}
		if running := rec.Parts[pprof.TimeRunning]; l[pprof.TimeRunning] > running {
			p.t.Errorf("%s: running %v, of %v", x.name, l[pprof.TimeRunning], running)
		}
		if !slow {
			// Who ended a wait is not known then. Nothing else can be said to have run, or to have been
			// what nobody waited for.
			if most := slices.Max(l[:]); !x.has(l, most) || most < plantedTime/2 {
				p.t.Errorf("%s, without a timeline: latency %v of %v, ender %+v, parts %v", x.name, l, rec.Wall, rec.Ender, rec.Parts)
			}
			return
		}
		if len(causes) == 0 || causes[0].Name != x.cause || !strings.Contains(causes[0].String(), x.text) || l[x.part] < plantedTime*3/4 {
			p.t.Errorf("%s: %v\nlatency %v of %v, ender %+v, parts %v\n%+v", x.name, causes, l, rec.Wall, rec.Ender, rec.Parts, rec.Timeline)
		}
		return
	}
}

// has reports whether what most of a latency is is x's, or a wait for another goroutine.
func (x *delay) has(l taskrecord.Latency, most time.Duration) bool {
	for _, p := range []taskrecord.Part{x.part, pprof.TimeSync, pprof.TimeChan, pprof.TimeSelect, taskrecord.Elsewhere} {
		if l[p] != most {
			continue
		}
		mayWait := strings.Contains(x.name, "one of") || strings.Contains(x.name, "one whose") || strings.Contains(x.name, "worker") || x.ends
		return p == x.part || mayWait
	}
	return false
}
