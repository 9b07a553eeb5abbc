// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu

package demo

import (
	"io"
	"runtime/pprof"
	"strings"
)

// start starts a profile by event and returns what stops it.
func start(w io.Writer, event string, period uint64) (stop func(), err error) {
	opt := pprof.PerfEvent(w, event, period)
	switch {
	case event == "timer":
		opt = pprof.OSTimer(w)
	case strings.Contains(event, ",") && !strings.Contains(event, "/"): // PMU/term,term/ is one
		opt = pprof.PerfEvents(w, period, strings.Split(event, ",")...)
	}
	return pprof.StopCPUProfile, pprof.StartCPUProfileWithConfig(opt)
}
