// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"math/bits"
	"time"
)

// Times counts how long requests of a kind take, in steps of 9 to 12 %.
type times struct {
	n     int // since the last p99
	steps [30 * 8]uint32

	// p99 is how long 99 of 100 have taken at most: of the first hundred, then of each thousand.
	p99 time.Duration
}

const (
	firstWindow = 100
	window      = 1000
)

// add counts one. It reports whether p99 is another one now.
func (t *times) add(d time.Duration) bool {
	t.steps[step(d)]++
	t.n++
	if t.n < window && (t.p99 != 0 || t.n < firstWindow) {
		return false
	}
	beyond := t.n / 100
	for i := len(t.steps) - 1; i >= 0; i-- {
		if beyond -= int(t.steps[i]); beyond < 0 {
			t.p99 = upTo(i)
			break
		}
	}
	t.n = 0
	clear(t.steps[:])
	return true
}

// step returns the step of a time: the power of two in units of 64 ns, and the three bits below the highest one.
func step(d time.Duration) int {
	v := max(uint64(max(d, 0))>>6, 8)
	e := bits.Len64(v) - 4 // from 0
	return min(e<<3+int(v>>e&7), len(times{}.steps)-1)
}

// upTo returns the time that those of a step do not reach.
func upTo(step int) time.Duration {
	return time.Duration(uint64(8+step&7+1)<<(step>>3)) << 6
}
