// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package perf holds the plain data that package runtime and its users
// (internal/perfevent, runtime/pprof, testing) exchange about
// performance-monitoring events: what to sample or count, why that failed, and
// the ledger of what was sampled. It has no dependencies, so that both sides
// share one definition.
//
// Package runtime calls the methods on system stacks and in signal handlers, where
// the race detector's calls would crash: hence go:norace, which keeps the other
// sanitizers' calls out, too.
package perf

// An Op is a step of arming a thread that the kernel can refuse.
type Op uint8

const (
	OpNone    Op = iota
	OpSupport    // this GOOS has no perf events
	OpOpen       // perf_event_open(2)
	OpSignal     // fcntl(2) F_SETOWN_EX, F_SETSIG, O_ASYNC
	OpRing       // sharing the thread's ring, PERF_EVENT_IOC_SET_OUTPUT
	OpControl    // PERF_EVENT_IOC_ID, PERF_EVENT_IOC_ENABLE
	OpBusy       // other sessions have taken the slots
	OpWatch      // another session samples the same executions
	OpBuffer     // memory for the event's buffer
)

// A Failure says which step failed for which event. The zero Failure is success.
type Failure struct {
	Slot  int // index of the event in the request
	Op    Op
	Errno int32 // errno from the kernel
}
