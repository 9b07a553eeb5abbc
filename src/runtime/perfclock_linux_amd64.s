// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "go_asm.h"
#include "textflag.h"

#define clock (m_mOS+mOS_perfM+perfM_clock)

// func perfNow(mp *m) (nanos int64, ticks uint64)
TEXT runtime·perfNow<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-24
	MOVQ	AX, CX
	RDTSC
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	AX, BX
	SUBQ	(clock+perfClock_ticks)(CX), AX
	CMPQ	AX, (clock+perfClock_limit)(CX)
	JCC	old
	IMULQ	(clock+perfClock_rate)(CX), AX
	SHRQ	$32, AX
	ADDQ	(clock+perfClock_nanos)(CX), AX
	RET
old:
	LEAQ	clock(CX), AX
	JMP	runtime·perfClockUpdate<ABIInternal>(SB)

// func perfReadTime() uint64
TEXT runtime·perfReadTime<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-8
	RDTSC
	SHLQ	$32, DX
	ORQ	DX, AX
	RET
