// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import _ "unsafe" // for go:linkname

// A RingReader reads the records of tasks that have ended in this process, from the rings of package
// runtime/task. It has its own place in them and takes nothing away from others. It must
// not be used by several goroutines at once.
type RingReader interface {
	// Next returns the next record, or nil if there is none at the moment. The rings take
	// turns.
	Next() *Record

	// Round begins a round: Next returns nil when it has returned all records that there are now, and
	// told of those of them that are lost. Without rounds a ring that fills quickly may have taken the turns
	// of one that has older records.
	Round()

	// Progress returns where the reader is: all records before are those that Next has returned, and
	// those that are lost. Place is that in the ring of the last one.
	Progress() Progress
	Place() RingPlace
	Stats() RingStats
	Server() *Server // of the records; nil if nothing has ever been recorded
}

// RingStats are a reader's numbers. Of those records that were pushed since its
// place was first in their ring,
//
//	Pushed = Popped + Dropped + Waiting
type RingStats struct {
	Pushed  uint64
	Popped  uint64 // returned by Next
	Dropped uint64 // written over before, or damaged
	Waiting uint64 // in the rings
}

// NewRingReader returns a reader that begins with the oldest records that the rings have, or
// with the next ones. A program that calls it must link package runtime/task.
func NewRingReader(oldest bool) RingReader { return newRingReader(oldest) }

// Provided by package runtime/task.
//
//go:linkname newRingReader
func newRingReader(oldest bool) RingReader
