// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"math"
	"reflect"
	"runtime"
	"testing"
	"unsafe"
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

// TestPerfExactPC tests which instruction precise samples have: their own, unless the stack
// was another one there, which is counted.
func TestPerfExactPC(t *testing.T) {
	f, g := reflect.ValueOf(perfExactF).Pointer(), reflect.ValueOf(perfExactG).Pointer()
	// Where calls return to, the frame is there.
	pcs := perfExactF(make([]uintptr, 0, 2))
	body, later := pcs[0], pcs[1]
	if runtime.FuncForPC(body).Entry() != f || runtime.FuncForPC(later).Entry() != f || body == later {
		t.Fatalf("%#x and %#x are not in the function at %#x", body, later, f)
	}
	for _, tt := range []struct {
		name   string
		ip, pc uintptr
		own    bool
	}{
		{"the same instruction", body, body, true},
		{"in the same frame", body, later, true},
		{"before it", later, body, true},
		{"another function", g, body, false},
		{"called by it", body, g, false},
		{"without a frame", f, body, false},
		{"outside Go", 1, body, false},
		{"of the kernel", ^uintptr(4095), body, false},
	} {
		pc, moved := runtime.PerfExactPC(tt.ip, tt.pc)
		want, wantMoved := tt.pc, uint64(3)
		if tt.own {
			want, wantMoved = tt.ip, 0
		}
		if pc != want || moved != wantMoved {
			t.Errorf("%s: at %#x, %d moved; want %#x, %d", tt.name, pc, moved, want, wantMoved)
		}
	}
}

//go:noinline
func perfExactF(pcs []uintptr) []uintptr {
	pcs = perfExactG(pcs)
	return perfExactG(pcs)
}

//go:noinline
func perfExactG(pcs []uintptr) []uintptr {
	var pc [1]uintptr
	runtime.Callers(2, pc[:])
	return append(pcs, pc[0])
}

// TestPerfCounterSize tests that handlers find a counter by a shift.
func TestPerfCounterSize(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) == 8 && runtime.PerfCounterSize != 256 {
		t.Errorf("it has %d bytes", runtime.PerfCounterSize)
	}
}
