// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"cmp"
	"errors"
	"internal/taskrecord"
	"slices"
	_ "unsafe" // for go:linkname
)

// Stats are the numbers of the recorder. Those of each kind are on the page /debug/pprof/tasks.
type Stats struct {
	Open int64 // tasks that have not ended

	// Lost says what has not been recorded, and how often, by name:
	//
	//	tasks        tasks, as 10,000 were open
	//	kinds        tasks under their own kind, as there were 1,000
	//	traceparent  bad headers of that name
	//	tracestate   bad headers of that name
	//	too long     records
	//	slow tasks   of a kind, beyond 20 a second
	//	outlived     tasks of what runs after their end, as there were 1,000
	//	counts       of tasks in which an epoch ended
	//	epochs       in which nothing could be counted
	//	regions      that an execution trace lacks, as they did not nest
	Lost map[string]uint64

	// Err is the last error in counting [Config.Events] or in writing [Config.Flight], since Start
	// was last given one.
	Err error
}

// ReadStats returns the recorder's numbers.
func ReadStats() (s Stats) {
	all := statsOf()
	s = Stats{Open: all.Open, Err: flightError()}
	if r := lastRecording.Load(); r != nil {
		if err := r.failure.Load(); err != nil {
			s.Err = errors.Join(*err, s.Err)
		}
	}
	s.Lost = make(map[string]uint64)
	for _, l := range all.Lost {
		s.Lost[l.Name] = l.N
	}
	return s
}

// readStats returns all of them.
//
//go:linkname readStats net/http/pprof.readTaskStats
func readStats() taskrecord.RecorderStats {
	s := statsOf()
	s.Taken = recordedTaken()
	return s
}

// statsOf returns those for which the kernel need not be asked.
func statsOf() (s taskrecord.RecorderStats) {
	r := lastRecording.Load()
	if r == nil {
		return s
	}
	s = taskrecord.RecorderStats{Server: r.server, Since: r.since, Rate: r.config.Rate, Open: r.open.open(), Epochs: int64(r.epochs.Load())}
	var dropped uint64
	s.Outlived, dropped = outlivedTime()
	for _, name := range r.events {
		s.Events = append(s.Events, taskrecord.EventStats{Name: name})
	}
	kinds.mu.Lock()
	all := slices.Clone(kinds.byID)
	kinds.mu.Unlock()
	for _, k := range all {
		if k != nil && k.count.Load()+k.open() > 0 {
			s.Kinds = append(s.Kinds, k.stats(r.index))
		}
	}
	slices.SortStableFunc(s.Kinds, func(a, b taskrecord.KindStats) int { return cmp.Compare(a.Kind, b.Kind) }) // stable: what began first is first
	s.Lost = []taskrecord.LostStats{
		{Name: "tasks", Text: "tasks, as 10,000 were open", N: r.tooMany.Load()},
		{Name: "kinds", Text: "tasks under their own kind, as there were 1,000", N: kinds.many.Load()},
		{Name: "traceparent", Text: "bad headers traceparent", N: r.badParent.Load()},
		{Name: "tracestate", Text: "bad headers tracestate", N: r.badState.Load()},
		{Name: "too long", Text: "records that were too long", N: r.tooLong.Load()},
		{Name: "slow tasks", Text: "slow tasks of a kind, beyond 20 a second", N: r.overBudget.Load()},
		{Name: "outlived", Text: "tasks of what runs after their end, as there were 1,000", N: dropped},
		{Name: "counts", Text: "counts of tasks in which an epoch ended", N: r.changes.Load()},
		{Name: "epochs", Text: "epochs in which nothing could be counted", N: r.failed.Load()},
		{Name: "regions", Text: "regions that an execution trace does not have as they were, as they did not nest", N: untold.Load()},
	}
	for _, k := range s.Kinds {
		for i, n := range k.Counted {
			s.Events[i].Tasks += n
		}
	}
	return s
}
