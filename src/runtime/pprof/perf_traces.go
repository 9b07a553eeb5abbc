// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"encoding/binary"
	"math/bits"
	"time"
)

// A verdict says whether the task of a sample was slow.
type verdict uint8

const (
	verdictNone    verdict = iota // there was no task
	verdictYes                    // it was slow, or one that it was a child of
	verdictNo                     // it was not
	verdictUnknown                // the sample could not wait for its end
	numVerdicts
)

var verdictNames = [numVerdicts]string{verdictYes: "yes", verdictNo: "no", verdictUnknown: "unknown"}

// taskTraces are the traces that a profile's samples have as labels. They tell samples of one request
// from those of another, so that a reader knows how much requests differ. Each makes samples of its own in the profile. So
// there are not many, and not all of one kind, nor of the first moment.
//
// What is chosen has to stand for what is not. So which request is chosen must not depend on how
// long it takes, or how many samples it has. A place that comes free every so often would go to the one that ends next,
// and that is a long one if requests come one after another. So it is decided by chance, by a number that
// is made of the trace: all of a trace are chosen or, while the rate is the same, none.
type taskTraces struct {
	chosen map[traceOf]bool
	usual  int // of these
	kinds  map[kindTraces]*traceBudget
	seed   uint64 // what makes that number nobody's choice
}

// A traceOf is what requests of a kind do for a trace, if all are usual, or slow.
type traceOf struct {
	trace [16]byte
	of    kindTraces
}

type kindTraces struct {
	kind uint16
	v    verdict // verdictYes or verdictNo
}

// A traceBudget is for the requests of a kind that are slow, or usual.
type traceBudget struct {
	begin        time.Time // of the first one
	seen, chosen int       // requests with samples, and those of them that are chosen

	// last is the latest of them. The samples of a request come together.
	last       [16]byte
	lastChosen bool
}

const (
	maxTaskTraces   = 1024 // of a profile,
	maxUsualTraces  = 512  // these included
	maxKindTraces   = 128  // usual, or slow
	firstKindTraces = 32   // which are the first ones; others are chosen by chance,
	kindTraceRate   = 8    // about so many a second
)

// take reports whether a sample that has waited has its trace as a label. It is of a request of
// a kind.
func (t *taskTraces) take(trace [16]byte, kind uint16, v verdict) bool {
	if trace == ([16]byte{}) {
		return false
	}
	if t.kinds == nil {
		t.chosen, t.kinds = make(map[traceOf]bool), make(map[kindTraces]*traceBudget)
		t.seed = uint64(time.Now().UnixNano())
	}
	of := kindTraces{kind, v}
	b := t.kinds[of]
	if b == nil {
		b = &traceBudget{begin: time.Now()}
		t.kinds[of] = b
	}
	if b.last != trace {
		b.last, b.lastChosen = trace, t.choose(traceOf{trace, of}, b)
	}
	return b.lastChosen
}

// choose is take for a request that is another one than the latest of its kind.
func (t *taskTraces) choose(x traceOf, b *traceBudget) bool {
	b.seen++
	if t.chosen[x] {
		return true
	}
	usual := x.of.v == verdictNo
	if b.chosen == maxKindTraces || len(t.chosen) == maxTaskTraces || usual && t.usual == maxUsualTraces {
		return false
	}
	if b.chosen >= firstKindTraces {
		part := kindTraceRate * time.Since(b.begin).Seconds() / float64(b.seen)
		if float64(t.number(x.trace))/(1<<64) >= part {
			return false
		}
	}
	t.chosen[x] = true
	b.chosen++
	if usual {
		t.usual++
	}
	return true
}

// number returns a number that is made of a trace. Those of all traces are spread evenly.
func (t *taskTraces) number(trace [16]byte) uint64 {
	const a, b = 0x9e3779b97f4a7c15, 0xe7037ed1a0b428db
	x := t.seed
	for _, word := range [...]uint64{binary.NativeEndian.Uint64(trace[:]), binary.NativeEndian.Uint64(trace[8:])} {
		hi, lo := bits.Mul64(x^word^a, b)
		x = hi ^ lo
	}
	x = (x ^ x>>31) * a
	return x ^ x>>29
}
