// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package stacks makes stacks of a depth, of 64 functions that differ: unwinders
// have caches, which one recursive function would flatter.
package stacks

// keep is what each function writes after its call, so that it is not a jump.
var keep [64]int

// At calls f below depth frames of this package; 0 is one.
func At(depth int, f func()) { at0(depth, f) }

//go:noinline
func at0(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at1(depth-1, f)
	keep[0] = depth
}

//go:noinline
func at1(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at2(depth-1, f)
	keep[1] = depth
}

//go:noinline
func at2(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at3(depth-1, f)
	keep[2] = depth
}

//go:noinline
func at3(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at4(depth-1, f)
	keep[3] = depth
}

//go:noinline
func at4(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at5(depth-1, f)
	keep[4] = depth
}

//go:noinline
func at5(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at6(depth-1, f)
	keep[5] = depth
}

//go:noinline
func at6(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at7(depth-1, f)
	keep[6] = depth
}

//go:noinline
func at7(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at8(depth-1, f)
	keep[7] = depth
}

//go:noinline
func at8(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at9(depth-1, f)
	keep[8] = depth
}

//go:noinline
func at9(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at10(depth-1, f)
	keep[9] = depth
}

//go:noinline
func at10(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at11(depth-1, f)
	keep[10] = depth
}

//go:noinline
func at11(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at12(depth-1, f)
	keep[11] = depth
}

//go:noinline
func at12(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at13(depth-1, f)
	keep[12] = depth
}

//go:noinline
func at13(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at14(depth-1, f)
	keep[13] = depth
}

//go:noinline
func at14(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at15(depth-1, f)
	keep[14] = depth
}

//go:noinline
func at15(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at16(depth-1, f)
	keep[15] = depth
}

//go:noinline
func at16(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at17(depth-1, f)
	keep[16] = depth
}

//go:noinline
func at17(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at18(depth-1, f)
	keep[17] = depth
}

//go:noinline
func at18(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at19(depth-1, f)
	keep[18] = depth
}

//go:noinline
func at19(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at20(depth-1, f)
	keep[19] = depth
}

//go:noinline
func at20(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at21(depth-1, f)
	keep[20] = depth
}

//go:noinline
func at21(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at22(depth-1, f)
	keep[21] = depth
}

//go:noinline
func at22(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at23(depth-1, f)
	keep[22] = depth
}

//go:noinline
func at23(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at24(depth-1, f)
	keep[23] = depth
}

//go:noinline
func at24(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at25(depth-1, f)
	keep[24] = depth
}

//go:noinline
func at25(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at26(depth-1, f)
	keep[25] = depth
}

//go:noinline
func at26(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at27(depth-1, f)
	keep[26] = depth
}

//go:noinline
func at27(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at28(depth-1, f)
	keep[27] = depth
}

//go:noinline
func at28(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at29(depth-1, f)
	keep[28] = depth
}

//go:noinline
func at29(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at30(depth-1, f)
	keep[29] = depth
}

//go:noinline
func at30(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at31(depth-1, f)
	keep[30] = depth
}

//go:noinline
func at31(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at32(depth-1, f)
	keep[31] = depth
}

//go:noinline
func at32(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at33(depth-1, f)
	keep[32] = depth
}

//go:noinline
func at33(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at34(depth-1, f)
	keep[33] = depth
}

//go:noinline
func at34(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at35(depth-1, f)
	keep[34] = depth
}

//go:noinline
func at35(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at36(depth-1, f)
	keep[35] = depth
}

//go:noinline
func at36(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at37(depth-1, f)
	keep[36] = depth
}

//go:noinline
func at37(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at38(depth-1, f)
	keep[37] = depth
}

//go:noinline
func at38(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at39(depth-1, f)
	keep[38] = depth
}

//go:noinline
func at39(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at40(depth-1, f)
	keep[39] = depth
}

//go:noinline
func at40(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at41(depth-1, f)
	keep[40] = depth
}

//go:noinline
func at41(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at42(depth-1, f)
	keep[41] = depth
}

//go:noinline
func at42(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at43(depth-1, f)
	keep[42] = depth
}

//go:noinline
func at43(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at44(depth-1, f)
	keep[43] = depth
}

//go:noinline
func at44(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at45(depth-1, f)
	keep[44] = depth
}

//go:noinline
func at45(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at46(depth-1, f)
	keep[45] = depth
}

//go:noinline
func at46(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at47(depth-1, f)
	keep[46] = depth
}

//go:noinline
func at47(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at48(depth-1, f)
	keep[47] = depth
}

//go:noinline
func at48(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at49(depth-1, f)
	keep[48] = depth
}

//go:noinline
func at49(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at50(depth-1, f)
	keep[49] = depth
}

//go:noinline
func at50(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at51(depth-1, f)
	keep[50] = depth
}

//go:noinline
func at51(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at52(depth-1, f)
	keep[51] = depth
}

//go:noinline
func at52(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at53(depth-1, f)
	keep[52] = depth
}

//go:noinline
func at53(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at54(depth-1, f)
	keep[53] = depth
}

//go:noinline
func at54(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at55(depth-1, f)
	keep[54] = depth
}

//go:noinline
func at55(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at56(depth-1, f)
	keep[55] = depth
}

//go:noinline
func at56(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at57(depth-1, f)
	keep[56] = depth
}

//go:noinline
func at57(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at58(depth-1, f)
	keep[57] = depth
}

//go:noinline
func at58(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at59(depth-1, f)
	keep[58] = depth
}

//go:noinline
func at59(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at60(depth-1, f)
	keep[59] = depth
}

//go:noinline
func at60(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at61(depth-1, f)
	keep[60] = depth
}

//go:noinline
func at61(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at62(depth-1, f)
	keep[61] = depth
}

//go:noinline
func at62(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at63(depth-1, f)
	keep[62] = depth
}

//go:noinline
func at63(depth int, f func()) {
	if depth <= 0 {
		f()
		return
	}
	at0(depth-1, f)
	keep[63] = depth
}
