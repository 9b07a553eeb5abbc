// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bytes"
	"internal/trace"
	"io"
	rtrace "runtime/trace"
	"testing"
	"time"
)

// traceSamples returns the number of CPU samples in the execution trace of f.
func traceSamples(t *testing.T, f func()) (n int64) {
	t.Helper()
	var buf bytes.Buffer
	if err := rtrace.Start(&buf); err != nil {
		t.Fatal(err)
	}
	f()
	rtrace.Stop()
	r, err := trace.NewReader(&buf)
	if err != nil {
		t.Fatal(err)
	}
	for {
		ev, err := r.ReadEvent()
		if err == io.EOF {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Kind() == trace.EventStackSample {
			n++
		}
	}
}

// TestPerfTrace tests that in an execution trace the samples of events do not
// appear as the timer's: those are 100 per second of CPU time, and readers of
// traces add them up.
func TestPerfTrace(t *testing.T) {
	if rtrace.IsEnabled() {
		t.Skip("the tests are traced") // go test -trace
	}
	perfNeeds(t, "task-clock:uk")
	for _, tt := range []struct {
		name   string
		events []perfReq
	}{
		{"event", []perfReq{{"task-clock:uk", 1e6}}},
		{"timer", []perfReq{{"", 0}}},
		{"both", []perfReq{{"task-clock:uk", 1e6}, {"", 0}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var n int64
			// Each time with a trace of its own, if the machine is stalled.
			rs := perfUnstalled(t, func() (rs []*perfResult) {
				n = traceSamples(t, func() {
					rs = perfProfileOnce(t, tt.events, func() { perfSpin(300 * time.Millisecond) })
				})
				return rs
			})
			var timer int64
			for _, r := range rs {
				if r.total() == 0 {
					t.Errorf("%q has no samples", r.name)
				}
				if r.name == "" {
					timer = r.total()
				}
			}
			t.Logf("%d samples in the trace, %d of the timer in its profile", n, timer)
			// The trace begins before the profile and ends after it.
			if n != timer {
				t.Errorf("%d samples in the trace, want those of the timer, %d", n, timer)
			}
		})
	}
}

var _ = emulated(TestPerfTrace)
