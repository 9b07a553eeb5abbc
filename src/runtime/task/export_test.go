// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import "time"

var (
	EndTask    = endTask
	WriteTrace = writeTrace
	NameTask   = nameTask
	NewCall    = newCall
)

// ToldGoroutines returns for how many goroutines something is kept of regions in traces.
func ToldGoroutines() (n int) {
	for i := range toldBy {
		s := &toldBy[i]
		s.mu.Lock()
		n += len(s.m)
		s.mu.Unlock()
	}
	return n
}

// ShiftWall has the wall clock look as if it had been set since it was last read.
func ShiftWall(d time.Duration) { wall.offset.Add(int64(d)) }
