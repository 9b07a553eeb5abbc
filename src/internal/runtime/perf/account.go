// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perf

// A Part is a part of a goroutine's time. At each moment a goroutine is in one.
type Part uint8

const (
	PartRunning      Part = iota // on a thread, in Go
	PartPreempted                // the same, but the thread had no CPU
	PartRunnable                 // waiting for a P, or for a thread
	PartSyscall                  // in a system call
	PartC                        // in C
	PartChan                     // waiting for a channel
	PartSelect                   // waiting in a select statement
	PartMutex                    // waiting for a sync.Mutex or RWMutex
	PartSync                     // waiting for a sync.WaitGroup, a Cond, or the runtime's semaphores
	PartNetwork                  // waiting for a descriptor, in the network poller
	PartSleep                    // in time.Sleep
	PartCoroutine                // while the other side of an iter.Pull runs
	PartGC                       // in the garbage collector: assisting, or waiting for it
	PartStopTheWorld             // stopping the world
	PartOther                    // waiting for something else
	NumParts
)

// A GoroutineTime is what a goroutine has used since it is accounted, or the difference
// between two of these. Package runtime/pprof has the same type, whose comments are the
// reference.
type GoroutineTime struct {
	Wall     int64 // ns
	Parts    [NumParts]int64
	Measured int64 // ns of PartRunning and PartPreempted

	Switches    uint64
	Preemptions uint64
	Migrations  uint64
	Waker       uint64 // ID of a goroutine
}

// Sub subtracts an earlier usage from u. The waker stays the latest one.
//
//go:norace
func (u *GoroutineTime) Sub(o *GoroutineTime) {
	u.Wall -= o.Wall
	for i := range u.Parts {
		u.Parts[i] -= o.Parts[i]
	}
	u.Measured -= o.Measured
	u.Switches -= o.Switches
	u.Preemptions -= o.Preemptions
	u.Migrations -= o.Migrations
}

// An OpenInterval is a stretch of a goroutine's execution: an Interval of
// package runtime/pprof, as it is while it is open. The fields are package runtime's.
type OpenInterval struct {
	Account uint64 // which goroutine's; 0 if the interval is not open
	Goid    uint64 // the goroutine's ID, for errors
	Epoch   uint64 // in which it began; see perfAccountEpoch in package runtime
	Nanos   int64  // when it began
	Set     SetID  // of counters; the zero SetID if there is none
	Unread  uint64 // stretches that could not be counted until then

	// What the goroutine had counted. Where Seq is not 0, all times are those of event 0,
	// and Ticks more in package runtime's perfTicks.
	Values [MaxEvents]uint64
	Times  [MaxEvents]struct{ Enabled, Running uint64 }
	Ticks  int64
	Seq    uint32
}

// A SetID names a set of counters, one that is open or was. The zero SetID names
// none.
type SetID struct {
	Set int32
	Gen uint32 // > 0: how often the place Set has been taken
}

// An IntervalError is why an operation on an interval or an account failed.
type IntervalError uint8

const (
	IntervalOK      IntervalError = iota
	IntervalOpen                  // Start of an interval that is open
	IntervalNotOpen               // the end of one that is not
	IntervalOther                 // the end on another goroutine
	IntervalClosed                // the counters have been closed
	IntervalUnread                // counts are missing
)
