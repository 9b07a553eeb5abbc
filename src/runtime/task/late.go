// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"context"
	"runtime/pprof"
	"sync"
)

// late are tasks that have ended, for which so many goroutines work that an answer should not
// wait until these have been asked what they have used. A goroutine does that which is there
// while there are such tasks. It works for none.
//
// There is no channel: one that is made in a bubble of testing/synctest is of no use outside.
var late struct {
	sync.Mutex
	list []*lateTask
	busy bool
	done sync.Mutex // locked while busy
}

type lateTask struct {
	ended
	t *Task
	r *recorder
	k *kind
}

// endLate ends the rest of a task.
func (e *ended) endLate(t *Task, r *recorder, k *kind) {
	l := &lateTask{*e, t, r, k}
	late.Lock()
	defer late.Unlock()
	late.list = append(late.list, l)
	if !late.busy {
		late.busy = true
		late.done.Lock()
		runtime_perfTaskGo(endLateTasks)
	}
}

func endLateTasks() {
	pprof.SetGoroutineLabels(context.Background()) // it has those of the goroutine that ended a task
	for {
		late.Lock()
		if len(late.list) == 0 {
			late.list, late.busy = nil, false
			late.done.Unlock()
			late.Unlock()
			return
		}
		l := late.list[0]
		late.list[0] = nil
		late.list = late.list[1:]
		late.Unlock()
		runtime_perfTaskEndRest(l.rest, &l.u, l.limit)
		if l.t.epoch.present() == nil {
			l.set = nil // its counters were closed meanwhile
		}
		l.r.open.give(l.shard)
		l.rest = 0
		l.finish(l.t, l.r, l.k)
	}
}

// waitLate returns when the tasks that were late have ended.
func waitLate() {
	late.done.Lock()
	late.done.Unlock()
}
