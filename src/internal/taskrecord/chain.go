// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"runtime/pprof"
	"strconv"
)

// A mutex is handed from one goroutine to the next. So the task that let another one have it has
// often just waited for it too, and the culprit is several tasks back. The records of those
// between say which, if they were slow as well. In a queue they are: those in front have waited
// for longer.

// A waiter is a goroutine while it works for a task.
type waiter struct {
	span      SpanID
	goroutine uint64
}

// A holder is a goroutine that held a mutex.
type holder struct {
	waiter
	kind string // of its task
	at   Frame  // where it let go of it
}

// A handover is when a goroutine got a mutex that it had waited for, and from whom.
type handover struct {
	at   int64 // ns since 1970
	from holder
}

// handover returns how a wait of t for a mutex ended. It reports false if that is not known.
func (t *Record) handover(s *Stretch) (h handover, ok bool) {
	k := &s.Waker
	if s.Part != pprof.TimeMutex || k.Goroutine == 0 && k.Kind == "" {
		return h, false
	}
	return handover{t.Start + int64(s.Wake), holder{waiter{k.Span, k.Goroutine}, k.Kind, Place(k.Stack)}}, true
}

// locks has the handovers of slow tasks.
type locks struct {
	to map[waiter][]handover
	n  int
}

// maxHandovers bounds locks, by tasks and handovers. They have about 200 bytes each.
const maxHandovers = 50_000

// add adds those of a task.
func (l *locks) add(t *Record) {
	if t.Span.IsZero() || l.n >= maxHandovers {
		return
	}
	if l.to == nil {
		l.to = make(map[waiter][]handover)
	}
	l.n++
	for i := range t.Timeline {
		s := &t.Timeline[i]
		if s.Region != "" || s.Waker.Goroutine == 0 {
			continue
		}
		if h, ok := t.handover(s); ok {
			to := waiter{t.Span, s.Goroutine}
			l.to[to] = append(l.to[to], h)
			l.n++
		}
	}
}

// first returns who held the mutex in the middle of a wait for it, which took so many ns and
// ended in h, and by how many tasks it was handed on since. It is h.from, and 0, if nothing else
// is known.
func (l *locks) first(h handover, took int64) (who holder, tasks int) {
	middle := h.at - took/2
	for {
		// Handovers to one goroutine are apart from each other. The last one before h is what it
		// held the mutex by.
		var last *handover
		list := l.to[h.from.waiter]
		for i := range list {
			if x := &list[i]; x.at < h.at && x.at > middle && (last == nil || x.at > last.at) {
				last = x
			}
		}
		if last == nil {
			return h.from, tasks
		}
		h = *last
		tasks++
	}
}

// text returns who it was, and where. Who belongs to no task has a number.
func (k *holder) text() string { return k.name("goroutine " + strconv.FormatUint(k.goroutine, 10)) }

// anyone is text in words that are the same for all goroutines that belong to no task.
func (k *holder) anyone() string { return k.name("a goroutine") }

func (k *holder) name(goroutine string) string {
	who := goroutine
	if k.kind != "" {
		who = "task " + strconv.Quote(k.kind)
	}
	if at := k.at.at(); at != "" {
		who += " at " + Printable(at)
	}
	return who
}
