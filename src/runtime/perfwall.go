// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import _ "unsafe" // for go:linkname

// perfWalltime returns the time of the wall clock in ns since 1970: the machine's, also for
// goroutines in a bubble. What they cost is of no bubble's time.
//
//go:linkname perfWalltime runtime/task.runtime_perfWalltime
func perfWalltime() int64 {
	sec, nsec := perfWallclock()
	return sec*1e9 + int64(nsec)
}
