// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package profile

import (
	"reflect"
	"testing"
)

// TestIndex tests that a value is found by its type and by its event's name.
func TestIndex(t *testing.T) {
	p := &Profile{
		Types:    [][2]string{{"samples", "count"}, {"page_faults", "count"}, {"task_clock_u", "nanoseconds"}},
		Comments: []string{"event: page-faults", "period: 101", "event: task-clock", "warning: user mode only", "event: left-over"},
	}
	for name, want := range map[string]int{
		"samples": 0, "page_faults": 1, "page-faults": 1, "task_clock_u": 2, "task-clock": 2, "task_clock": -1, "left-over": -1, "": -1,
	} {
		if got := p.Index(name); got != want {
			t.Errorf("Index(%q) = %d, want %d", name, got, want)
		}
	}
}

// TestComments tests that comments are read by their keys.
func TestComments(t *testing.T) {
	p := &Profile{Comments: []string{
		"event: task-clock", "period: 1000003 (nearest prime to the 1000000 asked for)", "warning: threads not sampled: 48 (too many files: raise the limit)",
		"threads: 3 armed", "samples: 900", "lost: 7 task-clock", "lost late: 4 samples, as interrupts came later than a period", "longest period: 400009 (the overhead bound)",
		"event: page-faults", "threads: 2 armed", "samples: 100", "delayed: 10 samples with their leaf only",
	}}
	for key, want := range map[string][]int64{
		Period: {1000003}, Threads: {3, 2}, NotSampled: {48}, LongestPeriod: {400009}, "lost": {7}, Counted: nil,
	} {
		if got := p.Numbers(key); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	if n, lost := p.Ledger(); n != 1014 || lost != 4 {
		t.Errorf("%d samples, %d lost; want 1014, 4", n, lost)
	}
	if got, want := p.Warnings(), []string{"threads not sampled: 48 (too many files: raise the limit)"}; !reflect.DeepEqual(got, want) {
		t.Errorf("warnings %q, want %q", got, want)
	}
}
