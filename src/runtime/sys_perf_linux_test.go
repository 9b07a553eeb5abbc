// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"encoding/binary"
	"math"
	. "runtime"
	"syscall"
	"testing"
	"unsafe"
)

// perfErr returns what a system call stub returns for e.
func perfErr(e syscall.Errno) int32 { return -int32(e) }

// openTaskClock opens a task-clock counter, disabled, for the calling thread,
// which the test must have locked. Without the kernel and the hypervisor it
// needs the least privilege; where even that is refused, the test can't be run.
func openTaskClock(t *testing.T) int32 {
	t.Helper()
	fd, _ := PerfEventOpen(PerfSWTaskClock, uint32(PerfAttrSize), perfCounterBits(), 0, -1, -1, PerfFlagCloexec)
	switch fd {
	case perfErr(syscall.EPERM), perfErr(syscall.EACCES), perfErr(syscall.ENOSYS):
		t.Skipf("no perf events here (seccomp, perf_event_paranoid > 2 or the kernel forbids them): %v", syscall.Errno(-fd))
	}
	if fd < 0 {
		t.Fatalf("perf_event_open: %v", syscall.Errno(-fd))
	}
	t.Cleanup(func() { syscall.Close(int(fd)) })
	return fd
}

func perfCounterBits() uint64 {
	return PerfAttrBit(PerfAttrDisabled) | PerfAttrBit(PerfAttrNoKernel) | PerfAttrBit(PerfAttrNoHV)
}

func perfPipe(t *testing.T) (r, w int32) {
	t.Helper()
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(p[0]); syscall.Close(p[1]) })
	return int32(p[0]), int32(p[1])
}

// TestPerfEventOpenArguments has the kernel tell a wrong value of each
// argument by its errno: it shows that each arrives in its place, and that
// a failure is a negated errno on this architecture.
func TestPerfEventOpenArguments(t *testing.T) {
	LockOSThread()
	defer UnlockOSThread()
	fd := openTaskClock(t)
	if got := PerfFcntl(fd, syscall.F_GETFD, 0); got != syscall.FD_CLOEXEC {
		t.Errorf("F_GETFD of an event opened with CLOEXEC = %d, want %d", got, syscall.FD_CLOEXEC)
	}

	pipe, _ := perfPipe(t)
	size, bits := uint32(PerfAttrSize), perfCounterBits()
	for _, tt := range []struct {
		name              string
		size              uint32
		pid, cpu, groupFD int32
		flags             uintptr
		want              syscall.Errno
	}{
		{"size too small", 8, 0, -1, -1, 0, syscall.E2BIG},
		{"size too large", 1 << 30, 0, -1, -1, 0, syscall.E2BIG},
		{"no such thread", size, math.MaxInt32, -1, -1, 0, syscall.ESRCH},
		{"neither thread nor cpu", size, -1, -1, -1, 0, syscall.EINVAL},
		{"no such cpu", size, 0, 1 << 20, -1, 0, syscall.EINVAL},
		{"group leader is a pipe", size, 0, -1, pipe, 0, syscall.EBADF},
		{"no such flag", size, 0, -1, -1, 1 << 30, syscall.EINVAL},
	} {
		got, gotSize := PerfEventOpen(PerfSWTaskClock, tt.size, bits, tt.pid, tt.cpu, tt.groupFD, tt.flags)
		if got != perfErr(tt.want) {
			t.Errorf("%s: %d, want %d (%v)", tt.name, got, perfErr(tt.want), tt.want)
		}
		if got >= 0 {
			syscall.Close(int(got))
		}
		if tt.want == syscall.E2BIG && (gotSize == tt.size || gotSize < 64) {
			t.Errorf("%s: the kernel left %d in attr.size, want the size it knows", tt.name, gotSize)
		}
	}
}

// TestPerfIoctlPipe needs no perf events: it shows the stub to work where there
// are none, as under qemu-user.
func TestPerfIoctlPipe(t *testing.T) {
	r, w := perfPipe(t)
	if _, err := syscall.Write(int(w), []byte("gopher")); err != nil {
		t.Fatal(err)
	}
	// Heap memory: the address must not change before the kernel uses it.
	n := new([2]int32)
	if got := PerfIoctl(r, syscall.TIOCINQ, uintptr(unsafe.Pointer(n))); got != 0 || *n != [2]int32{6, 0} {
		t.Errorf("TIOCINQ of a pipe with 6 bytes = %d, stored %d", got, *n)
	}
	if got, want := PerfIoctl(r, syscall.TIOCINQ, 0), perfErr(syscall.EFAULT); got != want {
		t.Errorf("TIOCINQ to address 0 = %d, want %d", got, want)
	}
	if got, want := PerfIoctl(-1, syscall.TIOCINQ, uintptr(unsafe.Pointer(n))), perfErr(syscall.EBADF); got != want {
		t.Errorf("ioctl of fd -1 = %d, want %d", got, want)
	}
	KeepAlive(n)
}

