// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"math/rand"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

type expandT struct{}

// M is called through a wrapper, where the receiver is a pointer.
func (expandT) M() {}

// expandPCs returns return addresses: of callers, of functions with inlined calls,
// of runtime.gopanic, of a wrapper, and one that isn't Go's.
func expandPCs() (pcs []uintptr) {
	defer func() {
		recover()
		buf := make([]uintptr, 100)
		pcs = append(pcs, buf[:runtime.Callers(0, buf)]...)
		pcs = append(pcs, reflect.ValueOf((*expandT).M).Pointer()+1, 1)
	}()
	panic("for runtime.gopanic")
}

// TestPerfExpand tests that stacks are expanded as the runtime does it as a whole,
// which decides from the frame before whether a wrapper is a call.
func TestPerfExpand(t *testing.T) {
	pcs := expandPCs()
	x := newPerfExpander()
	r := rand.New(rand.NewSource(1))
	kept, elided := 0, 0
	for range 10000 {
		stk := make([]uintptr, 1+r.Intn(8))
		for i := range stk[1:] {
			stk[1+i] = pcs[r.Intn(len(pcs))]
		}
		want := slices.Clone(x.expand(stk...))
		if got := x.calls(stk); !slices.Equal(got, want) {
			t.Fatalf("stack %#x: got %#x, want %#x", stk, got, want)
		}
		wrapper := pcs[len(pcs)-2]
		for i, pc := range stk {
			if pc != wrapper {
				continue
			}
			if slices.Contains(want, wrapper) {
				kept++
			} else if i > 0 {
				elided++
			}
		}
	}
	if kept == 0 || elided == 0 {
		t.Errorf("wrappers: %d were kept, %d elided; want some of both", kept, elided)
	}
}
