// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package http

import (
	"context"
	_ "unsafe" // for go:linkname
)

// This file is what TaskHandler of net/http/pprof does to requests that only this package can.

// ownTaskRequest returns where the context of r is, which h got with w, if nobody else can
// be looking at it: h is the server's handler, and r as the server made it. The server
// itself has no use for a request's context any more when it has called the handler. Else
// it returns nil.
//
//go:linkname ownTaskRequest net/http/pprof.ownTaskRequest
func ownTaskRequest(w ResponseWriter, r *Request, h Handler) *context.Context {
	if res, ok := w.(*response); ok && res.req == r && serves(res.conn.server, h) {
		return &r.ctx
	}
	return nil
}

// keepTaskRequest gives r what a handler has left in its copy r2, made by WithContext:
// whoever serves r looks there, for example for the temporary files of a form that it has to
// remove.
//
//go:linkname keepTaskRequest net/http/pprof.keepTaskRequest
func keepTaskRequest(r, r2 *Request) {
	r.Form, r.PostForm, r.MultipartForm = r2.Form, r2.PostForm, r2.MultipartForm
	r.Pattern, r.pat, r.matches, r.otherValues = r2.Pattern, r2.pat, r2.matches, r2.otherValues
}

// matchTask does what mux does to r, but for calling the handler, which it returns. It returns nil
// if mux would do something else.
//
//go:linkname matchTask net/http/pprof.matchTask
func matchTask(mux *ServeMux, r *Request) Handler {
	if use121 || r.RequestURI == "*" {
		return nil
	}
	var h Handler
	h, r.Pattern, r.pat, r.matches = mux.findHandler(r)
	return h
}
