// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// A sequence lock: what one thread at a time writes, others may copy.
//
// The number is odd while it is written. A writer's stores need an order, but no wait:
// processors other than x86 are told by a barrier, and on x86 plain stores have it. The
// compiler keeps it too, as there are loads in between, of what is written.

package runtime

import (
	"internal/goarch"
	"internal/runtime/atomic"
	"unsafe"
)

//go:nosplit
//go:nowritebarrierrec
func perfSeqBegin(seq *atomic.Uint32) {
	*(*uint32)(unsafe.Pointer(seq))++
	if goarch.IsAmd64 == 0 && goarch.Is386 == 0 {
		publicationBarrier()
	}
}

//go:nosplit
//go:nowritebarrierrec
func perfSeqEnd(seq *atomic.Uint32) {
	if goarch.IsAmd64 == 0 && goarch.Is386 == 0 {
		publicationBarrier()
	}
	*(*uint32)(unsafe.Pointer(seq))++
}

// perfPeeked reports whether what was copied since seq had the value old, by Load, is of
// one moment.
//
//go:nosplit
func perfPeeked(seq *atomic.Uint32, old uint32) bool {
	// The addition of 0 is a full barrier: the loads before it come before its own.
	return old&1 == 0 && seq.CompareAndSwap(old, old)
}
