// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package internal

import "sync/atomic"

// A TaskWatcher is told about a response, by whichever goroutine answers.
type TaskWatcher interface {
	// Answer is called just before the header with a final status is taken down, and
	// reports whether Reply is to be called.
	Answer(status int) bool
	// Reply may add to the header.
	Reply(header map[string][]string)
}

// A TaskWatch is the place in a response for who watches it. Nobody does in the zero one.
//
// It is atomic, as a handler that was given up, by a timeout around it, may begin and end
// its task while others answer.
type TaskWatch struct{ o atomic.Pointer[TaskWatcher] }

// Watch has o watch, and reports whether it does: there can be only one.
func (w *TaskWatch) Watch(o *TaskWatcher) bool { return w.o.CompareAndSwap(nil, o) }

// Unwatch ends that.
func (w *TaskWatch) Unwatch(o *TaskWatcher) { w.o.CompareAndSwap(o, nil) }

// Watched reports whether anybody watches.
func (w *TaskWatch) Watched() bool { return w.o.Load() != nil }

// Answer tells who watches, and returns it if it wants the header.
func (w *TaskWatch) Answer(status int) TaskWatcher {
	if o := w.o.Load(); o != nil && (*o).Answer(status) {
		return *o
	}
	return nil
}
