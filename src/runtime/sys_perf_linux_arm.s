// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//
// System calls of the perf event engine for arm, Linux.
// sys_perf_linux.go has their contract: the result, or the negated errno.
//
// fcntl64 is the fcntl(2) of 32-bit kernels, as for package syscall
// (flock_linux_32bit.go).
//

#include "textflag.h"

#define SYS_perf_event_open	364
#define SYS_ioctl		54
#define SYS_fcntl64		221
#define SYS_clock_gettime	263

// func perf_event_open(attr *perfEventAttr, pid, cpu, groupFD int32, flags uintptr) int32
TEXT runtime·perf_event_open(SB),NOSPLIT,$0-24
	MOVW	attr+0(FP), R0
	MOVW	pid+4(FP), R1
	MOVW	cpu+8(FP), R2
	MOVW	groupFD+12(FP), R3
	MOVW	flags+16(FP), R4
	MOVW	$SYS_perf_event_open, R7
	SWI	$0
	MOVW	R0, ret+20(FP)
	RET

// func ioctl(fd int32, req, arg uintptr) int32
TEXT runtime·ioctl(SB),NOSPLIT,$0-16
	MOVW	fd+0(FP), R0
	MOVW	req+4(FP), R1
	MOVW	arg+8(FP), R2
	MOVW	$SYS_ioctl, R7
	SWI	$0
	MOVW	R0, ret+12(FP)
	RET

// func fcntlPtr(fd, cmd int32, arg uintptr) int32
TEXT runtime·fcntlPtr(SB),NOSPLIT,$0-16
	MOVW	fd+0(FP), R0
	MOVW	cmd+4(FP), R1
	MOVW	arg+8(FP), R2
	MOVW	$SYS_fcntl64, R7
	SWI	$0
	MOVW	R0, ret+12(FP)
	RET

// func clock_gettime(clock int32, ts *[2]uintptr) int32
TEXT runtime·clock_gettime(SB),NOSPLIT,$0-12
	MOVW	clock+0(FP), R0
	MOVW	ts+4(FP), R1
	MOVW	$SYS_clock_gettime, R7
	SWI	$0
	MOVW	R0, ret+8(FP)
	RET
