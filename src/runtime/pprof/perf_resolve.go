// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"fmt"
	"internal/perfevent"
	"os"
)

// precisionEnv is the level of precision, 0 to 3, of events that have levels and whose
// name asks for none. The programs that show the prototype of proposal 36821 set it to
// 3, "if needed and supported". The prototype knew no modifiers, which are the better
// way to ask, but whoever sets the variable expects it to do something.
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
