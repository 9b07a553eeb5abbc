// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package runtime

import (
	"internal/runtime/perf"
	_ "unsafe" // for go:linkname
)

// Elsewhere than on Linux accounts have times but no counts, and a thread's CPU time is
// not known.

func perfCPUOpen(mp *m) bool { return false }

//go:nowritebarrierrec
func perfCPUKnown(effort uint8) bool { return false }

//go:nowritebarrierrec
func perfCPUOff(effort uint8) (off int64, ok bool) { return 0, false }

//go:nosplit
//go:nowritebarrierrec
func perfCPUUndisturbed(mp *m) bool { return true }

//go:nosplit
//go:nowritebarrierrec
func perfGotThread(a *perfAccount, mp *m, now int64) {}

//go:nosplit
//go:nowritebarrierrec
func perfTakenIsDue(mp *m, now int64) bool { return false }

//go:nosplit
//go:nowritebarrierrec
func perfLeftThread(mp *m, now int64) {}

//go:nosplit
//go:nowritebarrierrec
func perfGap(mp *m, ticks int64) {}

//go:nosplit
//go:nowritebarrierrec
func perfAccounted(mp *m, now int64) {}

//go:nowritebarrierrec
func (a *perfAccount) take(mp *m, now int64) (read bool) { return false }

//go:nowritebarrierrec
func (a *perfAccount) takeEnd(mp *m, now int64) (end int64) { return now }

//go:nowritebarrierrec
func (a *perfAccount) takeKept(mp *m, now int64) (part perf.Part) { return a.part }

//go:nowritebarrierrec
func (a *perfAccount) taken(ticks int64) {}

func perfSleptInit() {}

//go:linkname perfTakenSum runtime/task.runtime_perfTakenSum
func perfTakenSum() int64 { return 0 }

//go:nowritebarrierrec
func perfFresh(mp *m, now int64) {}

//go:nowritebarrierrec
func (a *perfAccount) enterCounts(mp *m) {}

//go:nowritebarrierrec
func (a *perfAccount) leaveCounts(mp *m) {}

//go:nosplit
func (c *perfAccountCounts) readSteady(mp *m, values *[perf.MaxEvents]uint64) (ok bool, seq uint32, ticks int64) {
	return false, 0, 0
}

func (c *perfAccountCounts) read(a *perfAccount, mp *m, dst []perf.Count) (unread uint64, f perf.Failure, err perf.IntervalError) {
	return 0, f, perf.IntervalClosed
}

//go:nowritebarrierrec
func (c *perfAccountCounts) total(i int) (n perf.Count) { return n }

func (a *perfAccount) peekCounts(set perf.SetID, dst *[perf.MaxEvents]perf.Count, n int) (unread uint64) {
	return 0
}
