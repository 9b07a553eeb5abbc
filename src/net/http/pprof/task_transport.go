// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
)

// TaskTransport returns a transport that sends requests with rt, or with
// [http.DefaultTransport] if rt is nil, and records a task of [runtime/task] for each: a child of the
// task in the request's context. Requests without a task are handed on as they are.
//
// The task's kind is the method and the host. The request that rt gets is a copy whose
// headers name the task (W3C Trace Context, traceparent and tracestate). But a traceparent that
// the request has already stays, as another tracer has said whose call it is: the task
// then has that trace ID and parent, and tracestate gets the causal clock, if there is one. (The
// traceparent that came with the request that the task in the context works for says nothing
// of the call, as where a proxy hands it on. Nor does one that is not valid.) The task has a note
// status, and fails on statuses of 500 and above, and on a grpc-status of gRPC other than 0, which
// is a note then; if there is no answer it fails and has a note error: "canceled", "deadline exceeded", "timeout" or "failed". It ends when the
// answer's body is closed or has been read to its end.
func TaskTransport(rt http.RoundTripper) http.RoundTripper {
	if c, ok := rt.(requestCanceler); ok {
		return &cancelTransport{taskTransport: taskTransport{rt: rt}, rt: c}
	}
	return &taskTransport{rt: rt}
}

type taskTransport struct{ rt http.RoundTripper }

func (tt *taskTransport) base() http.RoundTripper {
	if tt.rt == nil {
		return http.DefaultTransport // as of now: programs replace it
	}
	return tt.rt
}

func (tt *taskTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return tt.roundTrip(r, nil)
}

// CloseIdleConnections is for http.Client, which looks for it.
func (tt *taskTransport) CloseIdleConnections() {
	if c, ok := tt.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// roundTrip is RoundTrip. What it sends in r's place is in copies, if that is not nil,
// until the task ends.
func (tt *taskTransport) roundTrip(r *http.Request, copies *sync.Map) (*http.Response, error) {
	rt := tt.base()
	if !taskRecording() || r.URL == nil { // rt has a better error than a panic here
		return rt.RoundTrip(r)
	}
	header := canonicalTrace(r.Header)
	ctx, t := taskNewCall(r.Context(), taskMethod(r.Method)+" "+r.URL.Host, remote(r.URL), traceHeader(header))
	if t == nil {
		return rt.RoundTrip(r)
	}
	c := &call{t: t, r: r, copies: copies}
	var resp *http.Response
	returned := false
	defer func() {
		if returned {
			return
		}
		// rt has panicked, or a method of its error, or the Filter of a note. The caller never
		// gets the answer.
		defer c.end(true)
		if resp != nil && resp.Body != nil {
			resp.Body.Close()
		}
	}()

	r2 := r.WithContext(ctx)
	r2.Header = header.Clone()
	if r2.Header == nil {
		r2.Header = make(http.Header)
	}
	t.Inject(r2.Header)
	if copies != nil {
		copies.Store(r, r2)
	}
	var err error
	resp, err = rt.RoundTrip(r2)
	if err != nil || resp == nil {
		t.Note("error", errorText(err))
		c.end(true)
		returned = true
		return resp, err
	}
	if resp.Request == r2 {
		resp.Request = r
	}
	t.Extract(resp.Header)
	t.Note("status", statusText(resp.StatusCode))
	c.failed = resp.StatusCode >= 500
	if isGRPC(resp.Header) {
		c.grpc = resp
		c.failed = c.grpcEnds(resp.Header) || c.failed
	}
	if resp.Body == nil || resp.Body == http.NoBody {
		c.end(false)
	} else {
		resp.Body = c.body(resp.Body)
	}
	returned = true
	return resp, nil
}

// canonicalTrace returns h, or a copy if it has trace headers whose names are in lower case, as they
// are in their specification: then they have the names that [http.Header.Get] looks for.
func canonicalTrace(h http.Header) http.Header {
	copied := false
	for _, name := range [...]struct{ lower, canonical string }{{"traceparent", traceparent}, {"tracestate", tracestate}} {
		v, ok := h[name.lower]
		if !ok {
			continue
		}
		if !copied {
			h, copied = h.Clone(), true
		}
		delete(h, name.lower)
		h[name.canonical] = append(h[name.canonical], v...)
	}
	return h
}

// remote returns the host and port of u.
func remote(u *url.URL) string {
	port := u.Port()
	switch {
	case port != "":
		return u.Host
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// errorText says what kind of error err is. Its own text has the URL, which may hold
// secrets.
func errorText(err error) string {
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return contextText(err)
	case errors.As(err, &timeout) && timeout.Timeout():
		return "timeout"
	}
	return "failed"
}

// A requestCanceler is a transport of old; see [http.Transport.CancelRequest].
type requestCanceler interface{ CancelRequest(r *http.Request) }

// A cancelTransport is a taskTransport of such a one, which knows only our copies of
// requests.
type cancelTransport struct {
	taskTransport
	rt     requestCanceler
	copies sync.Map // *http.Request to its copy
}

func (ct *cancelTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	return ct.roundTrip(r, &ct.copies)
}

func (ct *cancelTransport) CancelRequest(r *http.Request) {
	if r2, ok := ct.copies.Load(r); ok {
		r = r2.(*http.Request)
	}
	ct.rt.CancelRequest(r)
}

// A call is a request that a task is recorded for, until its answer has been read.
type call struct {
	t      recordedTask
	r      *http.Request
	copies *sync.Map      // of cancelTransport
	failed bool           // by status, or by the header
	grpc   *http.Response // the answer, if it is gRPC's
	ended  atomic.Bool
}

// end ends the task, once: a body may be closed while it is read.
func (c *call) end(failed bool) {
	if c.ended.Swap(true) {
		return
	}
	if c.copies != nil {
		c.copies.Delete(c.r)
	}
	if failed || c.failed {
		c.t.Fail()
	}
	c.t.End()
}

// body returns b, which ends the task, with those of b's methods that callers look for:
// io.Writer is the other direction of a connection that has switched protocols, and
// CloseWrite is its end.
func (c *call) body(b io.ReadCloser) io.ReadCloser {
	body := callBody{b, c}
	if w, ok := b.(io.Writer); ok {
		if cw, ok := b.(writeCloser); ok {
			return &struct {
				callBody
				io.Writer
				writeCloser
			}{body, w, cw}
		}
		return &struct {
			callBody
			io.Writer
		}{body, w}
	}
	if w, ok := b.(io.WriterTo); ok {
		return &writerToBody{body, w}
	}
	return &body
}

type writeCloser interface{ CloseWrite() error }

type callBody struct {
	b io.ReadCloser
	c *call
}

func (b *callBody) Read(p []byte) (int, error) {
	n, err := b.b.Read(p)
	if err != nil {
		b.c.end(err != io.EOF || b.c.trailers())
	}
	return n, err
}

func (b *callBody) Close() error {
	defer b.c.end(false) // even if b.b panics
	return b.b.Close()
}

type writerToBody struct {
	callBody
	w io.WriterTo
}

func (b *writerToBody) WriteTo(w io.Writer) (int64, error) {
	n, err := b.w.WriteTo(w)
	// An error may be w's: then Close ends the task.
	if err == nil {
		b.c.end(b.c.trailers())
	}
	return n, err
}
