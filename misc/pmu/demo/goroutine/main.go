// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Goroutine runs ten goroutines that do exactly the same work, each in a
// function of its own: a profile should give each a tenth.
//
// It is the first program of proposal 36821, section 2.3.1, written afresh.
package main

import (
	"sync"

	"pmu/demo/demo"
)

// turns is how often each function goes round its loop at scale 1.
const turns = 150e6

// sink keeps the results, so that no work is optimized away.
var sink [10]uint64

func main() { demo.Main("cycles", work) }

func work(scale float64) {
	n := uint64(turns * scale)
	var wg sync.WaitGroup
	for i, f := range []func(uint64) uint64{f1, f2, f3, f4, f5, f6, f7, f8, f9, f10} {
		i, f := i, f
		wg.Add(1)
		go func() {
			defer wg.Done()
			sink[i] = f(n)
		}()
	}
	wg.Wait()
}

// The ten functions are the same loop word for word. Each iteration waits for the
// one before, so it takes the latency of a multiplication, whatever the loop's
// alignment and whatever else the core runs. The loop is written out in each function
// because samples in a helper would have the helper's name.

//go:noinline
func f1(n uint64) uint64 {
	x := n
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func f2(n uint64) uint64 {
	x := n
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func f3(n uint64) uint64 {
	x := n
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func f4(n uint64) uint64 {
	x := n
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func f5(n uint64) uint64 {
	x := n
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func f6(n uint64) uint64 {
	x := n
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func f7(n uint64) uint64 {
	x := n
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func f8(n uint64) uint64 {
	x := n
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func f9(n uint64) uint64 {
	x := n
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

//go:noinline
func f10(n uint64) uint64 {
	x := n
	for ; n > 0; n-- {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}
