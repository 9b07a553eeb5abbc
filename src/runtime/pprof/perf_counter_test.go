// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"errors"
	"internal/runtime/perf"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestCounterValueScaled(t *testing.T) {
	for _, tt := range []struct {
		v    CounterValue
		want float64
	}{
		{CounterValue{}, 0},
		{CounterValue{1000, 50, 50}, 1000},
		{CounterValue{1000, 400, 100}, 4000},
		// The kernel's two clocks are not read at once.
		{CounterValue{1000, 50, 51}, 1000},
		{CounterValue{0, 400, 100}, 0},
		{CounterValue{0, 400, 0}, math.NaN()},
	} {
		got := tt.v.Scaled()
		if got != tt.want && !(math.IsNaN(got) && math.IsNaN(tt.want)) {
			t.Errorf("%v.Scaled() = %v, want %v", tt.v, got, tt.want)
		}
		if exact := tt.v.Enabled <= tt.v.Running; tt.v.Exact() != exact {
			t.Errorf("%v.Exact() = %v", tt.v, !exact)
		}
	}
	v := CounterValue{7, 60, 50}.Sub(CounterValue{4, 20, 15})
	if want := (CounterValue{3, 40, 35}); v != want {
		t.Errorf("Sub: got %v, want %v", v, want)
	}
}

// On a machine with two kinds of core each thread has a counter for each kind,
// and all are enabled while it runs on either.
func TestCounterValueHybrid(t *testing.T) {
	layout := counterLayout{1, 1}
	value := func(raw ...perf.Count) CounterValue {
		var v [1]CounterValue
		layout.values(v[:], raw)
		return v[0]
	}
	got := value(perf.Count{Value: 300, Enabled: 100, Running: 75}, perf.Count{Value: 40, Enabled: 100, Running: 25})
	if want := (CounterValue{340, 100, 100}); got != want || got.Scaled() != 340 {
		t.Errorf("got %v, Scaled %v; want %v, 340", got, got.Scaled(), want)
	}
	// Two thirds of the time on either, for want of counters.
	got = value(perf.Count{Value: 200, Enabled: 90, Running: 40}, perf.Count{Value: 100, Enabled: 90, Running: 20})
	if want := (CounterValue{300, 90, 60}); got != want || got.Scaled() != 450 {
		t.Errorf("got %v, Scaled %v; want %v, 450", got, got.Scaled(), want)
	}
}

func TestOpenCountersErrors(t *testing.T) {
	if runtime.GOOS != "linux" {
		_, err := OpenCounters("task-clock")
		if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), runtime.GOOS) {
			t.Errorf("on %s: error %v", runtime.GOOS, err)
		}
		return
	}
	nine := []string{"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
		"minor-faults", "major-faults", "alignment-faults", "emulation-faults"}
	for _, tt := range []struct {
		events []string
		want   string
	}{
		{nil, "counters: no events"},
		{[]string{"task-clocks"}, "nearest: task-clock"},
		{[]string{"task-clock", ""}, "counters: "},
		{[]string{"page-faults", "faults"}, "counters: event page-faults is there twice"},
		{nine, "counters: 9 events at once; at most 8"},
	} {
		c, err := OpenCounters(tt.events...)
		if err == nil {
			c.Close()
			t.Errorf("OpenCounters(%q) succeeded", tt.events)
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("OpenCounters(%q): error %q does not have %q", tt.events, err, tt.want)
		}
	}
}

var _ = emulated(TestOpenCountersErrors)

func TestCountersClosed(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // no Counters to close
	}
	c, err := OpenCounters("task-clock", "page-faults")
	if err != nil {
		t.Fatal(err)
	}
	ev := c.Events()
	if len(ev) != 2 || ev[0].Name != "task-clock" || ev[0].Unit != "nanoseconds" || ev[1].Name != "page-faults" || ev[1].Unit != "count" {
		t.Errorf("Events() = %v", ev)
	}
	v := make([]CounterValue, 2)
	if err := c.Read(v[:1]); err == nil {
		t.Error("Read with too little room succeeded")
	}
	if err := c.Read(v); err != nil {
		t.Error(err)
	}
	if v[0].Value == 0 || v[0].Enabled <= 0 || v[0].Running != v[0].Enabled {
		t.Errorf("task-clock: %v", v[0])
	}
	if n := testing.AllocsPerRun(100, func() { c.Read(v) }); n != 0 {
		t.Errorf("Read allocates %v times", n)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err == nil {
		t.Error("second Close succeeded")
	}
	if err := c.Read(v); err == nil {
		t.Error("Read after Close succeeded")
	}
}

var _ = emulated(TestCountersClosed)

func BenchmarkCountersRead(b *testing.B) {
	for _, events := range [][]string{
		{"task-clock"},
		{"task-clock", "page-faults", "minor-faults", "major-faults"},
	} {
		b.Run(strings.Join(events, "+"), func(b *testing.B) {
			c, err := OpenCounters(events...)
			if err != nil {
				b.Skip(err)
			}
			defer c.Close()
			v := make([]CounterValue, len(events))
			for b.Loop() {
				c.Read(v)
			}
			b.ReportMetric(float64(threadCount()), "threads")
		})
	}
}

// threadCount returns the number of the process's threads, or 0 where Linux's
// /proc is not.
func threadCount() int {
	d, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0
	}
	return len(d)
}

// waitFor waits until f reports true.
func waitFor(t *testing.T, what string, f func() bool) {
	t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !f() {
		if time.Now().After(deadline) {
			t.Fatalf("timeout: %s", what)
		}
		time.Sleep(100 * time.Microsecond)
	}
}
