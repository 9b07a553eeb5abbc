// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"errors"
	"internal/profile"
	"internal/runtime/perf"
	"io"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestEvents checks the list against what StartCPUProfileWithConfig says.
func TestEvents(t *testing.T) {
	seen := make(map[string]bool)
	for _, e := range Events() {
		for _, name := range append([]string{e.Name}, e.Aliases...) {
			if seen[name] {
				t.Errorf("%s is there twice", name)
			}
			seen[name] = true
		}
		if e.Sampled && e.Err != nil {
			t.Errorf("%s was sampled, but: %v", e.Name, e.Err)
		}
		if e.Kind == "" || e.Desc == "" && e.Kind != "PMU" {
			t.Errorf("%s: kind %q, description %q", e.Name, e.Kind, e.Desc)
		}
		err := StartCPUProfileWithConfig(PerfEvent(io.Discard, e.Name, 0))
		if err == nil {
			StopCPUProfile()
		}
		switch {
		case err == nil && e.Err == nil:
			if e.Period == 0 {
				t.Errorf("%s: no period", e.Name)
			}
		case err == nil:
			// Opens, but gives no samples.
			if !slices.Contains([]error{errProbeCrowded, errProbeNoIRQ, errProbeSilent}, errors.Unwrap(e.Err)) {
				t.Errorf("%s starts, but is listed as: %v", e.Name, e.Err)
			}
		case e.Err == nil:
			t.Errorf("%s is listed, but: %v", e.Name, err)
		case !strings.Contains(err.Error(), e.Err.Error()):
			t.Errorf("%s is listed as: %v\nbut starting it says: %v", e.Name, e.Err, err)
		}
	}
	for _, name := range []string{"cycles", "cpu-cycles", "cacheMisses", "LLC-load-misses", "task-clock", "faults"} {
		if !seen[name] {
			t.Errorf("%s is missing", name)
		}
	}
}

var _ = emulated(TestEvents)

// TestEventsSampled checks that events which every Linux has are found to be
// so where they may be opened, and refused with the errno where not.
func TestEventsSampled(t *testing.T) {
	want := []string{"cpu-clock", "task-clock", "page-faults", "minor-faults"}
	for _, e := range Events() {
		if !slices.Contains(want, e.Name) || e.Sampled {
			continue
		}
		if !errors.Is(e.Err, syscall.EACCES) && !errors.Is(e.Err, syscall.EPERM) && !errors.Is(e.Err, syscall.ENOSYS) {
			t.Errorf("%s: sampled %v, %v", e.Name, e.Sampled, e.Err)
		}
	}
}

var _ = emulated(TestEventsSampled)

// TestEventsBesideProfile checks that looking for events and profiling don't
// disturb each other: same verdicts, and no samples that the profile does not
// have on its own.
func TestEventsBesideProfile(t *testing.T) {
	before := Events()
	var buf bytes.Buffer
	// A period that is never reached: a probe's samples would be the only ones.
	if err := StartCPUProfileWithConfig(PerfEvent(&buf, "page-faults", 1<<40)); err != nil {
		if e := before[slices.IndexFunc(before, func(e EventInfo) bool { return e.Name == "page-faults" })]; e.Sampled {
			t.Fatal(err)
		}
		return // not permitted here
	}
	during := Events()
	StopCPUProfile()
	for i, e := range before {
		if d := during[i]; d.Name != e.Name || d.Sampled != e.Sampled && !occasional(e.Name) || (d.Err == nil) != (e.Err == nil) {
			t.Errorf("before: %s sampled %v, %v\nbeside a profile: %s sampled %v, %v", e.Name, e.Sampled, e.Err, d.Name, d.Sampled, d.Err)
		}
	}
	p, err := profile.Parse(&buf)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range p.Sample {
		// At most the random first period of each thread is reached.
		if s.Value[0] > 1 {
			t.Errorf("profile has %d samples at %v", s.Value[0], s.Location)
		}
	}
}

var _ = emulated(TestEventsBesideProfile)

// occasional reports whether it is a matter of luck that a probe sees the event.
func occasional(name string) bool {
	return !slices.Contains([]string{"cycles", "instructions", "branches", "cpu-clock", "task-clock", "page-faults"}, name)
}

// TestProbeSilent probes an event that opens everywhere and never occurs.
func TestProbeSilent(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	w := newProbeWork()
	defer w.close()
	cfg := perf.SampleConfig{Attr: perf.Attr{Type: perf.TypeSoftware, Config: 9 /* PERF_COUNT_SW_DUMMY */, ExcludeKernel: true}, Period: 1}
	steps := 0
	r, f := tryProbe(&cfg, func() { steps++; w.compute(); w.fault() }, true)
	if f.Op != perf.OpNone {
		if errno := syscall.Errno(f.Errno); errno != syscall.EACCES && errno != syscall.EPERM && errno != syscall.ENOSYS {
			t.Fatalf("%v", perfError("dummy", f))
		}
		return
	}
	if r.samples != 0 || r.counted != 0 || !r.ran || steps < 2 {
		t.Errorf("dummy event: %+v after %d steps", r, steps)
	}
	if err := probeVerdict(r.ran, r.counted, cfg.Period, true); err != errProbeSilent {
		t.Errorf("verdict: %v", err)
	}
}

var _ = emulated(TestProbeSilent)

func TestProbeVerdict(t *testing.T) {
	for _, test := range []struct {
		ran             bool
		counted, period uint64
		occurs          bool
		want            error
	}{
		{false, 0, 100, true, errProbeCrowded},
		{false, 0, 100, false, errProbeCrowded},
		{true, 1000, 100, false, errProbeNoIRQ},
		{true, 1000, 100, true, errProbeNoIRQ},
		{true, 199, 100, true, nil}, // the thread had too little time
		{true, 0, 100, true, errProbeSilent},
		{true, 0, 100, false, nil},
		{true, 50, 100, false, nil},
	} {
		if got := probeVerdict(test.ran, test.counted, test.period, test.occurs); got != test.want {
			t.Errorf("%+v: got %v", test, got)
		}
	}
}

var _ = emulated(TestProbeVerdict)
