// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package testing

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// initEventFlags registers the flags that name events.
func initEventFlags() {
	initCPUProfileFlags()
	initCounterFlags()
}

// checkEventFlags reports whether nothing is wrong with these flags. Otherwise
// it says what, sets the exit code, and no test runs.
func (m *M) checkEventFlags() bool {
	err := checkCPUProfileFlags()
	if err == nil {
		err = m.checkCounterFlags()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testing:", err)
		m.exitCode = 2
	}
	return err == nil
}

// The flags that choose what -test.cpuprofile samples (proposal 36821, section
// 4.5). What an event is called, and whether it can be sampled here, is not
// known to this package: see startCPUProfile.

var (
	// Flags, registered during Init.
	cpuProfileEvent  *string
	cpuProfilePeriod *int64
	cpuProfileData   *bool
)

// timerEvent is the OS timer, which -test.cpuprofile samples by default.
const timerEvent = "timer"

func initCPUProfileFlags() {
	cpuProfileEvent = flag.String("test.cpuprofileevent", timerEvent, "sample `events`, separated by commas, for -test.cpuprofile")
	cpuProfilePeriod = flag.Int64("test.cpuprofileperiod", 0, "take a sample every `n` events for -test.cpuprofile (default 0, the event's preset)")
	cpuProfileData = flag.Bool("test.cpuprofiledata", false, "have the samples of -test.cpuprofileevent say what they accessed")
}

// checkCPUProfileFlags reports flags that make no sense, whatever the events are. A flag
// that would have no effect is an error, so that nobody waits for a profile in vain.
func checkCPUProfileFlags() error {
	switch {
	case *cpuProfilePeriod < 0:
		return fmt.Errorf("-test.cpuprofileperiod=%d is negative; give a number of events between two samples, or 0 for the event's preset", *cpuProfilePeriod)
	case *cpuProfileData && (*cpuProfile == "" || *cpuProfileEvent == timerEvent):
		return errors.New("-test.cpuprofiledata needs -test.cpuprofile and -test.cpuprofileevent")
	case *cpuProfile != "":
		return nil
	case *cpuProfileEvent != timerEvent:
		return fmt.Errorf("-test.cpuprofileevent=%s needs -test.cpuprofile", *cpuProfileEvent)
	case *cpuProfilePeriod != 0:
		return fmt.Errorf("-test.cpuprofileperiod=%d needs -test.cpuprofile", *cpuProfilePeriod)
	}
	return nil
}

// eventProfiler is what a testDeps also implements that can sample events. It
// is not part of testDeps, which programs other than those that the go command
// makes implement too.
type eventProfiler interface {
	StartCPUProfileEvents(w io.Writer, events string, period int64, data bool) error
}

// startCPUProfile starts the CPU profile that the flags ask for. If the timer fails, the
// tests run without a profile, as upstream's do. An event was asked for explicitly, and
// perhaps cannot be sampled on this machine at all. So its failure ends the program
// before any test has run.
func (m *M) startCPUProfile(f *os.File) error {
	if *cpuProfileEvent == timerEvent {
		return m.deps.StartCPUProfile(f)
	}
	err := fmt.Errorf("cannot use -test.cpuprofileevent: %T has no method StartCPUProfileEvents", m.deps)
	if p, ok := m.deps.(eventProfiler); ok {
		err = p.StartCPUProfileEvents(f, *cpuProfileEvent, *cpuProfilePeriod, *cpuProfileData)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "testing: can't start cpu profile: %s\n", strings.TrimPrefix(err.Error(), "cpu profile: "))
		f.Close()
		os.Remove(f.Name()) // not a profile
		os.Exit(2)
	}
	return nil
}
