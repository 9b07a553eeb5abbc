// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import record "internal/task"

// Round begins a round; see [record.RingReader].
func (r *ringReader) Round() {
	r.rounds = true
	for i := range r.heads {
		_, _, r.heads[i], _ = runtime_perfTaskRingState(i)
	}
}

// Places returns where the reader is.
func (r *ringReader) Places() (p record.RingPlaces) {
	for i := range r.at {
		// No record has told yet of what is lost just before the next one.
		if n := r.at[i].number - r.at[i].lost; n > 0 {
			p = append(p, record.RingPlace{Ring: i, Next: n})
		}
	}
	return p
}

// Place returns where it is in the ring of the last record.
func (r *ringReader) Place() record.RingPlace {
	return record.RingPlace{Ring: r.last, Next: r.at[r.last].number}
}
