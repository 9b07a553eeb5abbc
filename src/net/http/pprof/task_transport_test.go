// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"runtime/task"
	"strings"
	"testing"
)

// A roundTrip is a transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A testBody is a body that ends in err.
type testBody struct {
	io.Reader
	err    error
	closed int
}

func (b *testBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = b.err
	}
	return n, err
}

func (b *testBody) Close() error { b.closed++; return nil }

// parentContext returns a context with a task.
func parentContext(l *fakeLog) context.Context {
	ctx, _ := new(fakeLog).add(context.Background(), &fakeTask{})
	return ctx
}

// TestTaskTransportEnds tests what a client's task says, and when it ends.
func TestTaskTransportEnds(t *testing.T) {
	secret := errors.New("secret")
	answer := func(status int, body io.ReadCloser) roundTrip {
		return func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: http.Header{"Tracestate": {"go=answer"}}, Body: body}, nil
		}
	}
	fail := func(err error) roundTrip {
		return func(*http.Request) (*http.Response, error) { return nil, err }
	}
	text := func(err error) *testBody { return &testBody{Reader: strings.NewReader("text"), err: err} }
	read := func(b io.ReadCloser) { io.Copy(io.Discard, struct{ io.Reader }{b}) }
	for _, tt := range []struct {
		name  string
		rt    roundTrip
		use   func(b io.ReadCloser) // ends the task; nil if it has ended before
		after func(b io.ReadCloser) // changes nothing
		want  string
	}{
		{"read", answer(200, text(io.EOF)), read, nil, "status=200"},
		{"read and closed", answer(200, text(io.EOF)), read, func(b io.ReadCloser) { b.Close() }, "status=200"},
		{"closed", answer(404, text(io.EOF)), func(b io.ReadCloser) { b.Close() }, read, "status=404"},
		{"server's error", answer(500, text(io.EOF)), read, nil, "status=500 failed"},
		{"broken", answer(200, text(secret)), read, func(b io.ReadCloser) { b.Close() }, "status=200 failed"},
		{"no body", answer(204, http.NoBody), nil, nil, "status=204"},
		{"nil body", answer(204, nil), nil, nil, "status=204"},
		{"error", fail(secret), nil, nil, "error=failed failed"},
		{"canceled", fail(fmt.Errorf("%w", context.Canceled)), nil, nil, "error=canceled failed"},
		{"deadline", fail(context.DeadlineExceeded), nil, nil, "error=deadline exceeded failed"},
		{"timeout", fail(&net.OpError{Err: os.ErrDeadlineExceeded}), nil, nil, "error=timeout failed"},
		{"nothing", fail(nil), nil, nil, "error=failed failed"},
	} {
		l := fakeTasks(t)
		r := httptest.NewRequestWithContext(parentContext(l), "GET", "http://a.test/secret?x=secret", nil)
		res, err := TaskTransport(tt.rt).RoundTrip(r)
		var body io.ReadCloser
		if res != nil {
			body = res.Body
			if got := l.tasks[0].header; got != "go=answer" {
				t.Errorf("%s: clock %q of the answer", tt.name, got)
			}
		} else if res, err2 := tt.rt(r); res != nil || err != err2 {
			t.Errorf("%s: error %v, want %v", tt.name, err, err2)
		}
		if ended := l.tasks[0].ended; (ended != 0) != (tt.use == nil) {
			t.Errorf("%s: ended %d times when RoundTrip returned", tt.name, ended)
		}
		if tt.use != nil {
			tt.use(body)
		}
		if ended := l.tasks[0].ended; ended != 1 {
			t.Fatalf("%s: ended %d times", tt.name, ended)
		}
		if tt.after != nil {
			tt.after(body)
		}
		if got := l.tasks[0].remote; got != "a.test:80" {
			t.Errorf("%s: remote %q", tt.name, got)
		}
		l.want(t, tt.name, "GET a.test "+tt.want)
	}

	l := fakeTasks(t)
	func() {
		defer func() {
			if v := recover(); v != "x" {
				t.Errorf("panic x became %v", v)
			}
		}()
		r := httptest.NewRequestWithContext(parentContext(l), "GET", "https://a.test/", nil)
		TaskTransport(roundTrip(func(*http.Request) (*http.Response, error) { panic("x") })).RoundTrip(r)
	}()
	l.want(t, "panic", "GET a.test  failed")
}

