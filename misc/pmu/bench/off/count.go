// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package off

import (
	"slices"

	"pmu/bench/bare"
)

// Count calls f with the name of each operation and the number of instructions that it
// takes in user mode. That is the median of several tries: the runtime's monitor interrupts
// some of them, and a few find goroutines in another order. GOMAXPROCS must be 1, for the
// operation to stay on its thread.
func Count(f func(op string, instructions float64)) error {
	const n, tries = 1000, 11
	for _, o := range ops {
		var counts []uint64
		for len(counts) < tries {
			c, err := bare.Count(bare.Instructions, bare.User)
			if err != nil {
				return err
			}
			thread := bare.Thread()
			before := c.Read()
			o.do(n)
			after := c.Read()
			c.Close()
			if bare.Thread() == thread {
				counts = append(counts, after-before)
			}
		}
		slices.Sort(counts)
		f(o.name, float64(counts[tries/2])/n)
	}
	return nil
}
