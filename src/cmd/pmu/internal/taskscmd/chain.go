// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"path"
	"runtime/pprof"
	"runtime/task/record"
	"strconv"
)

// This file is about who holds a mutex that many wait for. A mutex is handed from one
// goroutine to the next: so who let a task have it has often waited for it as well, and
// the cause is some tasks back. Their records say which, if they were slow too. In a
// queue those in front are: they have waited for longer.

// A lockWait is a time in which a goroutine waited for a mutex.
type lockWait struct {
	from, to int64 // ns since 1970; to is when it was woken
	waker    record.Waker
}

// A waiter is a goroutine while it works for a task.
type waiter struct {
	span      record.SpanID
	goroutine uint64
}

// lockWaits are those of the slow tasks in the rings.
type lockWaits struct {
	of    map[waiter][]lockWait // in order of time
	tasks map[record.SpanID]record.TraceID
	n     int
}

// maxLockWaits bounds lockWaits, which are about 200 bytes each.
const maxLockWaits = 50_000

func newLockWaits() *lockWaits {
	return &lockWaits{make(map[waiter][]lockWait), make(map[record.SpanID]record.TraceID), 0}
}

// add adds those of a task.
func (l *lockWaits) add(t *record.Task) {
	if t.Flags&record.Slow == 0 || t.Span.IsZero() || l.n >= maxLockWaits {
		return
	}
	l.tasks[t.Span] = t.Trace
	l.n++
	for i := range t.Timeline {
		s := &t.Timeline[i]
		if s.Region != "" || s.Part != pprof.TimeMutex || s.Waker.Goroutine == 0 {
			continue
		}
		w := lockWait{t.Start + int64(s.Start), t.Start + int64(s.Wake), s.Waker}
		w.waker.Stack = []record.Frame{record.Place(s.Waker.Stack)}
		k := waiter{t.Span, s.Goroutine}
		l.of[k] = append(l.of[k], w)
		l.n++
	}
}

// holder returns who held the mutex in the middle of a wait, and by how many tasks it was
// handed on since; 0 if that is who let the waiter have it, or if it is not known.
func (l *lockWaits) holder(t *record.Task, s *record.Stretch) (k record.Waker, tasks int) {
	to := t.Start + int64(s.Wake)
	middle := to - int64(s.Wake-s.Start)/2
	k = s.Waker
	for {
		// Those of one goroutine are apart from each other, and the last one that ended
		// before the mutex was handed on is what it was handed on after.
		var last *lockWait
		list := l.of[waiter{k.Span, k.Goroutine}]
		for i := range list {
			if w := &list[i]; w.to < to && w.to > middle && (last == nil || w.to > last.to) {
				last = w
			}
		}
		if last == nil {
			return k, tasks
		}
		k, to = last.waker, last.to
		tasks++
	}
}

// first returns who held the mutex that the task waited for the longest, and by how many tasks it
// was handed on since. It reports false if the task did not wait for one on its path.
func (l *lockWaits) first(t *record.Task, segments []record.Segment) (k record.Waker, tasks int, ok bool) {
	var longest *record.Stretch
	for i := range segments {
		s := segments[i].Stretch
		if s != nil && s.Part == pprof.TimeMutex && (longest == nil || s.Wake-s.Start > longest.Wake-longest.Start) {
			longest = s
		}
	}
	if longest == nil {
		return k, 0, false
	}
	k, tasks = l.holder(t, longest)
	return k, tasks, true
}

// behindWhom says who held the mutex that the task waited for the longest, or nothing if that is
// who let it have it.
func (l *lockWaits) behindWhom(t *record.Task, segments []record.Segment) string {
	k, n, _ := l.first(t, segments)
	if n == 0 {
		return ""
	}
	return "; " + count(n, "task") + " before, it was held by " + holderName(&k)
}

// reason is [record.Hazard.Reason] of a task's first hazard, but says of a mutex who held it first:
// that is why all of those that it was handed on to were slow. n is by how many it was.
func (l *lockWaits) reason(t *record.Task, h *record.Hazard) (text string, n int) {
	if h.Cause == "mutex" {
		if k, n, _ := l.first(t, t.CriticalPath()); n > 0 {
			return "mutex held by " + holderName(&k), n
		}
	}
	return h.Reason(), 0
}

// why says why a task was slow, in a line.
func (l *lockWaits) why(t *record.Task) string {
	list := t.Hazards()
	if len(list) == 0 {
		return ""
	}
	if text, n := l.reason(t, &list[0]); n > 0 {
		return text + ", " + record.Duration(list[0].Time) + ", and handed on by " + count(n, "task")
	}
	return list[0].String()
}

// holderName returns who it was, and where.
func holderName(k *record.Waker) string {
	s := "goroutine " + strconv.FormatUint(k.Goroutine, 10)
	if k.Kind != "" {
		s = "task " + strconv.Quote(k.Kind)
	}
	if f := record.Place(k.Stack); f.File != "" {
		s += " at " + path.Base(f.File) + ":" + strconv.Itoa(f.Line)
	}
	return s
}