// TestTaskTransportRequest tests that the request is not modified, and that what is sent
// differs only in what it has to.
func TestTaskTransportRequest(t *testing.T) {
	l := fakeTasks(t)
	for _, header := range []http.Header{nil, {"A": {"1"}, "Traceparent": {"old"}}} {
		r, _ := http.NewRequestWithContext(parentContext(l), "EVIL", "https://[::1]/", strings.NewReader("x"))
		r.Header = header
		r.GetBody = nil // a func is equal to nothing
		want := *r
		wantHeader := header.Clone()
		var sent *http.Request
		res, err := TaskTransport(roundTrip(func(r2 *http.Request) (*http.Response, error) {
			sent = r2
			return &http.Response{StatusCode: 200, Request: r2, Body: http.NoBody}, nil
		})).RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(*r, want) || !reflect.DeepEqual(header, wantHeader) {
			t.Errorf("the request was modified: %v", r)
		}
		if res.Request != r {
			t.Error("the answer is not that of the request")
		}
		if res.Body != http.NoBody {
			t.Error("NoBody was replaced")
		}
		if sent.Header.Get("Traceparent") != "sent" || sent.Header.Get("A") != header.Get("A") || sent.Body != r.Body || sent.Method != r.Method {
			t.Errorf("sent %v", sent)
		}
		if got := l.tasks[0].remote; got != "[::1]:443" {
			t.Errorf("remote %q", got)
		}
		l.want(t, "request", "other [::1] status=200")
	}
}

// TestTaskTransportOff tests that requests are handed on as they are if they have no task,
// or none is recorded.
func TestTaskTransportOff(t *testing.T) {
	l := fakeTasks(t)
	var sent *http.Request
	resp := &http.Response{Body: http.NoBody}
	tt := TaskTransport(roundTrip(func(r *http.Request) (*http.Response, error) { sent = r; return resp, nil }))
	none := httptest.NewRequest("GET", "http://a.test/", nil)
	some := none.WithContext(parentContext(l))
	noURL := &http.Request{}
	for _, r := range []*http.Request{none, noURL} {
		if res, err := tt.RoundTrip(r); res != resp || err != nil || sent != r {
			t.Errorf("a request without a task was touched: %v, %v", res, err)
		}
	}
	l.want(t, "without a task")
	taskRecording = func() bool { return false }
	if n := testing.AllocsPerRun(10, func() { tt.RoundTrip(some) }); n != 0 || sent != some {
		t.Errorf("off: %v allocations, same request %v", n, sent == some)
	}
	l.want(t, "off")
}

// TestTaskTransportBody tests that the body has the methods that callers look for.
func TestTaskTransportBody(t *testing.T) {
	type rc = io.ReadCloser
	base := &testBody{Reader: strings.NewReader("x"), err: io.EOF}
	w := &testWriter{}
	for _, b := range []rc{
		base,
		struct {
			rc
			io.Writer
		}{base, w},
		struct {
			rc
			io.Writer
			writeCloser
		}{base, w, w},
		struct {
			rc
			io.WriterTo
		}{base, strings.NewReader("to")},
	} {
		ft := &fakeTask{done: make(chan bool)}
		got := (&call{t: ft}).body(b)
		_, wantW := b.(io.Writer)
		_, wantC := b.(writeCloser)
		_, wantT := b.(io.WriterTo)
		gw, gotW := got.(io.Writer)
		gc, gotC := got.(writeCloser)
		gt, gotT := got.(io.WriterTo)
		if wantW != gotW || wantC != gotC || wantT != gotT {
			t.Errorf("%T: Writer %v, want %v; CloseWrite %v, want %v; WriterTo %v, want %v", b, gotW, wantW, gotC, wantC, gotT, wantT)
		}
		w.calls = ""
		want := ""
		if gotW {
			io.WriteString(gw, "x")
			want += "Write"
		}
		if gotC {
			gc.CloseWrite()
			want += "CloseWrite"
		}
		if w.calls != want {
			t.Errorf("calls %s, want %s", w.calls, want)
		}
		if ft.ended != 0 {
			t.Error("ended by a write")
		}
		if gotT {
			var s strings.Builder
			if n, err := gt.WriteTo(&s); n != 2 || err != nil || s.String() != "to" || ft.ended != 1 {
				t.Errorf("WriteTo: %d, %v, %q, ended %d times", n, err, &s, ft.ended)
			}
		}
		closed := base.closed
		got.Close()
		if base.closed != closed+1 || ft.ended != 1 {
			t.Errorf("Close: closed %d times, ended %d times", base.closed-closed, ft.ended)
		}
	}
}

