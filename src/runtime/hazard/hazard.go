// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package hazard publishes what state a program is in, for other processes of its machine that
// had better know at once: a proxy or a client that has a second server to ask, and need not wait
// until this one starts the world again.
//
// The program publishes a page of memory in a file:
//
//	p, err := hazard.Publish("/dev/shm/shop/hazard")
//	...
//	p.Set(hazard.Draining, "new version")
//
// The runtime writes there when it stops the world and when it starts it again, and when the
// garbage collector marks. The program writes whatever else it is.
//
// Others wait for a change:
//
//	w, err := hazard.Open("/dev/shm/shop/hazard")
//	...
//	for s := (hazard.Status{}); ; {
//		if s, err = w.Wait(ctx, s); err != nil {
//			break
//		}
//		use(s.State == hazard.OK || s.State == hazard.Collecting)
//	}
//
// Who waits sleeps in the kernel, which the change wakes. A watcher has one thread for all who wait
// with it. That wakes each 10 ms and reads the page, as a process that does not run tells nobody.
//
// The handler [net/http/pprof.Hazard] serves the same to other machines.
//
// Pages need Linux 5.3 and a file on tmpfs. Elsewhere [Publish] and [Open] return an error that is
// [errors.ErrUnsupported].
package hazard

import (
	"strconv"
	"time"
)

// A State is what may be wrong with a program. There are several at a time: the one that shows is
// the first that holds of Gone, Stopped, the one that [Publisher.Set] has set, Collecting, and OK.
type State uint8

const (
	OK         State = iota // nothing is known to be wrong
	Starting                // set by the program: not yet as fast as it will be
	Collecting              // the garbage collector marks: goroutines run, and share the CPUs with it
	Stopped                 // no goroutine runs: the world is stopped, execve is called, or see [Status.Silent]
	Overloaded              // set by the program: more work than it can do
	Draining                // set by the program: no new work, please
	Gone                    // the process has ended, or publishes no more; nothing follows

	states = iota
)

var stateNames = [states]string{"OK", "Starting", "Collecting", "Stopped", "Overloaded", "Draining", "Gone"}

// String returns the state's name.
func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "State(" + strconv.Itoa(int(s)) + ")"
}

// settable reports whether a program may be in state s by its own account.
func (s State) settable() bool {
	return s == OK || s == Starting || s == Overloaded || s == Draining
}

// A Status is what a program has published.
type Status struct {
	State  State
	Reason string    // such as "GC sweep termination" for Stopped; 40 bytes at most
	Since  time.Time // when State began

	// Program is what the program has set, also while another state shows.
	Program State

	// Number is that of the last change, from 1. The page has had as many.
	Number uint64

	PID int

	// Silent is for how long nothing has been heard of the program's goroutines, if that is
	// longer than three times the 10 ms after which they should be heard, while somebody waits. If
	// the kernel says why, State is Stopped and Reason begins with "silent". If they have never been
	// heard since somebody waits, it is since then. See [Watcher.Wait].
	Silent time.Duration

	count [states]uint64
	time  [states]time.Duration
}

// Count returns how often the program has come into a state.
func (s *Status) Count(state State) uint64 {
	if int(state) >= len(s.count) {
		return 0
	}
	return s.count[state]
}

// Time returns for how long the program has been in a state, up to now. For all states that is the
// time since it published, to the nanosecond.
func (s *Status) Time(state State) time.Duration {
	if int(state) >= len(s.time) {
		return 0
	}
	return s.time[state]
}

// A Change is one that a page has had.
type Change struct {
	Number  uint64
	Time    time.Time
	State   State // from then on
	Program State // as in [Status]
	Reason  string
}
