// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package stats

import (
	"math"
	"testing"
)

func TestOneNumber(t *testing.T) {
	x := []float64{9, 1, 4, 2}
	low, high := Range(x)
	q1, q3 := Quartiles(x)
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"median of one", Median([]float64{7}), 7},
		{"median of three", Median([]float64{3, 1, 2}), 2},
		{"median of four", Median(x), 3},
		{"low", low, 1},
		{"high", high, 9},
		{"mean", Mean(x), 4},
		{"lower quartile", q1, 1.5},
		{"upper quartile", q3, 6.5},
		{"stdev", Stdev(x), math.Sqrt(38. / 3)},
		{"CV", CV(x), math.Sqrt(38./3) / 4},
		{"CV of zeros", CV([]float64{0, 0}), 0},
		{"RMS", RMS([]float64{1, 2}, []float64{4, 6}), math.Sqrt(12.5)},
		{"same order", Spearman([]float64{1, 2, 30}, []float64{5, 6, 7}), 1},
		{"opposite order", Spearman([]float64{1, 2, 30}, []float64{7, 6, 5}), -1},
		// Ranks 1 2.5 2.5 4 and 1 2 3 4.
		{"ties", Spearman([]float64{0, 1, 1, 2}, []float64{1, 2, 3, 4}), 4.5 / math.Sqrt(4.5*5)},
	} {
		if math.Abs(tt.got-tt.want) > 1e-12 {
			t.Errorf("%s = %v, want %v", tt.name, tt.got, tt.want)
		}
	}
	if x[0] != 9 || x[3] != 2 {
		t.Errorf("the argument was changed to %v", x)
	}
	for name, got := range map[string]float64{
		"median of none":     Median(nil),
		"mean of none":       Mean(nil),
		"stdev of one":       Stdev([]float64{1}),
		"correlation, equal": Spearman([]float64{1, 1}, []float64{1, 2}),
	} {
		if !math.IsNaN(got) {
			t.Errorf("%s = %v, want NaN", name, got)
		}
	}
}

func TestRatios(t *testing.T) {
	// The machine was half as fast in the second round.
	r := Ratios([]float64{11, 22, 33}, []float64{10, 20})
	if len(r) != 2 || math.Abs(r[0]-1.1) > 1e-12 || math.Abs(r[1]-1.1) > 1e-12 {
		t.Errorf("got %v, want 1.1 twice", r)
	}
}
