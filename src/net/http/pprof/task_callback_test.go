// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/task"
	"strings"
	"testing"
)

// What the wrappers call of the program may panic or end its goroutine: methods of handlers,
// writers, transports, bodies, contexts and errors, and task.Config.Filter. The task ends
// anyway.

// A trap is left through by the method with its name.
type trap struct {
	name  string
	leave func(name string)
	hits  int
}

func (p *trap) step(name string) {
	if name == p.name {
		p.hits++
		p.leave(name)
	}
}

type trapContext struct {
	context.Context
	p   *trap
	err error
}

func (c trapContext) Err() error { c.p.step("Context.Err"); return c.err }

func (c trapContext) Value(key any) any { c.p.step("Context.Value"); return c.Context.Value(key) }

type trapError struct{ p *trap }

func (e trapError) Error() string   { e.p.step("error.Error"); return "trap" }
func (e trapError) Is(error) bool   { e.p.step("error.Is"); return false }
func (e trapError) As(any) bool     { e.p.step("error.As"); return false }
func (e trapError) Unwrap() error   { e.p.step("error.Unwrap"); return nil }
func (e trapTimeout) Timeout() bool { e.p.step("error.Timeout"); return false }

// A trapTimeout does not have As, which would come before Timeout.
type trapTimeout struct {
	error
	p *trap
}

type trapWriter struct {
	http.ResponseWriter
	p *trap
}

func (w trapWriter) Header() http.Header { w.p.step("Header"); return w.ResponseWriter.Header() }
func (w trapWriter) WriteHeader(n int)   { w.p.step("WriteHeader"); w.ResponseWriter.WriteHeader(n) }
func (w trapWriter) Write(b []byte) (int, error) {
	w.p.step("Write")
	return w.ResponseWriter.Write(b)
}

type trapBody struct {
	p *trap
	r io.Reader
	// closed is how often it was, also in a panic.
	closed *int
}

func (b trapBody) Read(p []byte) (int, error) { b.p.step("Body.Read"); return b.r.Read(p) }
func (b trapBody) Close() error               { *b.closed++; b.p.step("Body.Close"); return nil }

type trapWriterTo struct{ trapBody }

func (b trapWriterTo) WriteTo(w io.Writer) (int64, error) {
	b.p.step("Body.WriteTo")
	return io.Copy(w, b.r)
}

// left calls f on a goroutine of its own, and returns how that ended: "" if f has returned.
func left(f func()) (how string) {
	done := make(chan string)
	go func() {
		how := "Goexit"
		defer func() {
			if v := recover(); v != nil {
				how = fmt.Sprint("panic ", v)
			}
			done <- how
		}()
		f()
		how = ""
	}()
	return <-done
}

// testTraps calls do with a trap in each of the methods, by a panic and by Goexit, and checks that
// all tasks have ended then.
func testTraps(t *testing.T, do func(p *trap), names ...string) {
	t.Helper()
	for _, name := range names {
		for how, leave := range map[string]func(string){
			"panic " + name: func(name string) { panic(name) },
			"Goexit":        func(string) { runtime.Goexit() },
		} {
			p := &trap{name: name, leave: leave}
			filter := func(key, value string) (string, bool) {
				p.step("Filter " + key)
				return value, true
			}
			if err := task.Start(task.Config{Rate: 1, Server: 1, Filter: filter}); err != nil {
				t.Fatal(err)
			}
			before := task.ReadStats().Open
			got := left(func() { do(p) })
			task.Stop()
			if got != how || p.hits == 0 {
				t.Errorf("%s: %q after %d calls, want %q", name, got, p.hits, how)
			}
			if n := task.ReadStats().Open; n != before {
				t.Errorf("%s, %s: %d tasks are open, and %d before", name, how, n, before)
			}
		}
	}
}

func TestTaskHandlerTraps(t *testing.T) {
	clock := taskClock(t)
	task.Stop()
	for _, err := range []func(p *trap) error{
		func(p *trap) error { return nil },
		func(p *trap) error { return trapError{p} },
	} {
		h := TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			io.WriteString(w, "x")
		}))
		do := func(p *trap) {
			r := httptest.NewRequestWithContext(trapContext{context.Background(), p, err(p)}, "GET", "/", nil)
			r.Header.Set(traceparent, "00-0123456789abcdef0123456789abcdef-0123456789abcdef-03")
			r.Header.Set(tracestate, clock)
			rec := httptest.NewRecorder()
			h.ServeHTTP(struct {
				trapWriter
				http.Flusher
			}{trapWriter{rec, p}, rec}, r)
		}
		names := []string{"Context.Value", "Context.Err", "Header", "Write"}
		if err(nil) != nil {
			names = append(names, "error.Is", "error.Unwrap", "Filter context")
		}
		testTraps(t, do, names...)
	}
}

