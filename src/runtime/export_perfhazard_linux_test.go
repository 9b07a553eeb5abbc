// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

// PerfHazardStarts tells the page what startTheWorldWithSema does: that the world is about to be
// started, or that all Ps have been given to threads.
func PerfHazardStarts(runs bool) {
	systemstack(func() {
		if runs {
			perfHazardWorld(worldStop{})
		} else {
			perfHazardWorld(worldStop{reason: stwReadMemStats, startedStopping: 1, finishedStopping: 2})
		}
	})
}
