// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Breakpoints that sample each hit: hits that are the same execution again, and
// breakpoints that the signal handler itself hits.

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

// perfWatches reports whether the event of slot i samples each execution of pc.
//
//go:nowritebarrierrec
func perfWatches(i int, pc uintptr) bool {
	return perfProf.watch.has(i) && perfTables.slots[i].cfg.Config1 == uint64(pc)
}

// perfPreempted notes that gp is preempted and will resume at pc, before the
// instruction there.
//
// An execution breakpoint is hit before its instruction runs. If an asynchronous
// preemption then makes gp call asyncPreempt from the same instruction, returning
// from that call hits the breakpoint a second time: the processor's resume flag,
// which the kernel keeps for signal handlers, does not survive a return
// instruction. A function with a breakpoint spends most of its time on the
// breakpoint, so that is where preemptions find it.
//
// So for each preemption one hit is not counted: the next one. It is the second hit
// if the preemption came after the first one's SIGPROF. Otherwise it is the first,
// whose SIGPROF waits for this handler and then finds gp in asyncPreempt; the
// second hit has the right stack.
//
// The lower two bits of g.perfReplay are the number of hits not to count. It can be
// above 1, as a second preemption may come before the next hit's SIGPROF. The other
// bits are the generation of the breakpoints it is about: if they go before the
// hit, the number stays behind. The signal handlers of the thread that runs the
// goroutine use it. (It is one byte so that a g is no larger than upstream's.)
//
//go:nowritebarrierrec
func perfPreempted(gp *g, c *sigctxt, pc uintptr) {
	if perfProf.watch != 0 && perfProf.state.Load() == perfSampling {
		perfHooks.preempted(gp, (*sigctxt)(noescape(unsafe.Pointer(c))), pc) // see perfSigprof
	}
}

// perfSessionPreempted is perfPreempted while breakpoints are watched.
//
//go:nowritebarrierrec
func perfSessionPreempted(gp *g, c *sigctxt, pc uintptr) {
	if pc == c.sigpc() && !perfHitBefore(c) {
		return
	}
	for i := range perfTables.slots[:perfProf.n] {
		if perfWatches(i, pc) {
			if gp.perfReplay>>2 != perfProf.generation {
				gp.perfReplay = perfProf.generation << 2
			}
			if gp.perfReplay&3 < 3 {
				gp.perfReplay++
			}
			return
		}
	}
}

// perfReplayed reports whether a hit of a breakpoint is not a new execution. If so
// it notes that the hit has come.
//
//go:nowritebarrierrec
func perfReplayed(gp *g) bool {
	if gp.perfReplay>>2 != perfProf.generation || gp.perfReplay&3 == 0 {
		return false
	}
	gp.perfReplay--
	return true
}

// At period 1 the overhead bound can't make samples fewer: each hit is one. But a
// breakpoint that the signal handler itself hits makes each sample cause the next,
// and the thread does not move any more. Such a breakpoint is stopped.
//
// Neither time nor place distinguishes such a thread from one whose program hits
// the breakpoint. The machine may be busy, and other signals may come. Where the
// program blocks SIGPROF around its hits, as another signal's handler does, it can
// be in the same place for each signal. What does distinguish it is a signal
// between whose handler and the previous one the program has not run. So after a
// number of runs of the handler in a row that found hits, each further one sends
// the thread a SIGPROF. It is blocked while the handler runs, and comes when the
// handler returns, before the program's next instruction. If that signal's handler
// finds nothing, the earlier hits were the program's, and the count starts anew.
// (A run can find many hits, one for each sample that it records.)
const (
	perfStuckHits  = 1000 // hits, in runs of the handler in a row, until the breakpoints are stopped
	perfStuckProof = 100  // of these, the last runs, which must have followed at once
)

// watchProgress stops the breakpoints at period 1 of a thread that makes no
// progress with them. It is called with the hits that a run of the handler has
// found, and with its signal's context.
//
//go:nowritebarrierrec
func (t *perfThread) watchProgress(hits *perfHits, c *sigctxt, delayed bool) {
	e := &t.load.exact
	hit, n := perfSlots(0), uint64(0) // slots, and their hits
	for i := range t.ctr[:t.n] {
		if all := hits.ev[i].all; all > 0 && perfProf.exact.has(i) {
			hit |= perfSlotBit(i)
			n += all
		}
	}
	// The thread sanitizer calls the handler when the program has gone on. And code
	// that waited for a signal with another mask goes on with SIGPROF blocked.
	if hit == 0 || delayed || perfBlocked(c) {
		e.runs = 0
		return
	}
	if e.runs < perfStuckHits-perfStuckProof {
		e.runs = int32(min(uint64(e.runs)+n, perfStuckHits-perfStuckProof))
	} else {
		e.runs++
	}
	switch {
	case e.runs < perfStuckHits-perfStuckProof:
	case e.runs < perfStuckHits:
		t.knock()
	default:
		e.runs = 0
		for i := range t.ctr[:t.n] {
			if hit.has(i) {
				t.ctr[i].control(perf.IoctlDisable)
				t.ctr[i].Stuck = 1
			}
		}
	}
}

// knock sends t's thread, which is the calling one, a SIGPROF that no overflow
// causes, to make its handler look at the ring. The caller holds t.lock or
// perfProf.lock, so t stays the thread's. It uses tgkill, which the runtime needs
// for preemption anyway, so that it meets no new seccomp filter.
//
//go:nowritebarrierrec
func (t *perfThread) knock() {
	t.knocked.Store(1)
	tgkill(getpid(), int(t.tid), _SIGPROF)
}

// isKnock reports whether the signal is knock's, and not one of the program's.
// (The timer's profile takes the latter for samples.) If the kernel had a SIGPROF
// of the program's pending, that one stands for both.
//
//go:nowritebarrierrec
func (t *perfThread) isKnock(c *sigctxt) bool {
	return t.knocked.Load() != 0 && int32(c.sigcode()) == _SI_TKILL
}
