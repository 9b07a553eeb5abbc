// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Which task a goroutine is left of.
//
// A goroutine that outlives its task works for none: what it does is nobody's, and its samples have no label
// "task". But who waits forever has been leaked by somebody. So the goroutine profile says in which task it
// began.
//
// Such a goroutine stays a member of the task, and a perfTask stays while it has members. That is
// outside the heap. Kind and trace are in it by value, and so nothing of package runtime/task's stays.

package runtime

import (
	"internal/profilerecord"
	"internal/runtime/perf"
)

// perfGoroutineTask returns for which task gp works, or which one it outlives.
//
// The caller is gp, or has stopped it, or gp is leaked. So gp remains a member, and its task stays. Tasks may
// end meanwhile: what is read of one that has ended was written before that.
func perfGoroutineTask(gp *g) (t profilerecord.Task) {
	if h := perfAccountHooks.profiled; h != nil {
		t = h(gp)
	}
	return t
}

// perfTaskProfiled is perfGoroutineTask, in programs with tasks.
func perfTaskProfiled(gp *g) (r profilerecord.Task) {
	r.Kind = uint32(perfTaskKind(&gp.labels))
	a := perfAccountOf(gp)
	if r.Kind != 0 || a == nil {
		return r
	}
	m := a.member.ptr()
	if m == nil {
		return r
	}
	// As among goroutines that outlive a task, the one that began it is none of them.
	t := m.task
	for range perf.MaxTaskDepth + 1 {
		if t == nil || t.goid != gp.goid {
			break
		}
		t = t.parent
	}
	if t != nil && !t.open.Load() {
		r = profilerecord.Task{Kind: t.kind.Load() & perf.TaskKindMask, Began: true, Trace: t.trace}
	}
	return r
}
