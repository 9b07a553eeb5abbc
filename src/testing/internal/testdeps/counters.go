// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package testdeps

import (
	"internal/perfevent"
	"internal/runtime/perf"
	"runtime/pprof"
)

// OpenCounters starts counting the events in the list, separated by commas.
// See testing's flag -test.counters.
func (TestDeps) OpenCounters(list string) (names, units []string, read func([]perf.Count) error, close func() error, err error) {
	c, err := pprof.OpenCounters(perfevent.Split(list)...)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	for _, e := range c.Events() {
		names = append(names, e.Name)
		units = append(units, e.Unit)
	}
	values := make([]pprof.CounterValue, len(names))
	read = func(dst []perf.Count) error {
		err := c.Read(values)
		for i, v := range values {
			dst[i] = perf.Count{Value: v.Value, Enabled: uint64(v.Enabled), Running: uint64(v.Running)}
		}
		return err
	}
	return names, units, read, c.Close, nil
}
