// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Where a stretch of a part ends: what is found out then, and told.

package runtime

import "internal/runtime/perf"

// begin begins another part. now is in ticks.
//
//go:nosplit
//go:nowritebarrierrec
func (a *perfAccount) begin(part perf.Part, now int64) {
	perfSeqBegin(&a.seq)
	a.ticks[a.part&perfPartMask] += now - a.since
	a.part, a.since = part, now
	perfSeqEnd(&a.seq)
}

// leaves notes that the goroutine leaves its thread, now, to wait in a part.
//
//go:nosplit
//go:nowritebarrierrec
func (a *perfAccount) leaves(part perf.Part, now int64) {
	if now-a.turn > a.least {
		now = perfLeaves(a, now)
	}
	a.begin(part, now)
	a.turn = now
	perfLeftThread(getg().m, now)
}

// perfLeaves is called when the goroutine leaves its thread, which it has had for longer than
// least, at now, and before its part changes. It returns when the stretch ends; see takeEnd.
//
//go:nowritebarrierrec
func perfLeaves(a *perfAccount, now int64) (end int64) {
	now = a.takeEnd(getg().m, now)
	perfRan(a, now)
	return now
}

// isBackLate reports whether perfBack is to be called where the goroutine, which has kept its
// thread, is back from a system call or the like, now; or from a move of its stack, during
// which it was running. (It is no part of perfBack for the sake of the stack: so it is inlined.)
//
//go:nosplit
//go:nowritebarrierrec
func (a *perfAccount) isBackLate(now int64) bool {
	return now-a.since > a.least || a.member != 0 && perfTakenIsDue(getg().m, now)
}

// perfBack is called when a stretch on the goroutine's thread ends, now, that was longer than
// least, or a reading of the thread's clocks is due, and before the part changes: on the
// goroutine's own stack, or on the system stack. It returns when the stretch ends; see takeEnd.
//
//go:nosplit
//go:nowritebarrierrec
func perfBack(gp *g, a *perfAccount, now int64) (end int64) {
	if a.part == perf.PartRunning && now-a.since <= perfTaskConfig.every {
		return now
	}
	if getg() == getg().m.g0 {
		return perfBackHere(gp, a, now)
	}
	// As in crossAsking.
	pc, sp, bp, lr := gp.sched.pc, gp.sched.sp, gp.sched.bp, gp.sched.lr
	systemstack(func() { end = perfBackHere(gp, a, now) })
	gp.sched.pc, gp.sched.sp, gp.sched.bp, gp.sched.lr = pc, sp, bp, lr
	return end
}

// perfBackHere is perfBack on the system stack.
//
//go:nowritebarrierrec
func perfBackHere(gp *g, a *perfAccount, now int64) (end int64) {
	if a.part == perf.PartRunning {
		return a.takeEnd(getg().m, now)
	}
	part := a.part
	if a.member != 0 {
		part = a.takeKept(getg().m, now) // also so that what is summed up stays short
	}
	if now-a.since > a.least {
		bp := gp.syscallbp
		if a.part != perf.PartSyscall && a.part != perf.PartC {
			bp = gp.sched.bp
		}
		perfLogKept(gp, a, part, bp, now)
	}
	return now
}
