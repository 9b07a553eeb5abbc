// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"bytes"
	"context"
	"fmt"
	"internal/profile"
	"iter"
	"runtime"
	"runtime/pprof"
	. "runtime/task"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// outliveWays are the ways in which work may outlive the task that it comes from. Each calls
// workIn while the task is open, if it can, and workAfter when it has ended, on a goroutine that
// the task may be thought to have.
var outliveWays = []struct {
	name string
	in   bool // calls workIn
	f    func(bg context.Context)
}{
	{"a worker pool that a task has started", true, func(bg context.Context) {
		_, a := New(bg, "ended")
		c := command()
		c.do(workIn)
		a.End()
		c.do(workAfter)
		c.end()
	}},
	{"a goroutine that a worker has started since", false, func(bg context.Context) {
		_, a := New(bg, "ended")
		c := command()
		a.End()
		var d commanded
		c.do(func() { d = command() })
		d.do(workAfter)
		c.end()
		d.end()
	}},
	{"nested", true, func(bg context.Context) {
		ctx, a := New(bg, "ended")
		_, b := New(ctx, "ended")
		c := command()
		c.do(workIn)
		b.End()
		c.do(workIn)
		a.End()
		c.do(workAfter)
		c.end()
	}},
	{"nested, the outer one first", true, func(bg context.Context) {
		ctx, a := New(bg, "ended")
		_, b := New(ctx, "ended")
		c := command()
		a.End()
		c.do(workIn)
		b.End()
		c.do(workAfter)
		c.end()
	}},
	{"a goroutine's goroutine", true, func(bg context.Context) {
		_, a := New(bg, "ended")
		c := command()
		var d commanded
		c.do(func() { d = command() })
		c.end()
		d.do(workIn)
		a.End()
		d.do(workAfter)
		d.end()
	}},
	{"entered", true, func(bg context.Context) {
		c := command()
		ctx, a := New(bg, "ended")
		c.do(func() { Enter(ctx); workIn() })
		a.End()
		c.do(workAfter)
		c.end()
	}},
	{"began it", true, func(bg context.Context) {
		c := command()
		var a *Task
		c.do(func() { _, a = New(bg, "ended"); workIn() })
		a.End()
		c.do(workAfter)
		c.end()
	}},
	{"Do", true, func(bg context.Context) {
		c := command()
		ctx, a := New(bg, "ended")
		c.do(func() {
			pprof.Do(ctx, pprof.Labels("x", "y"), func(context.Context) {
				workIn()
				a.End()
				workAfter()
			})
			workAfter()
		})
		c.end()
	}},
	{"SetGoroutineLabels", true, func(bg context.Context) {
		c := command()
		ctx, a := New(bg, "ended")
		c.do(func() { pprof.SetGoroutineLabels(ctx); workIn() })
		a.End()
		c.do(workAfter)
		c.end()
	}},
	{"time.AfterFunc", false, func(bg context.Context) {
		_, a := New(bg, "ended")
		done := make(chan bool)
		timer := time.AfterFunc(time.Hour, func() { workAfter(); close(done) })
		a.End()
		timer.Reset(1)
		<-done
	}},
	{"time.AfterFunc, set by one that outlives it", false, func(bg context.Context) {
		_, a := New(bg, "ended")
		c := command()
		a.End()
		done := make(chan bool)
		c.do(func() { time.AfterFunc(1, func() { workAfter(); close(done) }) })
		<-done
		c.end()
	}},
	{"context.AfterFunc", false, func(bg context.Context) {
		ctx, cancel := context.WithCancel(bg)
		ctx, a := New(ctx, "ended")
		done := make(chan bool)
		context.AfterFunc(ctx, func() { workAfter(); close(done) })
		a.End()
		cancel()
		<-done
	}},
	{"a timer's channel", true, func(bg context.Context) {
		_, a := New(bg, "ended")
		c := command()
		timer := time.NewTimer(time.Hour)
		c.do(workIn)
		a.End()
		timer.Reset(1)
		c.do(func() { <-timer.C; workAfter() })
		c.end()
	}},
	{"a finalizer", false, func(bg context.Context) {
		_, a := New(bg, "ended")
		done := make(chan bool)
		runtime.SetFinalizer(new([64]int), func(*[64]int) { workAfter(); close(done) })
		a.End()
		collect(done)
	}},
	{"a cleanup", false, func(bg context.Context) {
		_, a := New(bg, "ended")
		done := make(chan bool)
		runtime.AddCleanup(new([64]int), func(done chan bool) { workAfter(); close(done) }, done)
		a.End()
		collect(done)
	}},
	{"sync.Pool", false, func(bg context.Context) {
		_, a := New(bg, "ended")
		pool := sync.Pool{New: func() any { workAfter(); return 1 }}
		c := command()
		a.End()
		c.do(func() { pool.Get() })
		c.end()
	}},
	{"a coroutine", true, func(bg context.Context) {
		_, a := New(bg, "ended")
		next, stop := iter.Pull(func(yield func(int) bool) {
			workIn()
			yield(1)
			workAfter()
		})
		next()
		a.End()
		next()
		stop()
	}},
}

