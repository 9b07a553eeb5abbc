// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"internal/taskrecord"
	"runtime/pprof"
	"time"
)

// This file makes rows of the records of tasks. A row is a task, with all that worked for it on other
// servers. Columns of those end in what they are of: mutex on backup5 (replicate).

// Names of columns of tasks begin with what they are of, if that isn't an event or a part of
// the time.
const (
	regionColumn = "region " // time in a region
	callColumn   = "call "   // time of calls of a kind
	wayColumn    = "way of " // of a call, there and back
	noteColumn   = "note "   // a note: a number, or words
	costColumn   = "cost "   // time of all goroutines
)

// unknownCalls is the column of waits of which it is not known whether they were for calls.
const unknownCalls = "call not known"

// onThread are the parts of time in which a goroutine takes a thread, and can cause events.
var onThread = []taskrecord.Part{pprof.TimeRunning, pprof.TimeSyscall, pprof.TimeC}

func inMS(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// AddTask adds a row with the record of a task, of which nothing else is known.
func (b *Builder) AddTask(t *taskrecord.Record) {
	b.AddRequest(&taskrecord.Node{Task: t, Call: -1}, new(Callees))
}

// AddRequest adds a row with the record of n's task, and those of what worked for it. Times are in ms,
// but for Time, which is in seconds since 1970. Those of parts are of the latency: what goroutines did that
// the end of the task did not wait for has not made it slow.
//
// Counts are those of events that were counted all the time; cells of others are empty.
func (b *Builder) AddRequest(n *taskrecord.Node, known *Callees) {
	t := n.Task
	b.Add(inMS(t.Wall))
	b.Time(float64(t.Start) / 1e9)
	b.Trace(t.Trace)
	if t.Flags&taskrecord.Early != 0 || t.Flags&(taskrecord.Slow|taskrecord.Sampled) == taskrecord.Slow {
		b.Biased()
	}
	b.Column("kind", "", nan).Word(t.Kind)
	if t.Server != nil {
		b.Column("server", "", nan).Word(ServerName(t.Server))
	}
	list := n.Latency(known.asynchronous)
	ofs := make([]string, len(list))
	tasks := make(map[string]int) // by what names of columns end in
	for i := range list[1:] {
		of := taskOf(list[i+1].Node.Task)
		ofs[i+1] = of
		tasks[of]++
		known.addTask(of, list[i+1].Node.Task)
	}
	for i := range list {
		x := taskRow{b, known, &list[i], ofs[i], tasks[ofs[i]] > 1}
		if !list[i].Known {
			known.forget(b, x.of)
			continue
		}
		x.add()
	}
	// Switches, preemptions and migrations are what any waiting comes with. What they cost is in
	// the parts.
	b.Column("goroutines", "", 0).Number(float64(t.Goroutines))
	failed := "no"
	if t.Flags&taskrecord.Failed != 0 {
		failed = "yes"
	}
	b.Column("failed", "", nan).Word(failed)
}

// A taskRow is what one task has of a row.
type taskRow struct {
	*Builder
	known   *Callees
	x       *taskrecord.Portion
	of      string // what names of columns end in
	several bool   // of tasks with the same columns
}

// column returns the task's column of a name.
func (r *taskRow) column(name, unit string, empty float64) *ColumnBuilder {
	old := r.byName[name+r.of]
	if old != nil {
		return old
	}
	c := r.Column(name+r.of, unit, empty)
	if r.of != "" && r.byName[c.Name()] == c { // else nothing is kept of it
		c.column.Of = r.of
		r.known.note(r.of, c)
	}
	return c
}

// own returns a column of times of which in some rows nothing may be known, for a reason of its own.
func (r *taskRow) own(name string) *ColumnBuilder {
	old := r.byName[name+r.of]
	if old != nil {
		return old
	}
	c := r.column(name, "ms", 0)
	if r.byName[c.Name()] == c {
		r.known.note(c.Name(), c)
	}
	return c
}

// part adds a part of the latency, in ms.
func (r *taskRow) part(name string, v float64) *ColumnBuilder {
	c := r.column(name, "ms", 0)
	c.Within(name + r.of)
	c.Number(v)
	return c
}

func (r *taskRow) add() {
	t := r.x.Node.Task
	for p, d := range r.x.Parts {
		if r.of == "" || d > 0 || r.byName[taskrecord.PartName(taskrecord.Part(p))+r.of] != nil {
			r.part(taskrecord.PartName(taskrecord.Part(p)), inMS(d))
		}
	}
	r.counts(t)
	if !r.several {
		r.ratios(t)
	}
	for i := range t.Regions {
		d := r.x.Regions[i]
		r.known.derived = r.known.derived || d != t.Regions[i].Wall
		r.part(regionColumn+t.Regions[i].Name, inMS(d))
	}
	r.calls(t)
	r.notes(t)
	r.cost(t)
	if d := r.x.Unknown; d > 0 {
		c := r.Column(unknownCalls, "ms", 0)
		c.Within(unknownCalls)
		c.Number(inMS(d))
	}
}

// within returns the columns that include the time of what was counted.
func (r *taskRow) within() (names []string) {
	for _, p := range onThread {
		names = append(names, taskrecord.PartName(p)+r.of)
	}
	return names
}

// counts adds what was counted.
func (r *taskRow) counts(t *taskrecord.Record) {
	for i, name := range t.Events {
		if t.Flags&taskrecord.Uncounted == 0 && i < len(t.Count) && t.Count[i].Running == t.Count[i].Enabled {
			if r.of != "" { // of which there may be no columns yet
				for _, p := range onThread {
					r.part(taskrecord.PartName(p), 0)
				}
			}
			c := r.column(name, "", nan)
			c.Within(r.within()...)
			c.Number(float64(t.Count[i].Value))
		}
	}
}

// ratios adds the ratios of what was counted all the time.
func (r *taskRow) ratios(t *taskrecord.Record) {
	for _, x := range r.known.ratios(t.Events) {
		cycles, ok := counted(t, x.Cycles)
		if !ok || cycles == 0 {
			continue
		}
		v, group := 0.0, Kernel
		if x.Instructions != "" {
			n, ok := counted(t, x.Instructions)
			if !ok || n == 0 {
				continue
			}
			v, group = cycles/n, Cache
		} else {
			for _, p := range x.Parts {
				v += float64(t.Parts[p])
			}
			v /= cycles
		}
		c := r.column(x.Name, "", nan)
		c.Group(group)
		c.Within(r.within()...)
		c.Number(v)
	}
}

// counted returns an event's count, if it was counted all the time.
func counted(t *taskrecord.Record, event string) (float64, bool) {
	if t.Flags&taskrecord.Uncounted != 0 {
		return 0, false
	}
	for i, name := range t.Events {
		if name == event && i < len(t.Count) {
			return float64(t.Count[i].Value), t.Count[i].Running == t.Count[i].Enabled
		}
	}
	return 0, false
}

// calls adds the times of calls.
func (r *taskRow) calls(t *taskrecord.Record) {
	for i := range t.Calls {
		call := &t.Calls[i]
		if call.Flags&taskrecord.Client == 0 {
			// A child of the task, on the same server. What waits for it is in some part of the time
			// meanwhile.
			if r.known.derived = r.known.derived || call.Flags&taskrecord.Late != 0; call.Flags&taskrecord.Late == 0 {
				r.part(callColumn+call.Kind, inMS(call.Wall)).Group(Input)
			}
			continue
		}
		r.known.derived = true
		name, joined := r.known.callName(t, call)
		x := &r.x.Calls[i]
		c := r.own(callColumn + name)
		c.Within(callColumn + name + r.of)
		if c.Group(Input); joined {
			c.Group(Sum)
		}
		way := wayColumn + callColumn + name + r.of
		if !x.Known {
			r.known.forget(r.Builder, c.Name())
			r.known.forget(r.Builder, way)
			continue
		}
		c.Number(inMS(x.Time))
		if x.Joined {
			c := r.own(wayColumn + callColumn + name)
			c.Within(way)
			c.Number(inMS(x.Way))
		} else if joined {
			r.known.forget(r.Builder, way)
			r.known.lacks(r.Builder, t, call, c.Name())
		}
	}
}

// notes adds the notes. Of several tasks it is not known whose notes matter.
func (r *taskRow) notes(t *taskrecord.Record) {
	if r.several {
		return
	}
	for _, n := range t.Notes {
		c := r.column(noteColumn+n.Key, "", nan)
		c.Group(Input)
		if n.Key == "status" {
			c.Word(n.Value) // numbers, but as names
		} else {
			c.Text(n.Value)
		}
	}
}

// cost adds for how long all goroutines took a thread, if in some row that is more than what was waited for,
// by more than 1 % of the task: else the parts say so.
func (r *taskRow) cost(t *taskrecord.Record) {
	for _, p := range onThread {
		name := costColumn + taskrecord.PartName(p)
		d := t.Parts[p]
		if d-r.x.Parts[p] <= t.Wall/100 {
			d = r.x.Parts[p]
		}
		if d == r.x.Parts[p] && r.byName[name+r.of] == nil && r.Skip == nil {
			continue
		}
		if r.byName[name+r.of] == nil { // so far both were the same
			r.part(taskrecord.PartName(p), 0)
			r.column(name, "ms", 0).copy(r.byName[taskrecord.PartName(p)+r.of])
		}
		c := r.column(name, "ms", 0)
		c.Group(Sum)
		c.column.Cost = true
		c.Number(inMS(d))
	}
}
