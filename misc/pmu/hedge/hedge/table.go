// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"runtime/hazard"
	"time"
)

// The table is what is in flight, and which backend is active. All that decides is here, with t.mu
// locked, and is over at once. What it decides to send is started when that is unlocked.

// begin puts f into the table, and gives it its first backend. It reports false if there is no room.
func (t *Transport) begin(f *flight, kind kindName) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ledger.inFlight >= uint64(t.c.MaxInFlight) {
		return false
	}
	f.wake = t.wakes.Get().(chan struct{})
	f.kind = t.kindOf(kind)
	f.began = t.now()
	f.node.flight, f.waiting.flight = f, f
	t.flights.push(&f.node)
	t.ledger.begin()
	t.budget.earn()
	t.sent(f, &f.first, t.active)
	t.wait(f.kind, f)
	return true
}

// sent counts an attempt that is about to be sent.
func (t *Transport) sent(f *flight, a *attempt, b *backend) {
	a.f, a.backend, a.running = f, b, true
	f.running++
	b.attempts++
}

// end takes f out of the table. It has an answer, or no attempt is left.
func (t *Transport) end(f *flight) {
	f.ended = true
	f.node.remove()
	f.waiting.remove()
	t.ledger.end(f.more != nil)
}

// answered counts an attempt that has won.
func (t *Transport) answered(a *attempt) {
	if a.resent {
		t.ledger.won++
	}
	t.timed(a)
}

// lose counts an attempt that has ended after another one had won.
func (t *Transport) lose(a *attempt, answered, cancelled bool) {
	if a.resent {
		t.ledger.loses(cancelled)
	}
	// An attempt that a duplicate was sent for by delay, and that was cancelled, would have taken
	// longer. If it did not count, p99 would become shorter with each duplicate. How long one takes
	// that is overtaken because its server was stopped says nothing of the kind.
	if w := a.f.winner; answered || cancelled && w != nil && w.why.what == delay {
		t.timed(a)
	}
}

// timed counts how long a first attempt has taken.
func (t *Transport) timed(a *attempt) {
	if !a.resent {
		t.observe(a.f.kind, t.now()-a.f.began)
	}
}

// again decides whether f is sent again, and returns the attempt.
func (t *Transport) again(f *flight, why reason) *attempt {
	if f.ended || t.closed || f.r.Context().Err() != nil || len(f.more) == len(t.backends)-1 {
		return nil // or all have it
	}
	b := t.other(f)
	if b == nil {
		t.ledger.nowhere++
		return nil
	}
	if !t.budget.take(why.what) {
		t.ledger.exhausted++
		return nil
	}
	if why.backend == nil {
		why.backend = f.last().backend
	}
	a := &attempt{resent: true, why: why, after: t.now() - f.began}
	f.more = append(f.more, a)
	t.sent(f, a, b)
	t.ledger.attempts++
	t.ledger.resent++
	switch why.what {
	case word:
		t.ledger.byWord++
	case delay:
		t.ledger.byDelay++
	case failure:
		t.ledger.byFailure++
	}
	return a
}

// other returns the backend to send f to next: the active one, or another one that has not had it. It is nil if
// none is fit.
func (t *Transport) other(f *flight) *backend {
	now := t.now()
	if b := t.active; b.rank(now) == usable && !f.had(b) {
		return b
	}
	for _, b := range t.backends {
		if b.rank(now) == usable && !f.had(b) {
			return b
		}
	}
	return nil
}

// had reports whether f has been sent to b.
func (f *flight) had(b *backend) bool {
	if f.first.backend == b {
		return true
	}
	for _, a := range f.more {
		if a.backend == b {
			return true
		}
	}
	return false
}

// last returns the attempt that was sent last.
func (f *flight) last() *attempt {
	if n := len(f.more); n > 0 {
		return f.more[n-1]
	}
	return &f.first
}

// stuck reports whether all attempts of f that run are with backends that are avoided.
func (f *flight) stuck(now time.Duration) bool {
	if f.first.running && !f.first.backend.avoided(now) {
		return false
	}
	for _, a := range f.more {
		if a.running && !a.backend.avoided(now) {
			return false
		}
	}
	return true
}

// changed acts on a change of a backend: it chooses the active one, and decides what is sent again.
func (t *Transport) changed(b *backend) (again []*attempt) {
	now := t.now()
	swapped := t.swap(now)
	if !swapped && !b.avoided(now) {
		return nil
	}
	for n := t.flights.first(); n != nil; n = t.flights.after(n) {
		f := n.flight
		if !f.stuck(now) {
			continue
		}
		if a := t.again(f, f.last().backend.said()); a != nil {
			again = append(again, a)
		}
	}
	return again
}

// swap makes another backend the active one, if this one is to be avoided, or is starting, and that one is
// better. If all are to be avoided, it stays.
func (t *Transport) swap(now time.Duration) bool {
	if t.closed || !t.active.avoided(now) && t.active.status.State != hazard.Starting {
		return false
	}
	best := t.active
	for _, b := range t.backends {
		if b.rank(now) < best.rank(now) {
			best = b
		}
	}
	if best == t.active {
		return false
	}
	t.active = best
	t.ledger.swaps++
	return true
}