func collect(done chan bool) {
	for {
		runtime.GC()
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// workIn and workAfter call outliveCall so often. Each call writes outliveCalled, and a breakpoint
// samples each write. (One on the function would sample a call again that was preempted on it.)
const outliveCalls = 25

var outliveCalled int32

var outliveBurns bool // set while nothing runs

//go:noinline
func outliveCall() { outliveCalled++ }

// workIn leaves the thread when it has worked: samples have the label that the goroutine has then,
// and another goroutine may end the task at once.
//
//go:noinline
func workIn() {
	outliveWork()
	runtime.Gosched()
}

//go:noinline
func workAfter() { outliveWork() }

//go:noinline
func outliveWork() {
	for range outliveCalls {
		outliveCall()
	}
	if outliveBurns {
		burnCPU()
	}
}

// burnCPU uses twice as much CPU time as a timer's period is. On a busy machine burn may get less.
func burnCPU() {
	used := func() int64 {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return u.Utime.Nano() + u.Stime.Nano()
	}
	for end := used() + 20e6; used() < end; {
		compute(10_000)
	}
}

// TestOutlivedSamples tests that samples of what outlives its task have no label task, in all ways
// to outlive it: each call of a function, by a breakpoint, and what the timers of both engines sample.
func TestOutlivedSamples(t *testing.T) {
	calls := fmt.Sprintf("mem:%#x/4:w", uintptr(unsafe.Pointer(&outliveCalled)))
	for _, engine := range []struct {
		name  string
		exact bool
		start func(w *bytes.Buffer) error
	}{
		{"calls", true, func(w *bytes.Buffer) error {
			return pprof.StartCPUProfileWithConfig(pprof.PerfEvent(w, calls, 1))
		}},
		{"task-clock", false, func(w *bytes.Buffer) error {
			return pprof.StartCPUProfileWithConfig(pprof.PerfEvent(w, "task-clock", 1_000_000))
		}},
		{"timer", false, func(w *bytes.Buffer) error { return pprof.StartCPUProfile(w) }},
	} {
		for _, way := range outliveWays {
			t.Run(engine.name+"/"+way.name, func(t *testing.T) {
				start(t, Config{})
				outliveBurns = !engine.exact
				var in, after int64
				for try := 0; ; try++ {
					var b bytes.Buffer
					if err := engine.start(&b); err != nil {
						t.Skip(err)
					}
					done := make(chan bool)
					go func() { way.f(context.Background()); close(done) }()
					<-done
					pprof.StopCPUProfile()
					p, err := profile.Parse(&b)
					if err != nil {
						t.Fatal(err)
					}
					for _, s := range p.Sample {
						kind := strings.Join(s.Label["task"], " ")
						switch {
						case within(s, "workIn"):
							in += s.Value[0]
							if kind != "ended" {
								t.Errorf("while it is open: label %q", kind)
							}
						case within(s, "workAfter"):
							after += s.Value[0]
							if kind != "" {
								t.Errorf("when it has ended: label %q", kind)
							}
						}
					}
					if engine.exact && (after == 0 || after%outliveCalls != 0 || in%outliveCalls != 0 || (in > 0) != way.in) {
						t.Errorf("%d calls while it is open, and %d since", in, after)
					}
					if t.Failed() || engine.exact || after > 0 && (in > 0 || !way.in) {
						return
					}
					if try == 50 {
						t.Fatalf("%d samples while it is open, and %d since", in, after)
					}
				}
			})
		}
	}
}

func within(s *profile.Sample, fn string) bool {
	for _, l := range s.Location {
		for _, line := range l.Line {
			if strings.HasSuffix(line.Function.Name, "."+fn) {
				return true
			}
		}
	}
	return false
}
