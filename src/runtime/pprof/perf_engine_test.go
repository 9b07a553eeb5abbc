// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The sampling engine under test.
//
// The tests of CPU profiles that upstream has can run with every engine that
// samples. PMU_TEST_EVENT names an event for PerfEvent, PMU_TEST_PERIOD its
// period. Without them the tests sample the timer, as upstream does. One run
// has one engine, so that an engine's failure can't hide behind another's
// success.

//go:build !js

package pprof

import (
	"bytes"
	"fmt"
	"internal/profile"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// testEvent is the event that tests sample, or "" for the timer.
var testEvent = os.Getenv("PMU_TEST_EVENT")

// engineProfiles are the profiles that tests took of testEvent. Whether a
// profile is empty is not for every one of those tests to notice: some look
// only for what must not be there. TestMain looks at all of them.
var engineProfiles struct {
	sync.Mutex
	list []*engineProfile
}

// An engineProfile is a copy of what was written to a test's profile.
type engineProfile struct {
	test string // function that started the profile
	w    io.Writer
	buf  bytes.Buffer
}

func (p *engineProfile) Write(b []byte) (int, error) {
	engineProfiles.Lock()
	p.buf.Write(b)
	engineProfiles.Unlock()
	return p.w.Write(b)
}

// startCPUProfile is StartCPUProfile with the engine under test.
func startCPUProfile(w io.Writer) error {
	if testEvent == "" {
		return StartCPUProfile(w)
	}
	p := &engineProfile{w: w, test: "a test"}
	if pc, _, _, ok := runtime.Caller(1); ok {
		p.test = runtime.FuncForPC(pc).Name()
	}
	period, err := testPeriod()
	if err == nil {
		err = StartCPUProfileWithConfig(PerfEvent(p, testEvent, period))
	}
	if err == nil {
		engineProfiles.Lock()
		engineProfiles.list = append(engineProfiles.list, p)
		engineProfiles.Unlock()
	}
	return err
}

func testPeriod() (uint64, error) {
	s := os.Getenv("PMU_TEST_PERIOD")
	if s == "" {
		return 0, nil
	}
	return strconv.ParseUint(s, 0, 64)
}

// timeUnit is the unit in which the engine under test measures CPU time. On
// the emulated machine (misc/pmu/vm) a cycle takes 1 ns.
func timeUnit() string {
	if strings.HasPrefix(testEvent, "cycles") {
		return "count"
	}
	return "nanoseconds"
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := checkEngine(); err != nil {
		fmt.Fprintf(os.Stderr, "FAIL: engine %s: %v\n", testEvent, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// checkEngine reports what is wrong with the profiles that the tests took,
// regardless of what is in them: whether they are of the event under test and
// have samples.
func checkEngine() error {
	engineProfiles.Lock()
	defer engineProfiles.Unlock()
	for _, ep := range engineProfiles.list {
		if ep.buf.Len() == 0 {
			continue // the test has failed before the profile was stopped
		}
		p, err := profile.Parse(bytes.NewReader(ep.buf.Bytes()))
		if err != nil {
			return fmt.Errorf("profile of %s: %v", ep.test, err)
		}
		if e, err := perfParse(testEvent, nil); err != nil || p.Comments[0] != "event: "+e.Name {
			return fmt.Errorf("profile of %s has %s, %v", ep.test, p.Comments[0], err)
		}
		var n int64
		for _, s := range p.Sample {
			n += s.Value[0]
		}
		if n == 0 {
			return fmt.Errorf("profile of %s has no samples; comments:\n\t%s", ep.test, strings.Join(p.Comments, "\n\t"))
		}
		if err := ledgerError(p); err != nil {
			return fmt.Errorf("profile of %s: %v; comments:\n\t%s", ep.test, err, strings.Join(p.Comments, "\n\t"))
		}
	}
	return nil
}

// ledgerError reports whether the ledger in the comments of an event's profile
// does not balance: the profile must have what the ledger says was sampled and
// lost, to the event, and that must be what the counters counted, to a period
// per thread that was sampled. (The latter can't be said where counters could not be
// read, where overflows were told apart by reading them, and of a breakpoint that was
// stopped in the middle. Values of a multiplexed event are scaled.)
func ledgerError(p *profile.Profile) error {
	if len(p.SampleType) != 2 || p.SampleType[0].Type != "samples" {
		return nil // several events in one profile
	}
	ledger := perfLedger(p)
	if _, ok := ledger["multiplexed"]; ok {
		return nil
	}
	if _, ok := ledger["counted"]; !ok {
		return fmt.Errorf("no ledger")
	}
	var events int64
	for _, s := range p.Sample {
		events += s.Value[1]
	}
	period := max(ledger["period"], ledger["longest period"])
	if want := ledger["sampled"] + ledger["lost"]; events != want {
		return fmt.Errorf("the profile has %d events, the ledger %d", events, want)
	}
	if ledgerPartial(ledger) {
		return nil
	}
	residual := ledger["counted"] - ledger["replayed"] - events
	if rest, ok := ledger["not sampled"]; ok {
		residual = min(residual, residual-rest)
	}
	if slack := ledger["threads"] * period; residual > slack || residual < -slack {
		return fmt.Errorf("counted and recorded events differ by %d, which is more than a period for each thread, %d", residual, slack)
	}
	return nil
}

// ledgerPartial reports whether what the counters counted of an event need not be what
// its profile has.
func ledgerPartial(ledger map[string]int64) bool {
	return ledger["unread"]+ledger["threads without a ring"]+ledger["threads stopped"] > 0
}

// perfLedger returns the numbers in the comments of a profile, by their keys; see
// perf_ledger.go. An event that several PMUs count has a number of each, of which this is
// the sum.
func perfLedger(p *profile.Profile) map[string]int64 {
	ledger := make(map[string]int64)
	for _, c := range p.Comments {
		key, value, _ := strings.Cut(strings.TrimPrefix(c, "warning: "), ": ")
		number, _, _ := strings.Cut(value, " ")
		number, _, _ = strings.Cut(number, ".")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			ledger[key] += n
		}
	}
	return ledger
}
