// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"errors"
	"net/http"
	"net/http/internal"
	"strconv"
	"sync/atomic"
)

// TaskHandler returns a handler that serves requests with h, or with
// [http.DefaultServeMux] if h is nil, and records a task of [runtime/task] for each. While
// tasks are not recorded, it hands requests on as they are.
//
// The task's kind is the innermost pattern of a ServeMux that matched, unless the program calls SetKind.
// Without a pattern the kind is the method and "(no pattern)". Samples of the task until a
// ServeMux within h has chosen one have the kind that there was: so h is best the ServeMux
// itself. The task is a child of the one that the request's headers name (W3C Trace Context, traceparent
// and tracestate), and only an answer to a request that came with a clock has such headers
// added.
//
// The task ends when h returns. It has a note status: the status of the answer, "hijacked"
// if h took the connection over, or "aborted" if h ended by a panic or
// [runtime.Goexit] before it had answered. An answer of gRPC that has failed by its grpc-status has
// that as a note. If the request's context was done at the end,
// mostly since the client has gone away, a note context says so. The task fails on
// statuses of 500 and above, if a call of gRPC does, and if h doesn't return. Panics go on.
//
// h gets the ResponseWriter that TaskHandler gets; the servers of package net/http say what is
// answered. Around the server's writer there may be another one, as of a middleware, that
// has a method Unwrap as [http.ResponseController] looks for it. If it has none, there is no
// note status, and a status of 500 and above is no failure of the task; nor is there one if
// such a writer has not sent the header yet when h returns.
//
// If TaskHandler is the server's handler, h gets the server's own request, with the task in its
// context. Else it gets a copy by WithContext, which has the trailers, too; handlers around TaskHandler
// see the pattern that h's ServeMux chose, and, when h has ended, the MultipartForm that it has
// parsed, but neither Form nor PostForm.
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
	if own == nil && (outer.Value(servedKey{}) != nil || taskWatched(w)) {
		th.h.ServeHTTP(w, r)
		return
	}
	h, kind := th.match(r)
	if kind == "" {
		kind = taskMethod(r.Method) + " (no pattern)"
	}
	ctx, t := taskReceive(outer, kind, traceHeader(r.Header))
	if t == nil {
		h.ServeHTTP(w, r)
		return
	}
	s := &served{Context: ctx, t: t, uri: r.RequestURI, grpc: isGRPC(r.Header)}
	s.watcher = s
	server := watchTask(w, &s.watcher)
	inner := r
	if own != nil {
		*own = s
	} else {
		inner = r.WithContext(s)
		copyTaskTrailer(server, r, inner)
		s.copied.Store(&copied{r, inner})
		// Also if h panics: a handler around this one may recover.
		defer keepTaskForm(server, r, inner)
	}
	watchMatches(&onMatch)
	returned := false
	// Without recover, as a panic has to go on with its own stack.
	defer func() {
		// Nothing is read of the request but the MultipartForm: goroutines of h may go on with it.
		s.copied.Store(nil)
		if !returned {
			s.aborted(server)
		}
		s.end(outer, returned)
	}()
	h.ServeHTTP(w, inner)
	s.answered(w, server)
	if s.grpc && s.status.Load() != hijacked {
		s.failed = s.grpcAnswered(w.Header())
	}
	returned = true
}

// match returns what is to serve r, and the pattern that it is registered with, or "". A kind
// is never the path: clients choose it, and there is no end of them.
func (th *taskHandler) match(r *http.Request) (h http.Handler, pattern string) {
	if mux, ok := th.h.(*http.ServeMux); ok {
		return matchTask(mux, r)
	}
	return th.h, r.Pattern
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
	t       recordedTask
	watcher internal.TaskWatcher // itself
	uri     string               // RequestURI
	grpc    bool                 // it is a call of gRPC
	failed  bool                 // as gRPC has it
	status  atomic.Int32         // of the answer, hijacked, or 0
	copied  atomic.Pointer[copied]
}

// A copied is a request that is served by a copy. It is forgotten when the handler has
// returned: contexts are kept for longer.
type copied struct{ outer, inner *http.Request }

const hijacked = -1

type servedKey struct{}

func (s *served) Value(key any) any {
	if key == (servedKey{}) {
		return s
	}
	return s.Context.Value(key)
}

// onMatch is called when a ServeMux has found the handler of r, by the goroutine that is
// about to call it. It returns the request that r is a copy of, in which handlers around
// TaskHandler look for the pattern, or nil.
var onMatch = func(ctx context.Context, r *http.Request, pattern string) *http.Request {
	s, _ := ctx.Value(servedKey{}).(*served)
	if s == nil || r.RequestURI != s.uri {
		return nil // not the client's request, but one that a handler makes for another one
	}
	if pattern != "" {
		s.t.Matched(pattern)
	}
	if c := s.copied.Load(); c != nil && c.inner == r {
		return c.outer
	}
	return nil
}

// Answer and Reply are what a server calls: see [internal.TaskWatcher].
func (s *served) Answer(status int) bool {
	return s.status.CompareAndSwap(0, int32(status)) && s.t.Wants()
}

func (s *served) Reply(h map[string][]string) { s.t.Inject(http.Header(h)) }

// answered notes how a request was answered that nothing was said of before h returned.
// server is of watchTask.
func (s *served) answered(w, server http.ResponseWriter) {
	status := 0
	if server != nil {
		status = unwatchTask(server, &s.watcher)
	}
	if status == 0 && w == server {
		status = http.StatusOK // The server sends the header now.
	}
	if s.status.CompareAndSwap(0, int32(status)) && status != hijacked && s.t.Wants() {
		// This is where the clock goes in last.
		if h := w.Header(); h != nil {
			s.t.Inject(h)
		}
	}
}

// aborted is answered if h has not returned. What it has not sent by then, nobody does.
func (s *served) aborted(server http.ResponseWriter) {
	if server != nil && unwatchTask(server, &s.watcher) == hijacked {
		s.status.CompareAndSwap(0, hijacked)
	}
}

// end ends the task of a handler that has returned, or that has not. ctx is the request's,
// as the server made it.
func (s *served) end(ctx context.Context, returned bool) {
	answer, done := "", ""
	status := s.status.Load()
	switch status {
	case 0:
		if !returned {
			answer = "aborted"
		}
	case hijacked:
		answer = "hijacked"
	default:
		answer = statusText(int(status))
	}
	// The context, and what it returns, may be the program's: the task ends even if they panic.
	defer func() { s.t.EndRequest(answer, done, !returned || s.failed || status >= 500) }()
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
