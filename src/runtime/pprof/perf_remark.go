// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"internal/perfevent"
	"internal/runtime/perf"
)

// perfStartError is perfError, of an event that may have its precision from
// the environment.
func perfStartError(e *perfevent.Event, f perf.Failure) error {
	err := &perfOpError{event: e.Name, cause: perfCause(f), err: perfErrno(f)}
	if e.PrecisePreset && e.Attrs[0].Precise > 0 && perfMayBePrecise(f) {
		err.cause += precisionRemark(e.Attrs[0].Precise)
	}
	return err
}

// remarks returns comments about what may surprise in e's profile.
func (e *perfEvent) remarks() []string {
	var lines []string
	if e.precise != nil && !e.PrecisePreset {
		if e.Attrs[0].Precise == 0 {
			lines = append(lines, fmt.Sprintf("%s=%d: ignored, as %s events have no levels of precision", precisionEnv, *e.precise, e.Kind))
		} else {
			lines = append(lines, fmt.Sprintf("%s=%d: ignored, as the event's name has its own level", precisionEnv, *e.precise))
		}
	}
	if s := e.withoutSamples(); s != "" {
		lines = append(lines, s)
	}
	return lines
}

// withoutSamples returns why there are no samples of e, "" if there are.
func (e *perfEvent) withoutSamples() string {
	ledger := e.ledger()
	if ledger.Samples+ledger.Delayed+ledger.InHandler != 0 || ledger.Lost != 0 || e.lostBuffer != 0 {
		return ""
	}
	if why := silentCause(e.Event, ledger.Counted.Value, ledger.Counted.Running); why != "" {
		return "warning: no samples: " + why
	}
	return "no samples: the program was idle, or the event is rarer than its period; try a longer time, a shorter period or another event"
}
