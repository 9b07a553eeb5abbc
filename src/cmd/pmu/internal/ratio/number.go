// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"math"
	"strconv"
	"strings"
)

// digits returns v, which is not negative, with three significant digits.
func digits(v float64) string { return significant(v, 3) }

// digits2 returns v with two.
func digits2(v float64) string { return significant(v, 2) }

func significant(v float64, n int) string {
	if v == 0 {
		return "0"
	}
	if v < 1e-4 || v >= 1e15 {
		return strconv.FormatFloat(v, 'g', n, 64)
	}
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', n, 64), 64)
	places := max(n-1-int(math.Floor(math.Log10(v))), 0)
	whole, rest, ok := strings.Cut(strconv.FormatFloat(v, 'f', places, 64), ".")
	n64, _ := strconv.ParseInt(whole, 10, 64)
	whole = thousands(n64)
	if ok {
		return whole + "." + rest
	}
	return whole
}

// thousands returns n with a comma between each three digits.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// percent returns the part of all that x is.
func percent(x, all int64) string {
	switch v := 100 * float64(x) / float64(all); {
	case all == 0 || x == 0:
		return "0 %"
	case v < 0.01:
		return "below 0.01 %"
	case v < 10:
		return strconv.FormatFloat(v, 'f', 2, 64) + " %"
	default:
		return strconv.FormatFloat(v, 'f', 1, 64) + " %"
	}
}
