// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package taskrecord holds the records of tasks that package runtime/task makes: what
// requests have cost, where they waited and why. It reads and writes files of them,
// converts them, and finds out what made a task slow.
//
// Only a [RingReader] needs something of the program that made the records.
//
// Which type is which:
//
//   - A task.Task, in runtime/task, is what a program begins and ends. perfTask is the
//     runtime's part of it.
//   - A perfAccount, in runtime, is a goroutine's account: where its time went, as a
//     pprof.GoroutineTime says. A perfCounter is an event's counter on a thread;
//     pprof.Counters are those of all, and a pprof.CounterValue is what they say.
//   - A [Record] is all that remains of a task that has ended. A task.Record is what programs
//     mostly ask for, and so are Note, Stretch and Usage there.
//   - A perfTaskRing, in runtime, holds records. Each P has two. A [RingReader] decodes them,
//     a task.Reader does for programs, and a [FileReader] reads what a [FileWriter] has written.
//   - A sample belongs to a profile, and to no task: it is in a perfBuf, in runtime, until
//     runtime/pprof makes a profile of all.
package taskrecord

import (
	"internal/runtime/perf"
	"runtime/pprof"
	"time"
)

// A TraceID names a request on all servers that work for it (W3C Trace Context,
// trace-id). The zero TraceID names none.
type TraceID [16]byte

// A SpanID names a task among those of its request (W3C Trace Context, parent-id). The
// zero SpanID names none.
type SpanID [8]byte

// A Part is a part of a task's time: what its goroutines were in.
type Part = pprof.TimePart

// NumParts is the number of parts.
const NumParts = Part(perf.NumParts)

// A Record is that of one task on one server.
type Record struct {
	Server *Server // that the task ran on; tasks of one server share it

	Trace  TraceID
	Span   SpanID
	Parent SpanID // the task that this one is a child of, there or on another server; may be zero
	Kind   string // what kind of task: a handler's pattern, for example
	Flags  Flags

	// Start is by the server's clock, in ns since 1970 UTC. The length is by its monotonic
	// clock, and so are all times within the task, which are in ns since its start.
	Start int64
	Wall  time.Duration

	// Before is the causal clock at the task's start, and After at its end: that of a
	// server's task is the one with which its answer began. One task has happened before
	// another one if its After is before or at the other's Before; see [Clock.Before].
	Before, After Clock

	Usage             // over all goroutines, and children on this server
	Goroutine  uint64 // ID of the goroutine that began the task
	Ender      Ender
	Goroutines int64 // that have worked for it

	Events  []string    // of Count; nil if nothing was counted
	Regions []RegionSum // by name, in the order of their first use
	Notes   []Note
	Calls   []Call // child tasks on this server, in order of their start

	// Timeline is what the task's goroutines waited for, and regions, in order of their
	// start. It is there if the task was slow. Goroutines run in between.
	Timeline []Stretch

	// Outlived are goroutines of the task that had not ended, nor left it, at its end: the
	// first few of Outliving.
	Outlived  []Goroutine
	Outliving int64

	Lost Lost // what is not in the record

	Threshold time.Duration // above which the task is slow; 0 if there is none
	Usual     *Usual        // what such tasks use; nil unless the task was slow
}

// Flags say how a task ended, and why there is a record of it.
type Flags uint16

const (
	Sampled     Flags = 1 << iota // chosen by its trace's ID
	Slow                          // slower than Threshold
	Failed                        // ended in an error: a panic, or a status of 500 and above
	Client                        // a call of another server
	ServerOf                      // works on a call from elsewhere
	Late                          // ended after its parent
	Uncounted                     // counts are missing
	EpochChange                   // there are no counts, as what is counted has changed meanwhile
	Early                         // others that ended later are gone already: those that weren't slow go first
)

