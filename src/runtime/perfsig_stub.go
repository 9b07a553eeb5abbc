// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build unix && !linux

package runtime

import "unsafe"

// perfSigprof reports that SIGPROF is not an event's doorbell. Like the rest of
// this file it can't allocate, block, or take long: signal handlers call it.
//
//go:nowritebarrierrec
func perfSigprof(c *sigctxt, gp *g, mp *m, delayed bool) bool { return false }

//go:nosplit
//go:nowritebarrierrec
func perfSigprofNonGo(info *siginfo, ctx unsafe.Pointer) {}

//go:nosplit
//go:nowritebarrierrec
func perfSigprofInC(gp *g, c *sigctxt) {}

//go:nowritebarrierrec
func perfPreempted(gp *g, c *sigctxt, pc uintptr) {}

// perfSigbus is nil.
var perfSigbus func(info *siginfo) bool

func perfDiscard() {}

//go:nosplit
//go:nowritebarrierrec
func perfForward(fwdFn uintptr, sig uint32, info *siginfo, ctx unsafe.Pointer) uintptr { return fwdFn }
