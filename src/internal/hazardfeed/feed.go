// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package hazardfeed has what this process publishes by runtime/hazard, for those in it that serve it
// to others. A program that serves it and never publishes has nothing of runtime/hazard.
package hazardfeed

import (
	"io/fs"
	"sync/atomic"
)

// An Event is a change of the page of this process, or what it says now.
type Event struct {
	Number uint64 // of the last change
	JSON   []byte
	Last   bool // nothing follows
}

// A Feed follows the page for one reader.
type Feed interface {
	// Begin is when the page was published. No other page of a machine's has the same.
	Begin() int64

	// Changed returns a channel that is closed when there has been a change after this call, or may
	// have been.
	Changed() (<-chan struct{}, error)

	Status() (Event, error)

	// Changes returns the changes after the one with a number, the oldest first. The page has lost
	// missed of them.
	Changes(after uint64) (list []Event, missed uint64, err error)

	// Leave ends it. (A method Close would have the linker keep those of other types.)
	Leave()
}

var open atomic.Pointer[func() (Feed, error)]

// Register sets what Open does.
func Register(f func() (Feed, error)) { open.Store(&f) }

// Open follows the page of this process. The error is fs.ErrNotExist if there is none.
func Open() (Feed, error) {
	if f := open.Load(); f != nil {
		return (*f)()
	}
	return nil, fs.ErrNotExist
}
