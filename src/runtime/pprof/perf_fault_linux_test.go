// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Tests of what goes wrong while events are sampled: the program goes on
// unharmed, and the profile says what is missing.

package pprof

import (
	"internal/profile"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// perfBlockSIGPROF blocks SIGPROF on the current thread and returns a function
// that unblocks it. The goroutine must be locked to the thread.
func perfBlockSIGPROF(t *testing.T) (unblock func()) {
	t.Helper()
	setmask := func(how uintptr) {
		set := uint64(1) << (syscall.SIGPROF - 1) // on the architectures that the tests run on
		if _, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, how, uintptr(unsafe.Pointer(&set)), 0, 8, 0, 0); errno != 0 {
			t.Fatalf("rt_sigprocmask: %v", errno)
		}
	}
	const block, unblockHow = 0, 1
	setmask(block)
	return func() { setmask(unblockHow) }
}

// TestPerfSameFaults tests that events that differ only in what they exclude are
// told apart, though Linux gives their records the same ID when the same
// occurrence makes both overflow.
func TestPerfSameFaults(t *testing.T) {
	perfNeeds(t, "page-faults:uk")
	for _, r := range perfProfileOf(t, []perfReq{{"page-faults", 3}, {"page-faults:uk", 5}, {"page-faults:k", 2}, {"minor-faults", 3}}, func() {
		perfFault(t, 20e3)
	}) {
		r.near("events of all samples", float64(r.events()), float64(r.comment("counted")), float64(perfMaxPeriod(r)*r.comment("threads")))
	}
}

var perfInlinedVar, perfInlinedSum int64

// perfInlinedWrite goes on after the write, where the breakpoint finds it.
func perfInlinedWrite() {
	perfInlinedVar++
	perfInlinedSum += 3*perfInlinedSum + 1
}

// TestPerfInlinedLeaf tests that an instruction of an inlined function has the
// same frames in a sample with a stack and in one that has the leaf only. (If
// not, the profile can't be built and the program panicked.)
func TestPerfInlinedLeaf(t *testing.T) {
	perfNeedsExact(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const n = 5
	r := perfProfileOf(t, []perfReq{{perfWrites(&perfInlinedVar), 1}}, func() {
		for i := range 2 * n {
			if i == n {
				defer perfBlockSIGPROF(t)()
			}
			perfInlinedWrite()
		}
	})[0]
	r.near("samples", float64(r.total()), 2*n, 0)
	const inlined, in = "runtime/pprof.perfInlinedWrite", "runtime/pprof.TestPerfInlinedLeaf.func1"
	whole := r.count(perfStartsWithFrames(inlined, in, "runtime/pprof.perfProfileOf"))
	r.near("samples with their stack", float64(whole), n, 0)
	// The one signal comes when it is no longer blocked, and is taken for
	// that of the last write.
	leaf := r.count(perfStartsWithFrames(inlined, in, "runtime._PerfDelayed"))
	r.near("samples with their leaf", float64(leaf), n-0.5, 0.5)
	if t.Failed() {
		t.Log(r.byStack())
	}
}

// perfStartsWithFrames is perfStartsWith for functions of any package.
func perfStartsWithFrames(fn ...string) func(*profile.Sample) bool {
	return func(s *profile.Sample) bool {
		fs := perfFrames(s)
		return len(fs) >= len(fn) && slices.Equal(fs[:len(fn)], fn)
	}
}
