// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux

package main

// What tasks have of goroutines that call C, are called by it, or are on a thread that C
// has created. See TestCgoPerfTask.

/*
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

extern void goPerfTaskCall(int n);

static void perfTaskSleep(long ns) {
	struct timespec ts = {0, ns};
	while (nanosleep(&ts, &ts) != 0)
		; // interrupted by a signal
}

// perfTaskNested is in C for ns before and after it calls Go.
static void perfTaskNested(long ns) {
	perfTaskSleep(ns);
	goPerfTaskCall(-1);
	perfTaskSleep(ns);
}

struct perfTaskArg { int calls; long ns; };

// A thread calls Go several times, and is in C for ns before each.
static void *perfTaskThread(void *p) {
	struct perfTaskArg *arg = p;
	for (int i = 0; i < arg->calls; i++) {
		perfTaskSleep(arg->ns);
		goPerfTaskCall(i);
	}
	return NULL;
}

// perfTaskRun runs a thread until it has ended.
static void perfTaskRun(int calls, long ns) {
	pthread_t t;
	struct perfTaskArg arg = {calls, ns};
	if (pthread_create(&t, NULL, perfTaskThread, &arg) != 0)
		abort();
	pthread_join(t, NULL);
}
*/
import "C"

import (
	"context"
	"fmt"
	"os"
	"runtime/pprof"
	"runtime/task"
	"strings"
	"time"
)

func init() {
	register("CgoPerfTask", CgoPerfTask)
}

const (
	perfTaskPlanted = 20 * time.Millisecond

	// Clocks differ, and what is late in waking up can be without a CPU.
	perfTaskLeast = perfTaskPlanted * 9 / 10
)

var (
	perfTaskFailed bool
	perfTaskDo     func(n int) // what goPerfTaskCall does
)

//export goPerfTaskCall
func goPerfTaskCall(n C.int) { perfTaskDo(int(n)) }

func perfTaskFail(format string, args ...any) {
	perfTaskFailed = true
	fmt.Printf(format+"\n", args...)
}

