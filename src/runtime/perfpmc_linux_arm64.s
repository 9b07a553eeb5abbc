// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "go_asm.h"
#include "textflag.h"

// A register's number is part of the instruction, so there is one for each, at
// a distance of 8 bytes.
#define COUNTER(reg) MRS reg, R6; B value
#define COUNTERS \
	COUNTER(PMEVCNTR0_EL0) ; \
	COUNTER(PMEVCNTR1_EL0) ; \
	COUNTER(PMEVCNTR2_EL0) ; \
	COUNTER(PMEVCNTR3_EL0) ; \
	COUNTER(PMEVCNTR4_EL0) ; \
	COUNTER(PMEVCNTR5_EL0) ; \
	COUNTER(PMEVCNTR6_EL0) ; \
	COUNTER(PMEVCNTR7_EL0) ; \
	COUNTER(PMEVCNTR8_EL0) ; \
	COUNTER(PMEVCNTR9_EL0) ; \
	COUNTER(PMEVCNTR10_EL0) ; \
	COUNTER(PMEVCNTR11_EL0) ; \
	COUNTER(PMEVCNTR12_EL0) ; \
	COUNTER(PMEVCNTR13_EL0) ; \
	COUNTER(PMEVCNTR14_EL0) ; \
	COUNTER(PMEVCNTR15_EL0) ; \
	COUNTER(PMEVCNTR16_EL0) ; \
	COUNTER(PMEVCNTR17_EL0) ; \
	COUNTER(PMEVCNTR18_EL0) ; \
	COUNTER(PMEVCNTR19_EL0) ; \
	COUNTER(PMEVCNTR20_EL0) ; \
	COUNTER(PMEVCNTR21_EL0) ; \
	COUNTER(PMEVCNTR22_EL0) ; \
	COUNTER(PMEVCNTR23_EL0) ; \
	COUNTER(PMEVCNTR24_EL0) ; \
	COUNTER(PMEVCNTR25_EL0) ; \
	COUNTER(PMEVCNTR26_EL0) ; \
	COUNTER(PMEVCNTR27_EL0) ; \
	COUNTER(PMEVCNTR28_EL0) ; \
	COUNTER(PMEVCNTR29_EL0) ; \
	COUNTER(PMEVCNTR30_EL0) ; \
	COUNTER(PMCCNTR_EL0)

// READ reads the register of the event whose page is at *R0 into R6, and goes to the next
// page. R8 is the address of COUNTERS. It ends at none, or at value, where VALUE makes R6
// the event's value.
#define READ \
	MOVD.P	8(R0), R9 ; \
	CBZ	R9, none ; \
	MOVWU	perfEventMmapPage_lock(R9), R4 ; \
	MOVWU	perfEventMmapPage_index(R9), R5 ; \
	SUBW	$1, R5 ; \
	CMPW	$31, R5 ; \
	BHI	none ; \
	ADD	R5<<3, R8, R5 ; \
	JMP	(R5)

// Shifts are modulo 64.
#define VALUE \
	MOVHU	perfEventMmapPage_pmcWidth(R9), R5 ; \
	MOVD	perfEventMmapPage_offset(R9), R7 ; \
	NEG	R5, R5 ; \
	LSL	R5, R6 ; \
	ASR	R5, R6 ; \
	ADD	R7, R6 ; \
	MOVWU	perfEventMmapPage_lock(R9), R5 ; \
	CMPW	R4, R5 ; \
	BNE	none

// func perfReadCounters(pages *perfPage, base, values *uint64, n int) (ok bool)
TEXT runtime·perfReadCounters<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-33
	ADR	counters, R8
loop:
	READ
counters:
	COUNTERS
value:
	VALUE
	MOVD.P	8(R1), R5
	SUB	R5, R6
	MOVD.P	R6, 8(R2)
	SUB	$1, R3
	CBNZ	R3, loop
	MOVD	$1, R0
	RET
none:
	MOVD	$0, R0
	RET

// func perfSumCounters(pages *perfPage, base, values, sums *uint64, n int) (ok bool)
TEXT runtime·perfSumCounters<ABIInternal>(SB),NOSPLIT|NOFRAME,$0-41
	MOVD	R4, R10 // n
	ADR	counters, R8
loop:
	READ
counters:
	COUNTERS
value:
	VALUE
	MOVD.P	8(R1), R5
	SUB	R5, R6
	MOVD	(R2), R5
	MOVD.P	R6, 8(R2)
	SUB	R5, R6
	MOVD	(R3), R5
	ADD	R6, R5
	MOVD.P	R5, 8(R3)
	SUB	$1, R10
	CBNZ	R10, loop
	MOVD	$1, R0
	RET
none:
	MOVD	$0, R0
	RET
