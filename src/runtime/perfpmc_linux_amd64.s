// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "go_asm.h"
#include "textflag.h"

// READ reads the value of the event whose page is at *DI into AX, and goes to the next page.
// It uses CX, DX, SI and R8, and jumps to none. Shifts are modulo 64.
#define READ \
	MOVQ	(DI), SI ; \
	ADDQ	$8, DI ; \
	TESTQ	SI, SI ; \
	JEQ	none ; \
	MOVL	perfEventMmapPage_lock(SI), R8 ; \
	MOVL	perfEventMmapPage_index(SI), CX ; \
	SUBL	$1, CX ; \
	JCS	none ; \
	BTL	$29, CX ; \
	JCS	none ; \
	RDPMC ; \
	SHLQ	$32, DX ; \
	ORQ	DX, AX ; \
	MOVWLZX	perfEventMmapPage_pmcWidth(SI), CX ; \
	NEGL	CX ; \
	SHLQ	CX, AX ; \
	SARQ	CX, AX ; \
	ADDQ	perfEventMmapPage_offset(SI), AX ; \
	CMPL	R8, perfEventMmapPage_lock(SI) ; \
	JNE	none

// func perfReadCounters(pages *perfPage, base, values *uint64, n int) (ok bool)
TEXT runtime·perfReadCounters<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-33
	MOVQ	DI, R9  // n
	MOVQ	CX, R10 // values
	MOVQ	AX, DI  // pages; BX is base
loop:
	READ
	SUBQ	(BX), AX
	MOVQ	AX, (R10)
	ADDQ	$8, BX
	ADDQ	$8, R10
	DECQ	R9
	JNE	loop
	MOVL	$1, AX
	RET
none:
	XORL	AX, AX
	RET

// func perfSumCounters(pages *perfPage, base, values, sums *uint64, n int) (ok bool)
TEXT runtime·perfSumCounters<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-41
	MOVQ	SI, R9  // n
	MOVQ	CX, R10 // values
	MOVQ	DI, R11 // sums
	MOVQ	AX, DI  // pages; BX is base
loop:
	READ
	SUBQ	(BX), AX
	MOVQ	(R10), CX
	MOVQ	AX, (R10)
	SUBQ	CX, AX
	ADDQ	AX, (R11)
	ADDQ	$8, BX
	ADDQ	$8, R10
	ADDQ	$8, R11
	DECQ	R9
	JNE	loop
	MOVL	$1, AX
	RET
none:
	XORL	AX, AX
	RET
