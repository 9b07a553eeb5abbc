// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix && !(linux && (386 || amd64))

package runtime

// perfHitBefore reports whether the breakpoint at the interrupted instruction
// has been hit already. It is assumed: nearly all the time at a breakpoint is
// spent after the hit.
//
//go:nosplit
//go:nowritebarrierrec
func perfHitBefore(c *sigctxt) bool { return true }

// perfBlocked reports whether the interrupted code has SIGPROF blocked when the
// handler returns. It is not asked: breakpoints are not sampled here.
//
//go:nosplit
//go:nowritebarrierrec
func perfBlocked(c *sigctxt) bool { return false }
