// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package runtime

import (
	"internal/runtime/perf"
	_ "unsafe" // for linkname
)

// Performance-monitoring events are sampled on Linux only. Elsewhere starting
// a session fails and says so.

func perfosStart(ss *perfSession, limits perf.Limits) perf.Failure {
	return perf.Failure{Op: perf.OpSupport}
}

func perfosStop(ss *perfSession) {}

func perfosRewind(s *perfSlot) {}

//go:nosplit
func perfCross(mp *m, toGo bool) {}

//go:linkname perfHasForeign runtime/pprof.runtime_perfHasForeign
func perfHasForeign() bool { return false }

//go:linkname perfLook runtime/pprof.runtime_perfLook
func perfLook() (spent int64) { return 0 }

//go:linkname perfScan runtime/pprof.runtime_perfScan
func perfScan(tids []int32, session int) (failed int, spent, ran int64) { return 0, 0, 0 }

func perfExec(begin bool) {}

//go:nowritebarrierrec
func perfLeave(mp *m, grown bool) {}

// perfUnwinds and perfTakesStack report that sigprof is not called for the stack alone.
//
//go:nowritebarrierrec
func perfUnwinds(mp *m) bool { return false }

//go:nowritebarrierrec
func perfTakesStack(mp *m, stk []uintptr) bool { return false }
