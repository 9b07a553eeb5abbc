// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"context"
	"internal/runtime/perf"
	"time"
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
	if !c.client && pprof_contextKey(key) {
		return &c.id
	}
	return c.ctx.Value(key)
}

func (c *taskContext) String() string { return "task " + (*Task)(c).currentKind().name }

// FromContext returns the task in ctx, or nil.
func FromContext(ctx context.Context) *Task {
	t, _ := ctx.Value(taskKey{}).(*Task)
	return t
}

// parents returns the task that a new one is a child of: one here, one of another server, or none.
func parents(ctx context.Context) (*Task, *caller) {
	switch p := ctx.Value(taskKey{}).(type) {
	case *Task:
		return p, nil
	case *caller:
		return nil, p
	}
	return nil, nil
}

// An Entry is a time in which a goroutine works for a task; see [Enter].
type Entry struct{ id perf.TaskID }

// Enter has the calling goroutine work for the task in ctx until Exit: what it uses from
// now on is the task's, its samples have the task's kind, and so it is for goroutines that it
// starts. It is for a goroutine that gets work of many tasks, from a channel for example.
// [pprof.Do] does it too, while it runs, and [pprof.SetGoroutineLabels] until it is called
// with a context that has another task or none. What the goroutine works for otherwise,
// labels do not change.
//
//	defer task.Enter(ctx).Exit()
//
// It does nothing if there is no task in ctx, or if it has ended.
func Enter(ctx context.Context) Entry {
	t := FromContext(ctx)
	for t != nil && t.client {
		t = FromContext(t.ctx)
	}
	if t == nil || !runtime_perfTaskEnter(t.id) {
		return Entry{}
	}
	return Entry{t.id}
}

// Exit has the goroutine work for what it worked for before Enter, or if that has ended
// before that. It must be called by that goroutine.
func (e Entry) Exit() {
	if e.id.Serial != 0 {
		runtime_perfTaskExit(e.id)
	}
}
