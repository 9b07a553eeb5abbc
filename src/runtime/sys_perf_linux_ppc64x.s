// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (ppc64 || ppc64le)

//
// System calls of the perf event engine for ppc64, Linux.
// sys_perf_linux.go has their contract: the result, or the negated errno.
//
// The kernel sets CR0.SO on failure and then leaves a positive errno in R3.
//

#include "textflag.h"

#define SYS_perf_event_open	319
#define SYS_ioctl		54
#define SYS_fcntl		55
#define SYS_clock_gettime	246

// func perf_event_open(attr *perfEventAttr, pid, cpu, groupFD int32, flags uintptr) int32
TEXT runtime·perf_event_open(SB),NOSPLIT|NOFRAME,$0-36
	MOVD	attr+0(FP), R3
	MOVW	pid+8(FP), R4
	MOVW	cpu+12(FP), R5
	MOVW	groupFD+16(FP), R6
	MOVD	flags+24(FP), R7
	SYSCALL	$SYS_perf_event_open
	BVC	2(PC)
	NEG	R3	// errno to -errno
	MOVW	R3, ret+32(FP)
	RET

// func ioctl(fd int32, req, arg uintptr) int32
TEXT runtime·ioctl(SB),NOSPLIT|NOFRAME,$0-28
	MOVW	fd+0(FP), R3
	MOVD	req+8(FP), R4
	MOVD	arg+16(FP), R5
	SYSCALL	$SYS_ioctl
	BVC	2(PC)
	NEG	R3	// errno to -errno
	MOVW	R3, ret+24(FP)
	RET

// func fcntlPtr(fd, cmd int32, arg uintptr) int32
TEXT runtime·fcntlPtr(SB),NOSPLIT|NOFRAME,$0-20
	MOVW	fd+0(FP), R3
	MOVW	cmd+4(FP), R4
	MOVD	arg+8(FP), R5
	SYSCALL	$SYS_fcntl
	BVC	2(PC)
	NEG	R3	// errno to -errno
	MOVW	R3, ret+16(FP)
	RET

// func clock_gettime(clock int32, ts *[2]uintptr) int32
TEXT runtime·clock_gettime(SB),NOSPLIT|NOFRAME,$0-20
	MOVW	clock+0(FP), R3
	MOVD	ts+8(FP), R4
	SYSCALL	$SYS_clock_gettime
	BVC	2(PC)
	NEG	R3	// errno to -errno
	MOVW	R3, ret+16(FP)
	RET
