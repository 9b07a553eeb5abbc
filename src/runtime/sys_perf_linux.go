// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

// The system calls of the perf event engine, in sys_perf_linux_*.s.
//
// They are assembly stubs like the runtime's other system calls (sys_linux_*.s). The
// signal handler calls them, too: they need no P, no g and no stack beyond one frame,
// never split the stack, and never tell the scheduler that a system call runs.
//
// On every architecture a failure is the negated errno (-_EINVAL and so on),
// whatever the kernel's own convention there.
//
// A pointer passed as a uintptr must be converted in the call expression
// itself (see unsafe.Pointer), and must not point to memory that the kernel
// keeps using after the call returns.

// perf_event_open opens a counter for thread pid (0: the caller) on cpu (-1:
// wherever the thread runs), in the group led by groupFD (-1: a group of its
// own); flags are perf.Flag*. It returns the file descriptor or -errno.
// attr.size must hold unsafe.Sizeof(*attr). A kernel that is too old for
// a field that is set answers -E2BIG and writes the size it knows to
// attr.size. See perf_event_open(2).
//
//go:noescape
func perf_event_open(attr *perfEventAttr, pid, cpu, groupFD int32, flags uintptr) int32

// ioctl performs req, a perf.Ioctl* number, on fd and returns its
// result or -errno. See ioctl(2).
//
//go:noescape
func ioctl(fd int32, req, arg uintptr) int32

// fcntlPtr is fcntl(2) for the commands whose argument is a pointer, such as
// _F_SETOWN_EX, for which the argument of fcntl in os_linux.go is too narrow.
// It takes the other commands as well and returns the result or -errno.
//
//go:noescape
func fcntlPtr(fd, cmd int32, arg uintptr) int32

// clock_gettime stores the seconds and nanoseconds of a clock in ts: without the vDSO,
// which does not know the clock that is wanted here, and on 32-bit machines of 32 bits.
// It returns 0 or -errno. See clock_gettime(2).
//
//go:noescape
func clock_gettime(clock int32, ts *[2]uintptr) int32
