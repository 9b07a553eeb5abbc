// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"sync"
	"sync/atomic"
	_ "unsafe" // for go:linkname
)

// A task may get its kind when it has ended others' waits. Their records should name it by what it
// is on all pages. So it is remembered for a while which tasks have got another kind.
type renames [4096]struct {
	mu   sync.Mutex
	span uint64
	kind uint32
}

var renamed atomic.Pointer[renames] // made by Start

// note notes that a task has got another kind.
func (r *renames) note(span uint64, kind uint32) {
	x := &r[span%uint64(len(r))]
	x.mu.Lock()
	x.span, x.kind = span, kind
	x.mu.Unlock()
}

// kind returns the kind that a task has got, or was if it had none.
func (r *renames) kind(span uint64, was uint32) uint32 {
	if r == nil || span == 0 || was == 0 {
		return was
	}
	x := &r[span%uint64(len(r))]
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.span == span {
		return x.kind
	}
	return was
}

// nameTask is SetKind with a pattern that a request was found to match, which is what others
// guess: what the program has set stays.
//
//go:linkname nameTask net/http/pprof.nameTask
func nameTask(t *Task, pattern string) {
	k := kindOf(pattern, t.client)
	if !t.lockOpen() {
		return
	}
	defer t.unlockOpen()
	if !t.named {
		t.setKind(k)
	}
}

// SetKind changes the kind, for those who know it only when the work is done. Samples from now on
// have it as their label.
func (t *Task) SetKind(name string) {
	if t == nil {
		return
	}
	k := kindOf(name, t.client)
	if !t.lockOpen() {
		return
	}
	defer t.unlockOpen()
	t.named = true
	t.setKind(k)
}

// setKind is SetKind of a task that lockOpen has locked.
func (t *Task) setKind(k *kind) {
	if k == t.kind {
		return
	}
	shard := shard()
	t.kind.opened(shard, -1)
	k.opened(shard, 1)
	t.kind = k
	renamed.Load().note(t.spanWord(), k.id)
	runtime_perfTaskSetKind(t.id, k.id)
}
