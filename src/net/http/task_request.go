// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package http

import (
	"context"
	"slices"
	"sync/atomic"
	_ "unsafe" // for go:linkname
)

// This file is what TaskHandler of net/http/pprof does to requests that only this package
// can. A handler around TaskHandler, and goroutines of it, may look at its request all the
// time. So what is written there is what would be without TaskHandler, then.

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

// matchTask does what mux does to r, but for calling the handler, which it returns. It
// returns mux itself if mux would do something else. The pattern is one that is registered
// or empty: where mux redirects, its own one may be the path.
//
//go:linkname matchTask net/http/pprof.matchTask
func matchTask(mux *ServeMux, r *Request) (h Handler, pattern string) {
	switch {
	case r.RequestURI == "*":
		return mux, ""
	case use121:
		_, pattern = mux.mux121.findHandler(r)
		mux.mux121.mu.RLock()
		defer mux.mux121.mu.RUnlock()
		return mux, mux.mux121.m[pattern].pattern
	}
	h, r.Pattern, r.pat, r.matches = mux.findHandler(r)
	return h, taskPattern(r)
}

// taskPattern returns the pattern of r's handler, or "".
func taskPattern(r *Request) string {
	if r.pat == nil {
		return ""
	}
	return r.Pattern
}

// taskMatched is told about requests that a ServeMux hands on, when TaskHandler is in use:
// the context, the request and the pattern. It returns the request that r is a
// copy of, or nil.
var taskMatched atomic.Pointer[func(context.Context, *Request, string) *Request]

// watchMatches sets taskMatched.
//
//go:linkname watchMatches net/http/pprof.watchMatches
func watchMatches(f *func(context.Context, *Request, string) *Request) {
	if taskMatched.Load() == nil {
		taskMatched.Store(f)
	}
}

// matchedTask tells taskMatched, and whoever has r's original, what mux has found.
func matchedTask(r *Request) {
	f := taskMatched.Load()
	if f == nil {
		return
	}
	if o := (*f)(r.Context(), r, taskPattern(r)); o != nil {
		o.Pattern, o.pat, o.matches = r.Pattern, r.pat, r.matches
	}
}

// keepTaskForm gives r the multipart form that a handler has parsed from r2, its copy, when that
// has ended: the server removes the form's temporary files, and looks for them in the request that
// it has made. That is r, or a middleware has copied it and hands the form on in its turn.
//
// A goroutine of the handler that goes on parses no form meanwhile: it may not read the body any
// more, by the contract of Handler. server is of watchTask.
//
//go:linkname keepTaskForm net/http/pprof.keepTaskForm
func keepTaskForm(server ResponseWriter, r, r2 *Request) {
	form := r2.MultipartForm
	if form == nil || form == r.MultipartForm {
		return
	}
	// A handler that was given up may end when the server looks, or has looked. Whether
	// a server that nobody knows has looked, it says by the context.
	res, ok := server.(*response)
	if ok && res.req == r && res.handlerDone.Load() || server == nil && r.Context().Err() != nil {
		form.RemoveAll()
		return
	}
	r.MultipartForm = form
}

// copyTaskTrailer has r2, a copy of r by WithContext, get the trailers that were not announced
// when r does: when the body has been read. server is of watchTask.
//
//go:linkname copyTaskTrailer net/http/pprof.copyTaskTrailer
func copyTaskTrailer(server ResponseWriter, r, r2 *Request) {
	if r.ProtoMajor != 1 || !chunked(r.TransferEncoding) || r2.Trailer != nil {
		return // there are none, or it is one map
	}
	var b *body
	if res, ok := server.(*response); ok {
		b = res.reqBody
	} else {
		rc := r.Body
		if ec, ok := rc.(*expectContinueReader); ok {
			rc = ec.readCloser
		}
		b, _ = rc.(*body)
	}
	if b == nil {
		// The body's reader is behind others' writers and readers, and finds a map.
		r.Trailer = make(Header)
		r2.Trailer = r.Trailer
		return
	}
	if !b.mu.TryLock() {
		return // another goroutine is reading, and may wait for the client
	}
	defer b.mu.Unlock()
	switch hdr := b.hdr.(type) {
	case *Request:
		if hdr == r {
			b.hdr = taskTrailers{r, r2}
		}
	case taskTrailers:
		if slices.Contains(hdr, r) {
			b.hdr = append(hdr, r2)
		}
	}
}

// taskTrailers are the requests that get a body's trailers: the server's, and copies.
type taskTrailers []*Request

func (t taskTrailers) merge(h Header) {
	for _, r := range t {
		mergeSetHeader(&r.Trailer, h)
	}
}
