// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"errors"
	"net"
	"runtime/hazard"
	"time"
)

// A backend is what is known of a server. The lock of the table guards it.
type backend struct {
	Backend
	known    bool          // it says something
	status   hazard.Status // that it says; the zero one is OK
	acted    bool          // on status: it is avoided
	until    time.Duration // it is avoided, as nobody has listened there
	attempts uint64
	warmer   *warmer // while it is starting
}

func newBackend(b Backend, i int) *backend {
	if b.Name == "" {
		b.Name = string(rune('a' + i%26))
	}
	return &backend{Backend: b}
}

// avoidRefusing is for how long a server is avoided where nobody listens, unless it says
// something meanwhile. Then it may be tried again.
const avoidRefusing = time.Second

// avoided reports whether b is not to be asked, if there is another one.
func (b *backend) avoided(now time.Duration) bool { return b.acted || now < b.until }

// state returns the name of the state that b says it is in.
func (b *backend) state() string {
	if !b.known {
		return "unknown"
	}
	return b.status.State.String()
}

// Ranks of backends. Only usable ones get duplicates. The active one may be busy, or starting if
// nothing else is left.
const (
	usable = iota
	busy
	starting
	unusable
)

func (b *backend) rank(now time.Duration) int {
	if b.avoided(now) {
		return unusable
	}
	switch b.status.State {
	case hazard.OK, hazard.Collecting:
		return usable
	case hazard.Overloaded:
		return busy
	case hazard.Starting:
		return starting
	}
	return unusable
}

// refused reports whether err says that nobody listens at the address: the request has not been sent.
func refused(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial" && !op.Timeout()
}

// refused avoids b for a while. The caller has locked t.
func (t *Transport) refused(b *backend) (again []*attempt) {
	b.until = t.now() + avoidRefusing
	return t.changed(b)
}

// set says what b has said, and whether that is to be acted upon.
func (t *Transport) set(b *backend, s hazard.Status, known, act bool) {
	t.mu.Lock()
	b.known, b.status, b.acted = known, s, act
	if known && s.State != hazard.Gone {
		b.until = 0
	}
	again := t.changed(b)
	t.warm(b)
	t.mu.Unlock()
	start(again)
}
