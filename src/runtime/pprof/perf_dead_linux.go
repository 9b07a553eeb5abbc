// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"internal/abi"
	"internal/perfevent"
	"internal/runtime/perf"
	"runtime"
	"sync"
	"unsafe"
)

// runtime_perfProbeCount is perfProbeCount of package runtime; see perfprobe_linux.go.
func runtime_perfProbeCount(cfg *perf.SampleConfig, step func()) (counted uint64, ran bool)

// Some hypervisors let a guest write its debug registers, and never stop it at a
// breakpoint: the kernel accepts one and counts nothing. (Seen under Linux 6.18 on a
// virtual machine with an AMD EPYC processor of 2024.) A count of 0 would be taken for
// the truth, so it is tried once, for each kind of breakpoint, whether one is hit.

var (
	deadExecution = sync.OnceValue(func() bool {
		return deadBreakpoint(perf.Attr{BPType: perf.BreakpointX, Config1: uint64(abi.FuncPCABIInternal(hitBreakpoint))})
	})
	deadData = sync.OnceValue(func() bool {
		return deadBreakpoint(perf.Attr{BPType: perf.BreakpointW, Config1: uint64(uintptr(unsafe.Pointer(&breakpointHits)))})
	})
)

var breakpointHits int64

//go:noinline
func hitBreakpoint() { breakpointHits++ }

// breakpointDead reports whether e is a breakpoint that this machine accepts and ignores.
func breakpointDead(e *perfevent.Event) bool {
	if e.Kind != perfevent.Breakpoint {
		return false
	}
	if e.Attrs[0].BPType == perf.BreakpointX {
		return deadExecution()
	}
	return deadData()
}

// deadBreakpoint reports whether a breakpoint that is hit counts nothing. What else may
// be wrong is not known to be that.
func deadBreakpoint(attr perf.Attr) bool {
	attr.Type = perf.TypeBreakpoint
	attr.Config2 = 8
	attr.ExcludeKernel, attr.ExcludeHV = true, true
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// The period is never reached, so that there are no samples to be read.
	counted, ran := runtime_perfProbeCount(&perf.SampleConfig{Attr: attr, Period: 1 << 62}, hitBreakpoint)
	return ran && counted == 0
}
