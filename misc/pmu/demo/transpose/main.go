// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Transpose transposes a matrix of a million rows and 16 columns, column by column and
// row by row. Both copy every element once. A row is two cache lines, of which the way by
// columns uses 8 bytes each time: to 16 million elements it reads as many lines and
// writes 2 million. The way by rows reads and writes 2 million each. So of 22 lines the
// first has 18, 81.8 %.
//
//	go run ./demo/transpose -o transpose.prof
//	go run ./demo/report -program transpose -tolerance 10 transpose.prof
//
// The event counts what the first level is filled with, on most processors for writes,
// too. Where it counts loads only, the shares are 88.9 and 11.1 %. Misses of the last
// level are the same if the matrix, 128 MiB, does not fit in it. A machine without cache
// events says so, as most virtual ones do; there, -event task-clock shows the time.
package main

import "pmu/demo/demo"

const (
	rows    = 1 << 20
	columns = 16

	// Transposed rows are a cache line further apart than they are long. Were they
	// 8 MiB apart, all 16 would go through the same few places of the cache.
	stride = rows + 8
)

var from, to = matrix(), matrix()

// matrix returns a matrix whose pages are there, so that faults are not in the profile.
func matrix() []float64 {
	m := make([]float64, stride*columns)
	for i := range m {
		m[i] = float64(i)
	}
	return m
}

func main() { demo.Main("L1-dcache-load-misses", work) }

func work(scale float64) {
	for r := 0; r < int(5*scale+0.5); r++ {
		byColumns()
		byRows()
	}
}

//go:noinline
func byColumns() {
	for j := 0; j < columns; j++ {
		for i := 0; i < rows; i++ {
			to[j*stride+i] = from[i*columns+j]
		}
	}
}

//go:noinline
func byRows() {
	for i := 0; i < rows; i++ {
		for j := 0; j < columns; j++ {
			to[j*stride+i] = from[i*columns+j]
		}
	}
}
