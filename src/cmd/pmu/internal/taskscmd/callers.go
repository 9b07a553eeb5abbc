// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"cmp"
	"internal/taskrecord"
	"slices"
)

// callers has tasks, and joins those that have a trace.
type callers struct {
	joiner taskrecord.Joiner
	alone  []*taskrecord.Node // tasks without a trace: no more than the joiner keeps
	beyond int64              // such tasks that were too many
}

// add adds a task.
func (c *callers) add(t *taskrecord.Record) {
	switch {
	case !t.Trace.IsZero() && !t.Span.IsZero():
		c.joiner.Add(t)
	case t.Flags&taskrecord.Client != 0:
	case len(c.alone) == cmp.Or(c.joiner.MaxTasks, taskrecord.DefaultMaxTasks):
		c.beyond++
	default:
		c.alone = append(c.alone, &taskrecord.Node{Task: t, Call: -1})
	}
}

// dropped returns how many tasks were too many.
func (c *callers) dropped() int64 { return c.joiner.Dropped + c.beyond }

// list returns the tasks that no other one has called, or each task of a kind; or only those of them that were slow.
func (c *callers) list(kind string, slow bool) []*taskrecord.Node {
	list := taskrecord.Callers(c.joiner.Requests(), kind)
	for _, n := range c.alone {
		if kind == "" || n.Task.Kind == kind {
			list = append(list, n)
		}
	}
	return slices.DeleteFunc(list, func(n *taskrecord.Node) bool { return slow && n.Task.Flags&taskrecord.Slow == 0 })
}
