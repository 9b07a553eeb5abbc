// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package slow

import (
	"cmp"
	"slices"
)

// maxTraces is of how many traces a tree tells the samples apart. Those of others count, too.
const maxTraces = 1024

// A perTrace is a value of each trace, by the trace's number. Most functions are in the samples of few
// traces, so it has only those: at most as many as there are samples.
type perTrace []traceValue

type traceValue struct {
	trace int32
	value int64
}

// add adds v to the value of a trace.
func (p *perTrace) add(trace int, v int64) {
	l := *p
	if n := len(l); n > 0 && l[n-1].trace == int32(trace) {
		l[n-1].value += v
		return
	}
	if len(l) >= 2*maxTraces {
		l = p.sorted() // which leaves half of the room, or more
	}
	*p = append(l, traceValue{int32(trace), v})
}

// sorted has one value for each trace from now on, in the order of their numbers, and returns p.
func (p *perTrace) sorted() perTrace {
	l := *p
	slices.SortFunc(l, func(a, b traceValue) int { return cmp.Compare(a.trace, b.trace) })
	n := 0
	for _, x := range l {
		if n > 0 && l[n-1].trace == x.trace {
			l[n-1].value += x.value
			continue
		}
		l[n] = x
		n++
	}
	*p = l[:n]
	return *p
}

// sum returns the sum of all values.
func (p perTrace) sum() (s float64) {
	for _, x := range p {
		s += float64(x.value)
	}
	return s
}
