// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build amd64 || arm64

package runtime

const PerfClockError = perfClockError

// PerfNow returns what perfNow does.
func PerfNow() (nanos, ticks int64) {
	mp := acquirem()
	nanos, ticks = perfNow(mp)
	releasem(mp)
	return nanos, ticks
}
