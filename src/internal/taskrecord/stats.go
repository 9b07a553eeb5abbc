// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import "time"

// RecorderStats are the numbers of package runtime/task's recorder.
type RecorderStats struct {
	Server *Server   // nil if nothing has ever been recorded
	Since  time.Time // Start
	Rate   float64
	Kinds  []KindStats // with tasks, by name
	Open   int64       // tasks that have not ended
	// Outlived is for how long goroutines have run after the end of the tasks that they worked for.
	Outlived time.Duration
	// Taken is why threads had no CPU while tasks were recorded.
	Taken Taken

	Epochs int64 // that have begun, of events that are counted in turns
	Events []EventStats
	Lost   []LostStats
}

// KindStats are the numbers of the tasks of a kind that have ended.
type KindStats struct {
	Kind                string
	Client              bool // they are calls; others of that name are apart
	Count, Failed, Slow int64
	Open                int64         // that have not ended
	Wall                time.Duration // of all
	P50, P90, P99, Max  time.Duration // P* within 7 %
	Threshold           time.Duration // above which a task is slow; 0 if it is not known yet
	Automatic           bool          // the threshold was found out
	Usage               Usage         // of all
	Counted             []int64       // how many of them each count in Usage is of

	// Usage.Count and Counted have an element for each of RecorderStats.Events.
}

// EventStats say for how much of what has been recorded an event was counted.
type EventStats struct {
	Name  string
	Tasks int64 // that have ended, with this count
}

// LostStats say what has not been recorded, and how often.
type LostStats struct {
	Name string // short, and the same in all releases
	Text string // what they were, for people
	N    uint64
}
