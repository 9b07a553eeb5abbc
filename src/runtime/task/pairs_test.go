// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"fmt"
	"internal/taskrecord"
	"maps"
	"reflect"
	"runtime/pprof"
	. "runtime/task"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// What may be called of a task at once, each beside each: the race detector says whether it may
// be. Without it the test says whether each task is recorded once, and as one of its kinds.

// The kinds of tasks here: those of pairSlow are slow, and those of pairFast never are.
const (
	pairSlow = "pair slow"
	pairFast = "pair fast"
)

// concurrentMethods are the methods of a Task. A new one belongs here.
var concurrentMethods = map[string]func(ctx context.Context, t *Task){
	"Trace":    func(_ context.Context, t *Task) { t.Trace() },
	"Span":     func(_ context.Context, t *Task) { t.Span() },
	"SetKind":  func(_ context.Context, t *Task) { t.SetKind(pairFast) },
	"SetTrace": func(_ context.Context, t *Task) { t.SetTrace([16]byte{1}, [8]byte{2}, true) },
	"Fail":     func(_ context.Context, t *Task) { t.Fail() },
	"Usage":    func(_ context.Context, t *Task) { t.Usage() },
	"End":      func(_ context.Context, t *Task) { t.End() },
	"Note":     func(_ context.Context, t *Task) { t.Note("k", "v") },
	"Region": func(_ context.Context, t *Task) {
		r := t.Region("a")
		r.Checkpoint("b")
		r.End()
	},
}

// contextMethods are those of a task's context, which belong here as well.
var contextMethods = map[string]func(ctx context.Context, t *Task){
	"Deadline": func(ctx context.Context, _ *Task) { ctx.Deadline() },
	"Done":     func(ctx context.Context, _ *Task) { ctx.Done() },
	"Err":      func(ctx context.Context, _ *Task) { ctx.Err() },
	"Value":    func(ctx context.Context, _ *Task) { ctx.Value("x") },
	"String":   func(ctx context.Context, _ *Task) { _ = ctx.(fmt.Stringer).String() },
}

// concurrentOthers are what else is done with tasks.
var concurrentOthers = map[string]func(ctx context.Context, t *Task){
	"SetKind back":      func(_ context.Context, t *Task) { t.SetKind(pairSlow) },
	"SetKind, new":      func(_ context.Context, t *Task) { t.SetKind(pairFast + "er") },
	"end with notes":    func(_ context.Context, t *Task) { EndTask(t, "200", "canceled", true) },
	"Inject":            func(ctx context.Context, _ *Task) { Inject(ctx, header{}) },
	"Extract":           func(ctx context.Context, _ *Task) { Extract(ctx, incoming) },
	"ExtractAnswer":     func(_ context.Context, t *Task) { ExtractAnswer(t, header{"Tracestate": incoming["Tracestate"]}) },
	"WantsClock":        func(_ context.Context, t *Task) { WantsClock(t) },
	"FromContext":       func(ctx context.Context, _ *Task) { FromContext(ctx) },
	"Enter":             func(ctx context.Context, _ *Task) { Enter(ctx).Exit() },
	"SetGoroutineLabel": func(ctx context.Context, _ *Task) { pprof.SetGoroutineLabels(ctx) },
	"Do":                func(ctx context.Context, _ *Task) { pprof.Do(ctx, pprof.Labels("x", "y"), func(context.Context) {}) },
	"Label":             func(ctx context.Context, _ *Task) { pprof.Label(ctx, "task") },
	"format":            func(ctx context.Context, _ *Task) { _ = fmt.Sprintf("%v %+v %s", ctx, ctx, ctx) },
	"format a derived context": func(ctx context.Context, _ *Task) {
		_ = fmt.Sprint(context.WithValue(ctx, "k", "v"))
	},
	"child": func(ctx context.Context, _ *Task) {
		_, c := New(ctx, "pair child")
		c.End()
	},
	"client": func(ctx context.Context, _ *Task) {
		ctx, c := NewClient(ctx, "pair child", "server:80")
		Inject(ctx, header{})
		Extract(ctx, header{"Tracestate": incoming["Tracestate"]})
		_ = fmt.Sprint(ctx)
		c.End()
	},
	"goroutine": func(context.Context, *Task) {
		done := make(chan bool)
		go func() { close(done) }()
		<-done
	},
	"ReadStats": func(context.Context, *Task) { ReadStats() },
	"Slow": func(context.Context, *Task) {
		Slow(pairSlow, 1)
		Slow(pairFast, time.Hour)
	},
}