// CgoPerfTask prints what is wrong, and at the end OK.
func CgoPerfTask() {
	slow := map[string]time.Duration{"calls": 1} // so that it has a timeline
	if err := task.Start(task.Config{Rate: 1, Slow: slow}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, f := range []func(){perfTaskCalls, perfTaskThreads, perfTaskEntered, perfTaskOwn} {
		for range 3 {
			f()
		}
	}
	if perfTaskFailed {
		os.Exit(1)
	}
	fmt.Println("OK")
}

// perfTaskWant checks how many goroutines have worked for a task, and do so.
func perfTaskWant(t *task.Task, where string, goroutines, working int64) (u task.Usage) {
	u, ok := t.Usage()
	if !ok || u.Goroutines != goroutines || u.Working != working {
		perfTaskFail("%s: %d goroutines, %d of them now, want %d and %d (%v)", where, u.Goroutines, u.Working, goroutines, working, ok)
	}
	return u
}

// perfTaskStart starts a goroutine and waits until it has ended. It is of the task
// that the calling goroutine works for.
func perfTaskStart() {
	started, goOn := make(chan bool), make(chan bool)
	go func() { started <- true; <-goOn }()
	<-started
	close(goOn)
}

// perfTaskReader returns a reader of records that are to come.
func perfTaskReader() *task.Reader {
	r := task.NewReader()
	for r.Next() != nil {
	}
	return r
}

// perfTaskCalls has a task whose goroutine calls C, which calls Go.
func perfTaskCalls() {
	r := perfTaskReader()
	_, t := task.New(context.Background(), "calls")
	C.perfTaskSleep(C.long(perfTaskPlanted))
	u := perfTaskWant(t, "after C", 1, 1)
	inC := u.Part(pprof.TimeC)
	if inC < perfTaskLeast || inC > u.Wall {
		perfTaskFail("%v in C, planted %v: %v", inC, perfTaskPlanted, u)
	}
	called := false
	perfTaskDo = func(n int) {
		called = true
		u := perfTaskWant(t, "in a callback", 1, 1)
		if got := u.Part(pprof.TimeC) - inC; got < perfTaskLeast {
			perfTaskFail("%v in C before a callback, planted %v", got, perfTaskPlanted)
		}
		time.Sleep(perfTaskPlanted)
		v := perfTaskWant(t, "in a callback", 1, 1)
		if got := v.Part(pprof.TimeSleep) - u.Part(pprof.TimeSleep); got < perfTaskLeast {
			perfTaskFail("%v of sleep in a callback, planted %v", got, perfTaskPlanted)
		}
		if got := v.Part(pprof.TimeC) - u.Part(pprof.TimeC); got != 0 {
			perfTaskFail("%v in C while it had called Go", got)
		}
		if v.Switches <= u.Switches {
			perfTaskFail("%d switches after a sleep, %d before", v.Switches, u.Switches)
		}
	}
	C.perfTaskNested(C.long(perfTaskPlanted))
	if !called {
		perfTaskFail("C has not called Go")
	}
	perfTaskWant(t, "after C", 1, 1)
	t.End()

	rec := r.Next()
	if rec == nil || rec.Kind != "calls" {
		perfTaskFail("record %+v", rec)
		return
	}
	var sum time.Duration
	for p := range pprof.TimeParts() {
		sum += rec.Part(p)
	}
	if inC = rec.Part(pprof.TimeC); inC < 3*perfTaskLeast || sum != rec.Wall || rec.Goroutines != 1 {
		perfTaskFail("%v in C, planted %v; %d goroutines; the parts add up to %v of %v: %v", inC, 3*perfTaskPlanted, rec.Goroutines, sum, rec.Wall, rec.Usage)
	}
	n := 0
	for _, s := range rec.Timeline {
		if s.Part == pprof.TimeC && s.Wake-s.Start >= perfTaskLeast {
			n++
			if len(s.Stack) == 0 || s.Wake != s.End || !strings.HasPrefix(s.Stack[0].Function, "main.") {
				perfTaskFail("in C: %+v", s)
			}
		}
	}
	if n != 3 {
		perfTaskFail("%d stretches in C, want 3: %+v", n, rec.Timeline)
	}
}

// perfTaskThreads has a task whose goroutine calls C, which calls Go from a thread that it has
// created: that works for no task.
func perfTaskThreads() {
	_, t := task.New(context.Background(), "threads")
	perfTaskDo = func(n int) {
		perfTaskStart()
		perfTaskWant(t, fmt.Sprintf("in call %d of a thread", n), 1, 1)
	}
	C.perfTaskRun(3, C.long(perfTaskPlanted/10))
	perfTaskWant(t, "after a thread", 1, 1)
	t.End()
}

// perfTaskEntered has a thread that C has created enter a task, leave it, and end while it
// works for it.
func perfTaskEntered() {
	ctx, t := task.New(context.Background(), "entered")
	var e task.Entry
	perfTaskDo = func(n int) {
		where := fmt.Sprintf("in call %d of a thread", n)
		switch n {
		case 0:
			e = task.Enter(ctx)
			perfTaskWant(t, where, 2, 2)
			perfTaskStart()
			// The goroutine that was started may not have ended yet.
			if u, _ := t.Usage(); u.Goroutines != 3 {
				perfTaskFail("%s: %d goroutines, want 3", where, u.Goroutines)
			}
		case 1: // goes on to
			e.Exit()
			perfTaskStart()
			if u, _ := t.Usage(); u.Goroutines != 3 {
				perfTaskFail("%s: %d goroutines, want 3", where, u.Goroutines)
			}
		case 2:
			task.Enter(ctx) // the same goroutine, which is counted once
			if u, _ := t.Usage(); u.Goroutines != 3 {
				perfTaskFail("%s: %d goroutines, want 3", where, u.Goroutines)
			}
		}
	}
	C.perfTaskRun(3, C.long(perfTaskPlanted))
	for range 10_000 { // until the goroutine that was started has ended
		if u, _ := t.Usage(); u.Working == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	u := perfTaskWant(t, "after a thread", 3, 1)
	// The calling goroutine was in C for three times as long, and the thread's once.
	if got := u.Part(pprof.TimeC); got < 4*perfTaskLeast {
		perfTaskFail("%v in C, planted %v", got, 4*perfTaskPlanted)
	}
	t.End()
}

// perfTaskOwn has a thread that C has created begin a task and end it, in this call of Go or a later
// one.
func perfTaskOwn() {
	r := perfTaskReader()
	var t *task.Task
	perfTaskDo = func(n int) {
		switch n {
		case 0:
			_, t = task.New(context.Background(), "one call")
			perfTaskWant(t, "in its own task", 1, 1)
			t.End()
		case 1:
			_, t = task.New(context.Background(), "two calls")
		case 2:
			perfTaskWant(t, "in its own task", 1, 1)
			t.End()
		}
	}
	C.perfTaskRun(3, C.long(perfTaskPlanted))
	// In any order: each P has its own ring.
	inC := make(map[string]time.Duration)
	for rec := r.Next(); rec != nil; rec = r.Next() {
		inC[rec.Kind] = rec.Part(pprof.TimeC)
	}
	if one, ok := inC["one call"]; !ok || one != 0 || len(inC) != 2 || inC["two calls"] < perfTaskLeast {
		perfTaskFail("in C %v, planted %v between two calls", inC, perfTaskPlanted)
	}
}
