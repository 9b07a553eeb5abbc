// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"context"
	"io"
	"net/http"
	"runtime/hazard"
)

// A server that is starting gets copies of what clients ask for, one at a time, until it says that
// it has started. Nobody waits for the answers.

// A warmer sends requests to one server.
type warmer struct {
	requests chan *http.Request
	idle     chan struct{} // has a value if it waits for a request
	cancel   context.CancelFunc
}

// warm starts the warmer of b, or ends it, whatever b has just said. The caller has locked t.
func (t *Transport) warm(b *backend) {
	begin := b.known && b.status.State == hazard.Starting && !t.closed
	switch {
	case begin && b.warmer == nil:
		ctx, cancel := context.WithCancel(t.ctx)
		w := &warmer{make(chan *http.Request, 1), make(chan struct{}, 1), cancel}
		b.warmer = w
		t.warming.Add(1)
		t.watches.Go(func() {
			defer t.warming.Add(-1)
			w.run(ctx, t)
		})
	case !begin && b.warmer != nil && b.status.Program != hazard.Starting: // a stop is no end of it
		b.warmer.cancel()
		b.warmer = nil
	}
}

// offer has a copy of r sent to servers that are starting and have nothing to do.
func (t *Transport) offer(r *http.Request) {
	if hasBody(r) || !t.c.Warm(r) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, b := range t.backends {
		if b.warmer == nil || b == t.active {
			continue
		}
		select {
		case <-b.warmer.idle:
			c := new(copied)
			c.copy(r.Clone(context.Background()), b)
			// It is no part of what the client does.
			c.Header.Del("Traceparent")
			c.Header.Del("Tracestate")
			b.warmer.requests <- &c.Request
			t.ledger.warmed++
		default:
		}
	}
}

func (w *warmer) run(ctx context.Context, t *Transport) {
	for {
		w.idle <- struct{}{}
		select {
		case <-ctx.Done():
			return
		case r := <-w.requests:
			resp, err := t.c.Base.RoundTrip(r.WithContext(ctx))
			if err != nil {
				if ctx.Err() != nil || !t.pause(lookAgain) {
					return
				}
				continue
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		}
	}
}
