// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"math"
	"math/bits"
	"time"
)

// Lengths are how long tasks took. Their percentiles, which are exact to 3 %, are those of the report
// and of the pages. The zero lengths are ready.
type lengths struct {
	n         int64
	longest   time.Duration
	histogram [64 << subBits]uint32
}

// add adds a task that took d.
func (l *lengths) add(d time.Duration) {
	d = max(0, d)
	l.n++
	l.longest = max(l.longest, d)
	if n := &l.histogram[bucket(d)]; *n < math.MaxUint32 {
		*n++
	}
}

// subBits is the logarithm of the number of buckets for each power of two.
const subBits = 5

// bucket returns the bucket of a duration, which is one of itself if it is short, or of
// those up to 1/32 longer.
func bucket(d time.Duration) int {
	v := uint64(max(0, d))
	shift := max(0, bits.Len64(v)-subBits-1)
	return shift<<subBits + int(v>>shift)
}

// bucketEnd returns the longest duration in a bucket.
func bucketEnd(i int) time.Duration {
	if i < 2<<subBits {
		return time.Duration(i)
	}
	shift := i>>subBits - 1
	return time.Duration((uint64(i-shift<<subBits)+1)<<shift - 1)
}

// percentile returns the duration that so many of 100 tasks don't exceed.
func (l *lengths) percentile(p int) time.Duration {
	rank := max(1, (l.n*int64(p)+99)/100)
	for i, n := range l.histogram {
		if rank -= int64(n); rank <= 0 {
			return min(bucketEnd(i), l.longest)
		}
	}
	return l.longest
}
