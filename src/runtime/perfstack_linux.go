// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// The stack of a sample, by perfWalk or else by sigprof.

package runtime

import (
	"internal/abi"
	"unsafe"
)

// A perfStack is a stack as it is recorded.
type perfStack struct {
	// pcs[first] says what follows, as fpunwindExpand wants it: 0 for the
	// return addresses of frames, logicalStackSentinel for those of calls,
	// inlined ones too. There is room for one address before the first.
	pcs [2 + maxCPUProfStack]uintptr
	n   int // of addresses at pcs[2:]
}

// unwind sets s to the stack that was interrupted.
//
//go:nowritebarrierrec
func (s *perfStack) unwind(w *perfWalk, pc, sp, lr uintptr, gp *g, mp *m) {
	s.n = 0
	if mp.ncgo == 0 && mp.vdsoSP == 0 && gp != nil {
		s.pcs[1] = 0
		s.n = w.unwind((*[maxCPUProfStack]uintptr)(s.pcs[2:]), pc, sp, lr, gp)
	}
	if s.n == 0 {
		s.pcs[1] = logicalStackSentinel
		s.n = sigprofStack((*[maxCPUProfStack]uintptr)(s.pcs[2:]), pc, sp, lr, gp, mp)
		if s.n > 1 && pc == abi.FuncPCABI0(asyncPreempt) {
			// The signal that preempts the goroutine was handled first. It made
			// the interrupted instruction call asyncPreempt, which has not run.
			s.n = copy(s.pcs[2:], s.pcs[3:2+s.n])
		}
	}
}

// user returns the stack.
//
//go:nowritebarrierrec
func (s *perfStack) user() []uintptr { return s.pcs[1 : 2+s.n] }

// kernel returns the stack with the kernel's instruction ip called by it. The
// stack must be unwound anew afterwards.
//
//go:nowritebarrierrec
func (s *perfStack) kernel(ip uintptr) []uintptr {
	s.pcs[0], s.pcs[1] = s.pcs[1], ip+1
	return s.pcs[:2+s.n]
}

// A perfUnwound is where sigprof leaves a stack that is not for its own profile. A handler has one
// on its own stack.
type perfUnwound struct {
	stk *[maxCPUProfStack]uintptr
	n   int
}

// sigprofStack has sigprof unwind the interrupted stack into stk, and returns how many addresses
// it has. The thread of mp, which is the current one, is in a handler of SIGPROF.
//
//go:nowritebarrierrec
func sigprofStack(stk *[maxCPUProfStack]uintptr, pc, sp, lr uintptr, gp *g, mp *m) int {
	u := perfUnwound{stk: stk}
	mp.unwound = uintptr(noescape(unsafe.Pointer(&u)))
	sigprof(pc, sp, lr, gp, mp)
	mp.unwound = 0
	return u.n
}
