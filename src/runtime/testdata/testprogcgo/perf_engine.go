// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strconv"
)

// startCPUProfile starts a CPU profile with the sampling engine under test:
// the event in PMU_TEST_EVENT, with the period in PMU_TEST_PERIOD, or the
// timer without them. See runtime/pprof/perf_engine_test.go.
//
// An event that can't be sampled ends the program: some callers ignore errors.
func startCPUProfile(w io.Writer) error {
	event := os.Getenv("PMU_TEST_EVENT")
	if event == "" {
		return pprof.StartCPUProfile(w)
	}
	var period uint64
	var err error
	if s := os.Getenv("PMU_TEST_PERIOD"); s != "" {
		period, err = strconv.ParseUint(s, 0, 64)
	}
	if err == nil {
		err = pprof.StartCPUProfileWithConfig(pprof.PerfEvent(w, event, period))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	return nil
}
