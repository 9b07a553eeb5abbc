// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"cmp"
	"math"
	"slices"
)

// Mean shift in one dimension (Comaniciu and Meer, Mean Shift: A Robust Approach Toward
// Feature Space Analysis, 2002), with a flat kernel and seeds in bins, as scikit-learn's
// MeanShift has it. It finds the clusters of values without being told how many there
// are. As the values are sorted, a window is two binary searches and its mean a
// difference of running sums.

// meanShift returns the centers of the clusters of sorted values, in ascending order. Bins
// as wide as the bandwidth are where it begins, of those that have minFreq values.
func meanShift(sorted []float64, bandwidth float64, minFreq int) []float64 {
	n := len(sorted)
	if n == 0 || !(bandwidth > 0) {
		return nil
	}
	// Sums are of differences from the middle, so as not to lose the small ones.
	mid := sorted[n/2]
	prefix := make([]float64, n+1)
	for i, v := range sorted {
		prefix[i+1] = prefix[i] + (v - mid)
	}
	type center struct {
		at     float64
		within int
	}
	var centers []center
	for i := 0; i < n; {
		bin := math.RoundToEven(sorted[i] / bandwidth)
		j := i + 1
		for j < n && math.RoundToEven(sorted[j]/bandwidth) == bin {
			j++
		}
		if j-i >= minFreq {
			c := center{at: bin * bandwidth}
			for range 300 { // scikit-learn's max_iter
				lo := lowerBound(sorted, c.at-bandwidth)
				hi := upperBound(sorted, c.at+bandwidth)
				if c.within = hi - lo; c.within == 0 {
					break
				}
				last := c.at
				c.at = mid + (prefix[hi]-prefix[lo])/float64(hi-lo)
				if math.Abs(c.at-last) < 1e-3*bandwidth {
					break
				}
			}
			if c.within > 0 {
				centers = append(centers, c)
			}
		}
		i = j
	}
	// Of centers within a bandwidth of each other, that with the most values remains.
	slices.SortStableFunc(centers, func(a, b center) int {
		return cmp.Or(cmp.Compare(b.within, a.within), cmp.Compare(b.at, a.at))
	})
	var list []float64
next:
	for _, c := range centers {
		for _, at := range list {
			if math.Abs(at-c.at) <= bandwidth {
				continue next
			}
		}
		list = append(list, c.at)
	}
	slices.Sort(list)
	return list
}

// estimateBandwidth returns the mean distance of sorted values to the farthest of their
// nearest neighbours, which are the part quantile of all; scikit-learn's
// estimate_bandwidth. A value is its own first neighbour.
func estimateBandwidth(sorted []float64, quantile float64) float64 {
	n := len(sorted)
	k := max(1, int(float64(n)*quantile))
	sum := 0.0
	lo := 0
	for i, v := range sorted {
		// The k nearest are a window around i. It moves on while the value that would come
		// in is nearer than the one that would go.
		for lo+k < n && (lo+k <= i || sorted[lo+k]-v < v-sorted[lo]) {
			lo++
		}
		sum += max(v-sorted[lo], sorted[lo+k-1]-v)
	}
	return sum / float64(n)
}

// clusterStarts returns the least value of each cluster of sorted values: they belong to
// the nearest of the centers, which are in ascending order. So consecutive starts bound
// the clusters.
func clusterStarts(sorted, centers []float64) []float64 {
	if len(sorted) == 0 {
		return nil
	}
	starts := []float64{sorted[0]}
	for i := 1; i < len(centers); i++ {
		at := lowerBound(sorted, (centers[i-1]+centers[i])/2)
		if at < len(sorted) && sorted[at] > starts[len(starts)-1] {
			starts = append(starts, sorted[at])
		}
	}
	return starts
}
