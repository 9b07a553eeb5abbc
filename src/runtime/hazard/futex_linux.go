// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package hazard

import (
	"encoding/binary"
	"syscall"
	"time"
	"unsafe"
)

const (
	futexWaitShared = 0 // by processes that share the page
	futexWakeShared = 1
)

// sysFutex is the system call with times of 64 bits, which Linux 5.1 has everywhere. Where words have 32
// bits it has a number of its own. (Those of the 32-bit MIPS begin at 4000.)
const (
	futexTime64 = syscall.SYS_FUTEX/1000*1000 + 422
	words32     = 1 - ^uintptr(0)>>32&1
	sysFutex    = words32*futexTime64 + (1-words32)*syscall.SYS_FUTEX
)

// futexWait is waitFutex. Tests replace it.
var futexWait = waitFutex

// waitFutex waits in the kernel until somebody wakes a word, if it is old, for d at most. Tearing
// down the mapping meanwhile is the caller's to prevent.
func waitFutex(word *byte, old uint32, d time.Duration) syscall.Errno {
	ts := [2]int64{int64(d / time.Second), int64(d % time.Second)}
	_, _, errno := syscall.Syscall6(sysFutex, uintptr(unsafe.Pointer(word)), futexWaitShared, uintptr(old), uintptr(unsafe.Pointer(&ts)), 0, 0)
	return errno
}

// wakeFutex wakes all who wait for a word, in any process: who has nothing to see waits again.
func wakeFutex(word *byte) syscall.Errno {
	_, _, errno := syscall.Syscall6(sysFutex, uintptr(unsafe.Pointer(word)), futexWakeShared, 1<<31-1, 0, 0, 0)
	return errno
}

// futexValue is a word of a file as the kernel compares it.
func futexValue(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }
