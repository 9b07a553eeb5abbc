// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"internal/taskrecord"
	"runtime"
	"runtime/pprof"
	"slices"
	"time"
)

// A Usage is where the time of goroutines went, and what was counted for them. It is a sum
// over the goroutines of a task and of its children on this server. Only Wall, the time on
// the clock, is not: it is that of the task. So the parts may add up to more.
//
// Waker is not used.
type Usage struct {
	pprof.GoroutineTime

	Goroutines int64 // that have worked for the task
	Working    int64 // of them, that do so at the moment, or did at the task's end
	Events     []string
	Counts     []pprof.CounterValue // of each of Events; nil if they were not all counted
}

// A Record is what is known of a task that has ended. It holds what programs mostly ask
// for. [Record.AppendJSON] writes all that was recorded.
type Record struct {
	Trace  string // the request's ID, of 32 hexadecimal digits; see [Task.Trace]
	Span   string // the task's, of 16
	Parent string // of the task that this one is a child of, there or on another server; may be empty
	Kind   string

	Start time.Time // by the server's clock
	Usage           // Wall is from New to End

	Failed    bool
	Slow      bool          // longer than Threshold
	Threshold time.Duration // 0 if there was none
	Usual     *Usage        // of such tasks, on average, without Goroutines and Working; nil unless the task was slow

	Notes    []Note
	Timeline []Stretch // in order of Start; nil unless the task was slow
	Lost     int64     // how much more was noted about the task than its record has room for

	full *taskrecord.Record
}

// A Note is what the program noted about a task; see [Task.Note]. Notes may hold secrets.
type Note struct{ Key, Value string }

// A Stretch is a time in which a goroutine of a task waited, or was in a system call, or a
// region. Goroutines run in between. Times are since the task's start.
type Stretch struct {
	Goroutine  uint64 // its ID
	Start, End time.Duration
	Wake       time.Duration // when a wait was over, and the goroutine runnable; End in a system call

	Region string // its name, if it is a region; then the rest is empty

	Part   pprof.TimePart  // in [Start, Wake)
	Reason string          // of that, as in stack traces: "chan receive"
	Stack  []runtime.Frame // where, innermost first; PC and Func are not set

	// Waker is the kind of the task whose goroutine ended the wait. It is empty if no task's
	// did, as at a timer or in the network poller, or where a goroutine that reads a connection
	// only brought what had come.
	Waker string
}

// newRecord returns t for programs.
func newRecord(t *taskrecord.Record) *Record {
	r := &Record{
		Trace:     t.Trace.String(),
		Span:      t.Span.String(),
		Kind:      t.Kind,
		Start:     time.Unix(0, t.Start),
		Failed:    t.Flags&taskrecord.Failed != 0,
		Slow:      t.Flags&taskrecord.Slow != 0,
		Threshold: t.Threshold,
		Lost:      t.Lost.OfTask(),
		full:      t,
	}
	if !t.Parent.IsZero() {
		r.Parent = t.Parent.String()
	}
	r.Usage = usageOf(&t.Usage, t.Wall, t.Events)
	r.Goroutines, r.Working = t.Goroutines, t.Outliving
	if u := t.Usual; u != nil {
		usual := usageOf(&u.Usage, u.Wall, t.Events)
		r.Usual = &usual
	}
	for _, n := range t.Notes {
		r.Notes = append(r.Notes, Note(n))
	}
	for i := range t.Timeline {
		s := &t.Timeline[i]
		r.Timeline = append(r.Timeline, Stretch{
			Goroutine: s.Goroutine,
			Start:     s.Start,
			End:       s.End,
			Wake:      s.Wake,
			Region:    s.Region,
			Part:      s.Part,
			Reason:    s.Reason,
			Stack:     stackOf(s.Stack),
			Waker:     s.Waker.Kind,
		})
	}
	return r
}

func stackOf(frames []taskrecord.Frame) []runtime.Frame {
	stack := make([]runtime.Frame, len(frames))
	for i, f := range frames {
		stack[i] = runtime.Frame{Function: f.Func, File: f.File, Line: f.Line}
	}
	return stack
}

// usageOf returns u for programs.
func usageOf(u *taskrecord.Usage, wall time.Duration, events []string) (v Usage) {
	p := pprof_timeUsage(&v.GoroutineTime)
	p.Wall, p.Measured = int64(wall), int64(u.Measured)
	for i, d := range u.Parts {
		p.Parts[i] = int64(d)
	}
	p.Switches, p.Preemptions, p.Migrations = uint64(u.Switches), uint64(u.Preemptions), uint64(u.Migrations)
	if len(u.Count) > 0 {
		v.Events, v.Counts = events, slices.Clone(u.Count)
	}
	return v
}

// AppendJSON appends to b the whole record as a JSON object without line ends: what
// /debug/pprof/tasks?format=json has in a line. Its columns have a JSON Schema:
// src/internal/taskrecord/schema.json in the Go source tree.
func (r *Record) AppendJSON(b []byte) []byte { return taskrecord.AppendJSON(b, r.full) }
