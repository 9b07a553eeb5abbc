// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.25

package main

import (
	"context"
	"runtime/task"
	"runtime/trace"
	"sync"
	"time"

	"pmu/bench/stretch"
)

// The mock has the shape of a storage server's write: a dispatcher takes a request, a worker
// serves it, waits for another server, which the dispatcher talks to, and ends it. Each of
// these four parts is a quarter of 11 us of counted work, and a record. (RAMCloud's mock in
// the paper on ddtrace has four threads, and 100,000 requests for each.)
const mockWork = 11 * time.Microsecond

// timeMock measures requests of the mock, two of which are under way at a time.
func timeMock(rounds int) {
	quarter := enoughSpins(mockWork / 4)
	var calls []stretch.Call
	for _, m := range []struct {
		name string
		request
		recording
	}{
		{"no records", plainRequest, none},
		{"no records, again", plainRequest, none},
		{"tasks, off", taskRequest, none},
		{"tasks, slow ones", taskRequest, tasks("", 0)},
		{"tasks, 1 %", taskRequest, tasks("", 0.01)},
		{"tasks, all", taskRequest, tasks("", 1)},
		{"trace regions, flight recorder", traceRequest, flightRecorder()},
		{"trace regions, execution trace", traceRequest, executionTrace()},
	} {
		calls = append(calls, m.recording.call(m.name, func(n int) { mock(n, quarter, m.request) }))
	}
	wall, cpu := stretch.Times(rounds, 20*time.Millisecond, calls...)
	show("mock", calls, wall, cpu)
}

// A request is how requests are served and recorded: what the dispatcher's goroutine does,
// and the worker's.
type request struct {
	dispatch func(l *lane)
	work     func(l *lane)
}

// A lane is a dispatcher and its worker.
type lane struct {
	n, quarter int
	toWorker   chan context.Context
	toNet      chan context.Context
	fromNet    chan bool
	done       chan bool
}

// mock serves n requests.
func mock(n, quarter int, r request) {
	const lanes = 2
	var wg sync.WaitGroup
	for i := 0; i < lanes; i++ {
		l := &lane{n / lanes, quarter, make(chan context.Context), make(chan context.Context), make(chan bool), make(chan bool)}
		if i == 0 {
			l.n = n - n/lanes*(lanes-1)
		}
		wg.Add(2)
		go func() { defer wg.Done(); r.dispatch(l) }()
		go func() { defer wg.Done(); r.work(l) }()
	}
	wg.Wait()
}

var plainRequest = request{
	dispatch: func(l *lane) {
		for i := 0; i < l.n; i++ {
			spin(l.quarter)
			l.toWorker <- nil
			<-l.toNet
			spin(l.quarter)
			l.fromNet <- true
			<-l.done
		}
		close(l.toWorker)
	},
	work: func(l *lane) {
		for range l.toWorker {
			spin(l.quarter)
			l.toNet <- nil
			<-l.fromNet
			spin(l.quarter)
			l.done <- true
		}
	},
}

// taskRequest has a task for each request, and a region for each part.
var taskRequest = request{
	dispatch: func(l *lane) {
		for i := 0; i < l.n; i++ {
			ctx, t := task.New(context.Background(), "write")
			r := t.Region("dispatch")
			spin(l.quarter)
			r.End()
			l.toWorker <- ctx
			<-l.toNet
			r = t.Region("backup")
			spin(l.quarter)
			r.End()
			l.fromNet <- true
			<-l.done
			t.End()
		}
		close(l.toWorker)
	},
	work: func(l *lane) {
		for ctx := range l.toWorker {
			e := task.Enter(ctx)
			t := task.FromContext(ctx)
			r := t.Region("work")
			spin(l.quarter)
			r.End()
			l.toNet <- nil
			<-l.fromNet
			r = t.Region("reply")
			spin(l.quarter)
			r.End()
			e.Exit()
			l.done <- true
		}
	},
}

// traceRequest has upstream's tasks and regions.
var traceRequest = request{
	dispatch: func(l *lane) {
		for i := 0; i < l.n; i++ {
			ctx, t := trace.NewTask(context.Background(), "write")
			r := trace.StartRegion(ctx, "dispatch")
			spin(l.quarter)
			r.End()
			l.toWorker <- ctx
			<-l.toNet
			r = trace.StartRegion(ctx, "backup")
			spin(l.quarter)
			r.End()
			l.fromNet <- true
			<-l.done
			t.End()
		}
		close(l.toWorker)
	},
	work: func(l *lane) {
		for ctx := range l.toWorker {
			r := trace.StartRegion(ctx, "work")
			spin(l.quarter)
			r.End()
			l.toNet <- nil
			<-l.fromNet
			r = trace.StartRegion(ctx, "reply")
			spin(l.quarter)
			r.End()
			l.done <- true
		}
	},
}

// spin does n steps of work.
//
//go:noinline
func spin(n int) (x uint64) {
	x = 1
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// enoughSpins returns how many steps take so long on an undisturbed machine.
func enoughSpins(d time.Duration) int {
	const n = 100000
	best := time.Duration(1 << 62)
	for i := 0; i < 20; i++ {
		start := time.Now()
		spin(n)
		best = min(best, time.Since(start))
	}
	return int(n * d / best)
}
