// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import "internal/taskrecord"

// Round begins a round; see [taskrecord.RingReader].
func (r *ringReader) Round() {
	r.rounds = true
	for i := range r.heads {
		_, _, r.heads[i], _ = runtime_perfTaskRingState(i)
	}
}

// Progress returns where the reader is. Lost has also what no record has told yet: of a damaged record that
// is the last one of its ring, none may ever.
func (r *ringReader) Progress() taskrecord.Progress {
	p := taskrecord.Progress{Lost: int64(r.stats.Dropped)}
	for i := range r.at {
		if n := r.at[i].number; n > 0 {
			p.Places = append(p.Places, taskrecord.RingPlace{Ring: i, Next: n})
		}
	}
	return p
}

// Place returns where it is in the ring of the last record.
func (r *ringReader) Place() taskrecord.RingPlace {
	return taskrecord.RingPlace{Ring: r.last, Next: r.at[r.last].number}
}
