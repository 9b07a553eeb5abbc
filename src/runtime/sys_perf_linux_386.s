// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//
// System calls of the perf event engine for 386, Linux.
// sys_perf_linux.go has their contract: the result, or the negated errno.
//
// fcntl64 is the fcntl(2) of 32-bit kernels, as for package syscall
// (flock_linux_32bit.go).
//

#include "textflag.h"

#define SYS_perf_event_open	336
#define SYS_ioctl		54
#define SYS_fcntl64		221
#define SYS_clock_gettime	265

// func perf_event_open(attr *perfEventAttr, pid, cpu, groupFD int32, flags uintptr) int32
TEXT runtime·perf_event_open(SB),NOSPLIT,$0-24
	MOVL	attr+0(FP), BX
	MOVL	pid+4(FP), CX
	MOVL	cpu+8(FP), DX
	MOVL	groupFD+12(FP), SI
	MOVL	flags+16(FP), DI
	MOVL	$SYS_perf_event_open, AX
	INT	$0x80
	MOVL	AX, ret+20(FP)
	RET

// func ioctl(fd int32, req, arg uintptr) int32
TEXT runtime·ioctl(SB),NOSPLIT,$0-16
	MOVL	fd+0(FP), BX
	MOVL	req+4(FP), CX
	MOVL	arg+8(FP), DX
	MOVL	$SYS_ioctl, AX
	INT	$0x80
	MOVL	AX, ret+12(FP)
	RET

// func fcntlPtr(fd, cmd int32, arg uintptr) int32
TEXT runtime·fcntlPtr(SB),NOSPLIT,$0-16
	MOVL	fd+0(FP), BX
	MOVL	cmd+4(FP), CX
	MOVL	arg+8(FP), DX
	MOVL	$SYS_fcntl64, AX
	INT	$0x80
	MOVL	AX, ret+12(FP)
	RET

// func clock_gettime(clock int32, ts *[2]uintptr) int32
TEXT runtime·clock_gettime(SB),NOSPLIT,$0-12
	MOVL	clock+0(FP), BX
	MOVL	ts+4(FP), CX
	MOVL	$SYS_clock_gettime, AX
	INT	$0x80
	MOVL	AX, ret+8(FP)
	RET
