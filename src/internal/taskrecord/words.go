// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"strconv"
	"strings"
	"time"
)

// Duration returns a duration with three digits, as texts have it: 7 ms, 12.3 ms, 850 us.
func Duration(d time.Duration) string {
	unit, name := time.Nanosecond, "ns"
	switch {
	case d >= time.Second || d <= -time.Second:
		unit, name = time.Second, "s"
	case d >= time.Millisecond || d <= -time.Millisecond:
		unit, name = time.Millisecond, "ms"
	case d >= time.Microsecond || d <= -time.Microsecond:
		unit, name = time.Microsecond, "us"
	}
	v := float64(d) / float64(unit)
	digits := 2
	switch {
	case v >= 99.95 || v <= -99.95:
		digits = 0
	case v >= 9.995 || v <= -9.995:
		digits = 1
	}
	n := strconv.FormatFloat(v, 'f', digits, 64)
	if digits > 0 {
		n = strings.TrimRight(strings.TrimRight(n, "0"), ".")
	}
	return n + " " + name
}

// Printable returns s without what a terminal might obey: what comes from a file may hold
// anything.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '\ufffd'
		}
		return r
	}, s)
}

// Count returns a number of things, as texts have it: 1 record, 2 records.
func Count[N int | int64](n N, what string) string { return Plural(n, what, what+"s") }

// Plural is Count for things whose name takes more than an s.
func Plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + many
}

// name returns a name for a table: not long, and without what separates columns.
func name(s string) string {
	r := []rune(Printable(s))
	if len(r) > textName {
		r = append(r[:textName-3], '.', '.', '.')
	}
	return string(r)
}
