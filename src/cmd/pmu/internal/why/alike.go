// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"slices"
	"sync/atomic"
)

// Tables have columns that tell the same requests apart: copies of each other, and the same time in
// ms and in s. What takes long is done for the first of them. So a table of such columns takes no
// longer than one of any others.

// firstAlike returns for each of n items the first one that it is alike to, which may be itself.
// Those that are alike have the same hash.
func firstAlike(n int, hash func(i int) uint64, alike func(i, j int) bool) []int {
	first := make([]int, n)
	byHash := make(map[uint64][]int)
next:
	for i := range first {
		h := hash(i)
		for _, j := range byHash[h] {
			if alike(i, j) {
				first[i] = j
				continue next
			}
		}
		first[i] = i
		byHash[h] = append(byHash[h], i)
	}
	return first
}

// hash returns a number that is the same for the same sets.
func (b bitset) hash() (h uint64) {
	for _, w := range b {
		h = mix(h ^ w)
	}
	return h
}

// sameSets reports whether two events were recorded, are looked at, and are high in the same
// requests.
func (e *event) sameSets(f *event) bool {
	return e.High == f.High && e.N == f.N && (e.within == nil) == (f.within == nil) &&
		slices.Equal(e.high, f.high) && slices.Equal(e.recorded, f.recorded)
}

// sameConds reports whether conditions on two attributes tell the same requests apart.
func (a *attr) sameConds(b *attr) bool {
	return a.words == b.words && slices.EqualFunc(a.from, b.from, func(x, y bitset) bool { return slices.Equal(x, y) })
}

func (a *attr) hash() (h uint64) {
	for _, b := range a.from {
		h = mix(h ^ b.hash())
	}
	return h
}

// distinct removes attributes that tell the same requests apart as one before, which then has their
// names.
func (s *space) distinct() {
	first := firstAlike(len(s.attrs), func(i int) uint64 { return s.attrs[i].hash() }, func(i, j int) bool { return s.attrs[i].sameConds(s.attrs[j]) })
	var list []*attr
	for i, a := range s.attrs {
		if f := first[i]; f != i {
			s.attrs[f].also = append(s.attrs[f].also, a.Name)
		} else {
			list = append(list, a)
		}
	}
	s.attrs = list
}

// A work counts what takes long, for tests. A nil one counts nothing.
type work struct {
	resampled atomic.Int64 // events, by bootstrap
	compared  atomic.Int64 // sets of two events
	tried     atomic.Int64 // sets of conditions
}

func (w *work) resample() {
	if w != nil {
		w.resampled.Add(1)
	}
}

func (w *work) compare() {
	if w != nil {
		w.compared.Add(1)
	}
}

func (w *work) try() {
	if w != nil {
		w.tried.Add(1)
	}
}
