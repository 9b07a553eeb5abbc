// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// A Transport is an [http.RoundTripper] that sends requests to the active one of several
// servers, and some of them to another one, too. It is safe for concurrent use.
type Transport struct {
	c       Config // as New has completed it
	created time.Time
	ctx     context.Context // until Close
	close   context.CancelFunc
	watches sync.WaitGroup
	warming atomic.Int32 // backends that are starting
	wakes   sync.Pool    // of channels that have had as many values sent as received

	// mu guards what follows, and all flights, attempts and kinds. Nothing waits while it is locked.
	mu       sync.Mutex
	closed   bool
	backends []*backend
	active   *backend
	flights  list
	kinds    map[kindName]*kind
	others   kind
	budget   budget
	ledger   ledger
}

// New returns a Transport, and begins to watch its backends. Close ends that. The error says what can't be
// right in c.
func New(c Config) (*Transport, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	t := &Transport{
		c:       c,
		created: time.Now(),
		kinds:   make(map[kindName]*kind),
		others:  kind{name: "others"},
		budget:  newBudget(c.Budget, c.Burst),
	}
	t.wakes.New = func() any { return make(chan struct{}, 1) }
	t.others.delay = c.Delay(t.others.name, 0)
	t.ctx, t.close = context.WithCancel(context.Background())
	for i, b := range c.Backends {
		t.backends = append(t.backends, newBackend(b, i))
	}
	t.active = t.backends[0]
	for _, b := range t.backends {
		if b.Source != nil {
			t.watches.Go(func() { t.watch(b) })
		}
	}
	return t, nil
}

// Close ends what watches the backends, and waits for that. Requests that are in flight go on, and later ones
// are sent once.
func (t *Transport) Close() {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.close()
	t.watches.Wait()
}

// CloseIdleConnections is for http.Client, which looks for it.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.c.Base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// now is the time since t was created, of the clock that only goes forward.
func (t *Transport) now() time.Duration { return time.Since(t.created) }

// RoundTrip sends r to the active backend, and perhaps to others. It returns the first answer, or an error
// if no backend gives one. Other attempts end when the body of the answer is closed or has been read, or
// with the request's context if that is [Config.Scoped].
func (t *Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL == nil {
		if r.Body != nil {
			r.Body.Close()
		}
		return nil, errors.New("hedge: the request has no URL")
	}
	if !t.mayResend(r) {
		return t.once(r, body{}, notIdempotent)
	}
	b, err := keep(r, t.c.MaxBody)
	if err != nil {
		t.mu.Lock()
		t.ledger.unread++
		t.mu.Unlock()
		return nil, fmt.Errorf("hedge: the request's body: %w", err)
	}
	if b.rest != nil {
		return t.once(r, b, large)
	}
	if t.warming.Load() > 0 {
		t.offer(r)
	}
	f := &flight{t: t, r: r, body: b}
	if !t.begin(f, t.kindName(r)) {
		return t.once(r, b, full)
	}
	if err := f.first.prepare(); err != nil {
		f.first.finish(nil, err)
	} else {
		go f.first.run()
	}
	<-f.wake
	t.wakes.Put(f.wake)
	return f.answer()
}

// mayResend reports whether r may be sent twice. A connection that is to switch protocols may not, and
// trailers are known only when the body has been sent.
func (t *Transport) mayResend(r *http.Request) bool {
	return len(t.backends) > 1 && !has(r.Header, "Upgrade") && len(r.Trailer) == 0 && t.c.Idempotent(r)
}

// once sends r to the active backend and nowhere else.
func (t *Transport) once(r *http.Request, body body, why passed) (*http.Response, error) {
	t.mu.Lock()
	b := t.active
	t.ledger.passed[why]++
	t.ledger.begin()
	t.budget.earn()
	b.attempts++
	t.mu.Unlock()
	defer func() { // also if Base panics
		t.mu.Lock()
		t.ledger.end(false)
		t.mu.Unlock()
	}()
	c := new(copied)
	c.copy(r, b)
	if err := body.set(&c.Request, true); err != nil {
		return nil, err
	}
	resp, err := t.c.Base.RoundTrip(&c.Request)
	if refused(err) {
		t.mu.Lock()
		again := t.refused(b)
		t.mu.Unlock()
		start(again)
	}
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}
