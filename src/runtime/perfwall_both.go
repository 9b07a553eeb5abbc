// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Where the wall clock is not read without the monotonic one; see timestub.go.

//go:build faketime || windows || (linux && amd64) || plan9

package runtime

func perfWallclock() (sec int64, nsec int32) {
	sec, nsec, _ = time_now()
	return sec, nsec
}
