// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"reflect"
	"runtime"
	"testing"
	"unsafe"
)

//go:noinline
func breakLeaf(n *int) { *n++ }

//go:noinline
//go:nosplit
func breakNosplit(n **int) { *n = &breakInt } // it has a write barrier, where it isn't preempted

//go:noinline
func breakCalls() { breakNothing() }

//go:noinline
func breakNothing() { breakInt++ }

//go:noinline
func breakFrame(n *int) int {
	var a [10]int
	for i := range a {
		a[i] = *n
		breakLeaf(n)
	}
	return a[*n%len(a)]
}

//go:noinline
func breakLarge(n *int) {
	var a [16 << 10]byte
	breakLeaf(n)
	a[*n%len(a)] = 1
	*n += int(a[0])
}

var breakInt int

// breakRestarts returns where the code at entry calls a morestack, which starts it anew, and
// the end of the jump to there. It knows the code of 386 and amd64.
func breakRestarts(entry uintptr) (jump, call uintptr) {
	at := func(pc uintptr) []byte { return (*[6]byte)(unsafe.Pointer(pc))[:] }
	f := runtime.FuncForPC(entry)
	for pc := entry; runtime.FuncForPC(pc) == f && call == 0; pc++ {
		// CALL rel32
		if b := at(pc); b[0] == 0xe8 {
			to := runtime.FuncForPC(pc + 5 + uintptr(int32(breakWord(b[1:]))))
			if to != nil && (to.Name() == "runtime.morestack" || to.Name() == "runtime.morestack_noctxt") {
				call = pc
			}
		}
	}
	for pc := entry; pc < call; pc++ {
		// JLS rel8 and rel32. Arguments in registers are spilled before the call.
		switch b := at(pc); {
		case b[0] == 0x76:
			if to := pc + 2 + uintptr(b[1]); b[1] < 0x80 && to <= call && to+50 > call {
				return pc + 2, call
			}
		case b[0] == 0x0f && b[1] == 0x86:
			if to := pc + 6 + uintptr(int32(breakWord(b[2:]))); to <= call && to+50 > call {
				return pc + 6, call
			}
		}
	}
	return 0, call
}

func breakWord(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// TestPerfOncePerCall tests that breakpoints of functions are behind the jump to what starts
// a call anew, and at the entry of functions without one.
func TestPerfOncePerCall(t *testing.T) {
	if runtime.GOARCH != "386" && runtime.GOARCH != "amd64" {
		t.Skip("the test can't read this machine's code")
	}
	checks := 0
	for _, tt := range []struct {
		name string
		f    any
	}{
		{"leaf", breakLeaf},
		{"nosplit", breakNosplit},
		{"calls", breakCalls},
		{"nothing", breakNothing},
		{"frame", breakFrame},
		{"large", breakLarge},
	} {
		entry := reflect.ValueOf(tt.f).Pointer()
		got, n := runtime.PerfFunc(runtime.FuncForPC(entry).Name())
		jump, call := breakRestarts(entry)
		t.Logf("%s: breakpoint at %#x, jump ends at %#x, call at %#x", tt.name, got-entry, jump-entry, call-entry)
		switch {
		case n != 1:
			t.Errorf("%s: %d functions", tt.name, n)
		case call == 0:
			// It may be behind what makes a frame, such as PUSHQ BP.
			if got < entry || got > entry+8 {
				t.Errorf("%s: breakpoint at entry+%#x, want it at the entry", tt.name, got-entry)
			}
		case jump == 0:
			t.Errorf("%s: nothing jumps to the call of morestack at %#x", tt.name, call)
		default:
			checks++
			if got < jump || got >= call {
				t.Errorf("%s: breakpoint at entry+%#x, want it from %#x, the end of the check, up to %#x", tt.name, got-entry, jump-entry, call-entry)
			}
		}
	}
	if want := map[string]int{"386": 5, "amd64": 3}[runtime.GOARCH]; checks < want {
		t.Errorf("%d functions check their stacks, want %d at least", checks, want)
	}
}
