// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//
// System calls of the perf event engine for s390x, Linux.
// sys_perf_linux.go has their contract: the result, or the negated errno.
//

#include "textflag.h"

#define SYS_perf_event_open	331
#define SYS_ioctl		54
#define SYS_fcntl		55
#define SYS_clock_gettime	260

// func perf_event_open(attr *perfEventAttr, pid, cpu, groupFD int32, flags uintptr) int32
TEXT runtime·perf_event_open(SB),NOSPLIT|NOFRAME,$0-36
	MOVD	attr+0(FP), R2
	MOVW	pid+8(FP), R3
	MOVW	cpu+12(FP), R4
	MOVW	groupFD+16(FP), R5
	MOVD	flags+24(FP), R6
	MOVW	$SYS_perf_event_open, R1
	SYSCALL
	MOVW	R2, ret+32(FP)
	RET

// func ioctl(fd int32, req, arg uintptr) int32
TEXT runtime·ioctl(SB),NOSPLIT|NOFRAME,$0-28
	MOVW	fd+0(FP), R2
	MOVD	req+8(FP), R3
	MOVD	arg+16(FP), R4
	MOVW	$SYS_ioctl, R1
	SYSCALL
	MOVW	R2, ret+24(FP)
	RET

// func fcntlPtr(fd, cmd int32, arg uintptr) int32
TEXT runtime·fcntlPtr(SB),NOSPLIT|NOFRAME,$0-20
	MOVW	fd+0(FP), R2
	MOVW	cmd+4(FP), R3
	MOVD	arg+8(FP), R4
	MOVW	$SYS_fcntl, R1
	SYSCALL
	MOVW	R2, ret+16(FP)
	RET

// func clock_gettime(clock int32, ts *[2]uintptr) int32
TEXT runtime·clock_gettime(SB),NOSPLIT|NOFRAME,$0-20
	MOVW	clock+0(FP), R2
	MOVD	ts+8(FP), R3
	MOVW	$SYS_clock_gettime, R1
	SYSCALL
	MOVW	R2, ret+16(FP)
	RET
