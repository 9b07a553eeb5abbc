// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Export guts for testing.

package runtime

var (
	PerfDozeTime    = perfDozeTime
	PerfDozeChanges = perfDozeChanges
	PerfDozeEnd     = perfDozeEnd
	PerfDozeWait    = perfDozeWait
)

// PerfDozing returns the thread that sleeps in PerfDozeWait, or 0.
func PerfDozing() int { return int(perfDoze.tid.Load()) }
