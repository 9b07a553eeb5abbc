// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/runtime/perf"
	"unsafe"
)

const (
	_ESRCH = 3
	_EBADF = 9
)

// A perfFD is the descriptor of an event.
type perfFD struct {
	fd int32
	id uint64 // the kernel's name for the event, in ring records too; 0 if there never was one
}

// take makes f the event that perf_event_open has returned, a descriptor or a negated
// errno. If that fails, the descriptor is closed and f is none. The caller holds
// perfProf.lock.
func (f *perfFD) take(fd int32) (perf.Op, int32) {
	if fd >= perfLinux.fds {
		closefd(fd)
		fd = -24 // EMFILE
	}
	if fd < 0 {
		return perf.OpOpen, -fd
	}
	if r := ioctl(fd, perf.IoctlID, uintptr(unsafe.Pointer(&f.id))); r < 0 {
		closefd(fd)
		f.id = 0
		return perf.OpControl, -r
	}
	f.fd = fd
	return perf.OpNone, 0
}

// isOpen reports whether the descriptor is still the event.
//
//go:nowritebarrierrec
func (f *perfFD) isOpen() bool { return f.id != 0 && f.fd >= 0 && perfFDIsEvent(f.fd, f.id) }

// close closes the descriptor, if it is still the event.
func (f *perfFD) close() {
	if f.isOpen() {
		closefd(f.fd)
	}
}

// perfFDIsEvent reports whether fd is still the event that the kernel calls id.
// Programs that become daemons close all descriptors there may be, and what they
// open next gets the numbers. Reading such a descriptor would take the program's
// data, or wait for some, and setting flags would change those of its file.
//
//go:nowritebarrierrec
func perfFDIsEvent(fd int32, id uint64) bool {
	var got uint64
	return ioctl(fd, perf.IoctlID, uintptr(noescape(unsafe.Pointer(&got)))) == 0 && got == id
}
