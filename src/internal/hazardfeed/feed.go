// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package hazardfeed has what this process publishes by runtime/hazard, for those in it that serve it
// to others. A program that serves it and never publishes has nothing of runtime/hazard.
package hazardfeed

import (
	"io/fs"
	"sync/atomic"
	"time"
)

// A Change is one that the page of this process has had, as in runtime/hazard.
type Change struct {
	Number                 uint64
	Time                   time.Time
	State, Program, Reason string
	Last                   bool // nothing follows
}

// A Status is what the page says now.
type Status struct {
	Change
	Since  time.Time
	PID    int
	Totals []Total
}

// A Total is for how long, and how often, a state has been so far.
type Total struct {
	State string
	Count uint64
	Time  time.Duration
}

// A Feed follows the page for one reader.
type Feed interface {
	// Begin is when the page was published. No other page of a machine's has the same.
	Begin() int64

	// Changed returns a channel that is closed when there has been a change after this call, or may
	// have been.
	Changed() (<-chan struct{}, error)

	Status() (Status, error)

	// Changes returns the changes after the one with a number, the oldest first. The page has lost
	// missed of them.
	Changes(after uint64) (list []Change, missed uint64, err error)

	Close()
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
