// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package pprof

import (
	"errors"
	"internal/perfevent"
	"internal/runtime/perf"
	"runtime"
)

// perfParse fails: events are sampled on Linux only, and what their names mean
// depends on Linux's sysfs.
func perfParse(name string, precise *int8) (*perfevent.Event, error) {
	return nil, perfError(name, perf.Failure{Op: perf.OpSupport})
}

func perfCause(f perf.Failure) string {
	return "sampling events needs Linux; this is " + runtime.GOOS
}

func perfErrno(f perf.Failure) error { return errors.ErrUnsupported }

func perfMayBePrecise(f perf.Failure) bool { return false }
func perfRefused(f perf.Failure) bool      { return false }

func perfMaxFD() int { return 0 }

func breakpointDead(e *perfevent.Event) bool { return false }

// foreignThreads finds threads that Go did not create, on Linux.
type foreignThreads struct{}

func findForeign() *foreignThreads { return nil }

func (*foreignThreads) end()              {}
func (*foreignThreads) retry(session int) {}
func (*foreignThreads) foundLate() int64  { return 0 }

func kernelSymbol(addr uint64) string   { return "" }
func nameKernel(wanted map[uint64]bool) {}

func silentCause(e *perfevent.Event, counted, running uint64) string { return "" }

// perfEvents returns the events that are the same everywhere, none of which
// can be sampled here.
func perfEvents() []EventInfo {
	var all []EventInfo
	for _, l := range new(perfevent.Resolver).List() {
		info := newEventInfo(&l)
		info.Err = newEventError(perfError(l.Name, perf.Failure{Op: perf.OpSupport}))
		all = append(all, info)
	}
	return all
}

func programVariables() []perfGlobal { return nil }
