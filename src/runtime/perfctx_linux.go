// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !ppc64 && !ppc64le

package runtime

import "unsafe"

// perfContext returns where the signal with the given context came.
//
//go:nosplit
//go:nowritebarrierrec
func perfContext(ctx unsafe.Pointer) (pc, sp uintptr) {
	c := sigctxt{nil, ctx}
	return c.sigpc(), uintptr(c.sigsp())
}
