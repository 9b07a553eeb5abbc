// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (arm64 || riscv64)

package main

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

var mounts = []struct {
	fstype, dir string
	mode        os.FileMode
}{
	{"proc", "/proc", 0o555},
	{"sysfs", "/sys", 0o555},
	{"devtmpfs", "/dev", 0o755},
	{"tmpfs", "/dev/shm", 0o1777},
	{"tracefs", "/sys/kernel/tracing", 0o755},
}

var links = []struct{ target, name string }{
	{"/proc/self/fd", "/dev/fd"},
	{"/proc/self/fd/0", "/dev/stdin"},
	{"/proc/self/fd/1", "/dev/stdout"},
	{"/proc/self/fd/2", "/dev/stderr"},
}

// mountAll makes the file systems of an ordinary machine. Only the kernel's
// emergencies go to the console from here on.
func mountAll() error {
	for _, m := range mounts {
		os.MkdirAll(m.dir, m.mode)
		if err := syscall.Mount(m.fstype, m.dir, m.fstype, 0, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %v", m.fstype, m.dir, err)
		}
	}
	// The root is a tmpfs itself; one of its own on /tmp would hide what was
	// shipped below it.
	os.MkdirAll("/tmp", 0o777)
	for _, dir := range []string{"/tmp", "/dev/shm"} {
		if err := os.Chmod(dir, os.ModeSticky|0o777); err != nil {
			return err
		}
	}
	for _, l := range links {
		os.Symlink(l.target, l.name)
	}
	return os.WriteFile("/proc/sys/kernel/printk", []byte("1"), 0)
}

// openStream opens a serial device as a stream of bytes: without the line
// discipline's CR before each LF, echo or signals.
func openStream(dev string) (*os.File, error) {
	f, err := os.OpenFile(dev, os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	var t syscall.Termios
	if err := ioctl(f, syscall.TCGETS, unsafe.Pointer(&t)); err != nil {
		return nil, fmt.Errorf("%s: TCGETS: %v", dev, err)
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	if err := ioctl(f, syscall.TCSETS, unsafe.Pointer(&t)); err != nil {
		return nil, fmt.Errorf("%s: TCSETS: %v", dev, err)
	}
	return f, nil
}

// drain waits until the device has sent what was written to it: tcdrain(3),
// which is TCSBRK with a non-zero argument. Powering off would lose the rest.
func drain(f *os.File) {
	const TCSBRK = 0x5409
	syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), TCSBRK, 1)
}

// loopbackUp brings up the one network interface, which tests of servers use.
func loopbackUp() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return fmt.Errorf("loopback: %v", err)
	}
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	var ifreq struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(ifreq.name[:], "lo")
	ifreq.flags = syscall.IFF_UP
	if err := ioctl(f, syscall.SIOCSIFFLAGS, unsafe.Pointer(&ifreq)); err != nil {
		return fmt.Errorf("loopback: %v", err)
	}
	return nil
}

func ioctl(f *os.File, req uintptr, arg unsafe.Pointer) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), req, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}