type testWriter struct{ calls string }

func (w *testWriter) Write(b []byte) (int, error) { w.calls += "Write"; return len(b), nil }
func (w *testWriter) CloseWrite() error           { w.calls += "CloseWrite"; return nil }

// A cancelRecorder is a transport that is told of idle connections and of requests to cancel.
type cancelRecorder struct {
	roundTrip
	idle     int
	canceled *http.Request
}

func (c *cancelRecorder) CloseIdleConnections()         { c.idle++ }
func (c *cancelRecorder) CancelRequest(r *http.Request) { c.canceled = r }

// TestTaskTransportCancel tests that the transport is told what it knows: our copy.
func TestTaskTransportCancel(t *testing.T) {
	l := fakeTasks(t)
	var sent *http.Request
	rec := &cancelRecorder{roundTrip: func(r *http.Request) (*http.Response, error) {
		sent = r
		return &http.Response{StatusCode: 200, Body: &testBody{Reader: strings.NewReader("")}}, nil
	}}
	tt := TaskTransport(rec)
	(&http.Client{Transport: tt}).CloseIdleConnections()
	if rec.idle != 1 {
		t.Error("CloseIdleConnections was not handed on")
	}
	c, ok := tt.(requestCanceler)
	if !ok {
		t.Fatal("no CancelRequest")
	}
	if _, ok := TaskTransport(rec.roundTrip).(requestCanceler); ok {
		t.Error("CancelRequest of a transport that has none")
	}
	r := httptest.NewRequestWithContext(parentContext(l), "GET", "http://a.test/", nil)
	res, err := tt.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	if c.CancelRequest(r); rec.canceled != sent || sent == r {
		t.Error("the copy was not canceled")
	}
	res.Body.Close()
	if c.CancelRequest(r); rec.canceled != r {
		t.Error("a copy is kept after the task's end")
	}
	l.want(t, "cancel", "GET a.test status=200")
}

// TestTaskTransportConcurrent closes bodies on another goroutine while they are read.
func TestTaskTransportConcurrent(t *testing.T) {
	l := fakeTasks(t)
	for range 100 {
		pr, pw := io.Pipe()
		tt := TaskTransport(roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: pr}, nil
		}))
		res, err := tt.RoundTrip(httptest.NewRequestWithContext(parentContext(l), "GET", "http://a.test/", nil))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan bool)
		go func() { io.Copy(io.Discard, res.Body); close(done) }()
		pw.Close()
		res.Body.Close()
		<-done
		if n := len(l.take(t)); n != 1 {
			t.Fatalf("%d tasks", n)
		}
	}
}

