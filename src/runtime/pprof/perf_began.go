// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"internal/profilerecord"
	"unsafe"
)

// Labels of goroutines, in the goroutine profile and in that of those that are leaked; see perftaskbegan.go in
// package runtime.

// goroutineLabels returns the labels of the goroutine of stk[i]: labels[i] and, if it works for a task, the
// kind of that. If it has outlived its task, it has that one's kind and trace. It is called for 0
// first.
func goroutineLabels(labels []unsafe.Pointer, stk []profilerecord.StackRecord, i int) *labelMap {
	if i == 0 {
		boundBegan(stk, maxTaskTraces, maxBeganTraces)
	}
	t := &stk[i].Task
	return (&taskTag{labels: labels[i], kind: int64(t.Kind), began: t.Began, trace: t.Trace}).labelMap()
}

// maxBeganTraces is of how many requests goroutines with one stack, left of tasks of one kind, have the
// trace. Goroutines of the same labels and stack are one sample, and a million may have been leaked at one place.
const maxBeganTraces = 16

// A leftAt is where goroutines wait that are left of tasks of a kind.
type leftAt struct {
	kind  uint32
	stack uint64 // a hash; if there are two with the same, they have fewer traces
}

type leftOf struct {
	leftAt
	trace [16]byte
}

// boundBegan forgets traces, so that there are most of them with stacks at all and each of one stack and
// kind. It forgets no more if it is called again.
func boundBegan(stk []profilerecord.StackRecord, most, each int) {
	var places map[leftAt]int // how many traces there are
	var traces map[leftOf]bool
	for i := range stk {
		t := &stk[i].Task
		if !t.Began {
			continue
		}
		if places == nil {
			places, traces = make(map[leftAt]int), make(map[leftOf]bool)
		}
		at := leftAt{kind: t.Kind}
		for _, pc := range stk[i].Stack {
			at.stack = (at.stack ^ uint64(pc)) * 0x9e3779b97f4a7c15
			at.stack ^= at.stack >> 32
		}
		of := leftOf{at, t.Trace}
		switch {
		case traces[of]:
		case places[at] == each || len(traces) == most:
			t.Trace = [16]byte{}
		default:
			places[at]++
			traces[of] = true
		}
	}
}
