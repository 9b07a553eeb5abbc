// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "textflag.h"

// func spin(n uint64)
TEXT ·spin(SB),NOSPLIT,$0-8
	MOVD	n+0(FP), R0
loop:
	SUB	$2, R0
	CBNZ	R0, loop
	RET
