// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"internal/runtime/perf"
	"runtime/trace"
)

// A Region is a stretch of a goroutine's work for a task, from [Task.Region] to End. It
// must end on the goroutine that it began on, and must not be copied. Regions may be nested.
type Region struct {
	t     *Task
	name  string
	slots int
	iv    perf.OpenInterval
	told  *toldRegion // in the execution trace, or nil
}

// Region begins a region of the calling goroutine. It does not allocate.
//
//	r := t.Region("decode")
//	...
//	r.End()
//
// In the task's record regions with one name are summed up: how many there were, what
// time they took and where that went, and what was counted.
func (t *Task) Region(name string) (r Region) {
	if t == nil || t.hasEnded() {
		return
	}
	r.t = t
	r.begin(name)
	return r
}

// begin begins the region. If the task's counts are lost already, it does not count either.
func (r *Region) begin(name string) {
	r.name = name
	r.beginTrace()
	set, slots := r.t.epoch.present().set()
	if r.slots = slots; runtime_perfIntervalStart(&r.iv, set, slots) == perf.IntervalClosed {
		r.slots = 0
		runtime_perfIntervalStart(&r.iv, perf.SetID{}, 0)
	}
}

// End ends the region.
func (r *Region) End() {
	if r.t != nil {
		r.sum(false)
		r.t = nil
	}
}

// Checkpoint ends the region and begins the next one at the same moment.
func (r *Region) Checkpoint(name string) {
	if r.t == nil {
		return
	}
	switch r.sum(true) {
	case perf.IntervalOK, perf.IntervalUnread:
		r.name = name
		r.beginTrace()
	case perf.IntervalClosed:
		r.begin(name)
	default:
		*r = Region{}
	}
}

// sum adds the region, up to now, to the task's. If more, r.iv goes on at this moment;
// it does not if the goroutine is another one than it began on, or the counters are closed.
func (r *Region) sum(more bool) perf.IntervalError {
	var u perf.GoroutineTime
	var counts [perf.MaxEvents]perf.Count
	began, goid := r.iv.Nanos, r.iv.Goid
	_, _, err := runtime_perfIntervalEnd(&r.iv, &u, &counts[0], r.slots, more)
	switch err {
	case perf.IntervalOK, perf.IntervalUnread:
		r.t.region(r.name, &u, &counts, r.slots, began, goid)
	case perf.IntervalClosed: // its epoch has ended; the times are there
		r.t.region(r.name, &u, &counts, 0, began, goid)
	default:
		r.t.lostRegion()
	}
	if r.told != nil {
		r.told.end()
		r.told = nil
	}
	return err
}

// beginTrace begins the region in the execution trace.
func (r *Region) beginTrace() {
	if trace.IsEnabled() {
		r.told = tellRegion(r.t, r.name)
	}
}

// region adds a region that has ended.
func (t *Task) region(name string, u *perf.GoroutineTime, counts *[perf.MaxEvents]perf.Count, slots int, began int64, goid uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.detail(false)
	if d == nil {
		return
	}
	s := d.find(name)
	if s == nil {
		d.lost.Regions++
		return
	}
	s.n++
	s.wall += u.Wall
	s.max = max(s.max, u.Wall)
	s.usage.Add(u)
	for i := range slots {
		s.counts[i].Add(counts[i])
	}
	if u.Wall < leastStretch {
		return
	}
	if len(d.spans) == maxSpans {
		d.lost.Stretches++
		return
	}
	d.spans = append(d.spans, span{s.name, goid, began, began + u.Wall})
}

func (d *details) find(name string) *regionSum {
	if len(name) > maxKey {
		name = cut(name, maxKey)
	}
	for i := range d.regions {
		if d.regions[i].name == name {
			return &d.regions[i]
		}
	}
	if len(d.regions) == maxRegions {
		return nil
	}
	d.regions = append(d.regions, regionSum{name: name})
	return &d.regions[len(d.regions)-1]
}

func (t *Task) lostRegion() {
	t.mu.Lock()
	if d := t.detail(false); d != nil {
		d.lost.Regions++
	}
	t.mu.Unlock()
}
