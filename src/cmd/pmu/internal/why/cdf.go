// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math"
	"slices"
)

// A CDF is a distribution, to be drawn: at least the part Parts[i] of all values are at most
// Values[i], of which the last one is the greatest. Both ascend. The parts are even, and those
// near 1 finer and finer, as the tail is what matters: there are fewer than 200 in all.
// A distribution of nothing has none.
type CDF struct {
	Parts, Values []float64
}

const (
	evenParts   = 64 // of all
	decadeParts = 16 // for each decade of what is left above, from a tenth on
)

// cdfParts returns the parts of the CDF of n values, with those that reports have numbers of.
func cdfParts(n int, p float64) (list []float64) {
	for i := range evenParts + 1 {
		list = append(list, float64(i)/evenParts)
	}
	for j := decadeParts; ; j++ {
		left := math.Pow(10, -float64(j)/decadeParts)
		if left*float64(n) < 1 {
			break
		}
		list = append(list, 1-left)
	}
	list = append(list, 0.5, 0.9, p)
	slices.Sort(list)
	return slices.Compact(list)
}

// newCDF returns the CDF of n values, of which at returns the k-th greatest, from 0 on.
func newCDF(n int, p float64, at func(k int) float64) (c CDF) {
	if n == 0 {
		return c
	}
	c.Parts = cdfParts(n, p)
	for _, q := range c.Parts {
		c.Values = append(c.Values, at(above(q, n)))
	}
	return c
}

// at returns the value of a part, which has to be one of those that there are.
func (c CDF) at(part float64) float64 {
	if i, ok := slices.BinarySearch(c.Parts, part); ok {
		return c.Values[i]
	}
	return nan
}
