// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"iter"
	"net/http"
	"runtime"
	"runtime/pprof"
	. "runtime/task"
	"sync"
	"testing"
	"time"
)

type valueKey struct{}

// A kept counts what a test has not let go of.
type kept struct{ values, tasks sync.WaitGroup }

// context returns a context with a value that is counted.
func (k *kept) context() context.Context {
	v := new([1 << 10]byte)
	k.values.Add(1)
	runtime.AddCleanup(v, func(int) { k.values.Done() }, 0)
	return context.WithValue(context.Background(), valueKey{}, v)
}

// New is task.New of a counted task.
func (k *kept) New(ctx context.Context, kind string) (context.Context, *Task) {
	ctx, t := New(ctx, kind)
	k.count(t)
	return ctx, t
}

func (k *kept) count(t *Task) {
	k.tasks.Add(1)
	runtime.AddCleanup(t, func(int) { k.tasks.Done() }, 0)
}

// TestKept tests that nothing keeps a task that has ended, nor its context and what is in it:
// no goroutine that began it, ended it, worked for it or was started by it, whether these go
// on or not.
func TestKept(t *testing.T) {
	for _, test := range []struct {
		name string
		// f is called on a goroutine that goes on. So do those that it starts by stay, which
		// returns when they run.
		f func(k *kept, stay func(before, after func()))
	}{
		{"here", func(k *kept, stay func(before, after func())) {
			_, a := k.New(k.context(), "a")
			a.End()
		}},
		{"ended elsewhere", func(k *kept, stay func(before, after func())) {
			_, a := k.New(k.context(), "a")
			stay(a.End, nil)
		}},
		{"begun elsewhere", func(k *kept, stay func(before, after func())) {
			var a *Task
			stay(func() { _, a = k.New(k.context(), "a") }, nil)
			a.End()
		}},
		{"children outlive", func(k *kept, stay func(before, after func())) {
			_, a := k.New(k.context(), "a")
			stay(func() { stay(nil, nil) }, nil)
			a.End()
		}},
		{"entered", func(k *kept, stay func(before, after func())) {
			ctx, a := k.New(k.context(), "a")
			var e Entry
			stay(func() { e = Enter(ctx) }, func() { e.Exit() })
			stay(func() { Enter(ctx) }, nil)
			a.End()
		}},
		{"labels", func(k *kept, stay func(before, after func())) {
			ctx, a := k.New(k.context(), "a")
			stay(func() { pprof.SetGoroutineLabels(ctx) }, nil)
			stay(func() { pprof.SetGoroutineLabels(pprof.WithLabels(ctx, pprof.Labels("x", "y"))) }, nil)
			stay(func() {
				pprof.Do(ctx, pprof.Labels("x", "y"), func(context.Context) { stay(nil, nil) })
			}, nil)
			pprof.SetGoroutineLabels(ctx)
			a.End()
		}},
		{"parent ends first", func(k *kept, stay func(before, after func())) {
			ctx, a := k.New(k.context(), "a")
			_, b := k.New(ctx, "b")
			stay(nil, nil)
			a.End()
			b.End()
		}},
		{"out of order", func(k *kept, stay func(before, after func())) {
			_, a := k.New(k.context(), "a")
			_, b := k.New(k.context(), "b")
			ctx, c := k.New(k.context(), "c")
			stay(func() { Enter(ctx) }, nil)
			b.End()
			a.End()
			stay(c.End, nil)
		}},
		{"child outlives", func(k *kept, stay func(before, after func())) {
			ctx, a := k.New(k.context(), "a")
			var b *Task
			stay(func() { _, b = k.New(ctx, "b") }, nil)
			a.End()
			b.End()
		}},
		{"calls", func(k *kept, stay func(before, after func())) {
			ctx, a := k.New(k.context(), "a")
			_, call := NewClient(ctx, "call", "remote")
			k.count(call)
			_, late := NewClient(ctx, "late", "remote")
			k.count(late)
			stay(call.End, nil)
			a.End()
			stay(late.End, nil)
		}},
		{"received", func(k *kept, stay func(before, after func())) {
			h := http.Header{"Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}
			ctx, a := Receive(k.context(), "a", h)
			k.count(a)
			r := a.Region("r")
			stay(nil, nil)
			r.End()
			a.Note("key", "value")
			_ = ctx
			a.End()
		}},
		{"region goes on", func(k *kept, stay func(before, after func())) {
			_, a := k.New(k.context(), "a")
			r := a.Region("r")
			a.End()
			r.End()
		}},
		{"slow", func(k *kept, stay func(before, after func())) {
			Slow("slow", 1)
			_, a := k.New(k.context(), "slow")
			stay(nil, nil)
			time.Sleep(time.Microsecond)
			a.End()
		}},
		{"timer", func(k *kept, stay func(before, after func())) {
			_, a := k.New(k.context(), "a")
			ran := make(chan bool)
			time.AfterFunc(1, func() { close(ran) })
			<-ran
			time.AfterFunc(time.Hour, func() {})
			a.End()
		}},
		{"coroutine", func(k *kept, stay func(before, after func())) {
			_, a := k.New(k.context(), "a")
			next, stop := iter.Pull(func(yield func(int) bool) {
				for yield(0) {
				}
			})
			next()
			a.End()
			stay(nil, stop)
		}},
		{"panics", func(k *kept, stay func(before, after func())) {
			defer func() { recover() }()
			_, a := k.New(k.context(), "a")
			defer a.End()
			stay(nil, nil)
			panic(1)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			start(t, Config{})
			k := new(kept)
			end := make(chan bool)
			var ended sync.WaitGroup
			var stay func(before, after func())
			stay = func(before, after func()) {
				runs := make(chan bool)
				ended.Go(func() {
					if before != nil {
						before()
					}
					close(runs)
					before = nil
					<-end
					if after != nil {
						after()
					}
				})
				<-runs
			}
			f := test.f
			stay(func() { f(k, stay) }, nil)
			done := make(chan bool)
			go func() {
				k.values.Wait()
				k.tasks.Wait()
				close(done)
			}()
			for i := 0; ; i++ {
				runtime.GC()
				select {
				case <-done:
				case <-time.After(10 * time.Millisecond):
					if i < 200 {
						continue
					}
					t.Error("a task that has ended, or what its context has, is kept")
				}
				break
			}
			close(end)
			ended.Wait()
		})
	}
}
