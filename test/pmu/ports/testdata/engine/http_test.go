// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build nethttp

package engine

import (
	"bytes"
	"net/http"
	"net/http/pprof"
	"strings"
	"sync/atomic"
	"testing"
)

// A recorder keeps the answer to a request.
type recorder struct {
	bytes.Buffer
	header http.Header
	status int
}

func (r *recorder) Header() http.Header    { return r.header }
func (r *recorder) WriteHeader(status int) { r.status = status }

// TestHTTP asks for a profile of the timer after one of an event, which spins
// in this process.
func TestHTTP(t *testing.T) {
	var quit atomic.Bool
	done := make(chan bool)
	go func() {
		for !quit.Load() {
			spin(1e5)
		}
		close(done)
	}()
	defer func() {
		quit.Store(true)
		<-done
	}()
	for _, query := range []string{"&event=task-clock", ""} {
		r, err := http.NewRequest("GET", "/debug/pprof/profile?seconds=1"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		w := &recorder{header: make(http.Header), status: http.StatusOK}
		pprof.Profile(w, r)
		if query != "" && !*events {
			if w.status != http.StatusServiceUnavailable || !strings.Contains(w.String(), "perf_event_open") {
				t.Errorf("%s: %d %s", r.URL, w.status, w)
			}
			continue
		}
		if w.status != http.StatusOK {
			t.Errorf("%s: %d %s", r.URL, w.status, w)
		} else if spinning(t, w.Bytes(), "engine.TestHTTP.func1") == 0 {
			t.Errorf("%s: no samples", r.URL)
		}
	}
}
