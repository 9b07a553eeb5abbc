// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"internal/runtime/perf"
	"internal/taskrecord"
	"slices"
	"strings"
	"sync"
)

// The bounds of a record. What is beyond is counted in [taskrecord.Lost].
const (
	maxNotes     = 16
	maxKey       = 64      // bytes of a note's key, and of names of regions
	maxValue     = 256     // bytes of a note's value
	maxRegions   = 64      // names of regions
	maxSpans     = 64      // regions in a timeline
	maxCalls     = 32      // children
	maxOutlived  = 8       // goroutines that are named
	maxKind      = 128     // bytes of a kind's name
	maxKinds     = 1000    // apart from "other"
	logMemory    = 8 << 20 // bytes for the timelines of open tasks; see recorder.follow
	leastStretch = 10_000  // ns: what is shorter is not in a timeline
)

// Details are what few tasks have. They are reused.
type details struct {
	notes   []taskrecord.Note
	regions []regionSum
	spans   []span
	calls   []call
	lost    taskrecord.Lost
}

// A regionSum sums up regions with one name.
type regionSum struct {
	name   string
	n      int64
	wall   int64
	max    int64
	usage  perf.GoroutineTime
	counts [perf.MaxEvents]perf.Count
}

// A span is a region in the timeline.
type span struct {
	name       string
	goid       uint64
	start, end int64 // monotonic
}

// A call is a child.
type call struct {
	span        taskrecord.SpanID
	kind        uint32
	flags       taskrecord.Flags
	start, wall int64
	remote      string

	goid, ender uint64 // goroutines that began it, and have ended it
}

var freeDetails = sync.Pool{New: func() any { return new(details) }}

// detail returns t's details, or nil if it has ended; its end may still make some. t.mu is held.
func (t *Task) detail(ended bool) *details {
	if t.details == nil && (ended || !t.hasEnded()) {
		t.details = freeDetails.Get().(*details)
	}
	return t.details
}

func (d *details) release() {
	if d == nil {
		return
	}
	// So that secrets in notes don't stay.
	clear(d.notes)
	clear(d.regions)
	clear(d.spans)
	clear(d.calls)
	*d = details{notes: d.notes[:0], regions: d.regions[:0], spans: d.spans[:0], calls: d.calls[:0]}
	freeDetails.Put(d)
}

// Note notes something about the task: at most 16 notes, keys of up to 64 and values of
// up to 256 bytes. What is longer is cut; both are counted. A note with a key that is
// there replaces that.
func (t *Task) Note(key, value string) {
	if t != nil {
		t.note(key, value, false)
	}
}

// note is Note, also of a task whose end has begun.
func (t *Task) note(key, value string, ended bool) {
	r := lastRecording.Load()
	if f := r.config.Filter; f != nil {
		var ok bool
		if value, ok = t.filter(f, key, value, ended); !ok {
			return
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.detail(ended)
	if d == nil {
		return
	}
	if len(key) > maxKey || len(value) > maxValue {
		d.lost.Notes++
		key, value = cut(key, maxKey), cut(value, maxValue)
	}
	for i := range d.notes {
		if d.notes[i].Key == key {
			d.notes[i].Value = value
			return
		}
	}
	if len(d.notes) == maxNotes {
		d.lost.Notes++
		return
	}
	d.notes = append(d.notes, taskrecord.Note{Key: key, Value: value})
}

// filter calls f. If that panics, the note is lost, and counted.
func (t *Task) filter(f func(key, value string) (string, bool), key, value string, ended bool) (kept string, ok bool) {
	returned := false
	defer func() {
		if returned {
			return
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if d := t.detail(ended); d != nil {
			d.lost.Notes++
		}
	}()
	kept, ok = f(key, value)
	returned = true
	return kept, ok
}

// cut returns the beginning of s, of at most n bytes, without a part of a character at
// its end, and apart from s in memory.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.Clone(strings.ToValidUTF8(s[:n], ""))
}

// call notes that t's child c has ended. Of too many the longest are kept.
func (t *Task) call(c *Task, u *perf.TaskUsage, flags taskrecord.Flags) {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.detail(false)
	if d == nil {
		return
	}
	n := call{c.span, c.kind.id, flags, u.Began, u.Wall, c.remote, c.goid, u.EndedBy}
	if len(d.calls) < maxCalls {
		d.calls = append(d.calls, n)
		return
	}
	d.lost.Calls++
	least := 0
	for i := range d.calls {
		if d.calls[i].wall < d.calls[least].wall {
			least = i
		}
	}
	if d.calls[least].wall < n.wall {
		d.calls = append(slices.Delete(d.calls, least, least+1), n)
	}
}
