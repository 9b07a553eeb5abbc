// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Reasons sums up why slow tasks were slow. Fifty requests that have waited for one mutex have
// one reason, and not fifty: who held it first, however it was handed on among them.
//
// The zero Reasons is ready. What it keeps does not grow with the number of tasks beyond a bound.
type Reasons struct {
	locks   locks
	walker  walker
	kinds   map[string]*kindReasons
	rows    int
	waiting []*occurrence
}

// Bounds of Reasons. Kinds, and reasons, beyond them are summed up as others.
const (
	maxKinds    = 1000
	maxReasons  = 1000
	maxWaiting  = 50_000 // occurrences
	maxExamples = 10
)

const (
	otherKind    = "other"
	otherReasons = "other reasons"
)

type kindReasons struct {
	client         bool
	slow, requests int
	rows           map[string]*Reason
}

// A Reason is why slow tasks of a kind were slow: the first of their [Cause]s.
type Reason struct {
	Kind   string
	Client bool          // they are calls
	Text   string        // words that are the same for all of them; empty if nothing stands out
	N      int           // how many tasks,
	Of     int           // of so many slow ones of the kind
	Time   time.Duration // of all N

	// Newest are those that ended last, the last one first. There are up to ten.
	Newest []Example

	requests bool // all of the kind are
}

// An Example is one of the tasks of a Reason.
type Example struct {
	Trace TraceID
	Span  SpanID
	Start int64 // as in [Record]
	Wall  time.Duration
}

func (x *Example) end() int64 { return x.Start + int64(x.Wall) }

// Executing reports whether a profile of what such tasks execute says more: they had work to do, or
// waited for others that had.
func (r *Reason) Executing() bool {
	return strings.HasPrefix(r.Text, "running") || strings.HasPrefix(r.Text, "runnable")
}

// String returns the reason in a line: `mutex held by task "flush" at shop.go:112: 46 of 50 slow
// requests, 9.2 s`.
func (r *Reason) String() string {
	what := "task"
	if r.requests {
		what = "request"
	}
	text := cmp.Or(r.Text, "nothing stands out")
	s := fmt.Sprintf("%s: %d of %s", text, r.N, Count(r.Of, "slow "+what))
	if r.Text != "" {
		s += ", " + Duration(r.Time)
	}
	return s
}

// An occurrence is why one task was slow.
type occurrence struct {
	kind string
	of   *kindReasons
	text string
	time time.Duration
	task Example

	// If it is a mutex, who held it first is known when the other tasks are.
	wait     handover
	waitTook int64
}

// Add adds a task, if it was slow.
func (r *Reasons) Add(t *Record) {
	if t.Flags&Slow == 0 {
		return
	}
	r.locks.add(t)
	x := &occurrence{task: Example{t.Trace, t.Span, t.Start, t.Wall}}
	x.kind, x.of = r.kind(t)
	x.of.slow++
	if t.Flags&ServerOf != 0 {
		x.of.requests++
	}
	if list := t.causesBy(&r.walker); len(list) > 0 {
		c := &list[0]
		x.time = c.Time
		if wait, took, ok := c.handover(); ok {
			x.wait, x.waitTook = wait, took
			if len(r.waiting) < maxWaiting {
				r.waiting = append(r.waiting, x)
				return
			}
			x.text = r.held(x)
		} else {
			x.text = c.reason()
		}
	}
	r.sum(x)
}

// held returns the reason if that is a mutex.
func (r *Reasons) held(x *occurrence) string {
	who, _ := r.locks.first(x.wait, x.waitTook)
	return "mutex held by " + who.anyone()
}

func (r *Reasons) kind(t *Record) (string, *kindReasons) {
	name, key := t.Kind, t.kindText()
	if r.kinds == nil {
		r.kinds = make(map[string]*kindReasons)
	}
	k := r.kinds[key]
	if k == nil && len(r.kinds) >= maxKinds {
		name, key = otherKind, otherKind
		k = r.kinds[key]
	}
	if k == nil {
		k = &kindReasons{rows: make(map[string]*Reason), client: key != otherKind && t.Flags&Client != 0}
		r.kinds[key] = k
	}
	return name, k
}

func (r *Reasons) sum(x *occurrence) {
	row := x.of.rows[x.text]
	if row == nil && r.rows >= maxReasons && x.text != "" {
		x.text = otherReasons
		row = x.of.rows[x.text]
	}
	if row == nil {
		row = &Reason{Kind: x.kind, Client: x.of.client, Text: x.text}
		x.of.rows[x.text] = row
		r.rows++
	}
	row.N++
	row.Time += x.time
	i, _ := slices.BinarySearchFunc(row.Newest, x.task.end(), func(a Example, end int64) int { return cmp.Compare(end, a.end()) })
	if i < maxExamples {
		row.Newest = slices.Insert(row.Newest, i, x.task)
		row.Newest = row.Newest[:min(len(row.Newest), maxExamples)]
	}
}

// List returns the reasons for which the tasks that were added were slow. What has taken most
// time comes first, and tasks for which nothing stands out come last. Each slow task is in one of
// them.
func (r *Reasons) List() []*Reason {
	for _, x := range r.waiting {
		x.text = r.held(x)
		r.sum(x)
	}
	r.waiting = nil
	var list []*Reason
	for _, k := range r.kinds {
		for _, row := range k.rows {
			row.Of, row.requests = k.slow, k.requests == k.slow
			list = append(list, row)
		}
	}
	slices.SortFunc(list, func(a, b *Reason) int {
		if (a.Text == "") != (b.Text == "") {
			return cmp.Compare(b.Text, a.Text)
		}
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.N, a.N), cmp.Compare(a.Text, b.Text), cmp.Compare(KindText(a.Kind, a.Client), KindText(b.Kind, b.Client)))
	})
	return list
}

// Words returns a cause in words, as [Cause.String] does. Of a mutex that was handed on it says
// who held it first, by the tasks that were added.
func (r *Reasons) Words(c *Cause) string {
	if wait, took, ok := c.handover(); ok {
		if who, n := r.locks.first(wait, took); n > 0 {
			return "mutex held by " + who.text() + ", " + Duration(c.Time) + ", and handed on by " + Count(int64(n), "task")
		}
	}
	return c.String()
}

// handover returns how the longest of c's waits for a mutex ended, and how long it took. It
// reports false if c is something else, or if nobody is known to have held the mutex.
func (c *Cause) handover() (x handover, took int64, ok bool) {
	if c.wait == nil {
		return x, 0, false
	}
	x, ok = c.Task.handover(c.wait)
	return x, int64(c.wait.Wake - c.wait.Start), ok
}
