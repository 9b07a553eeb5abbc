// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
)

func BenchmarkWithValue(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		sinkContext = context.WithValue(context.Background(), taskKey{}, b)
	}
}

var sinkContext context.Context

func BenchmarkTask(b *testing.B) {
	for _, rate := range []struct {
		name string
		rate float64
	}{{"rate=0", 0}, {"rate=1", 1}} {
		b.Run(rate.name, func(b *testing.B) {
			if err := Start(Config{Rate: rate.rate}); err != nil {
				b.Fatal(err)
			}
			defer Stop()
			b.ReportAllocs()
			ctx := context.Background()
			for b.Loop() {
				var t *Task
				sinkContext, t = New(ctx, "bench")
				t.End()
			}
		})
	}
}

// BenchmarkTaskParallel is for all Ps together: a task takes as much of a CPU's time as
// BenchmarkTask's if none has to wait for another one's writes, and ns/op are those divided by
// the number of Ps.
func BenchmarkTaskParallel(b *testing.B) {
	if err := Start(Config{}); err != nil {
		b.Fatal(err)
	}
	defer Stop()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			_, t := New(context.Background(), "bench")
			t.End()
		}
	})
}

// BenchmarkTaskSwitch has two goroutines of a task wait for each other: two waits and two switches
// each time.
func BenchmarkTaskSwitch(b *testing.B) {
	if err := Start(Config{}); err != nil {
		b.Fatal(err)
	}
	defer Stop()
	ctx, t := New(context.Background(), "bench")
	defer t.End()
	ask, answer := make(chan bool), make(chan bool)
	go func() {
		defer Enter(ctx).Exit()
		for range ask {
			answer <- true
		}
		close(answer)
	}()
	for b.Loop() {
		ask <- true
		<-answer
	}
	close(ask)
	<-answer
}

func BenchmarkRegion(b *testing.B) {
	if err := Start(Config{}); err != nil {
		b.Fatal(err)
	}
	defer Stop()
	_, t := New(context.Background(), "bench")
	defer t.End()
	b.ReportAllocs()
	for b.Loop() {
		r := t.Region("region")
		r.End()
	}
}

// BenchmarkEpochChange ends an epoch and begins the next one, of four events, in a program with
// so many threads.
func BenchmarkEpochChange(b *testing.B) {
	for _, threads := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			stop := make(chan struct{})
			var ready, done sync.WaitGroup
			for range threads - 1 {
				ready.Add(1)
				done.Go(func() {
					runtime.LockOSThread()
					ready.Done()
					<-stop
				})
			}
			ready.Wait()
			defer done.Wait()
			defer close(stop)
			set := []string{"task-clock", "page-faults", "context-switches", "cpu-migrations"}
			t, err := newTurns(set, newNumbers())
			if err != nil {
				b.Skip(err)
			}
			for b.Loop() {
				t.end(t.begin())
			}
			if n := t.failed.Load(); n > 0 {
				b.Fatalf("%d of %d failed: %v", n, t.epochs.Load(), *t.failure.Load())
			}
		})
	}
}
