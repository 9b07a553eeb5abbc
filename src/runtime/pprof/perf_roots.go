// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"internal/runtime/perf"
	"maps"
	"slices"
	_ "unsafe" // for linkname
)

// How many requests a profile's samples are of: most of them may have none. The comments say it of each kind
// that has samples, so that a reader can tell what a usual request and a slow one have used.

// Provided by package runtime; see perftaskend.go there.
func runtime_perfTaskRoots(kind uint32) (n [perf.NumRootCounts]uint64)

// taskRoots are the counts of all kinds, by number.
type taskRoots [perf.MaxTaskRoots][perf.NumRootCounts]uint64

// readTaskRoots returns the counts up to now, or nil if there has never been a task.
func readTaskRoots() *taskRoots {
	if taskKindName.Load() == nil {
		return nil
	}
	r := new(taskRoots)
	for kind := range r {
		r[kind] = runtime_perfTaskRoots(uint32(kind))
	}
	return r
}

// since returns r without what was counted before. Both may be nil.
func (r *taskRoots) since(before *taskRoots) *taskRoots {
	if r != nil && before != nil {
		for kind := range r {
			for i := range r[kind] {
				r[kind][i] -= before[kind][i]
			}
		}
	}
	return r
}

// noteKind notes that there is a sample of a kind.
func (e *perfEvent) noteKind(kind uint16) {
	if !e.kinds[kind] {
		if e.kinds == nil {
			e.kinds = make(map[uint16]bool)
		}
		e.kinds[kind] = true
	}
}

// commentTasks adds how many tasks there were of each kind that has samples. It says nothing of a kind that also
// has samples of others, such as children.
func (e *perfEvent) commentTasks(w *ledgerWriter) {
	roots := e.session.roots.Load()
	if roots == nil {
		return
	}
	name := *taskKindName.Load()
	byName := make(map[string][perf.NumRootCounts]uint64) // calls may have the name of a kind of requests
	for kind := range e.kinds {
		if int(kind) < len(roots) {
			kindName := name(uint32(kind))
			sum := byName[kindName]
			for i, n := range roots[kind] {
				sum[i] += n
			}
			byName[kindName] = sum
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(byName)) {
		if n := byName[kind]; n[perf.RootOther] == 0 && n[perf.RootUsual]+n[perf.RootSlow] > 0 {
			w.add("requests: %d usual, %d slow, of kind %q", n[perf.RootUsual], n[perf.RootSlow], kind)
		}
	}
}
