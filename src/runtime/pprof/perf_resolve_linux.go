// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"internal/perfevent"
	"os"
	"runtime"
)

// perfResolver returns what gives names of events their meaning on this machine and in
// this program. precise is perfevent.Resolver.Precise.
func perfResolver(precise *int8) *perfevent.Resolver {
	sys := perfevent.TestSys
	if sys == nil {
		sys = os.DirFS("/sys")
	}
	return &perfevent.Resolver{
		Sys:     sys,
		Tracefs: os.DirFS("/sys/kernel/tracing"),
		Symbol:  perfSymbol,
		GOARCH:  runtime.GOARCH,
		Precise: precise,
	}
}

// perfParse returns the event that name names on this machine, in this program, with
// the given precision.
func perfParse(name string, precise *int8) (*perfevent.Event, error) {
	return perfResolver(precise).Parse(name)
}
