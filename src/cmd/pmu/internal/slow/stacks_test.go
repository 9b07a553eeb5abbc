// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slow

import (
	"cmd/pmu/internal/prof"
	"fmt"
	"internal/profile"
	"slices"
	"strings"
	"testing"
	"time"
)

// checkClock checks what TestClock has planted.
func checkClock(t *testing.T, c *Clock, name string) {
	t.Helper()
	var got []string
	for _, slow := range []bool{true, false} {
		n, ok := c.Requests("GET /", slow)
		got = append(got, fmt.Sprint(n, ok))
		for s := range c.Stacks("GET /", slow) {
			got = append(got, fmt.Sprint(s.Functions, s.Time, s.Samples))
		}
	}
	want := []string{"2 true", "[0 main] 1ms 1", "[3 main] 4ms 4", "5 true", "[1 main] 2ms 2"}
	if c.Name() != name || !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %s: %q", c.Name(), got, name, want)
	}
}

// TestClock tests that the clock is the first event that is one, that what is none is refused, and what the stacks of each
// group have.
func TestClock(t *testing.T) {
	w := newWorld(1)
	const ms = worldPeriod
	for i, verdict := range []string{"yes", "no", "unknown", "yes"} {
		labels := map[string][]string{labelKind: {"GET /"}, labelSlow: {verdict}}
		w.sample(fmt.Sprint("main;", i), labels, int64(i+1))
	}
	w.sample("main;deep"+strings.Repeat(";f", 2*maxDepth), map[string][]string{labelKind: {"deep"}, labelSlow: {"no"}}, 1)
	w.sample("main", map[string][]string{labelKind: {"other"}, labelSlow: {"yes"}}, 1)
	w.p.Comments = append(w.p.Comments, `requests: 5 usual, 2 slow, of kind "GET /"`)
	w.p.TimeNanos, w.p.DurationNanos = 100, 50
	open := func(opt Options) (*Clock, error) {
		p, err := newProfile(&prof.File{Profile: w.p}, opt)
		if err != nil {
			t.Fatal(err)
		}
		if from, until := p.During(); from != time.Unix(0, 100) || until != time.Unix(0, 150) {
			t.Errorf("from %v until %v", from, until)
		}
		return p.Clock()
	}
	c, err := open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkClock(t, c, "task-clock")
	if _, ok := c.Requests("other", true); ok {
		t.Error("requests of a kind that nothing is said of")
	}
	for s := range c.Stacks("deep", false) {
		if len(s.Functions) != maxDepth || s.Functions[maxDepth-1] != "main" {
			t.Errorf("%d functions, the outermost %s", len(s.Functions), s.Functions[len(s.Functions)-1])
		}
	}
	// A clock that is not the first event.
	w.p.SampleType = []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cycles", Unit: "count"}, {Type: "task_clock", Unit: "nanoseconds"}}
	w.p.Comments = append([]string{"event: cycles", "period: 77"}, w.p.Comments...)
	for _, s := range w.p.Sample {
		s.Value = []int64{1, 77, s.Value[0] * ms}
	}
	if c, err = open(Options{}); err != nil {
		t.Fatal(err)
	}
	checkClock(t, c, "task-clock")
	if _, err := open(Options{Event: "cycles"}); err == nil || err.Error() != "the profile is of cycles, which is no time: a latency needs a clock, such as task-clock" {
		t.Errorf("error %v", err)
	}
	for name, want := range map[string]bool{"task-clock": true, "cpu-clock:u": true, "cycles": false, "task-clocks": false, "": false} {
		if IsClock(name) != want {
			t.Errorf("IsClock(%q) is not %v", name, want)
		}
	}
	w.p.TimeNanos = 0
	p, _ := newProfile(&prof.File{Profile: w.p}, Options{})
	if from, until := p.During(); !from.IsZero() || !until.IsZero() {
		t.Errorf("from %v until %v", from, until)
	}
}

// TestClockIdle tests that an event's profile in which no task has run is one for latencies, and the timer's is none.
func TestClockIdle(t *testing.T) {
	for _, samples := range []int{0, 3} {
		for _, tt := range []struct {
			timer bool
			opt   Options
			ok    bool
		}{{false, Options{Waits: true}, true}, {false, Options{}, false}, {true, Options{Waits: true}, false}} {
			w := newWorld(1)
			for range samples {
				w.sample("main", map[string][]string{labelKind: {""}, labelSlow: {""}}, 1)
			}
			if tt.timer {
				w.p.Comments = nil
			}
			p, err := newProfile(&prof.File{Profile: w.p}, tt.opt)
			if ok := err == nil; ok != tt.ok || !ok && !strings.Contains(err.Error(), "no sample says if its request was slow") {
				t.Errorf("%d samples, %+v: error %v", samples, tt, err)
			}
			if err != nil {
				continue
			}
			c, err := p.Clock()
			if err != nil {
				t.Fatal(err)
			}
			for s := range c.Stacks("", true) {
				t.Errorf("a stack: %+v", s)
			}
		}
	}
}
