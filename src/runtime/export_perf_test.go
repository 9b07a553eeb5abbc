// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import "internal/runtime/sys"

// A PerfWalk remembers the last stack.
type PerfWalk = perfWalk

// Frames returns how many frames of the last stack w has.
func (w *perfWalk) Frames() int { return w.n }

// PerfUnwind returns the stack of its caller, its inlined calls included, as
// w and as the unwinder find it. cached is empty if w leaves it to the unwinder.
func PerfUnwind(w *PerfWalk) (cached, unwound []uintptr) {
	var frames [1 + maxCPUProfStack]uintptr
	var calls [maxCPUProfStack]uintptr
	var nframes, ncalls int
	pc, sp, gp := sys.GetCallerPC(), sys.GetCallerSP(), getg()
	systemstack(func() {
		nframes = w.unwind((*[maxCPUProfStack]uintptr)(frames[1:]), pc, sp, 0, gp)
		var u unwinder
		u.initAt(pc, sp, 0, gp, unwindSilentErrors|unwindTrap|unwindJumpStack)
		ncalls = tracebackPCs(&u, 0, calls[:])
	})
	cached = make([]uintptr, maxCPUProfStack)
	cached = cached[:fpunwindExpand(cached, frames[:1+nframes])]
	return cached, append(unwound, calls[:ncalls]...)
}

// PerfUnwindAt returns how many frames a perfWalk finds for a function at pc
// whose stack pointer is off bytes below the end of the calling goroutine's stack.
func PerfUnwindAt(pc, off uintptr) int {
	var frames [maxCPUProfStack]uintptr
	gp := getg()
	return new(perfWalk).unwind(&frames, pc, gp.stack.hi-off, 0, gp)
}
