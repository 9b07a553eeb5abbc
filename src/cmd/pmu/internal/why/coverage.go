// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import "fmt"

// coverage says of how many requests there is what. Events may be recorded in turns, as there
// are more than counters: then each is recorded in some requests, and two of them together in
// fewer, or in none. It returns "" if all requests have recorded the same events.
func coverage(r *ranked) string {
	var sets []bitset
	least, most := len(r.rows), 0
	for i := range r.Columns {
		c := &r.Columns[i]
		if c.Words != nil {
			continue
		}
		set, n := newBitset(len(r.rows)), 0
		for k, i := range r.rows {
			if !bad(c.Values[i]) {
				set.set(k)
				n++
			}
		}
		if n > 0 && n < len(r.rows) {
			sets = append(sets, set)
			least, most = min(least, n), max(most, n)
		}
	}
	if len(sets) < 2 {
		return ""
	}
	apart := 0
	for i, a := range sets {
		for _, b := range sets[:i] {
			if !meet(a, b) {
				apart++
			}
		}
	}
	s := fmt.Sprintf("%d events were recorded in some requests only, each in %d", len(sets), least)
	if most > least {
		s += fmt.Sprintf(" to %d", most)
	}
	if apart > 0 {
		s += fmt.Sprintf("; %d of %d pairs of them never together, so that neither is known to follow the other", apart, len(sets)*(len(sets)-1)/2)
	}
	return s
}

// meet reports whether two sets have something in common.
func meet(a, b bitset) bool {
	b = b[:len(a)]
	for i := range a {
		if a[i]&b[i] != 0 {
			return true
		}
	}
	return false
}
