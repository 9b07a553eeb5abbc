// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	record "internal/task"
	"runtime/pprof"
	"time"
)

// Names of columns of tasks begin with what they are of, if that isn't an event or a part of
// the time.
const (
	regionColumn = "region " // time in a region
	callColumn   = "call "   // time of calls of a kind
	noteColumn   = "note "   // a note: a number, or words
)

// onThread are the parts of time in which a goroutine can cause events.
var onThread = []string{record.Part(pprof.TimeRunning).String(), record.Part(pprof.TimeSyscall).String(), record.Part(pprof.TimeC).String()}

// AddTask adds a row with the record of a task. Times are in ms, but for Time, which is in
// seconds since 1970. Those of parts are of the latency: what goroutines did that the end of the
// task did not wait for has not made it slow.
//
// Counts are those of events that were counted all the time; cells of others are empty.
func (b *Builder) AddTask(t *record.Task) {
	ms := func(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
	b.Add(ms(t.Wall))
	b.Time(float64(t.Start) / 1e9)
	if t.Flags&record.Early != 0 || t.Flags&(record.Slow|record.Sampled) == record.Slow {
		b.Biased()
	}
	b.Column("kind", "", nan).Word(t.Kind)
	if t.Server != nil {
		name := t.Server.Name
		if t.Server.ID != 0 {
			name = fmt.Sprintf("%s/%d", name, t.Server.ID)
		}
		b.Column("server", "", nan).Word(name)
	}
	for p, d := range t.Latency() {
		b.part(record.PartName(record.Part(p)), ms(d))
	}
	// Switches, preemptions and migrations are what any waiting comes with. What they cost is in
	// the parts.
	b.Column("goroutines", "", 0).Number(float64(t.Goroutines))
	if t.Flags&record.Uncounted == 0 {
		for i, name := range t.Events {
			if i < len(t.Count) && t.Count[i].Running == t.Count[i].Enabled {
				c := b.Column(name, "", nan)
				c.Within(onThread...)
				c.Number(float64(t.Count[i].Value))
			}
		}
	}
	for i := range t.Regions {
		b.part(regionColumn+t.Regions[i].Name, ms(t.Regions[i].Wall))
	}
	for i := range t.Calls {
		// What waits for a call is in some part of the time meanwhile.
		b.part(callColumn+t.Calls[i].Kind, ms(t.Calls[i].Wall)).Group(Input)
	}
	for _, n := range t.Notes {
		c := b.Column(noteColumn+n.Key, "", nan)
		c.Group(Input)
		if n.Key == "status" {
			c.Word(n.Value) // numbers, but as names
		} else {
			c.Text(n.Value)
		}
	}
	failed := "no"
	if t.Flags&record.Failed != 0 {
		failed = "yes"
	}
	b.Column("failed", "", nan).Word(failed)
}

// part adds a part of the latency, in ms.
func (b *Builder) part(name string, v float64) *ColumnBuilder {
	c := b.Column(name, "ms", 0)
	c.Within(name)
	c.Number(v)
	return c
}
