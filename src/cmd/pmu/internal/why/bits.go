// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import "math/bits"

// A bitset has a bit for each row of a table.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

func (b bitset) count() (n int) {
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// jaccard returns how much two sets of rows have in common, of those rows in which both were
// recorded: the part of their union that is in both, and 0 if either is empty.
func jaccard(a, recordedA, b, recordedB bitset) float64 {
	var both, any int
	for i := range a {
		recorded := recordedA[i] & recordedB[i]
		both += bits.OnesCount64(a[i] & b[i] & recorded)
		any += bits.OnesCount64((a[i] | b[i]) & recorded)
	}
	if any == 0 {
		return 0
	}
	return float64(both) / float64(any)
}
