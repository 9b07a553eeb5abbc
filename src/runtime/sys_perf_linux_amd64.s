// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//
// System calls of the perf event engine for amd64, Linux.
// sys_perf_linux.go has their contract: the result, or the negated errno.
//

#include "textflag.h"

#define SYS_perf_event_open	298
#define SYS_ioctl		16
#define SYS_fcntl		72
#define SYS_clock_gettime	228

// func perf_event_open(attr *perfEventAttr, pid, cpu, groupFD int32, flags uintptr) int32
TEXT runtime·perf_event_open(SB),NOSPLIT,$0-36
	MOVQ	attr+0(FP), DI
	MOVL	pid+8(FP), SI
	MOVL	cpu+12(FP), DX
	MOVL	groupFD+16(FP), R10
	MOVQ	flags+24(FP), R8
	MOVL	$SYS_perf_event_open, AX
	SYSCALL
	MOVL	AX, ret+32(FP)
	RET

// func ioctl(fd int32, req, arg uintptr) int32
TEXT runtime·ioctl(SB),NOSPLIT,$0-28
	MOVL	fd+0(FP), DI
	MOVQ	req+8(FP), SI
	MOVQ	arg+16(FP), DX
	MOVL	$SYS_ioctl, AX
	SYSCALL
	MOVL	AX, ret+24(FP)
	RET

// func fcntlPtr(fd, cmd int32, arg uintptr) int32
TEXT runtime·fcntlPtr(SB),NOSPLIT,$0-20
	MOVL	fd+0(FP), DI
	MOVL	cmd+4(FP), SI
	MOVQ	arg+8(FP), DX
	MOVL	$SYS_fcntl, AX
	SYSCALL
	MOVL	AX, ret+16(FP)
	RET

// func clock_gettime(clock int32, ts *[2]uintptr) int32
TEXT runtime·clock_gettime(SB),NOSPLIT,$0-20
	MOVL	clock+0(FP), DI
	MOVQ	ts+8(FP), SI
	MOVL	$SYS_clock_gettime, AX
	SYSCALL
	MOVL	AX, ret+16(FP)
	RET
