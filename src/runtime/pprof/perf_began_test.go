// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"internal/profilerecord"
	"slices"
	"testing"
)

// TestBoundBegan tests how many traces are left of goroutines at several places, and that all of a request at one
// place have it or none.
func TestBoundBegan(t *testing.T) {
	const kinds, places, requests, same = 3, 5, 20, 2
	var stk []profilerecord.StackRecord
	for request := range requests {
		for kind := range kinds {
			for place := range places {
				for range same {
					stk = append(stk, profilerecord.StackRecord{
						Stack: []uintptr{1, uintptr(place)},
						Task:  profilerecord.Task{Kind: uint32(1 + kind), Began: true, Trace: numbered(request)},
					})
				}
			}
		}
		stk = append(stk, profilerecord.StackRecord{Task: profilerecord.Task{Kind: 1}}) // one that works for a task
	}
	type at struct {
		kind  uint32
		stack uintptr
		trace [16]byte
	}
	for _, tt := range []struct{ most, each, want int }{
		{1000, 4, kinds * places * 4}, {1000, 100, kinds * places * requests}, {7, 4, 7}, {0, 4, 0},
	} {
		got := slices.Clone(stk)
		for range 3 { // again, which changes nothing
			boundBegan(got, tt.most, tt.each)
			counts := make(map[at]int)
			for i, r := range got {
				if r.Task.Kind != stk[i].Task.Kind || r.Task.Began != stk[i].Task.Began {
					t.Fatalf("%+v of %+v", r, stk[i])
				}
				if r.Task.Trace != ([16]byte{}) {
					counts[at{r.Task.Kind, r.Stack[1], r.Task.Trace}]++
				}
			}
			for x, n := range counts {
				if n != same {
					t.Errorf("%+v: %d of %+v, want %d", tt, n, x, same)
				}
			}
			if len(counts) != tt.want {
				t.Errorf("%+v: %d traces", tt, len(counts))
			}
		}
	}
}