// A Server is a process that records tasks.
type Server struct {
	ID     uint16 // in clocks; 0 if it has none
	Name   string
	PID    int
	Events []string // that are counted, all at a time or in turns, when the file began
	Start  int64    // of the process's records, in ns since 1970 UTC
	Boot   string   // ID of the start of its machine, whose processes share a clock; empty if it is not known
}

// A Usage is where time went, and what was counted. It is a sum over goroutines.
type Usage struct {
	Parts       [NumParts]time.Duration
	Measured    time.Duration // see pprof.GoroutineTime
	Switches    int64
	Preemptions int64
	Migrations  int64
	Count       []pprof.CounterValue // by event
}

// An Ender is the goroutine that ended a task.
type Ender struct {
	Goroutine uint64 // its ID; 0 if it is not known

	// Parts is where its own time went while it worked for the task: since it came to do so for
	// the last time. It is zero if it did not, and in a task of one goroutine.
	Parts [NumParts]time.Duration
}

// A Usual is what the tasks of a kind that ended before this one have used on average.
type Usual struct {
	Tasks int64
	Wall  time.Duration
	Usage
}

// A RegionSum sums up the regions of a task that have the same name.
type RegionSum struct {
	Name  string
	N     int64         // how many have ended
	Wall  time.Duration // of all of them
	Max   time.Duration // of the longest
	Usage               // of the goroutines that were in them
}

// A Note is what the program noted about the task. Notes may hold secrets.
type Note struct{ Key, Value string }

// A Call is a child task on the same server: one that calls another server, if Client.
type Call struct {
	Span   SpanID
	Kind   string
	Flags  Flags
	Start  time.Duration // since the task's start
	Wall   time.Duration
	Remote string // what is called: host and port

	// Goroutine is the ID of the goroutine that made the call, and Ender of the one that ended it: the
	// same one, unless what made the call has handed the answer to another. They are 0 if that is not
	// known.
	Goroutine, Ender uint64
}

// A Stretch is a time in which a goroutine of a task waited, or was in a system call, or
// a region. Times are since the task's start.
type Stretch struct {
	Goroutine uint64
	Start     time.Duration // when it began to wait
	Wake      time.Duration // when it had waited, and was runnable; End if OnThread
	End       time.Duration // when it ran again

	// Region is the name if it is a region; then the rest is empty.
	Region string

	Part     Part    // in [Start, Wake)
	Reason   string  // of that, as in stack traces: "chan receive"
	OnThread bool    // it kept its thread: a system call, or work for the collector
	Stack    []Frame // where, innermost first

	// Waker ended the waiting. It is empty if that was a timer or the network poller. It has no task
	// if it only brought what came from the network; see [Record.Disown].
	Waker Waker

	// Behind is what else ran on the thread that the goroutine got, while it was runnable:
	// for so long within [Wake, End). The kind is empty if that is not known.
	BehindKind string
	Behind     time.Duration

	// Stopped is for how long the world was stopped within [Start, End), and StopReason
	// why.
	Stopped    time.Duration
	StopReason string
}

// A Waker is a goroutine that made another one runnable.
type Waker struct {
	Goroutine uint64 // 0 if it was none
	Span      SpanID // the task that it worked for; may be zero
	Kind      string // of that task
	Stack     []Frame
}

// A Frame is a place in the program.
type Frame struct {
	Func string
	File string
	Line int
}

// A Goroutine is one that has outlived a task.
type Goroutine struct {
	ID      uint64
	Func    string // that it began with
	Created Frame  // the go statement
	Part    Part   // what it was in at the task's end
}

// Lost counts what is not in a record, by cause.
type Lost struct {
	Stretches     int64         // that were too many, the shortest ones
	StretchesTime time.Duration // theirs
	Memory        int64         // stretches for which there was no memory
	Regions       int64         // of names that were too many
	Calls         int64         // that were too many, the shortest ones
	Notes         int64         // that were too many or too long
	Before        int64         // records that the ring has lost before this one
	Unfound       int64         // goroutines that nested so many tasks that they did not come back to this one, and children that are too deep
}
