// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"fmt"
	"internal/runtime/perf"
	"iter"
	"runtime"
	"time"
	"unsafe"
)

// Provided by package runtime; see perfinterval.go there.

//go:noescape
func runtime_perfAccountRead(u *perf.GoroutineTime)
func runtime_perfAccountRunning() int64
func runtime_perfAccountCPU(always bool) (supported bool)

// A TimePart is a part of a goroutine's time. At each moment a goroutine is in exactly
// one.
type TimePart uint8

const (
	TimeRunning      TimePart = iota // on a thread, in Go; see [GoroutineTime]
	TimePreempted                    // the same, but the operating system gave the thread no CPU; also in a system call that did not sleep
	TimeRunnable                     // could run, but others do
	TimeSyscall                      // in a system call
	TimeC                            // in C
	TimeChan                         // waiting for a channel
	TimeSelect                       // waiting in a select statement
	TimeMutex                        // waiting for a sync.Mutex or a sync.RWMutex
	TimeSync                         // waiting for a sync.WaitGroup, a sync.Cond, or a semaphore of the runtime
	TimeNetwork                      // waiting for a descriptor, in the network poller
	TimeSleep                        // in time.Sleep
	TimeCoroutine                    // waiting while the other side of an iter.Pull runs
	TimeGC                           // helping the garbage collector, or waiting for it
	TimeStopTheWorld                 // stopping the world
	TimeOther                        // waiting for something else

	numTimeParts // later releases may have more
)

var timePartNames = [numTimeParts]string{
	TimeRunning:      "running",
	TimePreempted:    "preempted",
	TimeRunnable:     "runnable",
	TimeSyscall:      "syscall",
	TimeC:            "C",
	TimeChan:         "chan",
	TimeSelect:       "select",
	TimeMutex:        "mutex",
	TimeSync:         "sync",
	TimeNetwork:      "network",
	TimeSleep:        "sleep",
	TimeCoroutine:    "coroutine",
	TimeGC:           "GC",
	TimeStopTheWorld: "stop-the-world",
	TimeOther:        "other",
}

// String returns the part's name: "running", "preempted", and so on.
func (p TimePart) String() string {
	if p < numTimeParts {
		return timePartNames[p]
	}
	return fmt.Sprintf("TimePart(%d)", uint8(p))
}

// TimeParts returns an iterator over all parts, in their order. Later releases may have more.
func TimeParts() iter.Seq[TimePart] {
	return func(yield func(TimePart) bool) {
		for p := range numTimeParts {
			if !yield(p) {
				return
			}
		}
	}
}

// A GoroutineTime says where a goroutine's time went since it is accounted, or in an
// [Interval].
//
// A goroutine is accounted from its first call of [ReadGoroutineTime], [RunningTime],
// [MeasureCPUTime] or [Counters.Goroutine] until it ends, and while one of its
// intervals is open; and so is, from its start to its end, each goroutine that an
// accounted one starts.
type GoroutineTime struct {
	// Wall is the time on the clock. It is the sum of the parts; see [GoroutineTime.Part].
	Wall  time.Duration
	parts [numTimeParts]time.Duration

	// Measured is for how much of the parts TimeRunning and TimePreempted it is
	// known whether the goroutine's thread had a CPU. For the rest, all time on a
	// thread counts as running. If all of it is measured, TimeRunning is CPU
	// time; otherwise it is an upper bound. See [MeasureCPUTime].
	Measured time.Duration

	Switches    uint64 // how often the goroutine has got a thread
	Preemptions uint64 // how often it had to give its thread to others
	Migrations  uint64 // how often it got another thread than the one before

	// Waker is the ID of the goroutine that has last ended the goroutine's waiting, or has
	// started it, and 0 if that was a timer or the network poller. (That a goroutine looks
	// after, when it starts the world again.) A switch of an iter.Pull wakes nobody. IDs
	// are those of stack traces. In an interval it is that of the interval's end.
	Waker uint64
}

// Part returns a part of Wall. It is 0 for a part that this release does not have.
func (t *GoroutineTime) Part(p TimePart) time.Duration {
	if p < numTimeParts {
		return t.parts[p]
	}
	return 0
}

// usage returns t as the runtime fills it. The two types have the same fields.
func (t *GoroutineTime) usage() *perf.GoroutineTime { return (*perf.GoroutineTime)(unsafe.Pointer(t)) }

//go:linkname timeUsage runtime/task.pprof_timeUsage
func timeUsage(t *GoroutineTime) *perf.GoroutineTime { return t.usage() }

// ReadGoroutineTime stores in t where the time of the calling goroutine went since it is
// accounted, which it is from now on if it was not. It does not allocate memory, except
// that of the account in the first call.
func ReadGoroutineTime(t *GoroutineTime) { runtime_perfAccountRead(t.usage()) }

// RunningTime returns how long the calling goroutine has been running since it is
// accounted, which it is from now on if it was not. It never decreases. It is
// the part TimeRunning of [ReadGoroutineTime], except that, on a thread on which neither
// that nor an [Interval] has been used yet, it includes time without a CPU.
func RunningTime() time.Duration { return time.Duration(runtime_perfAccountRunning()) }

// MeasureCPUTime sets whether, for the calling goroutine and those that it starts from
// now on, it is always found out if their threads have a CPU, so that
// the part TimePreempted is complete and TimeRunning is CPU time. Otherwise it is
// found out at the ends of an [Interval] and by [ReadGoroutineTime], and known from there
// on until the goroutine next leaves its thread, makes a system call or calls C. While a
// goroutine works for a task of package runtime/task, times of more than a millisecond
// without a CPU are known on Linux without that.
//
// It costs a system call each time that the goroutine gets a thread or leaves it, or
// makes a system call or calls C or returns from that, if the thread was without a CPU in
// between. On a thread on which no account has been read yet, and if the process may not
// open perf events (perf_event_open(2)), it always costs one.
//
// It is supported on Linux. Elsewhere the error wraps [errors.ErrUnsupported].
func MeasureCPUTime(on bool) error {
	if !runtime_perfAccountCPU(on) {
		return fmt.Errorf("pprof: the CPU time of goroutines is measured on Linux only; this is %s: %w", runtime.GOOS, errors.ErrUnsupported)
	}
	return nil
}
