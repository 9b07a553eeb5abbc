// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"runtime"
	"slices"
	"testing"
)

// TestPerfLimitCost tests that the strictest of the sessions that run decides, and that
// none may take all of a thread's time.
func TestPerfLimitCost(t *testing.T) {
	for _, tt := range []struct {
		clock bool
		ended int
		costs []int
		want  int
	}{
		{false, 0, []int{25}, 25},
		{false, 0, []int{25, 1}, 1},
		{false, 0, []int{100, 25}, 25},
		{false, 0, []int{60, 100}, 60},
		{false, 0, []int{100}, 80},
		{false, 0, []int{81, 100, 90}, 80},
		{false, 1, []int{1, 25, 100}, 25},
		{false, 2, []int{1, 25, 100}, 80},
		{true, 0, []int{25}, 25},
		{true, 0, []int{100}, 50},
		{true, 0, []int{80, 100}, 50},
		{true, 0, []int{40, 100}, 40},
		{true, 2, []int{1, 25, 100}, 50},
	} {
		if got := runtime.PerfLimitCost(tt.clock, tt.ended, tt.costs...); got != tt.want {
			t.Errorf("sessions with %v, of which %d have ended, the last with a clock %t: %d percent, want %d",
				tt.costs, tt.ended, tt.clock, got, tt.want)
		}
	}
}

// TestPerfDirection tests at which costs of samples periods change, and by how much.
func TestPerfDirection(t *testing.T) {
	for _, tt := range []struct {
		percent               int
		cost, counting, total int64
		want                  int
	}{
		{25, 60, 0, 1000, -1},
		{25, 65, 0, 1000, 0},
		{25, 249, 0, 1000, 0},
		{25, 251, 0, 1000, 1},
		{25, 950, 0, 1000, 4},
		{25, 1000, 0, 1000, 4},
		{1, 10, 0, 1000, 0},
		{1, 11, 0, 1000, 1},
		// What counting takes is not left for samples, but for a fifth.
		{25, 151, 100, 1000, 1},
		{25, 49, 900, 1000, 0},
		{25, 51, 900, 1000, 1},
		// The loosest bound.
		{80, 500, 0, 1000, 0}, // 100 kHz, where a sample costs 5 us
		{80, 440, 0, 1000, -1},
		{80, 799, 0, 1000, 0},
		{80, 801, 0, 1000, 1},
		{80, 1000, 0, 1000, 4},
	} {
		if got := runtime.PerfDirection(tt.percent, tt.cost, tt.counting, tt.total); got != tt.want {
			t.Errorf("at %d percent, %d + %d of %d: %d steps, want %d", tt.percent, tt.cost, tt.counting, tt.total, got, tt.want)
		}
	}
}

// TestPerfStartPeriods tests the periods with which clocks start: the one that is asked
// for where the bound allows what it costs, and none with which clocks, of one session
// or of several, would take all of a thread's time.
func TestPerfStartPeriods(t *testing.T) {
	const us = 1000
	for _, tt := range []struct {
		percent  int
		cost     int64
		period   uint64
		sessions []int
		want     []uint64
	}{
		{25, 5 * us, 10 * us, []int{1}, []uint64{20 * us}},
		{80, 5 * us, 10 * us, []int{1}, []uint64{10 * us}},
		{25, 5 * us, 20 * us, []int{1}, []uint64{20 * us}},
		{25, 5 * us, 1 * us, []int{4}, []uint64{128 * us, 128 * us, 128 * us, 128 * us}},
		{25, 5 * us, 1 * us, []int{1, 1}, []uint64{32 * us, 64 * us}},
		{50, 50 * us, 1 * us, []int{1}, []uint64{128 * us}},
		{50, 50 * us, 1 * us, []int{4}, []uint64{512 * us, 512 * us, 512 * us, 512 * us}},
		{50, 5 * us, 10 * us, []int{1, 1, 1}, []uint64{10 * us, 160 * us, 160 * us}},
	} {
		got := runtime.PerfStartPeriods(tt.percent, tt.cost, tt.period, tt.sessions...)
		if !slices.Equal(got, tt.want) {
			t.Errorf("at %d percent, %d ns for a sample, sessions with %v clocks of %d: start with %d, want %d",
				tt.percent, tt.cost, tt.sessions, tt.period, got, tt.want)
		}
	}
	// Whatever sessions there are, the program and the handler get some time, also where
	// a sample is half as dear again as it was when it was measured.
	for percent := 1; percent <= 80; percent++ {
		for sessions := 1; sessions <= 8; sessions++ {
			const cost = 50 * us
			taken := 0.0
			for _, period := range runtime.PerfStartPeriods(percent, cost, 1*us, slices.Repeat([]int{1}, sessions)...) {
				taken += cost / float64(period)
			}
			if taken > 0.6 {
				t.Errorf("at %d percent, %d sessions take %.3f of the time", percent, sessions, taken)
			}
		}
	}
}
