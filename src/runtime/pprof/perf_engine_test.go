// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !js

package pprof

import (
	"bytes"
	"errors"
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

// testEvent is the event that upstream's tests sample, or "" for the timer. See
// perf_engine.go.
var testEvent = os.Getenv("PMU_TEST_EVENT")

// engineProfiles are the profiles that tests took of testEvent.
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

// tapEngine keeps a copy of what is written to a profile.
func tapEngine(w io.Writer) io.Writer {
	p := &engineProfile{w: w, test: "a test"}
	var pcs [8]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(4, pcs[:])])
	if f, _ := frames.Next(); f.Function != "" {
		p.test = f.Function // the caller of StartCPUProfile
	}
	engineProfiles.Lock()
	engineProfiles.list = append(engineProfiles.list, p)
	engineProfiles.Unlock()
	return p
}

func testPeriod() (uint64, error) {
	s := os.Getenv("PMU_TEST_PERIOD")
	if s == "" {
		return 0, nil
	}
	return strconv.ParseUint(s, 0, 64)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if err := checkEngine(); err != nil {
		fmt.Fprintf(os.Stderr, "FAIL: engine %s: %v\n", testEvent, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// checkEngine reports what is wrong with the profiles that the tests took of
// testEvent, regardless of what is in them: whether there are any, are of that event
// and have samples. Not every test would notice: some look only for what must not be
// there.
func checkEngine() error {
	engineProfiles.Lock()
	defer engineProfiles.Unlock()
	switch {
	case testEvent == "":
		return nil
	case len(engineProfiles.list) == 0:
		return errors.New("no test took a profile of it; are they built as test.bash does?")
	}
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
