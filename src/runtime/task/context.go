// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"context"
	"internal/runtime/perf"
	"internal/runtime/pprof/label"
	"time"
	"unsafe"
)

// A taskContext is the Task that it is converted from, as a context. So that a context
// costs nothing more.
type taskContext Task

type taskKey struct{}

func (c *taskContext) Deadline() (time.Time, bool) { return c.ctx.Deadline() }
func (c *taskContext) Done() <-chan struct{}       { return c.ctx.Done() }
func (c *taskContext) Err() error                  { return c.ctx.Err() }

func (c *taskContext) Value(key any) any {
	if key == (taskKey{}) {
		return (*Task)(c)
	}
	if !c.client {
		if labels, task := pprof_contextKey(key); labels {
			return pprof_labelValueOf(unsafe.Pointer(&c.labels))
		} else if task {
			return &c.id
		}
	}
	return c.ctx.Value(key)
}

func (c *taskContext) String() string { return "task " + (*Task)(c).currentKind().name }

// FromContext returns the task in ctx, or nil.
func FromContext(ctx context.Context) *Task {
	t, _ := ctx.Value(taskKey{}).(*Task)
	return t
}

// setLabels sets the labels of t's context: those of the context that it is made from,
// and the kind as "task".
func (t *Task) setLabels() {
	kind := t.kind.labels[:]
	if parent := pprof_labelsOf(t.ctx); len(parent) > 0 {
		kind = pprof_mergeLabels(parent, kind)
	}
	t.labels = label.NewSet(kind)
}

// An Entry is a time in which a goroutine works for a task; see [Enter].
type Entry struct {
	labels  unsafe.Pointer
	was     perf.TaskID
	entered bool
}

// Enter has the calling goroutine work for the task in ctx until Exit: what it uses from
// now on is the task's, its samples have the task's labels, and so it is for goroutines that it
// starts. It is for a goroutine that gets work of many tasks, from a channel for example.
// [pprof.SetGoroutineLabels] and [pprof.Do] do it too. (After Do the goroutine has the labels
// of Do's context, so a goroutine without a task that calls it with the context of one works for
// that from then on. Enter and Exit leave nothing behind.)
//
//	defer task.Enter(ctx).Exit()
//
// It does nothing if there is no task in ctx.
func Enter(ctx context.Context) Entry {
	t := FromContext(ctx)
	if t == nil {
		return Entry{}
	}
	for t.client {
		if t = FromContext(t.ctx); t == nil {
			return Entry{}
		}
	}
	e := Entry{labels: runtime_getProfLabel(), entered: true}
	runtime_setProfLabel(unsafe.Pointer(&t.labels))
	e.was = runtime_perfTaskEnter(t.id)
	return e
}

// Exit has the goroutine work for what it worked for before Enter. It must be called by
// that goroutine.
func (e Entry) Exit() {
	if e.entered {
		runtime_setProfLabel(e.labels)
		runtime_perfTaskEnter(e.was)
	}
}
