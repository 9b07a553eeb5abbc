// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package testdeps

import (
	"errors"
	"fmt"
	"internal/perfevent"
	"io"
	"runtime/pprof"
)

// StartCPUProfileEvents starts a profile of the events in the list, separated
// by commas, or of the timer. See testing's flag -test.cpuprofileevent.
func (TestDeps) StartCPUProfileEvents(w io.Writer, list string, period int64, data bool) error {
	events := perfevent.Split(list)
	for _, e := range events {
		if e == perfevent.Timer && len(events) > 1 {
			return errors.New("the timer has a profile of its own; leave it out of -test.cpuprofileevent=" + list)
		}
	}
	if list == perfevent.Timer {
		return pprof.StartCPUProfile(w)
	}
	opt := pprof.PerfEvents(w, uint64(period), events...)
	if data {
		opt = pprof.DataAddresses(opt)
	}
	err := pprof.StartCPUProfileWithConfig(opt)
	if e, ok := errors.AsType[*perfevent.Error](err); ok && e.Kind != perfevent.ErrUnsupported {
		return fmt.Errorf("%w; events are %s, rHEX, and all that perf list shows", err, perfevent.FlagNames())
	}
	return err
}
