// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (mips64 || mips64le)

//
// System calls of the perf event engine for mips64, Linux.
// sys_perf_linux.go has their contract: the result, or the negated errno.
//
// The kernel sets R7 on failure and then leaves a positive errno in R2.
//

#include "textflag.h"

#define SYS_perf_event_open	5292
#define SYS_ioctl		5015
#define SYS_fcntl		5070
#define SYS_clock_gettime	5222

// func perf_event_open(attr *perfEventAttr, pid, cpu, groupFD int32, flags uintptr) int32
TEXT runtime·perf_event_open(SB),NOSPLIT|NOFRAME,$0-36
	MOVV	attr+0(FP), R4
	MOVW	pid+8(FP), R5
	MOVW	cpu+12(FP), R6
	MOVW	groupFD+16(FP), R7
	MOVV	flags+24(FP), R8
	MOVV	$SYS_perf_event_open, R2
	SYSCALL
	BEQ	R7, 2(PC)
	SUBVU	R2, R0, R2	// errno to -errno
	MOVW	R2, ret+32(FP)
	RET

// func ioctl(fd int32, req, arg uintptr) int32
TEXT runtime·ioctl(SB),NOSPLIT|NOFRAME,$0-28
	MOVW	fd+0(FP), R4
	MOVV	req+8(FP), R5
	MOVV	arg+16(FP), R6
	MOVV	$SYS_ioctl, R2
	SYSCALL
	BEQ	R7, 2(PC)
	SUBVU	R2, R0, R2	// errno to -errno
	MOVW	R2, ret+24(FP)
	RET

// func fcntlPtr(fd, cmd int32, arg uintptr) int32
TEXT runtime·fcntlPtr(SB),NOSPLIT|NOFRAME,$0-20
	MOVW	fd+0(FP), R4
	MOVW	cmd+4(FP), R5
	MOVV	arg+8(FP), R6
	MOVV	$SYS_fcntl, R2
	SYSCALL
	BEQ	R7, 2(PC)
	SUBVU	R2, R0, R2	// errno to -errno
	MOVW	R2, ret+16(FP)
	RET

// func clock_gettime(clock int32, ts *[2]uintptr) int32
TEXT runtime·clock_gettime(SB),NOSPLIT|NOFRAME,$0-20
	MOVW	clock+0(FP), R4
	MOVV	ts+8(FP), R5
	MOVV	$SYS_clock_gettime, R2
	SYSCALL
	BEQ	R7, 2(PC)
	SUBVU	R2, R0, R2	// errno to -errno
	MOVW	R2, ret+16(FP)
	RET
