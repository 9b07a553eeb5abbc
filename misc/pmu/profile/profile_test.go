// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package profile

import "testing"

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