// TestTaskHandlerTrapsStatus is TestTaskHandlerTraps for the status, which only a server's writer
// tells.
func TestTaskHandlerTrapsStatus(t *testing.T) {
	task.Stop()
	writers, done := make(chan http.ResponseWriter), make(chan bool)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writers <- w
		<-done
	}))
	defer s.Close()
	h := TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	testTraps(t, func(p *trap) {
		answered := make(chan bool)
		go func() {
			defer close(answered)
			resp, err := s.Client().Get(s.URL)
			if err != nil {
				t.Error(err)
				return
			}
			resp.Body.Close()
		}()
		w := <-writers
		defer func() {
			done <- true
			<-answered
		}()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	}, "Filter status")
}

// taskClock begins to record tasks, and returns a header tracestate with a clock.
func taskClock(t *testing.T) string {
	if err := task.Start(task.Config{Rate: 1, Server: 1}); err != nil {
		t.Error(err)
	}
	ctx, tk := task.New(context.Background(), "client")
	defer tk.End()
	h := make(http.Header)
	task.Inject(ctx, h)
	return h.Get(tracestate)
}

// TestTaskHandlerNoHeader tests that a foreign writer may have no header, as long as the handler
// does not ask for it.
func TestTaskHandlerNoHeader(t *testing.T) {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set(traceparent, "00-0123456789abcdef0123456789abcdef-0123456789abcdef-03")
	r.Header.Set(tracestate, taskClock(t))
	defer task.Stop()
	h := TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !wantsClock(task.FromContext(r.Context())) {
			t.Error("the request came without a clock")
		}
		io.WriteString(w, "x")
	}))
	if how := left(func() { h.ServeHTTP(discardWriter{}, r) }); how != "" {
		t.Error(how)
	}
}

func TestTaskTransportTraps(t *testing.T) {
	closed := 0
	do := func(rt func(p *trap) (*http.Response, error), use func(b io.ReadCloser)) func(p *trap) {
		return func(p *trap) {
			ctx, parent := task.New(context.Background(), "parent")
			defer parent.End()
			r := httptest.NewRequestWithContext(trapContext{ctx, p, nil}, "GET", "http://a.test/", nil)
			closed = 0
			resp, err := TaskTransport(roundTrip(func(*http.Request) (*http.Response, error) {
				p.step("RoundTrip")
				return rt(p)
			})).RoundTrip(r)
			if err == nil {
				defer resp.Body.Close()
				use(resp.Body)
			}
		}
	}
	fail := func(err func(p *trap) error) func(p *trap) {
		return do(func(p *trap) (*http.Response, error) { return nil, err(p) }, nil)
	}
	testTraps(t, fail(func(p *trap) error { return trapError{p} }), "RoundTrip", "Context.Value", "error.Is", "error.As", "error.Unwrap", "Filter error")
	testTraps(t, fail(func(p *trap) error { return trapTimeout{errors.New("x"), p} }), "error.Timeout")

	answer := func(to bool, use func(io.ReadCloser)) func(p *trap) {
		return do(func(p *trap) (*http.Response, error) {
			var b io.ReadCloser = trapBody{p, strings.NewReader("text"), &closed}
			if to {
				b = trapWriterTo{b.(trapBody)}
			}
			return &http.Response{StatusCode: 200, Header: make(http.Header), Body: b}, nil
		}, use)
	}
	read := func(b io.ReadCloser) { b.Read(make([]byte, 1)) }
	testTraps(t, answer(false, read), "RoundTrip", "Body.Read", "Body.Close")
	testTraps(t, answer(true, func(b io.ReadCloser) { b.(io.WriterTo).WriteTo(io.Discard) }), "Body.WriteTo", "Body.Close")
	// The caller has no answer to close then.
	testTraps(t, func(p *trap) {
		defer func() {
			if closed != 1 {
				t.Errorf("the body of an answer that nobody gets was closed %d times", closed)
			}
		}()
		answer(false, read)(p)
	}, "Filter status")
}
