// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "textflag.h"

// The handler: void handler(int, siginfo_t *, void *). It has no frame and
// changes nothing but a register that C code may.
TEXT handler<>(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	LOCK
	INCQ	·signals(SB)
	RET

// sigaction's sa_restorer, which x86 has no other place for: rt_sigreturn(2).
TEXT restorer<>(SB),NOSPLIT|NOFRAME|TOPFRAME,$0
	MOVQ	$15, AX
	SYSCALL
	INT	$3

// func handlerPC() uintptr
TEXT ·handlerPC(SB),NOSPLIT,$0-8
	LEAQ	handler<>(SB), AX
	MOVQ	AX, ret+0(FP)
	RET

// func restorerPC() uintptr
TEXT ·restorerPC(SB),NOSPLIT,$0-8
	LEAQ	restorer<>(SB), AX
	MOVQ	AX, ret+0(FP)
	RET

// func Spin(n uint64)
TEXT ·Spin(SB),NOSPLIT,$0-8
	MOVQ	n+0(FP), AX
loop:
	SUBQ	$2, AX
	JNE	loop
	RET
