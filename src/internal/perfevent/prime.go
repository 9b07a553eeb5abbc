// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent

import "math/bits"

// PrimePeriod returns the odd prime nearest to p, the larger of two equally
// near ones, so that the period is never shortened for nothing.
//
// Code that repeats itself aliases with a fixed period: if two places take
// turns in causing an event, every even period sees only one of them, for ever.
// A prime period is coprime to the length of every loop that is shorter than
// itself, so that its samples walk through all places of such a loop.
//
// 0 and 1 are returned as they are: 0 stands for a preset, and with 1 every
// event is a sample. 2 is prime and becomes 3, since alternation is the most
// common loop of all.
func PrimePeriod(p uint64) uint64 {
	const largest = 1<<64 - 59 // largest prime of 64 bits
	switch {
	case p <= 1:
		return p
	case p <= 3:
		return 3
	case p >= largest:
		return largest
	}
	// No gap between primes of 64 bits exceeds 1550, so this ends soon.
	for d := uint64(0); ; d++ {
		if isOddPrime(p + d) {
			return p + d
		}
		if isOddPrime(p - d) {
			return p - d
		}
	}
}

// quantize returns the multiple q*PrimePeriod(n) nearest to p, at least q;
// q is 1 if 0.
func quantize(p, q uint64) uint64 {
	if q <= 1 {
		return PrimePeriod(p)
	}
	n := max(p/q, 1)
	return q * min(PrimePeriod(n), ^uint64(0)/q)
}

// isOddPrime reports whether n is a prime other than 2, by the Miller-Rabin
// test. With the first twelve primes as bases the test errs on no number below
// 3.3e24 (Sorenson and Webster, 2015), so it is exact for uint64.
func isOddPrime(n uint64) bool {
	if n < 3 || n%2 == 0 {
		return false
	}
	bases := [...]uint64{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37}
	for _, a := range bases {
		if n == a {
			return true
		}
		if n%a == 0 {
			return false
		}
	}
	s := bits.TrailingZeros64(n - 1)
	d := (n - 1) >> s
	for _, a := range bases {
		if !strongProbablePrime(n, a, d, s) {
			return false
		}
	}
	return true
}

// strongProbablePrime is one round of the test: n-1 == d<<s, d odd.
func strongProbablePrime(n, a, d uint64, s int) bool {
	x := powMod(a, d, n)
	if x == 1 || x == n-1 {
		return true
	}
	for range s - 1 {
		if x = mulMod(x, x, n); x == n-1 {
			return true
		}
	}
	return false
}

func powMod(a, e, n uint64) uint64 {
	x := uint64(1)
	for a %= n; e > 0; e >>= 1 {
		if e&1 != 0 {
			x = mulMod(x, a, n)
		}
		a = mulMod(a, a, n)
	}
	return x
}

// mulMod returns x*y mod n, for x and y less than n.
func mulMod(x, y, n uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	_, rem := bits.Div64(hi, lo, n) // hi < n because x < n
	return rem
}
