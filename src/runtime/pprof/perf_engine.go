// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build pmutest

package pprof

import (
	"fmt"
	"internal/perfevent"
	"io"
	"os"
	"strconv"
)

// With the build tag pmutest, and a line that test.bash adds to it, StartCPUProfile samples the
// event that PMU_TEST_EVENT names, with the period PMU_TEST_PERIOD, in place of the timer. So
// upstream's tests of CPU profiles, and the programs that they build, test this engine. One run
// has one engine: an engine's failure can't hide behind another's success.

// testEngineTap, if set, is called with the writer of each profile and returns the
// writer to use.
var testEngineTap func(w io.Writer) io.Writer

// startTestEngine starts a profile of the event. An event that can't be sampled ends
// the program, as some callers of StartCPUProfile ignore errors.
func startTestEngine(w io.Writer) error {
	if testEngineTap != nil {
		w = testEngineTap(w)
	}
	period, err := uint64(0), error(nil)
	if s := os.Getenv("PMU_TEST_PERIOD"); s != "" {
		period, err = strconv.ParseUint(s, 0, 64)
	}
	if err == nil {
		err = StartCPUProfileWithConfig(testEngineOption{w, os.Getenv("PMU_TEST_EVENT"), period})
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pmutest:", err)
		os.Exit(2)
	}
	return nil
}

// A testEngineOption is PerfEvent of an event that upstream's tests take for CPU time:
// on the emulated machine (misc/pmu/vm) a cycle takes a nanosecond.
type testEngineOption struct {
	w      io.Writer
	name   string
	period uint64
}

func (o testEngineOption) apply(s *perfSession) error {
	event, err := perfParseSampled(o.name)
	if err != nil {
		return err
	}
	if event.Kind == perfevent.Hardware {
		event.Unit = "nanoseconds"
	}
	p := &perfProfile{w: o.w}
	s.profiles = append(s.profiles, p)
	return s.add(p, event, o.period)
}
