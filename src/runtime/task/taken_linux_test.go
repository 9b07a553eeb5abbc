// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"internal/taskrecord"
	"os"
	"runtime/task"
	"testing"
	"time"
)

// TestTaken tests that what was taken from threads is read while tasks are recorded, and stays as it is while
// they are not.
func TestTaken(t *testing.T) {
	if err := task.Start(task.Config{}); err != nil {
		t.Fatal(err)
	}
	task.Stop()
	paused := task.RecordedTaken()
	// The threads of the test wait for a CPU now and then: when they wake up, for example.
	for range 100 {
		time.Sleep(10 * time.Microsecond)
	}
	if got := task.RecordedTaken(); got != paused {
		t.Errorf("%v, but nothing was recorded since it was %v", got, paused)
	}
	want := taskrecord.StolenKnown
	if _, err := os.Stat("/proc/self/schedstat"); err == nil {
		want |= taskrecord.DelayKnown
	}
	if paused.Known&want != want {
		t.Errorf("known are %b, want %b at least", paused.Known, want)
	}
	if err := task.Start(task.Config{}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	for range 10_000 {
		got := task.RecordedTaken()
		if got.Preempted < paused.Preempted || got.Throttled < paused.Throttled || got.Stolen < paused.Stolen {
			t.Fatalf("%v, but it was %v before", got, paused)
		}
		if got.Delay > paused.Delay || want&taskrecord.DelayKnown == 0 {
			return
		}
		time.Sleep(10 * time.Microsecond)
	}
	t.Error("no thread has waited since")
}
