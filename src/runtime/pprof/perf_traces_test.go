// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"encoding/binary"
	"math"
	"testing"
	"time"
)

// numbered returns the trace with a number. Traces are anybody's choice, and not random.
func numbered(n int) (trace [16]byte) {
	binary.BigEndian.PutUint64(trace[:], uint64(n))
	trace[15] = 1
	return trace
}

// pass has time go by for the traces.
func (t *taskTraces) pass(d time.Duration) {
	for _, b := range t.kinds {
		b.begin = b.begin.Add(-d)
	}
}

// TestTraces tests that a profile has few traces as labels, and neither only of one kind nor only of usual
// requests; and that all samples of a request have what the first one has.
func TestTraces(t *testing.T) {
	var tr taskTraces
	n := make(map[verdict]int)
	for kind := range uint16(100) {
		for _, v := range []verdict{verdictNo, verdictYes} {
			k := 0
			for i := range 1000 {
				trace := numbered(int(kind)<<10 + i)
				take := tr.take(trace, kind, v)
				for range 3 {
					if tr.take(trace, kind, v) != take {
						t.Fatal("not for all samples of a request")
					}
				}
				if take {
					k++
				}
				tr.pass(time.Second / 100)
			}
			if k > maxKindTraces || kind == 0 && k < maxKindTraces/2 {
				t.Fatalf("%d of a kind", k)
			}
			n[v] += k
		}
	}
	if n[verdictNo] != maxUsualTraces || n[verdictNo]+n[verdictYes] != maxTaskTraces {
		t.Errorf("%d traces of usual requests and %d of slow ones", n[verdictNo], n[verdictYes])
	}
	if tr.take([16]byte{}, 1000, verdictYes) {
		t.Error("a request without a trace has one")
	}
}

// TestTracesMoments tests that not all traces are of the first moment, nor of any other.
func TestTracesMoments(t *testing.T) {
	for _, rate := range []int{20, 1000, 50_000} {
		const seconds = 10
		var tr taskTraces
		var chosen [seconds]int
		for i := range rate * seconds {
			if tr.take(numbered(i), 1, verdictNo) {
				chosen[i/rate]++
			}
			tr.pass(time.Second / time.Duration(rate))
		}
		t.Logf("%d requests a second: %d", rate, chosen)
		sum := 0
		for i, n := range chosen {
			// Some are chosen in the first second, by a rate that is not known well.
			if sum += n; i > 0 && n > 4*kindTraceRate {
				t.Errorf("%d requests a second: %d traces in one second", rate, n)
			}
		}
		if want := firstKindTraces + seconds*kindTraceRate; sum < want*2/3 || sum > maxKindTraces {
			t.Errorf("%d requests a second: %d traces, want about %d", rate, sum, want)
		}
	}
}

// TestTracesStand tests that traces are chosen whatever length requests have. They come one after another,
// half of them are long, and these have more samples.
func TestTracesStand(t *testing.T) {
	long, all := 0, 0
	for range 20 {
		var tr taskTraces
		for i := range 20_000 {
			samples, took := 1, 10*time.Microsecond
			if i%2 == 0 {
				samples, took = 20, 990*time.Microsecond
			}
			tr.pass(took) // which ends then
			chosen := false
			for range samples {
				chosen = tr.take(numbered(i), 1, verdictNo)
			}
			if chosen {
				all++
				if samples > 1 {
					long++
				}
			}
		}
	}
	part := float64(long) / float64(all)
	t.Logf("%.3f of %d traces are of long requests", part, all)
	if sd := math.Sqrt(0.25 / float64(all)); math.Abs(part-0.5) > 5*sd {
		t.Errorf("%.3f of %d traces are of long requests, want half of them, with a standard deviation of %.3f", part, all, sd)
	}
}

// TestTracesSame tests that a trace of many requests is not chosen more often than one of a single one: each that comes
// later is a chance only for those that were not there.
func TestTracesSame(t *testing.T) {
	many, alone := 0, 0
	for range 20 {
		var tr taskTraces
		found := make(map[int]bool)
		for i := range 20_000 {
			n := i // of one request
			if i%2 == 0 {
				n = -i / 1000 * 2 // of 500
			}
			if tr.take(numbered(n), 1, verdictNo) && i > 1000 {
				found[n] = true
			}
			tr.pass(time.Second / 1000)
		}
		for n := range found {
			if n < 0 {
				many++
			} else {
				alone++
			}
		}
	}
	t.Logf("%d traces of many requests, %d of one", many, alone)
	// There are 500 times as many of one.
	if many*100 > alone {
		t.Errorf("%d traces of many requests are chosen, and %d of one", many, alone)
	}
}

// TestTracesSpread tests that numbers are spread evenly, of traces that follow each other, by any profile.
func TestTracesSpread(t *testing.T) {
	for seed := range uint64(20) {
		tr := taskTraces{seed: seed}
		var parts [16]int
		const n = 16_000
		for i := range n {
			parts[tr.number(numbered(i))>>60]++
		}
		for i, k := range parts {
			if math.Abs(float64(k)-n/16) > 6*math.Sqrt(n/16) {
				t.Errorf("seed %d, part %d: %d of %d", seed, i, k, n)
			}
		}
	}
}
