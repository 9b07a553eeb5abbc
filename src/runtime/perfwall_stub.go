// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux || amd64 || faketime

package runtime

// perfWallclock reads the wall clock: the port does not have it alone, or may not.
func perfWallclock() (sec int64, nsec int32) {
	sec, nsec, _ = time_now()
	return sec, nsec
}
