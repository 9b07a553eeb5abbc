// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package stats has the few statistics that a comparison of runs needs.
package stats

import (
	"math"
	"sort"
)

// Median returns the median of x, NaN if x is empty.
func Median(x []float64) float64 {
	s := sorted(x)
	n := len(s)
	if n == 0 {
		return math.NaN()
	}
	return (s[(n-1)/2] + s[n/2]) / 2
}

// Range returns the least and the greatest of x, NaN if x is empty.
func Range(x []float64) (low, high float64) {
	s := sorted(x)
	if len(s) == 0 {
		return math.NaN(), math.NaN()
	}
	return s[0], s[len(s)-1]
}

// Min returns the least of x, NaN if x is empty.
func Min(x []float64) float64 {
	low, _ := Range(x)
	return low
}

// Quartiles returns the medians of the lower and of the upper half of x, NaN if
// x is empty. A median in the middle belongs to both.
func Quartiles(x []float64) (low, high float64) {
	s := sorted(x)
	return Median(s[:(len(s)+1)/2]), Median(s[len(s)/2:])
}

func sorted(x []float64) []float64 {
	s := append([]float64(nil), x...)
	sort.Float64s(s)
	return s
}

// Mean returns the arithmetic mean of x, NaN if x is empty.
func Mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// Stdev returns the sample standard deviation of x, NaN for fewer than two.
func Stdev(x []float64) float64 {
	m, sum := Mean(x), 0.0
	for _, v := range x {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(len(x)-1))
}

// CV returns the coefficient of variation of x: its standard deviation in parts
// of its mean. It is 0 if all are 0.
func CV(x []float64) float64 {
	if m := Mean(x); m != 0 {
		return Stdev(x) / m
	}
	return 0
}

// Ratios returns a[i]/b[i]: of runs that were made in turns, each is compared
// with its neighbour, so that what slows down the machine for longer than a run
// does not matter.
func Ratios(a, b []float64) []float64 {
	r := make([]float64, min(len(a), len(b)))
	for i := range r {
		r[i] = a[i] / b[i]
	}
	return r
}

// Differences returns a[i]-b[i], of runs that were made in turns.
func Differences(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// RMS returns the root of the mean square of the differences of a and b.
func RMS(a, b []float64) float64 {
	sum := 0.0
	for i := range a {
		sum += (a[i] - b[i]) * (a[i] - b[i])
	}
	return math.Sqrt(sum / float64(len(a)))
}

// Spearman returns the rank correlation of a and b: 1 if they have the same
// order, -1 if they have opposite ones. Equal values share their ranks' mean. It
// is NaN if all of a or all of b are equal.
func Spearman(a, b []float64) float64 {
	x, y := ranks(a), ranks(b)
	mx, my := Mean(x), Mean(y)
	var xy, xx, yy float64
	for i := range x {
		xy += (x[i] - mx) * (y[i] - my)
		xx += (x[i] - mx) * (x[i] - mx)
		yy += (y[i] - my) * (y[i] - my)
	}
	return xy / math.Sqrt(xx*yy)
}

func ranks(x []float64) []float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	sort.Slice(order, func(i, j int) bool { return x[order[i]] < x[order[j]] })
	r := make([]float64, len(x))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && x[order[j]] == x[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			r[order[k]] = float64(i+j-1)/2 + 1
		}
		i = j
	}
	return r
}
