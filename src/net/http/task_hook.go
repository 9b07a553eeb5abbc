// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build pmutest

package http

import _ "unsafe" // for go:linkname

// With the build tag pmutest, and a call that test.bash adds to server.go, TaskHandler wraps the
// handler of each server whose program has net/http/pprof. So upstream's tests of servers test it.

// wrapTestHandler is set before the first request.
//
//go:linkname wrapTestHandler
var wrapTestHandler func(Handler) Handler

func testHandler(h Handler) Handler {
	if wrapTestHandler == nil {
		return h
	}
	return wrapTestHandler(h)
}

// serves reports whether h is the handler of srv: it is one that wrapTestHandler has made for a
// single request.
func serves(srv *Server, h Handler) bool { return wrapTestHandler != nil || srv.Handler == h }
