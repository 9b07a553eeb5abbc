// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"internal/runtime/perf"
	_ "unsafe" // for linkname
)

// Provided by package runtime; see perfcount.go there.

func runtime_perfCountDivision(set perf.SetID, d *perf.Division) (missed uint64, f perf.Failure)

// A countedBy says who has counted the events of [Counters]. The three add up, for each
// event, to what [Counters.Read] would read at the same moment.
type countedBy struct {
	goroutines []CounterValue // accounted goroutines: those that exist and those that have ended
	between    []CounterValue // the scheduler and other goroutines, on threads that these have used
	elsewhere  []CounterValue // other threads
}

// counterDivision is the ledger of accounts: tests hold against it what goroutines say that they
// have counted. Test programs refer to it by its name, and nothing else links it.
//
//go:linkname counterDivision
func counterDivision(c *Counters) (d countedBy, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	set := c.setID()
	if set.Gen == 0 {
		return d, errCountersClosed
	}
	var p perf.Division
	missed, f := runtime_perfCountDivision(set, &p)
	values := func(counts []perf.Count) []CounterValue {
		v := make([]CounterValue, len(c.events))
		c.layout.values(v, counts[:c.slots])
		return v
	}
	return countedBy{values(p.Goroutines[:]), values(p.Between[:]), values(p.Elsewhere[:])}, errMissed(missed, f)
}
