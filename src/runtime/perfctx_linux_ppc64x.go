// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (ppc64 || ppc64le)

package runtime

import "unsafe"

// perfContext returns where the signal with the given context came. It is sigctxt's
// sigpc and sigsp without calls in calls; see perfSigprofNonGo.
//
//go:nosplit
//go:nowritebarrierrec
func perfContext(ctx unsafe.Pointer) (pc, sp uintptr) {
	r := (*ucontext)(ctx).uc_mcontext.regs
	return uintptr(r.nip), uintptr(r.gpr[1])
}
