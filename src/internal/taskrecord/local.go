// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"sync"
	"sync/atomic"
)

// A Local is the clock of a request on this server: see [Clock] for what calls its methods
// when. It is what recorders need; readers of records don't. Its methods may be called
// concurrently.
type Local struct {
	mu     sync.Mutex
	server uint16
	counts *atomic.Uint64
	clock  Clock
}

// Init makes l that of a request of which nothing is known yet, on the server with the ID.
// On one without a valid ID, clocks only pass through.
//
// If counts is not nil, it counts the server's events, and goes on when l is gone. Requests
// may share it, as counts may have gaps: a recorder can have an array of them and choose by
// the trace ID. Then a request's events have different counts also if it has two Locals, at
// a time or one after the other.
func (l *Local) Init(server uint16, counts *atomic.Uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.server, l.counts, l.clock = server, counts, Clock{}
}

// Event counts a begin or an end, and returns the clock that it has.
func (l *Local) Event() Clock {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := uint64(0)
	if l.counts != nil {
		n = l.counts.Add(1)
	}
	l.clock.advance(l.server, n)
	return l.clock
}

// Clock returns the clock for a message.
func (l *Local) Clock() Clock {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.clock
}

// Merge adds what came with a message.
func (l *Local) Merge(c *Clock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clock.Merge(c)
}
