// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"time"
)

// A flight is a request that may be sent again, until there is an answer. Its attempts run
// in goroutines of their own. Whoever finds a reason to send it again starts another attempt; the
// goroutine that has called RoundTrip only waits for the end.
type flight struct {
	t    *Transport
	r    *http.Request // the caller's
	body body
	wake chan struct{} // gets a value when it has ended; it is used again

	// t.mu guards what follows, until it has ended.
	node    node // in the table
	waiting node // of its kind, while it may become late
	kind    *kind
	began   time.Duration
	due     time.Duration // when it will be late
	first   attempt
	more    []*attempt
	running int // attempts

	ended  bool
	winner *attempt // or nil, if there is no answer
	resp   *http.Response
	err    error
}

// An attempt is a flight's request to one backend.
type attempt struct {
	copied  copied
	req     *http.Request // that is sent
	f       *flight
	backend *backend
	resent  bool
	running bool
	why     reason             // if resent
	after   time.Duration      // from the flight's beginning, if resent
	cancel  context.CancelFunc // nil if the request's own context does
}

// prepare makes the request that is sent.
func (a *attempt) prepare() error {
	f := a.f
	a.copied.copy(f.r, a.backend)
	a.req = &a.copied.Request
	if a.resent || !f.t.c.Scoped {
		// The caller of RoundTrip has not had an answer yet. So this one's end does not come
		// before this.
		ctx, cancel := context.WithCancel(f.r.Context())
		a.req = a.req.WithContext(ctx)
		f.t.mu.Lock()
		a.cancel = cancel
		over := f.ended
		f.t.mu.Unlock()
		if over {
			cancel()
		}
	}
	return f.body.set(a.req, !a.resent)
}

// start starts attempts that are to be sent again.
func start(list []*attempt) {
	for _, a := range list {
		go func() {
			a.note()
			if err := a.prepare(); err != nil {
				a.finish(nil, err)
				return
			}
			a.run()
		}()
	}
}

// run sends the request, and ends the attempt when the header of the answer has come. For all
// that it is there in a panic.
func (a *attempt) run() {
	var resp *http.Response
	err := errExited
	returned := false
	defer func() {
		if !returned {
			if v := recover(); v != nil {
				err = fmt.Errorf("hedge: Base has panicked: %v", v)
				a.f.t.c.ErrorLog.Printf("%v\n%s", err, debug.Stack())
			}
		}
		a.finish(resp, err)
	}()
	resp, err = a.f.t.c.Base.RoundTrip(a.req)
	returned = true
}

var errExited = fmt.Errorf("hedge: Base has ended its goroutine")

// finish ends an attempt that has an answer, or an error.
func (a *attempt) finish(resp *http.Response, err error) {
	f, t := a.f, a.f.t
	cancelled := a.req.Context().Err() != nil
	var again []*attempt
	t.mu.Lock()
	a.running = false
	f.running--
	late := f.ended
	switch {
	case late:
		t.lose(a, err == nil, cancelled)
	case err == nil:
		f.winner, f.resp = a, resp
		t.answered(a)
		t.end(f)
	default:
		if a.resent {
			t.ledger.loses(cancelled)
		}
		f.err = err
		if refused(err) {
			again = t.refused(a.backend)
		}
		if f.running == 0 && f.r.Context().Err() == nil {
			if next := t.again(f, a.backend.failed()); next != nil {
				again = append(again, next)
			}
		}
		if f.running == 0 {
			t.end(f)
		}
	}
	over := f.ended && !late
	t.mu.Unlock()
	start(again)
	if over {
		f.wake <- struct{}{}
	} else if late && resp != nil {
		discard(resp)
	}
}

// mostDiscarded is how much of an answer that nobody wants is read, so that its connection can be used again.
const mostDiscarded = 64 << 10

// discard ends an answer that nobody wants. It takes until the attempt is cancelled at most.
func discard(resp *http.Response) {
	io.CopyN(io.Discard, resp.Body, mostDiscarded)
	resp.Body.Close()
}

// answer returns what RoundTrip does.
func (f *flight) answer() (*http.Response, error) {
	if f.winner == nil {
		f.release()
		return nil, f.err
	}
	f.resp.Request = f.r
	if f.more == nil && f.first.cancel == nil {
		return f.resp, nil // nothing is to be cancelled
	}
	if f.resp.Body == nil || f.resp.Body == http.NoBody {
		f.release()
	} else {
		f.resp.Body = &answerBody{f.resp.Body, f}
	}
	return f.resp, nil
}

// release cancels what still runs. The flight has ended.
func (f *flight) release() {
	f.t.mu.Lock()
	cancels := make([]context.CancelFunc, 0, 2)
	cancels = append(cancels, f.first.takeCancel())
	for _, a := range f.more {
		cancels = append(cancels, a.takeCancel())
	}
	f.t.mu.Unlock()
	for _, cancel := range cancels {
		if cancel != nil {
			cancel()
		}
	}
}

func (a *attempt) takeCancel() context.CancelFunc {
	cancel := a.cancel
	a.cancel = nil
	return cancel
}

// An answerBody is the body of the answer that came first.
type answerBody struct {
	io.ReadCloser
	f *flight
}

func (b *answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.f.release()
	}
	return n, err
}

func (b *answerBody) Close() error {
	defer b.f.release()
	return b.ReadCloser.Close()
}
