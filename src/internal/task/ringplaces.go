// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"cmp"
	"errors"
	"internal/runtime/perf"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A RingPlace is the number of a reader's next record in one of the rings.
type RingPlace struct {
	Ring int
	Next uint64
}

// RingPlaces are those in all rings, in their order. One that is not there is 0. Numbers are those of a
// process, and no clock has to do with them. So two answers of a process say whether there is a record
// between them.
type RingPlaces []RingPlace

// Within reports whether p is not after o in any ring: who has read all before o has read all before p.
func (p RingPlaces) Within(o RingPlaces) bool {
	for _, x := range p {
		if x.Next > o.next(x.Ring) {
			return false
		}
	}
	return true
}

func (p RingPlaces) next(ring int) uint64 {
	i, ok := p.find(ring)
	if !ok {
		return 0
	}
	return p[i].Next
}

func (p RingPlaces) find(ring int) (i int, ok bool) {
	return slices.BinarySearchFunc(p, ring, func(x RingPlace, ring int) int { return cmp.Compare(x.Ring, ring) })
}

// Raise makes p the later place in each ring of p and o, which may be in any order.
func (p *RingPlaces) Raise(o RingPlaces) {
	for _, x := range o {
		i, ok := p.find(x.Ring)
		if !ok {
			*p = slices.Insert(*p, i, x)
		}
		(*p)[i].Next = max((*p)[i].Next, x.Next)
	}
}

// Slow returns those in the rings of slow tasks' records. No other ring has any.
func (p RingPlaces) Slow() (list RingPlaces) {
	for _, x := range p {
		if x.Ring%perf.NumTaskRings == perf.SlowTaskRing {
			list = append(list, x)
		}
	}
	return list
}

// MarshalText returns p in a form for headers and files: 0:17 2:400.
func (p RingPlaces) MarshalText() ([]byte, error) {
	var b []byte
	for i, x := range p {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendInt(b, int64(x.Ring), 10)
		b = strconv.AppendUint(append(b, ':'), x.Next, 10)
	}
	return b, nil
}

// UnmarshalText is the inverse of MarshalText.
func (p *RingPlaces) UnmarshalText(text []byte) error {
	*p = nil
	for _, f := range strings.Fields(string(text)) {
		ring, next, _ := strings.Cut(f, ":")
		i, err := strconv.Atoi(ring)
		n, err2 := strconv.ParseUint(next, 10, 64)
		if err != nil || err2 != nil || len(*p) > 0 && i <= (*p)[len(*p)-1].Ring {
			return errors.New("task: malformed places in rings")
		}
		*p = append(*p, RingPlace{i, n})
	}
	return nil
}

// Process names this process, whose rings places are in. It is random.
var Process = sync.OnceValue(func() string { return strconv.FormatUint(rand.Uint64()|1, 16) })
