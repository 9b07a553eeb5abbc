// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package engine has tests that use all that the fork adds, so that the linker
// keeps it: they sample, they count, they try the events. See package main of
// ports, which links them on each port and runs them where it can.
package engine

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"testing"

	"pmu/profile"
)

// An emulator of user mode, such as qemu-user, has no events.
var events = flag.Bool("events", false, "the system has perf_event_open")

var sink uint64

//go:noinline
func spin(n int) {
	for ; n > 0; n-- {
		sink = sink*6364136223846793005 + 1442695040888963407
	}
}

// spinning returns how many of a profile's samples are in spin, called by fn.
func spinning(t *testing.T, b []byte, fn string) int64 {
	t.Helper()
	p, err := profile.Read(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	n := int64(0)
	for _, s := range p.Samples {
		if i := slices.Index(s.Stack, "pmu/test/ports/testdata/engine.spin"); i >= 0 &&
			slices.ContainsFunc(s.Stack[i:], func(name string) bool { return strings.HasSuffix(name, fn) }) {
			n += s.Values[0]
		}
	}
	return n
}

// refused checks the error of task-clock where there are no events.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if !errors.Is(err, syscall.ENOSYS) || !strings.Contains(err.Error(), want) {
		t.Errorf("got error %v, want ENOSYS with %q", err, want)
	}
}

func TestEvents(t *testing.T) {
	for _, e := range pprof.Events() {
		if e.Name != "task-clock" {
			continue
		}
		if e.Sampled != *events {
			t.Errorf("task-clock: sampled %v, %v", e.Sampled, e.Err)
		}
		if !*events {
			refused(t, e.Err, "no perf_event_open")
		}
		return
	}
	t.Error("no task-clock")
}

func TestCounters(t *testing.T) {
	c, err := pprof.OpenCounters("task-clock")
	if !*events {
		refused(t, err, "event task-clock: this kernel has no perf_event_open")
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var before, after [1]pprof.CounterValue
	c.Read(before[:])
	spin(1e6)
	if err := c.Read(after[:]); err != nil || after[0].Value <= before[0].Value {
		t.Errorf("%v: %v after %v", err, after, before)
	}
}

func TestProfile(t *testing.T) {
	var b bytes.Buffer
	err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(&b, "task-clock", 0))
	if !*events {
		refused(t, err, "event task-clock: this kernel has no perf_event_open")
		if b.Len() > 0 {
			t.Errorf("%d bytes were written", b.Len())
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	cpu := spinFor(t, 200)
	pprof.StopCPUProfile()
	if got := spinning(t, b.Bytes(), "engine.TestProfile"); got == 0 {
		t.Errorf("no samples in %d ms", cpu)
	}
}

// TestTimer comes after TestProfile: an event that was refused has left nothing
// behind that keeps the timer from working.
//
// The emulator makes one signal of several ticks when it is kept from running: there were
// 9 to 26 samples in 300 ms, 3 to 16 beside eight busy processes, and once none. So the
// test tries again then.
func TestTimer(t *testing.T) {
	const tries = 10
	for i := 0; i < tries; i++ {
		var b bytes.Buffer
		if err := pprof.StartCPUProfileWithConfig(pprof.OSTimer(&b)); err != nil {
			t.Fatal(err)
		}
		if err := pprof.StartCPUProfileWithConfig(pprof.OSTimer(io.Discard)); err == nil {
			t.Error("two at once")
		}
		cpu := spinFor(t, 300)
		pprof.StopCPUProfile()
		got := spinning(t, b.Bytes(), "engine.TestTimer")
		t.Logf("%d samples in %d ms", got, cpu)
		if got*10 > cpu*3/2 {
			t.Errorf("%d samples in %d ms, want not more than one in 10 ms", got, cpu)
		}
		if got > 0 {
			return
		}
	}
	t.Errorf("no samples, %d times", tries)
}
