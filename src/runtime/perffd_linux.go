// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import "unsafe"

const (
	_ESRCH  = 3
	_EBADF  = 9
	_EMFILE = 24
)

// perfFDIsEvent reports whether fd is still the event that the kernel calls id.
// Programs that become daemons close all descriptors there may be, and what they
// open next gets the numbers. Reading such a descriptor would take the program's
// data, or wait for some, and setting flags would change those of its file.
//
//go:nowritebarrierrec
func perfFDIsEvent(fd int32, id uint64) bool {
	var got uint64
	return ioctl(fd, _PERF_EVENT_IOC_ID, uintptr(noescape(unsafe.Pointer(&got)))) == 0 && got == id
}
