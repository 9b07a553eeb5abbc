// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"cmp"
	"internal/runtime/perf"
	"internal/taskrecord"
	"slices"
	_ "unsafe" // for go:linkname
)

// The page of net/http/pprof shows the latest of the tasks in the rings, which may have a hundred
// thousand. To unpack a record takes forty times as long as to read how it begins, and allocates
// kilobytes. So only those that are shown are unpacked.

// A recordPos is where a record is, and when its task ended, in ns since 1970.
type recordPos struct {
	end  int64
	ring int
	pos  uint64
}

// newest calls yield with the records of those tasks that ended last, the last one first, until it
// returns false: of slow tasks, or of all, those that want chooses, and no more than most. Want gets
// what a record begins with: the identity, kind, flags, start and length of the task. Of what is
// pushed meanwhile nothing is read. Records may share stacks, and don't say what was lost before
// them.
//
// Of all records that were ever pushed into the rings, gone are those that are no longer there, or
// damaged. Want has chosen chosen of the others.
//
//go:linkname newest net/http/pprof.newestTasks
func newest(onlySlow bool, most int, want func(head *taskrecord.Record) bool, yield func(*taskrecord.Record) bool) (chosen, gone uint64) {
	var r ringBuffer
	var list []recordPos // the last ones so far, and others
	var head taskrecord.Record
	last := func() {
		slices.SortStableFunc(list, func(a, b recordPos) int { return cmp.Compare(b.end, a.end) })
		list = list[:min(len(list), most)]
	}
	for i := range perf.AllTaskRings {
		if onlySlow && i%perf.NumTaskRings != perf.SlowTaskRing {
			continue
		}
		pos, end, pushed, _ := runtime_perfTaskRingState(i)
		gone += pushed
		for pos < end {
			size, _, _ := r.read(i, &pos)
			if size <= 0 || pos > end {
				break
			}
			p := unpacker{w: r.buf[:size]}
			if p.head(&head); p.bad {
				continue
			}
			gone--
			if !want(&head) {
				continue
			}
			chosen++
			list = append(list, recordPos{head.Start + int64(head.Wall), i, pos - uint64(size) - perf.TaskHeader})
			if len(list) >= 2*most {
				last()
			}
		}
	}
	last()
	stacks := make(map[stackPCs][]taskrecord.Frame)
	for _, at := range list {
		size, _, skipped := r.read(at.ring, &at.pos)
		var t *taskrecord.Record
		if size > 0 && !skipped {
			p := unpacker{w: r.buf[:size], stacks: stacks}
			t = p.whole(at.ring)
		}
		if t == nil {
			chosen-- // it was written over meanwhile
			gone++
			continue
		}
		if !yield(t) {
			break
		}
	}
	return chosen, gone
}
