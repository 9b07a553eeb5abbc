// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

// A Group is a kind of events. Groups say what can cause what (VarMRI: INST > CACHE > CYCLE): more
// instructions miss the caches more often, and both take cycles, but not the other way round.
type Group uint8

const (
	Unknown Group = iota // look the event up
	None                 // can neither cause nor be caused, as far as is known
	Input                // what is not the program's: sizes, and calls of other servers
	Kernel               // what the kernel does for the request: page faults
	Inst                 // instructions, of all or of some kinds
	Cache                // accesses and misses of caches and of TLBs
	Cycle                // time and cycles on a CPU
	Sum                  // a time that includes others' columns: these can cause it, and it causes none

	// inKernel is set in the last three if only what the kernel does is counted. These are a family
	// of their own, with the same order: the kernel's instructions don't make the program's misses.
	inKernel Group = 16
)

// mayCause reports whether events of group g can cause those of group h. What a request came
// with can cause all else.
func (g Group) mayCause(h Group) bool {
	switch {
	case g == h || g == Sum:
		return false
	case h == Sum:
		return true
	case g == Input:
		return true
	case g == Kernel:
		return h > Kernel
	}
	return g >= Inst && g < h && g&inKernel == h&inKernel
}
