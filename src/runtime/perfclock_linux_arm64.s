// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "go_asm.h"
#include "textflag.h"

#define clock (m_mOS+mOS_perfM+perfM_clock)

// func perfNow(mp *m) (nanos int64, ticks uint64)
TEXT runtime·perfNow<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-24
	MRS	CNTVCT_EL0, R1
	MOVD	(clock+perfClock_ticks)(R0), R2
	MOVD	(clock+perfClock_limit)(R0), R3
	SUB	R2, R1, R2
	CMP	R3, R2
	BHS	old
	MOVD	(clock+perfClock_rate)(R0), R3
	MOVD	(clock+perfClock_nanos)(R0), R4
	MUL	R3, R2
	ADD	R2>>32, R4, R0
	RET
old:
	ADD	$clock, R0
	JMP	runtime·perfClockUpdate<ABIInternal>(SB)

// func perfReadTime() uint64
TEXT runtime·perfReadTime<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-8
	MRS	CNTVCT_EL0, R0
	RET
