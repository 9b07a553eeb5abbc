// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import "testing"

// TestReadOffset tests that the offset of two clocks is read again if something came in
// between, and that the best reading is taken if something always does.
func TestReadOffset(t *testing.T) {
	const offset = 5_000_000
	for _, tt := range []struct {
		gaps  []int64 // ns between two readings of a clock; the last one stays
		off   int64   // by how much the offset may be wrong
		reads int
	}{
		{[]int64{20}, 20, 1},
		{[]int64{3e6, 20, 20, 20}, 20, 2},
		{[]int64{20, 3e6, 20, 20}, 20, 2},
		{[]int64{9000, 9000, 2000, 2000, 7000}, 2000, 10},
	} {
		// A round has three readings, and two gaps between them.
		now, n, reads := int64(1e9), 0, 0
		nanotime := func() int64 {
			at := now
			if n%2 == 0 {
				now += tt.gaps[min(n, len(tt.gaps)-1)]
			}
			n++
			return at
		}
		walltime := func() int64 {
			at := now
			now += tt.gaps[min(n, len(tt.gaps)-1)]
			reads++
			return at + offset
		}
		got := readOffset(nanotime, walltime)
		if d := got - offset; d > tt.off || d < -tt.off || reads != tt.reads {
			t.Errorf("gaps %v: offset %d after %d readings, want %d within %d after %d", tt.gaps, got, reads, offset, tt.off, tt.reads)
		}
	}
}
