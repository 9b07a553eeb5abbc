// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"fmt"
	"internal/runtime/perf"
	"internal/runtime/pprof/label"
	"sync/atomic"
	"unsafe"
)

// What package runtime/task needs of labels and counters.
//
// A task is known from a context, as labels are. So whoever sets a goroutine's labels says
// for which task it works. But that it does is not in the labels: see perftaskback.go in
// package runtime.

// Provided by package runtime; see perftaskback.go there.

func runtime_perfTaskEnter(id perf.TaskID) (entered bool)
func runtime_perfTaskExit(id perf.TaskID)
func runtime_perfTaskLabel(id perf.TaskID)
func runtime_perfTaskHold() (id perf.TaskID)
func runtime_perfTaskLet(id perf.TaskID)

// taskKindName returns the name of a kind. It is set once there has been a task.
var taskKindName atomic.Pointer[func(kind uint32) string]

// taskContextKey is the type of the key for a task's name, a *perf.TaskID.
type taskContextKey struct{}

func taskOf(ctx context.Context) (id perf.TaskID) {
	if t, _ := ctx.Value(taskContextKey{}).(*perf.TaskID); t != nil {
		id = *t
	}
	return id
}

// labelTask has the calling goroutine, which gets the labels of ctx, work for the task of
// ctx. If it has none, the goroutine leaves the one that it works for by its labels until now.
func labelTask(ctx context.Context) {
	if taskKindName.Load() != nil {
		runtime_perfTaskLabel(taskOf(ctx))
	}
}

// A taskEntry is a time in which a goroutine works for a task of a context, whatever labels
// it gets meanwhile.
type taskEntry struct{ entered, held perf.TaskID }

// enterTask has the calling goroutine work for the task of ctx, or else for what it works
// for already, until exit.
func enterTask(ctx context.Context) (e taskEntry) {
	if taskKindName.Load() == nil {
		return e
	}
	if id := taskOf(ctx); id.Serial != 0 && runtime_perfTaskEnter(id) {
		e.entered = id
	} else {
		e.held = runtime_perfTaskHold()
	}
	return e
}

func (e taskEntry) exit() {
	if e.entered.Serial != 0 {
		runtime_perfTaskExit(e.entered)
	} else if e.held.Serial != 0 {
		runtime_perfTaskLet(e.held)
	}
}

// The keys of labels that a sample has for the task that its goroutine worked for, in order.
const (
	beganLabel = "began" // the kind, if the task has ended
	slowLabel  = "slow"  // the verdict
	taskLabel  = "task"  // the kind
	traceLabel = "trace"
)

// labelMap returns the labels with those for the task, unless they have some of the same names.
func (t *taskTag) labelMap() *labelMap {
	l := (*labelMap)(t.labels)
	name := taskKindName.Load()
	if t.kind == 0 || name == nil {
		return l
	}
	list := make([]label.Label, 0, 3)
	if t.verdict != verdictNone {
		list = append(list, label.Label{Key: slowLabel, Value: verdictNames[t.verdict]})
	}
	key := taskLabel
	if t.began {
		key = beganLabel
	}
	list = append(list, label.Label{Key: key, Value: (*name)(uint32(t.kind))})
	if t.trace != ([16]byte{}) {
		list = append(list, label.Label{Key: traceLabel, Value: fmt.Sprintf("%x", t.trace[:])})
	}
	set := label.NewSet(list)
	if l != nil {
		set = mergeLabelSets(set, LabelSet{l.List})
	}
	return &labelMap{set}
}

// taskTags are the labels of samples whose goroutines worked for tasks.
type taskTags map[taskTag]*labelMap

type taskTag struct {
	labels  unsafe.Pointer
	kind    int64
	verdict verdict
	began   bool     // in a task that has ended; without a verdict
	trace   [16]byte // zero for none
}

// maxTaskTags bounds what is kept of them, as each request may have labels of its own. If
// one is needed again, the profile has it twice.
const maxTaskTags = 1 << 10

// tag returns the labels of the sample in a record of profBuf: those of its tag, and the
// kind that package runtime has put into its time stamp. A record of lost samples has none.
func (t *taskTags) tag(labels unsafe.Pointer, record []uint64) unsafe.Pointer {
	kind := int64(record[1] & perf.TaskKindMask)
	if kind == 0 || record[2] == 0 {
		return labels
	}
	return t.pointer(taskTag{labels: labels, kind: kind})
}

// pointer returns the labels for key.
func (t *taskTags) pointer(key taskTag) unsafe.Pointer {
	l := (*t)[key]
	if l == nil {
		if *t == nil || len(*t) == maxTaskTags {
			*t = make(taskTags)
		}
		l = key.labelMap()
		(*t)[key] = l
	}
	return unsafe.Pointer(l)
}

// taskTag returns the labels of a sample that has waited for its task, of a kind.
func (p *perfProfile) taskTag(labels unsafe.Pointer, kind uint16, v verdict, trace *[16]byte) unsafe.Pointer {
	key := taskTag{labels: labels, kind: int64(kind), verdict: v}
	if (v == verdictYes || v == verdictNo) && p.traces.take(*trace, kind, v) {
		key.trace = *trace
	}
	last := &p.lastTags[v]
	if last.pointer == nil || last.key != key {
		last.key, last.pointer = key, p.b.tasks.pointer(key)
	}
	return last.pointer
}

// taskBegins says that there is a task from now on, and how kinds are named.
//
//go:linkname taskBegins runtime/task.pprof_taskBegins
func taskBegins(kindName func(kind uint32) string) { taskKindName.Store(&kindName) }

// contextKey reports whether a context is asked for a task's name.
//
//go:linkname contextKey runtime/task.pprof_contextKey
func contextKey(key any) bool {
	_, ok := key.(taskContextKey)
	return ok
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
