// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"math"
	"runtime"
	"testing"
)

// TestPerfFirstPeriod tests where first overflows are due, and that for a thread
// that ends at any time there are as many, taken and lost, as are due to it.
func TestPerfFirstPeriod(t *testing.T) {
	const period, draws = 1000003, 200000
	const least, begun = runtime.PerfMinClock, runtime.PerfThreadStart
	for _, fresh := range []bool{false, true} {
		ends := []uint64{begun / 2, begun, 2 * begun, least - 1, least, 3 * least, period}
		got := make([]float64, len(ends)) // overflows of threads that end there
		blamed := 0.0                     // those put off from a new thread's start
		for range draws {
			start, first := runtime.PerfFirstPeriod(period, fresh)
			if first < least || first > period && first != start+period {
				t.Fatalf("fresh %v: start %d, first %d", fresh, start, first)
			}
			if start != 0 && start < begun && first == least {
				blamed++
			}
			for i, end := range ends {
				if end >= first {
					got[i]++
				}
				switch n := runtime.PerfLostStart(period, start, first, end); n {
				case 0:
				case period:
					got[i]++
				default:
					t.Fatalf("fresh %v: %d events lost", fresh, n)
				}
			}
		}
		for i, end := range ends {
			want := draws * float64(end) / period
			if math.Abs(got[i]-want) > 5*math.Sqrt(want) {
				t.Errorf("fresh %v: of %d threads that end after %d ns %.0f have an overflow, want %.0f", fresh, draws, end, got[i], want)
			}
		}
		if (blamed == 0) != fresh {
			t.Errorf("fresh %v: %.0f overflows of the first %d ns put off", fresh, blamed, begun)
		}
	}
}
