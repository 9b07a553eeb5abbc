// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import "internal/taskrecord"

// SetTrace makes the task one of a trace that another tracer has, which is known from a context
// alone and not from a header: a child of that tracer's span. sampled is W3C's flag. It is for
// an adapter that knows the tracer, and does nothing if the trace's ID is zero.
//
// It comes before what the task's trace is for: children that have begun stay in the trace that
// there was, and so does what [Inject] has sent.
func (t *Task) SetTrace(trace [16]byte, span [8]byte, sampled bool) {
	if t == nil || trace == [16]byte{} || !t.lockOpen() {
		return
	}
	defer t.unlockOpen()
	t.trace, t.parent = trace, span
	t.sampled, t.random = sampledAs(sampled), false
}

// An identity is what SetTrace changes.
type identity struct {
	trace   taskrecord.TraceID
	parent  taskrecord.SpanID
	sampled sampled
	random  bool
}

func (t *Task) identity() identity {
	t.mu.Lock()
	defer t.mu.Unlock()
	return identity{t.trace, t.parent, t.sampled, t.random}
}
