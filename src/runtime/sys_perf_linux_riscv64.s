// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//
// System calls of the perf event engine for riscv64, Linux.
// sys_perf_linux.go has their contract: the result, or the negated errno.
//
// ABIInternal passes arguments and the result in the registers that the
// kernel uses, so there is nothing to move. The upper halves of int32
// arguments are undefined, which the kernel's syscall entry allows for.
//

#include "textflag.h"

#define SYS_perf_event_open	241
#define SYS_ioctl		29
#define SYS_fcntl		25
#define SYS_clock_gettime	113

// func perf_event_open(attr *perfEventAttr, pid, cpu, groupFD int32, flags uintptr) int32
TEXT runtime·perf_event_open<ABIInternal>(SB),NOSPLIT,$0
	MOV	$SYS_perf_event_open, A7
	ECALL
	RET

// func ioctl(fd int32, req, arg uintptr) int32
TEXT runtime·ioctl<ABIInternal>(SB),NOSPLIT,$0
	MOV	$SYS_ioctl, A7
	ECALL
	RET

// func fcntlPtr(fd, cmd int32, arg uintptr) int32
TEXT runtime·fcntlPtr<ABIInternal>(SB),NOSPLIT,$0
	MOV	$SYS_fcntl, A7
	ECALL
	RET

// func clock_gettime(clock int32, ts *[2]uintptr) int32
TEXT runtime·clock_gettime<ABIInternal>(SB),NOSPLIT,$0
	MOV	$SYS_clock_gettime, A7
	ECALL
	RET
