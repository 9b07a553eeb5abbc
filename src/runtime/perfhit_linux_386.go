// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

// perfHitBefore reports whether the breakpoint at the interrupted instruction
// has been hit already. The kernel then has set the resume flag, which lets the
// instruction run. An interrupt just before the hit has not, for interrupts have
// priority over breakpoints (Intel SDM, volume 3, 7.9 and 18.3.1.1).
//
//go:nosplit
//go:nowritebarrierrec
func perfHitBefore(c *sigctxt) bool { return c.eflags()&(1<<16) != 0 }

// perfBlocked reports whether the interrupted code has SIGPROF blocked when the
// handler returns.
//
//go:nosplit
//go:nowritebarrierrec
func perfBlocked(c *sigctxt) bool {
	return (*ucontext)(c.ctxt).uc_sigmask>>(_SIGPROF-1)&1 != 0
}
