// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import "internal/runtime/perf"

const PerfTaskRings = perf.AllTaskRings

// PerfTaskRing returns a ring's words, and where it ends. It is nil if there is none.
func PerfTaskRing(ring int) (words []uint64, head uint64) {
	r := (*perfTaskRing)(perfTaskRings.rings[ring].Load())
	if r == nil {
		return nil, 0
	}
	return r.words[:r.mask+1], r.head.Load()
}
