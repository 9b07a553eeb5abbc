// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "textflag.h"

// The handler: void handler(int, siginfo_t *, void *). It has no frame and
// changes nothing but registers that C code may. It returns to the vDSO's
// rt_sigreturn.
TEXT handler<>(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVD	$·signals(SB), R0
retry:
	LDAXR	(R0), R1
	ADD	$1, R1
	STLXR	R1, (R0), R2
	CBNZ	R2, retry
	RET

// func handlerPC() uintptr
TEXT ·handlerPC(SB),NOSPLIT,$0-8
	MOVD	$handler<>(SB), R0
	MOVD	R0, ret+0(FP)
	RET

// func restorerPC() uintptr
TEXT ·restorerPC(SB),NOSPLIT,$0-8
	MOVD	ZR, ret+0(FP)
	RET

// func Spin(n uint64)
TEXT ·Spin(SB),NOSPLIT,$0-8
	MOVD	n+0(FP), R0
loop:
	SUB	$2, R0
	CBNZ	R0, loop
	RET
