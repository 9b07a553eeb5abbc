// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"math/bits"
	_ "unsafe" // for linkname
)

// How many requests a profile's samples are of: most of them may have none. The comments say it of each kind
// that has samples, so that a reader can tell what a usual request and a slow one have used.

// Provided by package runtime; see perftaskend.go there.
func runtime_perfTaskRoots(kind uint32) (usual, slow uint64, ok bool)

// A rootCount is how many tasks have ended that were no children of others in this process.
type rootCount struct{ usual, slow uint64 }

// taskRoots are the counts of all kinds, by number.
type taskRoots []rootCount

// readTaskRoots returns the counts up to now, or nil if there has never been a task.
func readTaskRoots() (list taskRoots) {
	if taskKindName.Load() == nil {
		return nil
	}
	for kind := uint32(0); ; kind++ {
		usual, slow, ok := runtime_perfTaskRoots(kind)
		if !ok {
			return list
		}
		list = append(list, rootCount{usual, slow})
	}
}

// since returns the count of a kind since r was read.
func (r taskRoots) since(kind int) (n rootCount) {
	n.usual, n.slow, _ = runtime_perfTaskRoots(uint32(kind))
	if kind < len(r) {
		n.usual -= r[kind].usual
		n.slow -= r[kind].slow
	}
	return n
}

// taskKinds is a set of kinds' numbers.
type taskKinds [1 << 10 / 64]uint64

func (k *taskKinds) note(kind uint16) {
	if i := int(kind / 64); i < len(k) {
		k[i] |= 1 << (kind % 64)
	}
}

func (k *taskKinds) all(yield func(kind int) bool) {
	for i, word := range k {
		for ; word != 0; word &= word - 1 {
			if !yield(64*i + bits.TrailingZeros64(word)) {
				return
			}
		}
	}
}

// commentTasks adds how many tasks there were of each kind that has samples.
func (e *perfEvent) commentTasks(w *ledgerWriter) {
	name := *taskKindName.Load()
	for kind := range e.kinds.all {
		if n := e.session.roots.since(kind); n != (rootCount{}) {
			w.add("requests: %d usual, %d slow, of kind %q", n.usual, n.slow, name(uint32(kind)))
		}
	}
}
