// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"internal/perfevent"
	"internal/runtime/perf"
	"syscall"
)

// A perfOpError is an event that could not be sampled. It unwraps to the
// kernel's errno, or to errors.ErrUnsupported where there are no perf events.
type perfOpError struct {
	event string
	cause string
	err   error
}

func (e *perfOpError) Error() string {
	return "cpu profile: event " + e.event + ": " + e.cause
}

func (e *perfOpError) Unwrap() error { return e.err }

// errInUse is the error if a CPU profile is running already. It has the text of
// StartCPUProfile's error, which programs know, and unwraps to EBUSY, as does the error
// for events that other sessions have taken.
var errInUse error = inUseError{}

type inUseError struct{}

func (inUseError) Error() string { return "cpu profiling already in use" }
func (inUseError) Unwrap() error { return syscall.EBUSY }

// deadError returns the error for a breakpoint that is never hit.
func deadError(e *perfevent.Event) error {
	return &perfOpError{event: e.Name, err: errors.ErrUnsupported,
		cause: "the machine accepts breakpoints but does not stop at them, as some virtual machines do; use another machine"}
}

// A causeError is why something failed: the sentence that perfCause has for it, and the
// error number.
type causeError struct {
	cause string
	err   error
}

func cause(f perf.Failure) error { return causeError{perfCause(f), perfErrno(f)} }

func (e causeError) Error() string { return e.cause }
func (e causeError) Unwrap() error { return e.err }

// perfError returns the error for an event that the runtime could not start.
func perfError(event string, f perf.Failure) error {
	return &perfOpError{event: event, cause: perfCause(f), err: perfErrno(f)}
}
