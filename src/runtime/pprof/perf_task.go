// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"internal/runtime/perf"
	"internal/runtime/pprof/label"
	"sync/atomic"
	"unsafe"
)

// What package runtime/task needs of labels and counters.
//
// A task is known from a context, as labels are. So whoever sets a goroutine's labels says
// for which task it works.

// Provided by package runtime; see perftask.go there.
func runtime_perfTaskEnter(id perf.TaskID) (was perf.TaskID)

var haveTasks atomic.Bool // there has been one

// taskContextKey is the type of the key for a task's name, a *perf.TaskID.
type taskContextKey struct{}

// enterTask has the calling goroutine work for the task of ctx, or for none.
func enterTask(ctx context.Context) {
	if !haveTasks.Load() {
		return
	}
	var id perf.TaskID
	if t, _ := ctx.Value(taskContextKey{}).(*perf.TaskID); t != nil {
		id = *t
	}
	runtime_perfTaskEnter(id)
}

// taskBegins says that there is a task from now on.
//
//go:linkname taskBegins runtime/task.pprof_taskBegins
func taskBegins() { haveTasks.Store(true) }

// contextKey reports whether a context is asked for labels, or for a task's name. Those of
// a task's context are package runtime/task's.
//
//go:linkname contextKey runtime/task.pprof_contextKey
func contextKey(key any) (labels, task bool) {
	switch key.(type) {
	case labelContextKey:
		return true, false
	case taskContextKey:
		return false, true
	}
	return false, false
}

// labelValueOf makes a value of a context from a labelMap.
//
//go:linkname labelValueOf runtime/task.pprof_labelValueOf
func labelValueOf(labels unsafe.Pointer) any { return (*labelMap)(labels) }

// labelsOf returns the labels of ctx.
//
//go:linkname labelsOf runtime/task.pprof_labelsOf
func labelsOf(ctx context.Context) []label.Label { return labelValue(ctx).List }

// mergeLabels returns the labels of left, and those of right in place of labels with the
// same keys.
//
//go:linkname mergeLabels runtime/task.pprof_mergeLabels
func mergeLabels(left, right []label.Label) []label.Label {
	return mergeLabelSets(label.NewSet(left), LabelSet{right}).List
}

// counterSet returns c's set and how many slots it has. The set is zero if c is closed.
//
//go:linkname counterSet runtime/task.pprof_counterSet
func counterSet(c *Counters) (set perf.SetID, slots int) { return c.setID(), c.slots }

// counterValues stores in dst the counts of c's events.
//
//go:linkname counterValues runtime/task.pprof_counterValues
func counterValues(c *Counters, dst []CounterValue, raw []perf.Count) {
	c.layout.values(dst, raw[:c.slots])
}

// Counters of package runtime/task are opened again and again.
//
//go:linkname counterNew runtime/task.pprof_counterNew
func counterNew(events []string) (*Counters, error) { return newCounters(events) }

//go:linkname counterOpen runtime/task.pprof_counterOpen
func counterOpen(c *Counters) error { return c.open() }

// counterSlots returns of which event each slot of c is.
//
//go:linkname counterSlots runtime/task.pprof_counterSlots
func counterSlots(c *Counters) (events []uint8) {
	for _, e := range c.layout[:c.slots] {
		events = append(events, e-1)
	}
	return events
}
