// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

// foreign finds the threads that Go did not create, while there are sessions, in a
// program that has C. Protected by perfChange.
var foreign struct {
	sessions int
	threads  *foreignThreads
}

// foreignStart is called when a session has started. Threads that are known from
// another one have been armed for it, but not those that could not be armed then. It
// returns what late threads have run so far.
func foreignStart(session int) (late int64) {
	if !runtime_perfHasForeign() {
		return 0
	}
	if foreign.sessions++; foreign.sessions == 1 {
		foreign.threads = findForeign()
	} else {
		foreign.threads.retry(session)
	}
	return foreign.threads.foundLate()
}

// foreignStop is called before a session stops. It returns what late threads have run so
// far.
func foreignStop() (late int64) {
	if !runtime_perfHasForeign() {
		return 0
	}
	if foreign.sessions--; foreign.sessions == 0 {
		foreign.threads.end()
	}
	return foreign.threads.foundLate()
}
