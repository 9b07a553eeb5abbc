// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// What package runtime/task has to know of regions in execution traces, so that its own nest with
// those of the program.

package runtime

import "unsafe"

// perfRegionHook is called before a region of a goroutine begins (mode 0) or ends (1) in the
// execution trace, whether that is on or not. It is set once, when package runtime/task is
// initialized, and only read afterwards.
var perfRegionHook func(gp uintptr, goid, mode uint64)

//go:linkname perfSetRegionHook runtime/task.runtime_perfSetRegionHook
func perfSetRegionHook(f func(gp uintptr, goid, mode uint64)) { perfRegionHook = f }

func perfTraceRegion(mode uint64) {
	if f := perfRegionHook; f != nil {
		gp, goid := perfGoroutine()
		f(gp, goid, mode)
	}
}

// perfGoroutine returns the address and the ID of the calling goroutine's g. Addresses stay those
// of gs, which are few, as they are reused; IDs are not.
//
//go:linkname perfGoroutine runtime/task.runtime_perfGoroutine
func perfGoroutine() (gp uintptr, goid uint64) {
	g := getg()
	return uintptr(unsafe.Pointer(g)), g.goid
}
