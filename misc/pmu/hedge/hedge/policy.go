// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"net/http"
	"runtime/hazard"
	"time"
)

// lastsAtLeast is how long a stop lasts before it is worth a duplicate. The collector's own stops take
// 20 to 100 us.
const lastsAtLeast = 500 * time.Microsecond

// Act is the usual [Config.Act]: a server that has been stopped for 500 us, and at once one
// that drains or has gone.
func Act(s hazard.Status) (after time.Duration, ok bool) {
	switch s.State {
	case hazard.Stopped:
		return lastsAtLeast, true
	case hazard.Draining, hazard.Gone:
		return 0, true
	}
	return 0, false
}

// Idempotent is the usual [Config.Idempotent]: methods that only read (GET, HEAD, OPTIONS and TRACE),
// and requests with a header Idempotency-Key or X-Idempotency-Key. Package net/http repeats the same ones
// when a connection fails. PUT and DELETE are not among them: a client that has seen one fail may
// repeat it, but of two at a time the later one may come after a third request, and undo that.
func Idempotent(r *http.Request) bool {
	switch r.Method {
	case "", http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return has(r.Header, "Idempotency-Key") || has(r.Header, "X-Idempotency-Key")
}

// has reports whether there is a header, whose value may be empty.
func has(h http.Header, name string) bool {
	_, ok := h[name]
	return ok
}
