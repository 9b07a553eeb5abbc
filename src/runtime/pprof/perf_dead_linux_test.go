// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Breakpoints on machines that may ignore them.

package pprof

import (
	"encoding/binary"
	"fmt"
	"internal/runtime/perf"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"
)

// TestBreakpointDead tests that breakpoints are refused exactly where the machine ignores
// them.
func TestBreakpointDead(t *testing.T) {
	e, err := perfParse(fmt.Sprintf("mem:%p:w", &perfNeedsVar), nil)
	if err != nil {
		t.Fatal(err)
	}
	if e.Attrs[0].Type != perf.TypeBreakpoint {
		t.Fatalf("%s has type %d", e.Name, e.Attrs[0].Type)
	}
	if got, want := breakpointDead(e), rawBreakpointDead(t); got != want {
		t.Errorf("breakpointDead = %t, by system calls %t", got, want)
	}
	if c, err := OpenCounters(e.Name); err == nil {
		c.Close()
		if breakpointDead(e) {
			t.Error("a breakpoint that the machine ignores can be counted")
		}
	}
}

var _ = emulated(TestBreakpointDead)

// rawBreakpointDead finds out what breakpointDead does by system calls alone, so that
// the one is no reason to skip a test where the other is wrong.
func rawBreakpointDead(t *testing.T) bool {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	attr := struct {
		typ, size                            uint32
		config, period, sample, format, bits uint64
		wakeup, bpType                       uint32
		addr, length                         uint64
		_                                    [6]uint64
	}{typ: 5, bits: 1<<5 | 1<<6, bpType: 2, addr: uint64(uintptr(unsafe.Pointer(&perfNeedsVar))), length: 8}
	attr.size = uint32(unsafe.Sizeof(attr))
	minus1 := ^uintptr(0)
	fd, _, errno := syscall.Syscall6(syscall.SYS_PERF_EVENT_OPEN, uintptr(unsafe.Pointer(&attr)), 0, minus1, minus1, 8, 0)
	if errno != 0 {
		return false
	}
	defer syscall.Close(int(fd))
	const writes = 100
	for i := range writes {
		atomic.StoreInt64(&perfNeedsVar, int64(i))
	}
	var count [8]byte
	if n, err := syscall.Read(int(fd), count[:]); n != len(count) {
		t.Fatalf("read of a breakpoint: %d, %v", n, err)
	}
	n := binary.NativeEndian.Uint64(count[:])
	t.Logf("a breakpoint counts %d of %d writes", n, writes)
	return n == 0
}

// counterNeedsBreakpoints skips the test if the machine can't count breakpoints.
func counterNeedsBreakpoints(t *testing.T) {
	t.Helper()
	c, err := OpenCounters(fmt.Sprintf("mem:%p:w", &perfNeedsVar))
	if err != nil {
		perfSkip(t, "breakpoints", err.Error())
	}
	c.Close()
}