func TestPairMethods(t *testing.T) {
	start(t, Config{})
	ctx, task := New(context.Background(), "TestPairMethods")
	defer task.End()
	for _, tt := range []struct {
		of   any
		have map[string]func(context.Context, *Task)
	}{{task, concurrentMethods}, {ctx, contextMethods}} {
		for m := range reflect.TypeOf(tt.of).Methods() {
			if tt.have[m.Name] == nil {
				t.Errorf("method %s of %T is not tried beside others", m.Name, tt.of)
			}
		}
	}
}

func TestPairs(t *testing.T) {
	const times = 24 // of each pair
	r := start(t, Config{Server: 1})
	Slow(pairSlow, 1)
	Slow(pairFast, time.Hour)
	Slow(pairFast+"er", time.Hour)
	all := maps.Clone(concurrentMethods)
	maps.Copy(all, contextMethods)
	maps.Copy(all, concurrentOthers)
	names := slices.Sorted(maps.Keys(all))
	before := AllStats()
	tasks := 0
	for i, a := range names {
		for _, b := range names[i:] {
			ids := map[string]int{}
			for n := range times {
				task := pair(n, all[a], all[b])
				ids[task.Span()] = 0
				tasks++
			}
			for rec := r.Next(); rec != nil; rec = r.Next() {
				if _, ok := ids[rec.Span.String()]; !ok {
					continue
				}
				ids[rec.Span.String()]++
				if slow := rec.Flags&taskrecord.Slow != 0; slow != (rec.Kind == pairSlow) || slow != (rec.Threshold == 1) {
					t.Errorf("%s beside %s: a task of kind %q has threshold %v, and %v of it", a, b, rec.Kind, rec.Threshold, rec.Wall)
				}
			}
			for _, n := range ids {
				if n != 1 {
					t.Errorf("%s beside %s: a task has %d records", a, b, n)
				}
			}
		}
	}
	after := AllStats()
	if after.Open != before.Open {
		t.Errorf("%d tasks are open, and %d before", after.Open, before.Open)
	}
	ended := 0
	for _, k := range after.Kinds {
		if strings.HasPrefix(k.Kind, "pair ") {
			if k.Open != 0 {
				t.Errorf("%d tasks of kind %q are open", k.Open, k.Kind)
			}
			if k.Kind != "pair child" && k.Kind != "pair parent" {
				ended += int(k.Count - statsOf(before, k.Kind).Count)
			}
		}
	}
	if ended != tasks {
		t.Errorf("%d tasks have ended, want %d", ended, tasks)
	}
}

// pair calls two functions at once with a task, which it ends, and returns.
func pair(n int, a, b func(ctx context.Context, t *Task)) *Task {
	ctx, parent := context.Background(), (*Task)(nil)
	var task *Task
	if n&1 == 0 {
		ctx, task = Receive(ctx, pairSlow, incoming)
	} else {
		ctx, parent = New(ctx, "pair parent")
		ctx, task = New(ctx, pairSlow)
	}
	if n&2 != 0 {
		a, b = b, a // the second one to start begins sooner, as a rule
	}
	begin := make(chan bool)
	var ready, done sync.WaitGroup
	for _, f := range []func(context.Context, *Task){a, b} {
		ready.Add(1)
		done.Go(func() {
			ready.Done()
			<-begin
			f(ctx, task)
		})
	}
	ready.Wait()
	close(begin)
	done.Wait()
	task.End()
	parent.End()
	return task
}
