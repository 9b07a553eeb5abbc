// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perf

// A TaskID names a task of this process, one that has not been given up or was. The zero
// TaskID names none.
type TaskID struct {
	Task   uintptr // package runtime's
	Serial uint64  // > 0: which use of that memory
}

// A TaskUsage is what the goroutines of a task, and of its children, have used.
type TaskUsage struct {
	GoroutineTime
	Counts [MaxEvents]Count

	Goroutines uint64 // that have worked for it
	Working    uint64 // of them, that have neither ended nor left it; at its end without the one that began it
	Outlives   uint64 // that no task has any more, as of its end
	Unread     uint64 // stretches on a thread that could not be counted

	// At the end of the task, the goroutine that ended it, and where that one's own time went
	// while it worked for the task: since it came to do so for the last time. Ender is zero if it
	// did not, or if no other goroutine has worked for the task: then it is Parts.
	EndedBy uint64
	Ender   [NumParts]int64

	Stretches    int      // in its log
	Short        int64    // that were too many, the shortest ones
	ShortNanos   int64    // theirs
	NoMemory     int64    // for which there was no memory
	Unfound      int64    // goroutines that nested so many tasks that they did not come back to this one, and children that are too deep
	Trace        [16]byte // of the request; stored by who ends the task, for TaskEnd
	Began, Ended int64    // by the monotonic clock; Ended is now, if it has not
}

// AddSince adds to u what now is more than then, but for Wall and Waker. Each end of a task
// comes here. The parts are written out, as a loop over them takes nearly twice as long.
//
//go:norace
func (u *GoroutineTime) AddSince(now, then *GoroutineTime) {
	p, n, t := &u.Parts, &now.Parts, &then.Parts
	p[PartRunning] += n[PartRunning] - t[PartRunning]
	p[PartPreempted] += n[PartPreempted] - t[PartPreempted]
	p[PartRunnable] += n[PartRunnable] - t[PartRunnable]
	p[PartSyscall] += n[PartSyscall] - t[PartSyscall]
	p[PartC] += n[PartC] - t[PartC]
	p[PartChan] += n[PartChan] - t[PartChan]
	p[PartSelect] += n[PartSelect] - t[PartSelect]
	p[PartMutex] += n[PartMutex] - t[PartMutex]
	p[PartSync] += n[PartSync] - t[PartSync]
	p[PartNetwork] += n[PartNetwork] - t[PartNetwork]
	p[PartSleep] += n[PartSleep] - t[PartSleep]
	p[PartCoroutine] += n[PartCoroutine] - t[PartCoroutine]
	p[PartGC] += n[PartGC] - t[PartGC]
	p[PartStopTheWorld] += n[PartStopTheWorld] - t[PartStopTheWorld]
	p[PartOther] += n[PartOther] - t[PartOther]
	u.Measured += now.Measured - then.Measured
	u.Switches += now.Switches - then.Switches
	u.Preemptions += now.Preemptions - then.Preemptions
	u.Migrations += now.Migrations - then.Migrations
}

// Add adds o to u, but for Wall and Waker. Each region's end comes here; see AddSince.
//
//go:norace
func (u *GoroutineTime) Add(o *GoroutineTime) {
	p, n := &u.Parts, &o.Parts
	p[PartRunning] += n[PartRunning]
	p[PartPreempted] += n[PartPreempted]
	p[PartRunnable] += n[PartRunnable]
	p[PartSyscall] += n[PartSyscall]
	p[PartC] += n[PartC]
	p[PartChan] += n[PartChan]
	p[PartSelect] += n[PartSelect]
	p[PartMutex] += n[PartMutex]
	p[PartSync] += n[PartSync]
	p[PartNetwork] += n[PartNetwork]
	p[PartSleep] += n[PartSleep]
	p[PartCoroutine] += n[PartCoroutine]
	p[PartGC] += n[PartGC]
	p[PartStopTheWorld] += n[PartStopTheWorld]
	p[PartOther] += n[PartOther]
	u.Measured += o.Measured
	u.Switches += o.Switches
	u.Preemptions += o.Preemptions
	u.Migrations += o.Migrations
}

// The counts of tasks of a kind that have ended, for the samples of that kind.
const (
	RootUsual = iota // no child of another, and not slow
	RootSlow         // ditto, slow
	RootOther        // children, and those whose samples are of another kind
	NumRootCounts

	MaxTaskRoots = 1 << 10 // more than there are kinds
)

// A TaskEnd is the end of a task of which there may be samples.
type TaskEnd struct {
	Task  uint64 // its number
	Next  uint64 // of the task above it for whose end its samples wait now, or 0
	Trace [16]byte
	Slow  bool // it was slow, or one above it; then Next is 0
}

const (
	MaxStretchStack   = 12 // frames kept of where a goroutine waited
	MaxWakerStack     = 12 // ditto, of who ended that; up to 8 of them are how package sync does it
	MaxTaskStretches  = 128
	TaskStretchChunk  = 8 // stretches are allocated so many at once
	MaxTaskDepth      = 16
	MaxTaskGoroutines = 16 // whose names are kept that outlive a task

	// TaskKindMask has the bits of a sample's time stamp that have the kind of the task for
	// which the goroutine worked, or 0. There are fewer kinds.
	TaskKindMask = 1<<16 - 1
)

// A TaskStretch is a time in which a goroutine of a task waited, or was in a system call or
// the like. Times are by the monotonic clock, in ns, when it is read; in the log they are
// package runtime's ticks.
type TaskStretch struct {
	Goid  uint64
	Start int64 // it began to wait
	Wake  int64 // it was runnable
	End   int64 // it ran

	Part     Part
	Reason   uint8 // a wait reason of package runtime, if it has one
	OnThread bool
	Stop     uint8 // why the world was stopped; see Stopped

	WakerKind  uint32
	BehindKind uint32
	StackLen   uint8
	WakerLen   uint8

	Waker      uint64 // goroutine
	WakerSpan  uint64
	BehindSpan uint64 // the latest task of BehindKind that had the P
	Behind     int64  // in [Wake, End), so long a goroutine of a task of BehindKind had the P
	Stopped    int64  // in [Start, End), so long the world was stopped

	Stack      [MaxStretchStack]uintptr // return addresses, without those that are inlined
	WakerStack [MaxWakerStack]uintptr
}

// A TaskGoroutine is one that has outlived a task.
type TaskGoroutine struct {
	Goid    uint64
	Start   uintptr // PC of the function that it began with
	Created uintptr // return PC of the go statement
	Part    Part
}

// A TaskConfig says how tasks are followed.
type TaskConfig struct {
	Least  int64 // ns: shorter stretches are not logged
	Memory int   // bytes for the logs of all tasks together
}

// The rings that each P has for records of tasks.
const (
	TaskRing     = iota // all that are chosen
	SlowTaskRing        // slow ones, with their logs
	NumTaskRings
)

const (
	MaxTaskProcs    = 512 // Ps that have rings of their own
	SharedTaskProcs = 16  // have the rings that all others share
	AllTaskRings    = (MaxTaskProcs + SharedTaskProcs) * NumTaskRings
	MaxTaskRing     = 512 << 20 // bytes of a ring, at most
	TaskHeader      = 2         // words that a ring has before each record
)
