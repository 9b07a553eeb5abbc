// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Fusion computes the same from two arrays in two loops, and in one. The loops do the
// same arithmetic; what differs is how often the arrays come from memory. The two loops
// take 2 and 3 cache lines where the one loop takes 3: of 8 lines, the second loop has
// 37.5 %, a third of which are only there because the loops are apart.
//
//	go run ./demo/fusion -o fusion.prof
//	go run ./demo/report -program fusion -tolerance 10 fusion.prof
//
// That is how a profile of cache misses differs from one of time: a line of code is not
// slow by itself, but by what the cache no longer has. The event counts what the first
// level is filled with, on most processors for writes, too. Where it counts loads only,
// the shares are 25, 50 and 25 %. Misses of the last level are the same if the arrays,
// 64 MiB each, do not fit in it. A machine without cache events says so, as most virtual
// ones do; there, -event task-clock shows the time.
package main

import "pmu/demo/demo"

const n = 64 << 20 / 8 // elements of an array

var a, b, c = array(), array(), array()

// array returns an array whose pages are there, so that faults are not in the profile.
func array() []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	return x
}

func main() { demo.Main("L1-dcache-load-misses", work) }

func work(scale float64) {
	for r := 0; r < int(10*scale+0.5); r++ {
		first()
		second()
		fused()
	}
}

//go:noinline
func first() {
	for i := range a {
		b[i] = 2 * a[i]
	}
}

//go:noinline
func second() {
	for i := range a {
		c[i] = a[i] + b[i]
	}
}

//go:noinline
func fused() {
	for i := range a {
		b[i] = 2 * a[i]
		c[i] = a[i] + b[i]
	}
}
