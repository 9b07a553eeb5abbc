// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "textflag.h"

// func perfReadCounter(i uint32) uint64
TEXT ·perfReadCounter(SB),NOSPLIT,$0-16
	MOVL	i+0(FP), CX
	RDPMC
	SHLQ	$32, DX
	ORQ	DX, AX
	MOVQ	AX, ret+8(FP)
	RET
