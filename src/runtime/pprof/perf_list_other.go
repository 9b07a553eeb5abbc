// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package pprof

import (
	"internal/perfevent"
	"internal/runtime/perf"
)

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
