// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux || !(amd64 || arm64)

package runtime

// Where reading the processor's clock has not been tried, accounts use nanotime.

type perfClock struct{}

//go:nosplit
//go:nowritebarrierrec
func perfNow(mp *m) (nanos, ticks int64) {
	now := nanotime()
	return now, now
}

//go:nosplit
//go:nowritebarrierrec
func perfReadTime() int64 { return nanotime() }

//go:nosplit
//go:nowritebarrierrec
func perfTicks() int64 { return nanotime() }

//go:nowritebarrierrec
func perfClockFit() bool { return true }

//go:nowritebarrierrec
func perfTickRate() uint64 { return 1 << 32 }

func perfClockInit() {}