// TestTaskTransportServer tests the whole: a client, and servers of both protocols.
func TestTaskTransportServer(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		l := fakeTasks(t)
		ts := testServer(t, http2, TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/from" {
				http.Redirect(w, r, "/to", http.StatusFound)
				return
			}
			io.WriteString(w, "hello")
		})))
		c := *ts.Client()
		c.Transport = TaskTransport(c.Transport)
		r, _ := http.NewRequestWithContext(parentContext(l), "GET", ts.URL+"/from", nil)
		res, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(res.Body)
		if err != nil || string(b) != "hello" {
			t.Errorf("%s: %q, %v", res.Proto, b, err)
		}
		res.Body.Close()
		host := r.URL.Host
		l.mu.Lock()
		for i, want := range []string{"", "sent;go=sent", "", "sent;go=sent"} {
			if got := l.tasks[i].header; want != "" && got != want {
				t.Errorf("%s: task %d received %q", res.Proto, i, got)
			} else if want == "" && got != "go=reply" {
				t.Errorf("%s: client's task %d has clock %q of the answer", res.Proto, i, got)
			}
		}
		l.mu.Unlock()
		l.want(t, res.Proto, "GET "+host+" status=302", "GET (no pattern) status=302", "GET "+host+" status=200", "GET (no pattern) status=200")
	}
}

// TestTaskTransportNamed tests what a call is told of the trace headers that its request has.
func TestTaskTransportNamed(t *testing.T) {
	l := fakeTasks(t)
	for _, tt := range []struct {
		header http.Header
		want   string
	}{
		{nil, ";"},
		{http.Header{"Traceparent": {"a"}}, "a;"},
		{http.Header{"Traceparent": {"a"}, "Tracestate": {"x=1", "y=1"}}, "a;x=1,y=1"},
		{http.Header{"traceparent": {"a"}, "tracestate": {"x=1"}}, "a;x=1"},
		{http.Header{"Traceparent": {"a"}, "tracestate": {"x=1"}, "Tracestate": {"y=1"}}, "a;y=1,x=1"},
		{http.Header{"traceparent": {"a"}, "Traceparent": {"b"}}, ";"},
		{http.Header{"Tracestate": {"x=1"}}, ";"},
	} {
		r := httptest.NewRequestWithContext(parentContext(l), "GET", "http://a.test/", nil)
		r.Header = tt.header
		want := tt.header.Clone()
		var sent http.Header
		TaskTransport(roundTrip(func(r *http.Request) (*http.Response, error) {
			sent = r.Header
			return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
		})).RoundTrip(r)
		if got := l.tasks[0].call; got != tt.want {
			t.Errorf("%v: the call was told %q, want %q", tt.header, got, tt.want)
		}
		if !reflect.DeepEqual(tt.header, want) {
			t.Errorf("the request's header %v became %v", want, tt.header)
		}
		if len(sent) != 2 || len(sent["Traceparent"]) != 1 || len(sent["Tracestate"]) != 1 {
			t.Errorf("%v: sent %v", tt.header, sent)
		}
		l.want(t, "named", "GET a.test status=200")
	}
}

// TestTaskTransportTracer tests requests through a tracer of others around TaskTransport, or
// within it, and ours: servers get what the tracer has said.
func TestTaskTransportTracer(t *testing.T) {
	if err := task.Start(task.Config{Rate: 1, Server: 1}); err != nil {
		t.Fatal(err)
	}
	defer task.Stop()
	const came, tracer = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var got []string
	back := testServer(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { got = r.Header["Traceparent"] }))
	traced := func(rt http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			r = r.Clone(r.Context())
			r.Header.Set("traceparent", tracer)
			return rt.RoundTrip(r)
		})
	}
	base := back.Client().Transport
	for _, tt := range []struct {
		name string
		rt   http.RoundTripper
		want string // begins with
	}{
		{"ours", TaskTransport(base), came[:36]},
		{"a tracer around", traced(TaskTransport(base)), tracer},
		{"a tracer within", TaskTransport(traced(base)), tracer},
		{"twice", traced(TaskTransport(TaskTransport(base))), tracer},
	} {
		front := testServer(t, false, TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r2, _ := http.NewRequestWithContext(r.Context(), "GET", back.URL, nil)
			res, err := tt.rt.RoundTrip(r2)
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
		})))
		do(t, front, "GET", "/", "Traceparent", came)
		if len(got) != 1 || !strings.HasPrefix(got[0], tt.want) || !strings.HasSuffix(got[0], "-01") {
			t.Errorf("%s: the server got %q", tt.name, got)
		}
	}
}
