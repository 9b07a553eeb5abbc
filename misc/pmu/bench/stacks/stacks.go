// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package stacks makes deep stacks of 60 functions that differ: unwinders have
// caches, which a single recursive function would flatter.
package stacks

// At calls f below depth frames of this package; 0 is one frame.
func At(depth int, f func()) { at[x, y, y, x, y, y, y, x, y, y, y, y](depth, f) }

// x and y have different sizes, so that the compiler shares no code between
// instances of a function for them.
type (
	x uint8
	y uint16
)

// at is 60 functions, one for each instance. Its type parameters form rings of 3,
// 4 and 5, and each call turns every ring by one place: it takes 3*4*5 calls to
// come back to the first instance.
//
//go:noinline
func at[A, B, C, D, E, F, G, H, I, J, K, L any](depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at[B, C, A, E, F, G, D, I, J, K, L, H](depth-1, f)
	kept = depth
}

// kept is written after each call, so that no call is a jump.
var kept int
