// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import (
	"context"
	"internal/taskrecord"
	. "runtime/task"
	"testing"
	"time"
)

// TestRound tests that a round has all records that there were when it began, whatever other rings
// get meanwhile, and that places say what was read.
func TestRound(t *testing.T) {
	r := start(t, Config{Rate: 1})
	Slow("TestRound, slow", 1)
	Slow("TestRound", time.Hour)
	push := func(kind string) {
		_, task := New(context.Background(), kind)
		time.Sleep(time.Microsecond)
		task.End()
	}
	const n = 20
	for range n {
		push("TestRound, slow")
	}
	begin := r.Progress().Places
	r.Round()
	slow, all, at := 0, 0, taskrecord.RingPlaces(nil)
	for rec := r.Next(); rec != nil; rec = r.Next() {
		if rec.Kind == "TestRound, slow" {
			slow++
		}
		at.Raise(taskrecord.RingPlaces{r.Place()})
		push("TestRound")
		if all++; all > 10*n {
			t.Fatal("a round does not end")
		}
	}
	if slow != n {
		t.Errorf("a round has %d records of %d", slow, n)
	}
	if end := r.Progress().Places; !at.Within(end) || end.Within(begin) {
		t.Errorf("it began at %v, its last records are at %v, and it ended at %v", begin, at, end)
	}
	later := taskrecord.NewRingReader(false)
	if at := later.Progress().Places; r.Progress().Places.Within(begin) || at.Within(r.Progress().Places) {
		t.Errorf("another reader begins at %v, and %v was read", at, r.Progress().Places)
	}
	r.Round()
	for rec := r.Next(); rec != nil; rec = r.Next() {
	}
	if at := later.Progress().Places; !at.Within(r.Progress().Places) {
		t.Errorf("another reader begins at %v, and only %v was read", at, r.Progress().Places)
	}
}

// TestRoundDamaged tests that a reader has passed a damaged record that is the last one of its ring, and
// counts it, though no record tells of it.
func TestRoundDamaged(t *testing.T) {
	r := start(t, Config{Rate: 1})
	begin := r.Progress()
	if !PushDamaged() {
		t.Fatal("the ring has no room")
	}
	r.Round()
	if rec := r.Next(); rec != nil {
		t.Errorf("words are a record: %+v", rec)
	}
	end, later := r.Progress(), taskrecord.NewRingReader(false).Progress()
	if !later.Places.Within(end.Places) || end.Lost != begin.Lost+1 {
		t.Errorf("a reader went from %v to %v, and another one begins at %v", begin, end, later)
	}
}
