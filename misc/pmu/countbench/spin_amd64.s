// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

#include "textflag.h"

// func spin(n uint64)
TEXT ·spin(SB),NOSPLIT,$0-8
	MOVQ	n+0(FP), AX
loop:
	SUBQ	$2, AX
	JNE	loop
	RET
