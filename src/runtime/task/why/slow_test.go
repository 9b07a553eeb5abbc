// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math/rand/v2"
	"reflect"
	"runtime/pprof"
	"runtime/task/record"
	"strings"
	"testing"
	"time"
)

// slowTasks adds n requests chosen at random, of which 3 % wait for a mutex, and before and among
// them what else is recorded for being slow.
func slowTasks(n int, slow bool) *Table {
	r, other := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(2, 2))
	var b Builder
	add := func(r *rand.Rand, mutex time.Duration, flags record.Flags) {
		x := &record.Task{Wall: 10*time.Millisecond + time.Duration(r.IntN(1e6)) + mutex, Kind: "k", Flags: flags}
		x.Parts[pprof.TimeMutex] = mutex
		b.AddTask(x)
	}
	for i := range n {
		var mutex time.Duration
		flags := record.Sampled
		if i%33 == 7 {
			mutex = 30 * time.Millisecond
			flags |= record.Slow
		}
		add(r, mutex, flags)
		if slow {
			add(other, 90*time.Millisecond, record.Slow)
		}
	}
	return b.Table("ms")
}

// TestSlow tests that what was recorded for being slow is not taken for the tail of all, if there
// are enough others, and is said to be in it, if not.
func TestSlow(t *testing.T) {
	want, err := Analyze(slowTasks(2000, false), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Analyze(slowTasks(2000, true), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if want.Top() != "mutex" || want.Tail < 40 || want.Tail > 41.1 || len(want.Notes) > 0 {
		t.Fatalf("%s, tail %v, %q", want.Top(), want.Tail, want.Notes)
	}
	if got.LeftSlow != 2000 || got.Left != 0 || got.Requests != 2000 || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "2000 others were recorded for being slow") {
		t.Errorf("%d left out, of %d; %q", got.LeftSlow, got.Requests, got.Notes)
	}
	if got.Tail != want.Tail || got.Max != want.Max || !reflect.DeepEqual(got.Latencies, want.Latencies) || len(got.Impacts) == 0 || got.Impacts[0].Raw != want.Impacts[0].Raw || len(got.Patterns) != len(want.Patterns) {
		t.Errorf("%v: tail %v, slowest %v, want %v and %v", got.Impacts[0].Raw, got.Tail, got.Max, want.Tail, want.Max)
	}
	few, err := Analyze(slowTasks(999, true), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if few.LeftSlow != 0 || few.Requests != 2*999 || few.Tail < 90 || len(few.Notes) != 1 || !strings.Contains(few.Notes[0], "percentiles are those of the records. It takes 1000") {
		t.Errorf("%d left out, of %d, tail %v; %q", few.LeftSlow, few.Requests, few.Tail, few.Notes)
	}
	// Segments, and kinds.
	table := slowTasks(4000, true)
	table.Keep(func(row int) bool { return row < 6000 })
	list, err := Segments(table, 2, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range list {
		if s.LeftSlow != 1500 || s.Requests != 1500 || s.Max > 41.1 {
			t.Errorf("%d left out, of %d, slowest %v", s.LeftSlow, s.Requests, s.Max)
		}
	}
	table.Slow = table.Slow[1:]
	if _, err := Analyze(table, Options{}); err == nil {
		t.Error("no error")
	}
}
