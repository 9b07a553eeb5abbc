// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Stops of the world, for those who have to know of them.

package runtime

// perfWorld are who is told. Each is set once, and perfAccountHooks.world after that.
var perfWorld struct {
	task   func(w worldStop) // set by the first task; told after a stop
	hazard func(w worldStop) // set by the first page; told all
}

// perfTellWorld sets one of them.
func perfTellWorld(who *func(w worldStop), f func(w worldStop)) {
	*who = f
	perfAccountHooks.world = perfWorldChanges
}

// perfWorldChanges is called when the world is about to be stopped, with the reason alone; when it
// is about to be started; and with nothing, when all Ps have been given to threads.
//
//go:nowritebarrierrec
func perfWorldChanges(w worldStop) {
	if f := perfWorld.task; f != nil && w.finishedStopping != 0 {
		f(w)
	}
	if f := perfWorld.hazard; f != nil {
		f(w)
	}
}
