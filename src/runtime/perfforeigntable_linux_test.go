// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"math/rand/v2"
	"runtime"
	"testing"
)

// TestPerfForeignTable compares the table of threads with a map. The IDs are such
// that many want the same entries, around the end of the table too.
func TestPerfForeignTable(t *testing.T) {
	for _, ids := range []int32{100, 3000} {
		tab := runtime.NewPerfForeignTable()
		r := rand.New(rand.NewPCG(1, uint64(ids)))
		want := make(map[int32]bool)
		for range 20 * ids {
			tid := 1 + r.Int32N(ids)
			if tid%2 == 0 {
				tid = tid<<16 + 255 - tid%4
			}
			if want[tid] {
				delete(want, tid)
				tab.Remove(tid)
			} else {
				want[tid] = true
				tab.Insert(tid)
			}
			if other := 1 + r.Int32N(ids); tab.Find(other) != want[other] {
				t.Fatalf("Find(%d) = %v", other, !want[other])
			}
		}
		for tid := range want {
			if !tab.Find(tid) {
				t.Errorf("%d is missing", tid)
			}
			tab.Remove(tid)
		}
		if n := tab.Entries(); n != 0 {
			t.Errorf("%d entries are left", n)
		}
	}
}
