// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"internal/perfevent"
	"internal/runtime/perf"
	"os"
	"strconv"
)

// costEnv tightens the overhead bound. With it a program's profiles can be made to cost
// less, down to 1 percent by the bound's estimate, but not more.
const costEnv = "GO_PPROF_MAX_OVERHEAD"

// perfMaxCost returns the bound's perf.Limits.Cost.
func perfMaxCost() (int, error) {
	s := os.Getenv(costEnv)
	if s == "" {
		return perf.MaxCost, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > perf.MaxCost {
		return 0, &perfevent.SettingError{Name: costEnv, Value: s, Want: fmt.Sprintf("a number of percent from 1 to %d", perf.MaxCost)}
	}
	return n, nil
}