// TestPerfIoctl drives a counter. Its disabled flag, the ioctl numbers and
// the pointers given to them are this architecture's or nothing works.
func TestPerfIoctl(t *testing.T) {
	LockOSThread()
	defer UnlockOSThread()
	fd := openTaskClock(t)
	pipe, _ := perfPipe(t)
	if got, want := PerfIoctl(pipe, PerfIocEnable, 0), perfErr(syscall.ENOTTY); got != want {
		t.Errorf("PERF_EVENT_IOC_ENABLE of a pipe = %d, want %d", got, want)
	}
	ioctl := func(name string, req, arg uintptr, want int32) {
		t.Helper()
		if got := PerfIoctl(fd, req, arg); got != want {
			t.Errorf("%s = %d, want %d", name, got, want)
		}
	}
	count := func() uint64 {
		t.Helper()
		var b [8]byte
		if n, err := syscall.Read(int(fd), b[:]); n != len(b) || err != nil {
			t.Fatalf("read of an event: %d bytes, %v", n, err)
		}
		return binary.NativeEndian.Uint64(b[:])
	}

	if n := count(); n != 0 {
		t.Errorf("a counter opened disabled counted %d ns", n)
	}
	ioctl("ENABLE", PerfIocEnable, 0, 0)
	ioctl("DISABLE", PerfIocDisable, 0, 0)
	n := count()
	if n == 0 {
		t.Errorf("a counter counted nothing between ENABLE and DISABLE")
	}
	if again := count(); again != n {
		t.Errorf("a counter went from %d to %d ns after DISABLE", n, again)
	}
	ioctl("RESET", PerfIocReset, 0, 0)
	if n := count(); n != 0 {
		t.Errorf("a counter holds %d ns after RESET", n)
	}

	id := new([2]uint64)
	ioctl("ID", PerfIocID, uintptr(unsafe.Pointer(id)), 0)
	if id[0] == 0 || id[1] != 0 {
		t.Errorf("ID stored %d and %d, want an identifier and nothing beyond it", id[0], id[1])
	}
	ioctl("PERIOD of a counter that does not sample", PerfIocPeriod, uintptr(unsafe.Pointer(id)), perfErr(syscall.EINVAL))
	ioctl("ID to address 0", PerfIocID, 0, perfErr(syscall.EFAULT))
	KeepAlive(id)
}

// TestPerfFcntl checks arguments that are values, those that are pointers,
// and failures.
func TestPerfFcntl(t *testing.T) {
	r, w := perfPipe(t)
	if got, want := PerfFcntl(-1, syscall.F_GETFL, 0), perfErr(syscall.EBADF); got != want {
		t.Errorf("F_GETFL of fd -1 = %d, want %d", got, want)
	}
	flags := PerfFcntl(w, syscall.F_GETFL, 0)
	if want := int32(syscall.O_WRONLY | syscall.O_NONBLOCK); flags&^syscall.O_LARGEFILE != want {
		t.Errorf("F_GETFL of a pipe = %#x, want %#x", flags, want)
	}

	if got := PerfFcntl(r, FSetSig, uintptr(syscall.SIGURG)); got != 0 {
		t.Errorf("F_SETSIG = %d", got)
	}
	if got := PerfFcntl(r, FGetSig, 0); got != int32(syscall.SIGURG) {
		t.Errorf("F_GETSIG = %d, want %d", got, syscall.SIGURG)
	}
	if got := PerfFcntl(r, syscall.F_SETFL, syscall.O_NONBLOCK|OAsync); got != 0 {
		t.Errorf("F_SETFL = %d", got)
	}
	if got := PerfFcntl(r, syscall.F_GETFL, 0); got&syscall.O_ASYNC == 0 {
		t.Errorf("F_GETFL after setting O_ASYNC = %#x, want %#x in it", got, syscall.O_ASYNC)
	}

	LockOSThread()
	defer UnlockOSThread()
	tid := int32(syscall.Gettid())
	set, got := NewFOwnerEx(FOwnerTID, tid), NewFOwnerEx(-1, -1)
	if r := PerfFcntlOwner(r, FSetOwnEx, &set); r != 0 {
		t.Errorf("F_SETOWN_EX = %d", r)
	}
	if r := PerfFcntlOwner(r, FGetOwnEx, &got); r != 0 {
		t.Errorf("F_GETOWN_EX = %d", r)
	}
	if got != set {
		t.Errorf("F_GETOWN_EX gave %+v, want %+v", got, set)
	}
	if got, want := PerfFcntlOwner(r, FSetOwnEx, nil), perfErr(syscall.EFAULT); got != want {
		t.Errorf("F_SETOWN_EX of nil = %d, want %d", got, want)
	}
}

// TestPerfClockGettime compares the stub with the system call, and has the kernel refuse a
// clock.
func TestPerfClockGettime(t *testing.T) {
	LockOSThread()
	defer UnlockOSThread()
	const threadCPU = 3 // CLOCK_THREAD_CPUTIME_ID
	direct := func() (ts [2]uintptr) {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadCPU, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
			t.Fatal(errno)
		}
		return ts
	}
	nanos := func(ts [2]uintptr) uint64 { return uint64(ts[0])*1e9 + uint64(ts[1]) }
	for range 1000 {
		var ts [2]uintptr
		before := nanos(direct())
		got := PerfClockGettime(threadCPU, &ts)
		after := nanos(direct())
		if n := nanos(ts); got != 0 || n < before || n > after {
			t.Fatalf("clock_gettime = %d, %d ns; want 0, %d to %d ns", got, n, before, after)
		}
	}
	var ts [2]uintptr
	if got := PerfClockGettime(1000, &ts); got != perfErr(syscall.EINVAL) || ts != [2]uintptr{} {
		t.Errorf("clock_gettime of a clock that does not exist = %d, want %d; %v", got, perfErr(syscall.EINVAL), ts)
	}
}
