// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import "slices"

// expand turns the stacks into stacks of calls, with an entry for each inlined call.
// The runtime records most of them as return addresses of frames. Expanding them is
// done here, once for each pair of neighbours in all stacks, rather than by the signal
// handler for each sample.
func (p *perfProfile) expand(b *profileBuilder) {
	x := newPerfExpander()
	for m := b.m.all; m != nil; m = m.nextAll {
		m.stk = x.calls(m.stk)
	}
}

// A framePair is a frame of a stack and the Go frame that it calls, or 0. Whether
// a wrapper function counts as a call depends on that: see elideWrapperCalling in
// package runtime.
type framePair struct{ callee, pc uintptr }

// frameCalls is what a frame stands for.
type frameCalls struct {
	pcs []uintptr // inlined ones first
	inC bool      // the frame is not Go's
}

// A perfExpander turns frames into calls.
type perfExpander struct {
	known map[framePair]frameCalls
	stk   []uintptr
	buf   [1 << 10]uintptr // 64 frames, and what was inlined into them
}

func newPerfExpander() *perfExpander {
	return &perfExpander{known: make(map[framePair]frameCalls)}
}

// calls returns the calls of a stack as the runtime has recorded it.
func (x *perfExpander) calls(stk []uintptr) []uintptr {
	if len(stk) == 0 || stk[0] != 0 {
		return slices.Clone(x.expand(stk...)) // they are calls
	}
	x.stk = x.stk[:0]
	callee := uintptr(0)
	for _, pc := range stk[1:] {
		calls := x.frame(framePair{callee, pc})
		x.stk = append(x.stk, calls.pcs...)
		if !calls.inC {
			callee = pc
		}
	}
	return slices.Clone(x.stk)
}

// frame returns what a frame stands for.
func (x *perfExpander) frame(f framePair) frameCalls {
	calls, ok := x.known[f]
	if !ok {
		calls.inC = !runtime_perfInGo(f.pc - 1)
		if f.callee == 0 {
			calls.pcs = slices.Clone(x.expand(0, f.pc))
		} else {
			n := len(x.frame(framePair{0, f.callee}).pcs)
			calls.pcs = slices.Clone(x.expand(0, f.callee, f.pc)[n:])
		}
		x.known[f] = calls
	}
	return calls
}

// expand has the runtime expand a stack. The result is valid until the next call.
func (x *perfExpander) expand(stk ...uintptr) []uintptr {
	return x.buf[:pprof_fpunwindExpand(x.buf[:], stk)]
}
