// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"internal/taskrecord"
	. "runtime/task"
	"testing"
	"testing/synctest"
	"time"
)

// dated checks that a task that begins now is dated so. It may be called in a bubble, whose now is
// another one.
func dated(t *testing.T, what string, r taskrecord.RingReader, now func() time.Time) {
	t.Helper()
	before := now()
	_, task := New(context.Background(), "dated")
	task.End()
	after := now()
	rec := one(t, r)
	// What is wrong here is so by an hour, or by years.
	if at := time.Unix(0, rec.Start); at.Before(before.Add(-time.Second)) || at.After(after.Add(time.Second)) {
		t.Errorf("%s: a task from %v to %v is dated %v", what, before, after, at)
	}
}

// TestWallStep tests that the first task that begins after the wall clock was set is dated by that.
func TestWallStep(t *testing.T) {
	r := start(t, Config{})
	dated(t, "not set", r, time.Now)
	for _, d := range []time.Duration{time.Hour, -time.Hour, 20 * 365 * 24 * time.Hour} {
		ShiftWall(d)
		dated(t, "set by "+d.String(), r, time.Now)
		dated(t, "and then", r, time.Now)
	}
}

// TestWallBubble tests that tasks in a bubble, and after one, are dated by the machine's clock.
func TestWallBubble(t *testing.T) {
	questions, answers := make(chan bool), make(chan time.Time)
	defer close(questions)
	go func() { // outside of the bubble
		for range questions {
			answers <- time.Now()
		}
	}()
	now := func() time.Time { questions <- true; return <-answers }
	begun := now()
	var r taskrecord.RingReader
	synctest.Test(t, func(t *testing.T) {
		r = start(t, Config{})
		ShiftWall(time.Hour)
		dated(t, "in a bubble", r, now)
		time.Sleep(24 * time.Hour)
		dated(t, "in a bubble, a day later there", r, now)
		if at := time.Unix(0, r.Server().Start); at.Before(begun.Add(-time.Second)) {
			t.Errorf("recording has begun in %v; it is %v", at, now())
		}
	})
	r = start(t, Config{})
	dated(t, "after a bubble", r, time.Now)
}
