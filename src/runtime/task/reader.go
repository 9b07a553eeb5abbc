// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

// A Reader reads the records of tasks that have ended. It has its own place in the rings
// and takes nothing away from others. A record that was not read in time is lost to it,
// and counted. No reader holds up the program, whatever it does.
//
// A Reader must not be used by several goroutines at once.
type Reader struct{ r *ringReader }

// NewReader returns a reader that begins with the oldest records that the rings have.
func NewReader() *Reader { return &Reader{openRings(true)} }

// Next returns the next record, or nil if there is none at the moment.
func (r *Reader) Next() *Record {
	t := r.r.Next()
	if t == nil {
		return nil
	}
	return newRecord(t)
}

// Lost returns how many records were written over before the reader came to them, or were
// damaged. Together with those that Next has returned by when it returns nil, these are all since its
// place was first in the rings.
func (r *Reader) Lost() uint64 { return r.r.Stats().Dropped }
