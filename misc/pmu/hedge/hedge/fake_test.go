// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/url"
	"runtime/hazard"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A planted is a source that says what the test has it say.
type planted struct {
	mu      sync.Mutex
	status  hazard.Status
	changed chan struct{}
}

func plant() *planted {
	return &planted{status: hazard.Status{Number: 1}, changed: make(chan struct{})}
}

// say sets the state. Those of programs hold also while others show.
func (p *planted) say(s hazard.State, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.status.State, p.status.Reason, p.status.Since = s, reason, time.Now()
	if s != hazard.Stopped && s != hazard.Collecting {
		p.status.Program = s
	}
	p.status.Number++
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *planted) Wait(ctx context.Context, after hazard.Status) (hazard.Status, error) {
	for {
		p.mu.Lock()
		s, changed := p.status, p.changed
		p.mu.Unlock()
		if s.Number != after.Number {
			return s, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return after, ctx.Err()
		}
	}
}

// A fake is a Base whose attempts wait until the test answers them.
type fake struct {
	mu    sync.Mutex
	calls []*call
}

// A call is an attempt that the fake has got.
type call struct {
	host   string
	r      *http.Request
	body   string // of the request
	answer chan answer
	ended  error // why it was given up
	read   bool  // the body of the answer was closed
}

type answer struct {
	text string
	err  error
}

func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	c := &call{host: r.URL.Host, r: r, answer: make(chan answer, 1)}
	if r.Body != nil {
		b, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, err
		}
		c.body = string(b)
	}
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	select {
	case a := <-c.answer:
		if a.err != nil {
			return nil, a.err
		}
		return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: &fakeBody{strings.NewReader(a.text), c}}, nil
	case <-r.Context().Done():
		c.ended = context.Cause(r.Context())
		return nil, r.Context().Err()
	}
}

type fakeBody struct {
	io.Reader
	c *call
}

func (b *fakeBody) Close() error { b.c.read = true; return nil }

// A bench has a Transport of two servers, a and b, which are the test.
type bench struct {
	*testing.T
	*Transport
	base    *fake
	sources []*planted
}

// run runs f in a bubble, where time stands still until everybody waits.
func run(t *testing.T, c Config, f func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{T: t, base: new(fake)}
		if c.Backends == nil {
			c.Backends = make([]Backend, 2)
		}
		for i := range c.Backends {
			b.sources = append(b.sources, plant())
			c.Backends[i].URL = &url.URL{Scheme: "http", Host: string(rune('a'+i)) + ".test"}
			c.Backends[i].Source = b.sources[i]
		}
		if c.Base == nil {
			c.Base = b.base
		}
		if c.Warm == nil {
			c.Warm = func(*http.Request) bool { return false }
		}
		c.ErrorLog = log.New(io.Discard, "", 0)
		var err error
		if b.Transport, err = New(c); err != nil {
			t.Fatal(err)
		}
		b.Cleanup(b.Close) // if f fails, too
		synctest.Wait()
		f(b)
		synctest.Wait()
		b.balances()
		if n := b.Stats().InFlight; n != 0 || b.flights.first() != nil {
			t.Errorf("%d requests are in flight at the end", n)
		}
		for _, k := range b.kinds {
			if k.waiting.first() != nil {
				t.Errorf("something of %s waits at the end", k.name)
			}
		}
	})
}

// A result is what a request has come to.
type result struct {
	done bool
	resp *http.Response
	text string
	err  error
}

// get sends a request in a goroutine of its own.
func (b *bench) get(ctx context.Context) *result {
	r, err := http.NewRequestWithContext(ctx, "GET", "http://shop.test/cart/1", nil)
	if err != nil {
		b.Fatal(err)
	}
	return b.send(r)
}

func (b *bench) send(r *http.Request) *result {
	res := new(result)
	go func() {
		res.resp, res.err = b.RoundTrip(r)
		res.done = true
	}()
	synctest.Wait()
	return res
}

// read reads the answer to its end, and closes it.
func (b *bench) read(res *result) string {
	b.Helper()
	if !res.done || res.err != nil {
		b.Fatalf("no answer: %+v", res)
	}
	text, err := io.ReadAll(res.resp.Body)
	if err != nil {
		b.Fatal(err)
	}
	res.resp.Body.Close()
	synctest.Wait()
	return string(text)
}

// call returns attempt i, from 0, that the servers have got, and checks that there are n.
func (b *bench) call(i, n int) *call {
	b.Helper()
	synctest.Wait()
	b.base.mu.Lock()
	defer b.base.mu.Unlock()
	if len(b.base.calls) != n {
		b.Fatalf("%d attempts, want %d", len(b.base.calls), n)
	}
	return b.base.calls[i]
}

// say has a server say something, and waits until that has been acted upon.
func (b *bench) say(i int, s hazard.State, reason string) {
	b.sources[i].say(s, reason)
	synctest.Wait()
}

func (c *call) reply(text string) {
	c.answer <- answer{text: text}
	synctest.Wait()
}

var errReset = errors.New("connection reset")

func (c *call) fail(err error) {
	c.answer <- answer{err: err}
	synctest.Wait()
}

// balances checks that the sums hold.
func (b *bench) balances() {
	b.Helper()
	checkStats(b.T, b.Stats(), b.c.Budget)
}

func checkStats(t testing.TB, s Stats, part float64) {
	t.Helper()
	var attempts uint64
	for _, k := range s.Backends {
		attempts += k.Attempts
	}
	if s.Requests != s.Single+s.Hedged+s.InFlight ||
		s.Attempts != s.Requests+s.Resent || s.Attempts != attempts ||
		s.Resent != s.Won+s.Lost+s.Cancelled+s.Running ||
		s.Resent != s.ByWord+s.ByDelay+s.ByFailure {
		t.Errorf("the sums do not hold: %+v", s)
	}
	if part > 0 && float64(s.Resent) > part*float64(s.Requests)+1 {
		t.Errorf("%d sent again of %d, more than one beyond the budget of %v", s.Resent, s.Requests, part)
	}
}

// want checks counts by their names in JSON.
func (b *bench) want(counts map[string]uint64) {
	b.Helper()
	b.balances()
	got := fields(b.T, b.Stats())
	for name, n := range counts {
		if got[name] != n {
			b.Errorf("%s: %d, want %d", name, got[name], n)
		}
	}
}
