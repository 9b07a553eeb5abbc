// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"net/http"
	"strings"
)

// gRPC answers each request with status 200. Whether a call has failed says grpc-status: in the
// trailers, or in the header if there is no message (gRPC over HTTP2, Responses).

const grpcStatus = "Grpc-Status"

// isGRPC reports whether a message with this header is gRPC's.
func isGRPC(h http.Header) bool {
	if v := h["Content-Type"]; len(v) == 1 {
		rest, ok := strings.CutPrefix(v[0], "application/grpc")
		return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
	}
	return false
}

// grpcFailure returns the status of a call that has failed, a number. It is empty if the call has
// not, or if h does not say so.
func grpcFailure(h http.Header) string {
	for _, key := range [...]string{grpcStatus, http.TrailerPrefix + grpcStatus} {
		if v := h[key]; len(v) > 0 && v[0] != "0" {
			return v[0]
		}
	}
	return ""
}

// grpcAnswered notes that the call has failed, if h says so.
func (s *served) grpcAnswered(h http.Header) (failed bool) {
	code := grpcFailure(h)
	if code == "" {
		return false
	}
	s.t.Note("grpc-status", code)
	return true
}

// grpcEnds is for the header, or the trailers, of the answer to a call. It reports whether these
// say that the call has failed.
func (c *call) grpcEnds(h http.Header) (failed bool) {
	code := grpcFailure(h)
	if code == "" {
		return false
	}
	if !c.ended.Load() {
		c.t.Note("grpc-status", code)
	}
	return true
}

// trailers is called when the body has been read to its end: there are trailers from then on. It
// reports whether they say that the call has failed.
func (c *call) trailers() (failed bool) {
	return c.grpc != nil && c.grpcEnds(c.grpc.Trailer)
}
