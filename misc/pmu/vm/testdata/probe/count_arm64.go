// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// attr is struct perf_event_attr, PERF_ATTR_SIZE_VER0 of it.
type attr struct {
	kind, size                     uint32
	config, period, sample, format uint64
	flags                          uint64
	wakeup, bpType                 uint32
	bpAddr                         uint64
}

const (
	sysPerfEventOpen = 241
	flagDisabled     = 1 << 0
	flagExclKernel   = 1 << 5
	flagExclHV       = 1 << 6
	iocEnable        = 0x2400
	iocDisable       = 0x2401
)

// open opens a hardware event on the calling thread, user mode only.
func open(config uint64) *os.File {
	a := attr{size: 64, config: config, flags: flagDisabled | flagExclKernel | flagExclHV}
	fd, _, errno := syscall.Syscall6(sysPerfEventOpen, uintptr(unsafe.Pointer(&a)), 0, ^uintptr(0), ^uintptr(0), 0, 0)
	if errno != 0 {
		fmt.Println("perf_event_open:", errno)
		os.Exit(1)
	}
	return os.NewFile(fd, "event")
}

// loop runs n times a loop of two instructions. It makes no call and is too
// short to be preempted, so that it is all that is counted.
//
//go:noinline
func loop(n int) {
	for i := n; i != 0; i-- {
	}
}

// count prints the cycles and instructions of loops of 1 and 2 million turns,
// and their difference, which is what a million turns cost.
func count([]string) {
	runtime.LockOSThread()
	for _, e := range []struct {
		name   string
		config uint64
	}{{"cycles", 0}, {"instructions", 1}} {
		f := open(e.config)
		var prev uint64
		for _, n := range []int{1e6, 2e6} {
			total := measure(f, n)
			fmt.Printf("%s %d %d\n", e.name, n, total-prev)
			prev = total
		}
		f.Close()
	}
}

// measure adds loop(n) to the counter and returns its value.
func measure(f *os.File, n int) uint64 {
	fd := f.Fd()
	syscall.RawSyscall(syscall.SYS_IOCTL, fd, iocEnable, 0)
	loop(n)
	syscall.RawSyscall(syscall.SYS_IOCTL, fd, iocDisable, 0)
	var b [8]byte
	f.Read(b[:])
	return binary.LittleEndian.Uint64(b[:])
}
