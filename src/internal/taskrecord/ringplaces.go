// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

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

// MarshalText returns p in a form for JSON: 0:17 2:400.
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

// A Progress is up to where an answer has all records: those in Places, and before them in their rings, were
// sent, or are counted here. Counts are those since the answer began.
type Progress struct {
	Places  RingPlaces
	Lost    int64 // records that the rings have lost
	LeftOut int64 // that are too large for a file
}

// A Mark is the beginning or the end of an answer. A file has it in a header of its own, of no server.
// Between them are the records of Process that are asked for, from the places of one to those of the other.
type Mark struct {
	End     bool
	Process string
	Progress
	Taken Taken // since recording began; older releases have none
}

// Kinds of marks in a header.
const (
	noMark = iota
	beginMark
	endMark
)

// maxCounted bounds what a Progress counts, so that sums of what servers say do not wrap.
const maxCounted = 1 << 48

// progress codes a Progress. What is read may come from anywhere. So there are no more places than rings.
func (c *coder) progress(p *Progress) {
	list(c, (*[]RingPlace)(&p.Places), 2, func(x *RingPlace) {
		unsigned(c, &x.Ring)
		unsigned(c, &x.Next)
		if uint(x.Ring) >= perf.AllTaskRings {
			c.fail(errMalformed)
		}
	})
	unsigned(c, &p.Lost)
	unsigned(c, &p.LeftOut)
	if len(p.Places) > perf.AllTaskRings || uint64(p.Lost) > maxCounted || uint64(p.LeftOut) > maxCounted {
		c.fail(errMalformed)
	}
}

// mark reads what a header has of a mark. It returns nil if there is none, or one that only later releases know.
func (c *coder) mark() *Mark {
	var kind uint64
	if len(c.b) > 0 {
		unsigned(c, &kind)
	}
	if kind != beginMark && kind != endMark {
		return nil
	}
	m := &Mark{End: kind == endMark, Process: c.inline()}
	c.progress(&m.Progress)
	if len(c.b) > 0 {
		c.taken(&m.Taken)
	}
	for i, x := range m.Places {
		if i > 0 && x.Ring <= m.Places[i-1].Ring {
			c.fail(errMalformed)
		}
	}
	if len(m.Process) > maxProcess {
		c.fail(errMalformed)
	}
	return m
}

const maxProcess = 64 // bytes of its name

// Process names this process, whose rings places are in. It is random.
var Process = sync.OnceValue(func() string { return strconv.FormatUint(rand.Uint64()|1, 16) })
