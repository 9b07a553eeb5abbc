// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

#include "textflag.h"

// func spin(n int)
TEXT ·spin(SB), NOSPLIT, $64-8
	MOVQ n+0(FP), AX
	XORL BP, BP
loop:
	DECQ AX
	JNZ  loop
	RET
