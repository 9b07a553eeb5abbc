// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"internal/taskrecord"
	"iter"
	"slices"
	"time"
)

// pollTasks is how often a collector looks for new records.
const pollTasks = 20 * time.Millisecond

// A taskCollector collects the records that a request asks for.
type taskCollector struct {
	req   *taskRequest
	ctx   context.Context
	from  taskReader
	flush func()
	begun taskrecord.Progress
	n     uint64 // records

	// At is how far the answer goes with the record that is passed on. Whoever sends that clears the
	// places: those are of this record, which comes first, and of what was passed over before it.
	at taskrecord.Progress
}

// newTaskCollector returns one that begins where req says.
func newTaskCollector(ctx context.Context, req *taskRequest) *taskCollector {
	c := &taskCollector{req: req, ctx: ctx, from: tasks.reader(req.seconds == 0)}
	c.begun = c.from.Progress()
	return c
}

// records returns the records: those in the rings, or what comes within req.seconds. It
// ends if the client is gone.
func (c *taskCollector) records() iter.Seq[*taskrecord.Record] {
	return func(yield func(*taskrecord.Record) bool) {
		if c.req.seconds == 0 {
			c.drain(yield)
			return
		}
		end := time.NewTimer(time.Duration(c.req.seconds) * time.Second)
		defer end.Stop()
		poll := time.NewTicker(pollTasks)
		defer poll.Stop()
		for {
			select {
			case <-c.ctx.Done():
				return
			case <-end.C:
				c.drain(yield)
				return
			case <-poll.C:
				if !c.drain(yield) {
					return
				}
				c.flush()
			}
		}
	}
}

// drain passes on those records that are in the rings, and reports whether to go on.
// It doesn't wait for the rings to be empty, which in a busy program they may never be.
func (c *taskCollector) drain(yield func(*taskrecord.Record) bool) bool {
	c.from.Round()
	for c.ctx.Err() == nil {
		t := c.from.Next()
		if t == nil {
			break
		}
		c.pass(t)
		if !c.req.wants(t) {
			continue
		}
		if c.req.isPublic {
			t = t.Public()
		}
		c.n++
		if !yield(t) {
			return false
		}
	}
	return c.ctx.Err() == nil
}

// pass notes where a record was: who reads the answer is to know how far it goes if it breaks off, and what
// was lost until then.
func (c *taskCollector) pass(t *taskrecord.Record) {
	own := c.from.Place()
	c.at.Lost += t.Lost.Before
	c.at.Places = slices.DeleteFunc(c.at.Places, func(x taskrecord.RingPlace) bool { return x.Ring == own.Ring })
	c.at.Places = slices.Insert(c.at.Places, 0, own)
}

// mark returns where the answer begins or ends: in those rings which may have records that are asked for.
// Between a beginning and an end it has all of these. If it breaks off, its last record says up to where. Who
// has read those before knows by it whether others were between.
func (c *taskCollector) mark(end bool) *taskrecord.Mark {
	m := &taskrecord.Mark{End: end, Process: taskrecord.Process(), Progress: c.begun}
	if end {
		m.Progress = c.from.Progress()
	}
	if c.req.slow {
		m.Places = m.Places.Slow()
	}
	return m
}
