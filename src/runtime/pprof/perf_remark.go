// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"fmt"
	"internal/perfevent"
	"internal/runtime/perf"
	"os"
)

// precisionEnv is the level of precision, 0 to 3, of events that have levels
// and whose name asks for none. The programs that show the prototype of
// proposal 36821 set it to 3, "if needed and supported". The prototype knew
// no modifiers, which are the better way to ask: but who has set the variable
// expects it to do something.
const precisionEnv = "GO_PPROF_PRECISION"

// perfPrecision returns what precisionEnv asks for, nil if it is not set.
func perfPrecision() (*int8, error) {
	s := os.Getenv(precisionEnv)
	if s == "" {
		return nil, nil
	}
	if len(s) != 1 || s[0] < '0' || s[0] > '3' {
		return nil, &perfevent.SettingError{Name: precisionEnv, Value: s, Want: "a level of precision from 0 to 3"}
	}
	level := int8(s[0] - '0')
	return &level, nil
}

// perfParseSampled is perfParse for an event that is to be sampled.
func perfParseSampled(name string) (*perfevent.Event, error) {
	level, err := perfPrecision()
	if err != nil {
		return nil, err
	}
	e, err := perfParse(name, level)
	if err == nil || level == nil {
		return e, err
	}
	if pe, ok := errors.AsType[*perfevent.Error](err); ok {
		if _, err := perfParse(name, nil); err == nil {
			pe.Reason += precisionRemark(*level)
		}
	}
	return nil, err
}

func precisionRemark(level int8) string {
	return fmt.Sprintf("; it is %s=%d that asks for this precision", precisionEnv, level)
}

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
	if ledger.Samples != 0 || ledger.Lost != 0 || e.lostBuffer != 0 {
		return ""
	}
	if why := silentCause(e.Event, ledger.Counted.Value, ledger.Counted.Running); why != "" {
		return "warning: no samples: " + why
	}
	return "no samples: the program was idle, or the event is rarer than its period; try a longer time, a shorter period or another event"
}
