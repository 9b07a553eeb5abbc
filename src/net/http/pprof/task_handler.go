// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync/atomic"
)

// TaskHandler returns a handler that serves requests with h, or with
// [http.DefaultServeMux] if h is nil, and records a task of [runtime/task] for each. While
// tasks are not recorded, it hands requests on as they are.
//
// The task's kind is the pattern that matched, if the task is recorded before a ServeMux
// within h has chosen one, that is known only afterwards, and samples of the task don't
// have it as their label: so h is best the ServeMux itself, or a handler that is
// registered with one. Without a pattern the kind is the method. The task is a child of the one
// that the request's headers name (W3C Trace Context, traceparent and tracestate), and only an
// answer to a request that came with a clock has such headers added.
//
// The task ends when h returns. It has a note status: the status of the answer, "hijacked"
// if h took the connection over, or "aborted" if h ended by a panic or
// [runtime.Goexit] before it had answered. If the request's context was done at the end,
// mostly since the client has gone away, a note context says so. The task fails on
// statuses of 500 and above, and if h doesn't return. Panics go on.
//
// A TaskHandler within another one hands requests on: there is one task per request.
func TaskHandler(h http.Handler) http.Handler {
	if h == nil {
		h = http.DefaultServeMux
	}
	return &taskHandler{h}
}

type taskHandler struct{ h http.Handler }

func (th *taskHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !taskRecording() {
		th.h.ServeHTTP(w, r)
		return
	}
	outer, own := r.Context(), ownTaskRequest(w, r, th)
	if own == nil && outer.Value(servedKey{}) != nil {
		th.h.ServeHTTP(w, r)
		return
	}
	h, kind, known := th.match(r)
	ctx, t := taskReceive(outer, kind, traceHeader(r.Header))
	if t == nil {
		h.ServeHTTP(w, r)
		return
	}
	s := &served{Context: ctx, t: t}
	inner := r
	if own != nil {
		*own = s
	} else {
		inner = r.WithContext(s)
	}
	returned := false
	// Without recover, as a panic has to go on with its own stack.
	defer func() {
		if inner != r {
			defer keepTaskRequest(r, inner) // even if end panics
		}
		if !known && inner.Pattern != "" {
			t.SetKind(inner.Pattern)
		}
		s.end(outer, returned)
	}()
	h.ServeHTTP(watchTask(w, s), inner)
	// The server sends the header now if the handler hasn't. This is where the clock goes in
	// last.
	s.Answer(w, http.StatusOK)
	returned = true
}

// match returns what is to serve r, the kind of r's task, and whether that is the pattern. It is
// never the path: clients choose it, and there is no end of them.
func (th *taskHandler) match(r *http.Request) (h http.Handler, kind string, known bool) {
	h, kind = th.h, r.Pattern
	if mux, ok := h.(*http.ServeMux); ok {
		if m := matchTask(mux, r); m != nil {
			h, kind = m, r.Pattern
		} else {
			_, kind = mux.Handler(r)
		}
	}
	if kind == "" {
		return h, taskMethod(r.Method) + " (no pattern)", false
	}
	return h, kind, true
}

// taskMethod returns the method if it is one that RFC 9110 or 5789 defines: clients
// choose it, too.
func taskMethod(method string) string {
	switch method {
	case "":
		return http.MethodGet // of a client
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodConnect, http.MethodOptions, http.MethodTrace:
		return method
	}
	return "other"
}

// A served is a request that a task is recorded for: its context, and what watches its
// response.
type served struct {
	context.Context
	t      recordedTask
	status atomic.Int32 // of the answer, hijacked, or 0
}

const hijacked = -1

type servedKey struct{}

func (s *served) Value(key any) any {
	if key == (servedKey{}) {
		return s
	}
	return s.Context.Value(key)
}

func (s *served) Answer(w http.ResponseWriter, status int) {
	// Header is not called for nothing: it makes the server copy the header.
	if s.status.CompareAndSwap(0, int32(status)) && s.t.Wants() {
		if h := w.Header(); h != nil { // a foreign writer may have none
			s.t.Reply(h)
		}
	}
}

func (s *served) Hijacked() { s.status.CompareAndSwap(0, hijacked) }

// end ends the task of a handler that has returned, or that has not. ctx is the request's,
// as the server made it.
func (s *served) end(ctx context.Context, returned bool) {
	answer, done := "aborted", ""
	status := s.status.Load()
	switch status {
	case 0:
	case hijacked:
		answer = "hijacked"
	default:
		answer = statusText(int(status))
	}
	// The context, and what it returns, may be the program's: the task ends even if they panic.
	defer func() { s.t.EndRequest(answer, done, !returned || status >= 500) }()
	if err := ctx.Err(); err != nil {
		done = contextText(err)
	}
}

// statusText is strconv.Itoa; the usual ones are constants.
func statusText(status int) string {
	if status == http.StatusOK {
		return "200"
	}
	return strconv.Itoa(status)
}

// contextText says why a context is done. The text of err may be anybody's.
func contextText(err error) string {
	if errors.Is(err, context.DeadlineExceeded) {
		return "deadline exceeded"
	}
	return "canceled"
}
