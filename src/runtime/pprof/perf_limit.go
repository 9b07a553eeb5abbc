// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"fmt"
	"internal/perfevent"
	"internal/runtime/perf"
	"os"
	"runtime"
	"strconv"
)

// costEnv sets the overhead bound. With it the owner of a program can make profiles cost
// less, down to 1 percent by the bound's estimate, or allow them more, so that they keep
// to periods that are short for the machine. Nothing that a client can ask for does that.
const costEnv = "GO_PPROF_MAX_OVERHEAD"

// perfMaxCost returns the bound's perf.Limits.Cost.
func perfMaxCost() (int, error) {
	s := os.Getenv(costEnv)
	switch s {
	case "":
		return perf.MaxCost, nil
	case "off":
		return perf.NoMaxCost, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > perf.NoMaxCost {
		return 0, &perfevent.SettingError{Name: costEnv, Value: s, Want: fmt.Sprintf("a number of percent from 1 to %d, or off", perf.NoMaxCost)}
	}
	return n, nil
}

// stacksEnv says who finds the stacks of samples, where both can.
const stacksEnv = "GO_PPROF_STACKS"

// perfChains returns perf.Limits.Chains. On arm64 the kernel's stacks save little where
// stacks are deep, and end where the system stack begins.
func perfChains() (bool, error) {
	switch s := os.Getenv(stacksEnv); s {
	case "":
		return runtime.GOARCH == "amd64", nil
	case "signal":
		return false, nil
	case "kernel":
		return true, nil
	default:
		return false, &perfevent.SettingError{Name: stacksEnv, Value: s, Want: "signal or kernel"}
	}
}
