// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	record "internal/task"
	"iter"
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
	begun string // the header
	n     uint64 // records

	at record.RingPlaces // of the record that is passed on, and what was passed over before it

	// What was passed over and lost since the last record that was asked for.
	passed record.RingPlaces
	lost   int64
}

// newTaskCollector returns one that begins where req says.
func newTaskCollector(ctx context.Context, req *taskRequest) *taskCollector {
	c := &taskCollector{req: req, ctx: ctx, from: tasks.reader(req.seconds == 0)}
	c.begun = c.places()
	return c
}

// records returns the records: those in the rings, or what comes within req.seconds. It
// ends if the client is gone.
func (c *taskCollector) records() iter.Seq[*record.Task] {
	return func(yield func(*record.Task) bool) {
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
func (c *taskCollector) drain(yield func(*record.Task) bool) bool {
	c.from.Round()
	for c.ctx.Err() == nil {
		t := c.from.Next()
		if t == nil {
			break
		}
		at := c.from.Place()
		if !c.req.wants(t) {
			c.lost += t.Lost.Before
			c.passed.Raise(record.RingPlaces{at})
			continue
		}
		if c.req.isPublic {
			t = t.Public()
		}
		// Who reads the answer is to know how far it goes if it breaks off, and what was lost until then.
		if c.lost > 0 {
			t.Lost.Before += c.lost
		}
		c.at = append(record.RingPlaces{at}, c.passed...)
		c.lost, c.passed = 0, nil
		c.n++
		if !yield(t) {
			return false
		}
	}
	return c.ctx.Err() == nil
}

// tasksFromHeader is the header of an answer that says where it begins in the rings: from there on it has all
// records that are asked for, up to its end. If it breaks off, its last record says up to where. Who has
// read those before knows by it whether others were between.
const tasksFromHeader = "X-Go-Tasks-From"

// places returns the process, and where the reader is in its rings: those which may have records that are
// asked for.
func (c *taskCollector) places() string {
	at := c.from.Places()
	if c.req.slow {
		at = at.Slow()
	}
	text, _ := at.MarshalText()
	return record.Process() + " " + string(text)
}
