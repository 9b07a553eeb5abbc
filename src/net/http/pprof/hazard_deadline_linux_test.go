// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"net/http"
	"net/http/httptest"
	"runtime/hazard"
	"sync"
	"testing"
	"time"
)

// An untilWriter knows the deadline that is set. It panics instead of writing if told to.
type untilWriter struct {
	http.ResponseWriter
	mu     sync.Mutex
	until  time.Time
	panics bool
}

func (w *untilWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *untilWriter) SetWriteDeadline(t time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.until = t
	return http.NewResponseController(w.ResponseWriter).SetWriteDeadline(t)
}

func (w *untilWriter) Write(b []byte) (int, error) {
	if w.panics {
		panic(http.ErrAbortHandler)
	}
	return w.ResponseWriter.Write(b)
}

func (w *untilWriter) deadline() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.until
}

// serveDeadlines starts a server that hands over the writer of each stream, and what its deadline is when
// the handler has returned.
func serveDeadlines(version int, panics bool) (srv *httptest.Server, writers chan *untilWriter, last chan time.Time) {
	writers, last = make(chan *untilWriter, 1), make(chan time.Time, 1)
	srv = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		d := &untilWriter{ResponseWriter: w, panics: panics}
		writers <- d
		defer func() { last <- d.deadline() }()
		Hazard(d, r)
	}))
	srv.EnableHTTP2 = version == 2
	srv.StartTLS()
	return srv, writers, last
}

// TestHazardIdle tests that a stream of which nothing is written has no deadline: over HTTP/2 that would
// reset it.
func TestHazardIdle(t *testing.T) {
	defer func(d time.Duration) { hazardPatience = d }(hazardPatience)
	hazardPatience = 2 * time.Second
	p := publishHazard(t)
	for _, version := range []int{1, 2} {
		srv, writers, last := serveDeadlines(version, false)
		c := followHazardBy(t, srv.Client(), srv.URL+"?beat=1h", "")
		c.next()
		w := <-writers
		for until := w.deadline(); !until.IsZero(); until = w.deadline() {
			time.Sleep(10 * time.Millisecond)
			if time.Since(until) > time.Second/2 {
				t.Errorf("HTTP/%d: a deadline has passed while nothing was written", version)
				break
			}
		}
		p.Set(hazard.Draining, c.resp.Proto)
		c.until(hazard.Draining, c.resp.Proto)
		c.resp.Body.Close()
		if until := <-last; until.IsZero() {
			t.Errorf("HTTP/%d: no deadline for the end of the answer", version)
		}
		srv.Close()
	}
}

// TestHazardEnd tests that the server does not wait for ever until a client takes the end of an
// answer.
func TestHazardEnd(t *testing.T) {
	p := publishHazard(t)
	for _, c := range []struct {
		how   string
		end   func(srv *http.Server)
		limit time.Duration
	}{
		{"Shutdown", func(srv *http.Server) { srv.Shutdown(t.Context()) }, time.Second},
		{"Close", func(*http.Server) { p.Close() }, hazardPatience},
	} {
		srv, writers, last := serveDeadlines(1, false)
		follow := followHazardBy(t, srv.Client(), srv.URL, "")
		follow.next()
		<-writers
		c.end(srv.Config)
		if until := <-last; until.IsZero() || time.Until(until) > c.limit {
			t.Errorf("%s: the deadline is in %v", c.how, time.Until(until))
		}
		srv.Close()
	}
}

// TestHazardPanic tests that a writer that panics leaves nothing behind.
func TestHazardPanic(t *testing.T) {
	publishHazard(t)
	srv, _, last := serveDeadlines(1, true)
	defer srv.Close()
	if resp, err := srv.Client().Get(srv.URL); err == nil {
		resp.Body.Close()
		t.Error(resp.Status)
	}
	<-last
	hazardServers.Lock()
	defer hazardServers.Unlock()
	if n := len(hazardServerOf(srv.Config).streams); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}
