// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Serial runs ten functions one after the other, the k-th of which does k
// times the work of the first: a profile should give it k/55, the per cent
// that its name says.
//
// It is the second program of proposal 36821, section 2.3.2, written afresh.
package main

import "pmu/demo/demo"

// turns is how often the first function goes round its loop at scale 1.
const turns = 27e6

// The work is done in this many rounds. A processor, above all a virtual one, may run
// at one speed now and at another a tenth of a second later; a function that did its
// work in one piece would not get its share of the time.
const rounds = 50

// sink keeps the result, so that no work is optimized away.
var sink uint64

func main() { demo.Main("cycles", work) }

// work hands each function's result to the next, so that no two overlap.
func work(scale float64) {
	n := uint64(turns * scale / rounds)
	x := n
	for r := 0; r < rounds; r++ {
		x = A_expect_1_82(x, 1*n)
		x = B_expect_3_64(x, 2*n)
		x = C_expect_5_45(x, 3*n)
		x = D_expect_7_27(x, 4*n)
		x = E_expect_9_09(x, 5*n)
		x = F_expect_10_91(x, 6*n)
		x = G_expect_12_73(x, 7*n)
		x = H_expect_14_55(x, 8*n)
		x = I_expect_16_36(x, 9*n)
		x = J_expect_18_18(x, 10*n)
	}
	sink = x
}

// The ten functions are the same loop word for word, each iteration of which waits
// for the one before. The loop is written out in each function because samples in a
// helper would have the helper's name.

//go:noinline
func A_expect_1_82(x, n uint64) uint64 {
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func B_expect_3_64(x, n uint64) uint64 {
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func C_expect_5_45(x, n uint64) uint64 {
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func D_expect_7_27(x, n uint64) uint64 {
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func E_expect_9_09(x, n uint64) uint64 {
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func F_expect_10_91(x, n uint64) uint64 {
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func G_expect_12_73(x, n uint64) uint64 {
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func H_expect_14_55(x, n uint64) uint64 {
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func I_expect_16_36(x, n uint64) uint64 {
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func J_expect_18_18(x, n uint64) uint64 {
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}
