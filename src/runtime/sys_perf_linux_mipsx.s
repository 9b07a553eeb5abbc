// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (mips || mipsle)

//
// System calls of the perf event engine for mips, Linux.
// sys_perf_linux.go has their contract: the result, or the negated errno.
//
// The kernel sets R7 on failure and then leaves a positive errno in R2.
//
// fcntl64 is the fcntl(2) of 32-bit kernels, as for package syscall
// (flock_linux_32bit.go).
//

#include "textflag.h"

#define SYS_perf_event_open	4333
#define SYS_ioctl		4054
#define SYS_fcntl64		4220
#define SYS_clock_gettime	4263

// func perf_event_open(attr *perfEventAttr, pid, cpu, groupFD int32, flags uintptr) int32
TEXT runtime·perf_event_open(SB),NOSPLIT,$20-24
	MOVW	attr+0(FP), R4
	MOVW	pid+4(FP), R5
	MOVW	cpu+8(FP), R6
	MOVW	groupFD+12(FP), R7
	MOVW	flags+16(FP), R8
	MOVW	R8, 16(R29)	// O32 passes the fifth argument on the stack
	MOVW	$SYS_perf_event_open, R2
	SYSCALL
	BEQ	R7, 2(PC)
	SUBU	R2, R0, R2	// errno to -errno
	MOVW	R2, ret+20(FP)
	RET

// func ioctl(fd int32, req, arg uintptr) int32
TEXT runtime·ioctl(SB),NOSPLIT,$0-16
	MOVW	fd+0(FP), R4
	MOVW	req+4(FP), R5
	MOVW	arg+8(FP), R6
	MOVW	$SYS_ioctl, R2
	SYSCALL
	BEQ	R7, 2(PC)
	SUBU	R2, R0, R2	// errno to -errno
	MOVW	R2, ret+12(FP)
	RET

// func fcntlPtr(fd, cmd int32, arg uintptr) int32
TEXT runtime·fcntlPtr(SB),NOSPLIT,$0-16
	MOVW	fd+0(FP), R4
	MOVW	cmd+4(FP), R5
	MOVW	arg+8(FP), R6
	MOVW	$SYS_fcntl64, R2
	SYSCALL
	BEQ	R7, 2(PC)
	SUBU	R2, R0, R2	// errno to -errno
	MOVW	R2, ret+12(FP)
	RET

// func clock_gettime(clock int32, ts *[2]uintptr) int32
TEXT runtime·clock_gettime(SB),NOSPLIT,$0-12
	MOVW	clock+0(FP), R4
	MOVW	ts+4(FP), R5
	MOVW	$SYS_clock_gettime, R2
	SYSCALL
	BEQ	R7, 2(PC)
	SUBU	R2, R0, R2	// errno to -errno
	MOVW	R2, ret+8(FP)
	RET
