// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"internal/taskrecord"
	"runtime/pprof"
	"runtime/task"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestWakerStack tests that a record says who has ended a wait, by the function and its callers,
// however many frames the packages runtime and sync have below: with the race detector these are as
// many as a stack had in all.
func TestWakerStack(t *testing.T) {
	if !haveStacks {
		t.Skip(noStacks)
	}
	var mu sync.Mutex
	var rw sync.RWMutex
	for _, test := range []struct {
		name string
		part pprof.TimePart
		// begin is called first, and what it returns is called by functions that are named, to end the
		// wait, as what they defer.
		begin func() (end func())
		wait  func()
	}{
		{"Mutex", pprof.TimeMutex, func() func() { mu.Lock(); return mu.Unlock }, func() { mu.Lock(); mu.Unlock() }},
		{"RWMutex, a writer", pprof.TimeMutex, func() func() { rw.RLock(); return rw.RUnlock }, func() { rw.Lock(); rw.Unlock() }},
		{"RWMutex, a reader", pprof.TimeMutex, func() func() { rw.Lock(); return rw.Unlock }, func() { rw.RLock(); rw.RUnlock() }},
		{"RWMutex, a second writer", pprof.TimeMutex, func() func() { rw.Lock(); return rw.Unlock }, func() { rw.Lock(); rw.Unlock() }},
	} {
		t.Run(test.name, func(t *testing.T) { wakerStack(t, test.part, test.begin, test.wait) })
	}
	cond := sync.NewCond(&mu)
	woken := false
	condWait := func() {
		mu.Lock()
		for !woken {
			cond.Wait()
		}
		mu.Unlock()
	}
	set := func() { mu.Lock(); woken = true; mu.Unlock() }
	for name, f := range map[string]func(){"Signal": cond.Signal, "Broadcast": cond.Broadcast} {
		woken = false
		t.Run("Cond, "+name, func(t *testing.T) {
			wakerStack(t, pprof.TimeSync, func() func() { return f }, condWait, set)
		})
	}
	c := make(chan bool)
	t.Run("channel", func(t *testing.T) {
		wakerStack(t, pprof.TimeChan, func() func() { return func() { c <- true } }, func() { <-c })
	})
	closed := make(chan bool)
	t.Run("channel, close", func(t *testing.T) {
		wakerStack(t, pprof.TimeChan, func() func() { return func() { close(closed) } }, func() { <-closed })
	})
	var wg sync.WaitGroup
	t.Run("WaitGroup", func(t *testing.T) {
		wakerStack(t, pprof.TimeSync, func() func() { wg.Add(1); return wg.Done }, wg.Wait)
	})
}

// wakerStack has a task wait, which a goroutine ends after it has called before.
func wakerStack(t *testing.T, part pprof.TimePart, begin func() func(), wait func(), before ...func()) {
	const kind = "waits for wakesOuter"
	if err := task.Start(task.Config{Slow: map[string]time.Duration{kind: 1}}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	r := taskrecord.NewRingReader(false)
	end := begin()
	tasks, ended := make(chan *task.Task), make(chan bool)
	go func() {
		_, x := task.New(context.Background(), kind)
		tasks <- x
		wait()
		x.End()
		close(ended)
	}()
	x := <-tasks
	for used, ok := x.Usage(); ok && used.Part(part) < time.Millisecond; used, ok = x.Usage() {
		time.Sleep(time.Millisecond / 4)
	}
	for _, f := range before {
		f()
	}
	wakesOuter(end)
	<-ended
	rec := r.Next()
	if rec == nil {
		t.Fatal("no record")
	}
	for _, s := range rec.Timeline {
		if s.Part != part || s.Wake-s.Start < time.Millisecond {
			continue
		}
		at := 0
		names := []string{"task_test.wakes", "task_test.wakesInner", "task_test.wakesOuter"}
		for _, f := range s.Waker.Stack {
			if at < len(names) && strings.HasSuffix(f.Func, names[at]) {
				at++
			}
		}
		if at < len(names) {
			t.Errorf("%s was ended by %+v, want %v", s.Reason, s.Waker.Stack, names)
		}
		return
	}
	t.Errorf("no wait in %+v", rec.Timeline)
}

//go:noinline
func wakesOuter(end func()) { wakesInner(end); wakeEnds++ }

//go:noinline
func wakesInner(end func()) { wakes(end); wakeEnds++ }

//go:noinline
func wakes(end func()) { defer end() }

var wakeEnds int // so that nothing is called in place of its caller
