// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package stacks

import (
	"runtime"
	"testing"
)

// TestAt tests that a stack has the depth asked for, and 60 functions that differ.
func TestAt(t *testing.T) {
	count := func(depth int) (frames, functions int) {
		pcs := make([]uintptr, 300)
		At(depth, func() { pcs = pcs[:runtime.Callers(0, pcs)] })
		entries := make(map[uintptr]bool)
		for _, pc := range pcs {
			entries[runtime.FuncForPC(pc-1).Entry()] = true
		}
		return len(pcs), len(entries)
	}
	frames, functions := count(0)
	deepFrames, deepFunctions := count(200)
	if got := deepFrames - frames; got != 200 {
		t.Errorf("%d frames more, want 200", got)
	}
	if got := deepFunctions - functions; got != 59 {
		t.Errorf("%d functions more, want 59", got)
	}
}
