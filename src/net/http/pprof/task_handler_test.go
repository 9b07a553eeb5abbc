// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/http/httputil"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"runtime/task"
	"slices"
	"strings"
	"testing"
	"time"
)

// testServer starts a server of h, of HTTP/2 or of HTTP/1.
func testServer(t testing.TB, http2 bool, h http.Handler) *httptest.Server {
	ts := httptest.NewUnstartedServer(h)
	ts.Config.ErrorLog = log.New(io.Discard, "", 0)
	ts.EnableHTTP2 = http2
	if http2 {
		ts.StartTLS()
	} else {
		ts.Start()
	}
	t.Cleanup(ts.Close)
	return ts
}

// do sends a request with an empty body and returns the answer, with what was read of its body.
func do(t testing.TB, ts *httptest.Server, method, path string, header ...string) (*http.Response, string, error) {
	t.Helper()
	r, err := http.NewRequest(method, ts.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	res, err := ts.Client().Do(r)
	if err != nil {
		return nil, "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res, string(b), err
}

// TestTaskHandlerStatus tests what a task says of each way to answer, over both protocols.
func TestTaskHandlerStatus(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, bytes.Repeat([]byte("0123456789"), 10000), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		method string
		h      http.HandlerFunc
		want   string // "/ " and this
		status int    // of the answer; 0 for none
		http1  bool   // only
		clock  bool   // comes with the answer, if the request had one
	}{
		{"implicit", "GET", func(w http.ResponseWriter, r *http.Request) {}, "status=200", 200, false, true},
		{"write", "GET", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "x") }, "status=200", 200, false, true},
		{"head", "HEAD", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "x") }, "status=200", 200, false, true},
		{"not found", "GET", http.NotFound, "status=404", 404, false, true},
		{"error", "GET", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "", 503) }, "status=503 failed", 503, false, true},
		{"first counts", "GET", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204); w.WriteHeader(500) }, "status=204", 204, false, true},
		{"informational", "GET", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(103); w.WriteHeader(201) }, "status=201", 201, false, true},
		{"flush", "GET", func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush() }, "status=200", 200, false, true},
		{"flush by controller", "GET", func(w http.ResponseWriter, r *http.Request) {
			c := http.NewResponseController(w)
			if err := errors.Join(c.EnableFullDuplex(), c.SetReadDeadline(time.Time{}), c.SetWriteDeadline(time.Time{}), c.Flush()); err != nil {
				t.Error(err)
			}
		}, "status=200", 200, false, true},
		{"file", "GET", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) }, "status=200", 200, false, true},
		{"panic", "GET", func(w http.ResponseWriter, r *http.Request) { panic("x") }, "status=aborted failed", 0, false, false},
		{"abort", "GET", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) }, "status=aborted failed", 0, false, false},
		{"late panic", "GET", func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).Flush()
			panic("x")
		}, "status=200 failed", 200, false, true},
		{"timeout within", "GET", func(w http.ResponseWriter, r *http.Request) {
			// As below, it returns only when it is timed out.
			timedOut := make(chan bool)
			defer close(timedOut)
			http.TimeoutHandler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				<-timedOut
			}), time.Nanosecond, "").ServeHTTP(w, r)
		}, "status=503 failed", 503, false, true},
		{"no timeout within", "GET", http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(202)
		}), time.Hour, "").ServeHTTP, "status=202", 202, false, true},
		{"hijack", "GET", func(w http.ResponseWriter, r *http.Request) {
			c, rw, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			fmt.Fprintf(rw, "HTTP/1.1 299 Mine\r\nContent-Length: 0\r\n\r\n")
			rw.Flush()
			if _, err := w.Write(nil); err != http.ErrHijacked {
				t.Errorf("Write after Hijack: %v", err)
			}
		}, "status=hijacked", 299, true, false},
	} {
		for _, http2 := range []bool{false, true} {
			if http2 && tt.http1 {
				continue
			}
			for _, clock := range []bool{false, true} {
				l := fakeTasks(t)
				mux := http.NewServeMux()
				mux.Handle("/", tt.h)
				ts := testServer(t, http2, TaskHandler(mux))
				var header []string
				if clock {
					header = []string{"Traceparent", "p", "Tracestate", "go=c"}
				}
				what := fmt.Sprintf("%s, HTTP/2 %v, clock %v", tt.name, http2, clock)
				res, _, err := do(t, ts, tt.method, "/", header...)
				if res == nil {
					if tt.status != 0 {
						t.Errorf("%s: %v", what, err)
					}
				} else {
					if res.StatusCode != tt.status {
						t.Errorf("%s: status %d, want %d", what, res.StatusCode, tt.status)
					}
					if got := res.Header.Get("Tracestate") != ""; got != (clock && tt.clock) {
						t.Errorf("%s: header of the answer %v", what, res.Header)
					}
				}
				got := l.take(t)
				// The server notices broken connections when it does.
				for i, s := range got {
					got[i] = strings.Replace(s, " context=canceled", "", 1)
				}
				if want := []string{"/ " + tt.want}; !slices.Equal(got, want) {
					t.Errorf("%s: tasks %q, want %q", what, got, want)
				}
			}
		}
	}
}

// TestTaskHandlerGoexit tests that the task ends with its goroutine.
func TestTaskHandlerGoexit(t *testing.T) {
	l := fakeTasks(t)
	done := make(chan bool)
	go func() {
		defer close(done)
		h := TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { runtime.Goexit() }))
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
	}()
	<-done
	l.want(t, "Goexit", "GET (no pattern) status=aborted failed")
}

// TestTaskHandlerPanic tests that a panic goes on, from where it began.
func TestTaskHandlerPanic(t *testing.T) {
	for _, v := range []any{http.ErrAbortHandler, "x"} {
		l := fakeTasks(t)
		func() {
			defer func() {
				stack := make([]byte, 64<<10)
				stack = stack[:runtime.Stack(stack, false)]
				if got := recover(); got != v {
					t.Errorf("panic %v became %v", v, got)
				}
				if !bytes.Contains(stack, []byte("taskPanics")) {
					t.Errorf("the stack of the panic has lost its origin:\n%s", stack)
				}
			}()
			h := TaskHandler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { taskPanics(v) }))
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
		}()
		l.want(t, fmt.Sprint(v), "GET (no pattern) status=aborted failed")
	}
}

//go:noinline
func taskPanics(v any) { panic(v) }

// TestTaskHandlerKind tests that kinds are patterns, and never what clients send.
func TestTaskHandlerKind(t *testing.T) {
	ok := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {})
	inner := http.NewServeMux()
	inner.Handle("GET /a/{id}", ok)
	outer := http.NewServeMux()
	outer.Handle("/a/", TaskHandler(ok))
	within := http.NewServeMux()
	within.Handle("GET /b/{id}", ok)
	outer.Handle("/b/", TaskHandler(http.HandlerFunc(within.ServeHTTP)))
	nested := http.NewServeMux()
	nested.Handle("/a/", inner)
	slash := http.NewServeMux()
	slash.Handle("/{tenant}/", ok)
	copying := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), "user", 1)))
	})
	for _, tt := range []struct {
		name         string
		h            http.Handler
		method, path string
		want         string
		first        string // kind at the task's start, if another
	}{
		{"mux", TaskHandler(inner), "GET", "/a/1", "GET /a/{id}", ""},
		{"no match", TaskHandler(inner), "GET", "/b/1", "GET (no pattern)", ""},
		{"no method", TaskHandler(inner), "POST", "/a/1", "POST (no pattern)", ""},
		{"odd method", TaskHandler(inner), "EVIL1", "/b", "other (no pattern)", ""},
		{"in mux", outer, "GET", "/a/1", "/a/", ""},
		{"mux within mux", outer, "GET", "/b/1", "GET /b/{id}", "/b/"},
		{"a mux that is a handler of one", TaskHandler(nested), "GET", "/a/1", "GET /a/{id}", "/a/"},
		{"no match in that", TaskHandler(nested), "GET", "/a/1/2", "/a/", ""},
		{"twice", TaskHandler(outer), "GET", "/a/1", "/a/", ""},
		{"mux within", TaskHandler(http.StripPrefix("/x", inner)), "GET", "/x/a/1", "GET /a/{id}", "GET (no pattern)"},
		{"mux behind a copy", TaskHandler(copying), "GET", "/a/1", "GET /a/{id}", "GET (no pattern)"},
		{"behind a copy, no match", TaskHandler(copying), "GET", "/b/1", "GET (no pattern)", ""},
		{"tunnel", TaskHandler(slash), "CONNECT", "/secret", "CONNECT (no pattern)", ""},
		{"tunnel to a pattern", TaskHandler(slash), "CONNECT", "/secret/", "/{tenant}/", ""},
		{"tunnel behind", TaskHandler(http.HandlerFunc(slash.ServeHTTP)), "CONNECT", "/secret", "CONNECT (no pattern)", ""},
		{"slash", TaskHandler(slash), "GET", "/secret", "GET (no pattern)", ""},
		{"unclean", TaskHandler(slash), "GET", "/secret//", "GET (no pattern)", ""},
		{"asterisk", TaskHandler(slash), "OPTIONS", "*", "OPTIONS (no pattern)", ""},
		{"mux behind", TaskHandler(http.HandlerFunc(inner.ServeHTTP)), "GET", "/a/1", "GET /a/{id}", "GET (no pattern)"},
	} {
		l := fakeTasks(t)
		first := ""
		receive := taskReceive
		taskReceive = func(ctx context.Context, kind string, h taskHeader) (context.Context, recordedTask) {
			first = kind
			return receive(ctx, kind, h)
		}
		tt.h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(tt.method, tt.path, nil))
		l.want(t, tt.name, tt.want+" ")
		if tt.first == "" {
			tt.first = tt.want
		}
		if first != tt.first {
			t.Errorf("%s: kind was %q at first, want %q", tt.name, first, tt.first)
		}
	}

	l := fakeTasks(t)
	TaskHandler(nil).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/debug/pprof/cmdline", nil))
	l.want(t, "DefaultServeMux", "GET /debug/pprof/cmdline ")
}

// TestTaskHandlerClient tests that a client that goes away is noted.
func TestTaskHandlerClient(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		l := fakeTasks(t)
		began := make(chan bool)
		ts := testServer(t, http2, TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			close(began)
			<-r.Context().Done()
		})))
		ctx, cancel := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, "GET", ts.URL, nil)
		go func() { <-began; cancel() }()
		if res, err := ts.Client().Do(r); err == nil {
			res.Body.Close()
			t.Error("the request was not canceled")
		}
		l.want(t, ts.URL, "GET (no pattern) status=200 context=canceled")
	}
	l := fakeTasks(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	TaskHandler(http.NotFoundHandler()).ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/", nil))
	l.want(t, "deadline", "GET (no pattern) context=deadline exceeded")
}

// TestTaskHandlerAround tests TaskHandler within other handlers.
func TestTaskHandlerAround(t *testing.T) {
	l := fakeTasks(t)
	answered := make(chan bool)
	h := TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-answered // not before it is timed out: TimeoutHandler takes either if both are there
			return
		}
		w.Header().Set("Trailer", "T")
		w.WriteHeader(201)
		w.Header().Set("T", "trailer")
		w.Header().Set(http.TrailerPrefix+"U", "undeclared")
	}))
	ts := testServer(t, false, h)
	if res, _, err := do(t, ts, "GET", "/"); err != nil || res.Trailer.Get("T") != "trailer" || res.Trailer.Get("U") != "undeclared" {
		t.Errorf("trailers: %v, %v", res, err)
	}
	l.want(t, "trailers", "GET (no pattern) status=201")

	ts = testServer(t, false, http.TimeoutHandler(h, time.Hour, ""))
	if res, _, err := do(t, ts, "GET", "/"); err != nil || res.StatusCode != 201 {
		t.Errorf("within TimeoutHandler: %v, %v", res, err)
	}
	l.want(t, "within TimeoutHandler", "GET (no pattern) status=201")

	ts = testServer(t, false, http.TimeoutHandler(h, time.Nanosecond, ""))
	if res, _, err := do(t, ts, "GET", "/slow"); err != nil || res.StatusCode != 503 {
		t.Errorf("within TimeoutHandler, slow: %v, %v", res, err)
	}
	answered <- true // when the handler runs: it may do so only after the answer
	ts.Close()
	l.want(t, "within TimeoutHandler, slow", "GET (no pattern) status=200 context=deadline exceeded")

	back := testServer(t, false, h)
	u, _ := url.Parse(back.URL)
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: TaskTransport(http.DefaultTransport)}
	ts = testServer(t, true, TaskHandler(proxy))
	res, _, err := do(t, ts, "GET", "/")
	if err != nil || res.StatusCode != 201 || res.Trailer.Get("T") != "trailer" {
		t.Errorf("ReverseProxy: %v, %v", res, err)
	}
	l.want(t, "ReverseProxy", "GET (no pattern) status=201", "GET "+u.Host+" status=201", "GET (no pattern) status=201")
}

// TestTaskHandlerOuter tests that a handler around TaskHandler, which goes on to look at its
// request meanwhile, never sees the task's; and that the server's own request gets it.
func TestTaskHandlerOuter(t *testing.T) {
	l := fakeTasks(t)
	var got, around *http.Request
	h := TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		if r.Context().Value(fakeKey{}) == nil {
			t.Error("no task in the request's context")
		}
	}))
	ts := testServer(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		around = r
		ctx := r.Context()
		stop, stopped := make(chan bool), make(chan bool)
		go func() {
			defer close(stopped)
			for {
				select {
				case <-stop:
					return
				default:
				}
				if r.Context() != ctx {
					t.Error("the request has another context")
					return
				}
				runtime.Gosched()
			}
		}()
		h.ServeHTTP(w, r)
		close(stop)
		<-stopped
	}))
	do(t, ts, "GET", "/")
	l.want(t, "around", "GET (no pattern) status=200")
	if got == around {
		t.Error("the request is the outer handler's")
	}
	ts = testServer(t, false, h)
	do(t, ts, "GET", "/")
	l.want(t, "the server's", "GET (no pattern) status=200")
}

// TestTaskHandlerUpgrade tests a connection that switches protocols through proxy,
// transport and handlers.
func TestTaskHandlerUpgrade(t *testing.T) {
	l := fakeTasks(t)
	back := testServer(t, false, TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		rw.Flush()
		io.Copy(c, rw) // until the client's end
	})))
	u, _ := url.Parse(back.URL)
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: TaskTransport(tr)}
	front := testServer(t, false, TaskHandler(proxy))
	c, err := net.Dial("tcp", front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	br := bufio.NewReader(c)
	res, err := http.ReadResponse(br, nil)
	if err != nil || res.StatusCode != 101 {
		t.Fatalf("upgrade: %v, %v", res, err)
	}
	io.WriteString(c, "hello")
	c.(*net.TCPConn).CloseWrite()
	if b, err := io.ReadAll(br); string(b) != "hello" || err != nil {
		t.Errorf("echo: %q, %v", b, err)
	}
	got := l.take(t)
	// The proxy cancels its request when either side has ended.
	for i, s := range got {
		got[i] = strings.Replace(s, " context=canceled", "", 1)
	}
	if want := []string{"GET (no pattern) status=hijacked", "GET " + u.Host + " status=101", "GET (no pattern) status=hijacked"}; !slices.Equal(got, want) {
		t.Errorf("tasks:\ngot  %q\nwant %q", got, want)
	}
}

// TestTaskHandlerClock tests that the clock is in the header when that is sent, and that
// the headers of a request are read as what they mean together.
func TestTaskHandlerClock(t *testing.T) {
	l := fakeTasks(t)
	h := TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if w.Header().Get("Tracestate") != "" {
			t.Error("the clock is in the header before the header is sent")
		}
		w.WriteHeader(103)
		if w.Header().Get("Tracestate") != "" {
			t.Error("the clock is in the header of an informational response")
		}
	}))
	for _, tt := range []struct{ parents, states, want string }{
		{"", "", ";"},
		{"a", "go=1", "a;go=1"},
		{"a", "x=1|go=1", "a;x=1,go=1"},
		{"a|b", "go=1", ";"},
		{"", "x=1|go=1", ";"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		if tt.parents != "" {
			r.Header["Traceparent"] = strings.Split(tt.parents, "|")
		}
		if tt.states != "" {
			r.Header["Tracestate"] = strings.Split(tt.states, "|")
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got, want := w.Header().Get("Tracestate") != "", strings.Contains(tt.want, "go="); got != want {
			t.Errorf("%q, %q: a clock in the answer's header %v, want %v", tt.parents, tt.states, got, want)
		}
		if got := l.tasks[0].header; got != tt.want {
			t.Errorf("%q, %q: received %q, want %q", tt.parents, tt.states, got, tt.want)
		}
		l.take(t)
	}
}

// TestTaskHandlerInformational tests that a client gets informational responses.
func TestTaskHandlerInformational(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		fakeTasks(t)
		ts := testServer(t, http2, TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "x")
			w.WriteHeader(103)
			w.WriteHeader(200)
		})))
		var got []int
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got1xxResponse: func(code int, h textproto.MIMEHeader) error {
			got = append(got, code)
			return nil
		}})
		r, _ := http.NewRequestWithContext(ctx, "GET", ts.URL, nil)
		res, err := ts.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 200 || !slices.Equal(got, []int{103}) {
			t.Errorf("%s: status %d after %v", res.Proto, res.StatusCode, got)
		}
	}
}

// TestTaskHandlerMaxBytes tests that the server closes the connection of a client that sends
// too much, which it does if MaxBytesReader finds its writer.
func TestTaskHandlerMaxBytes(t *testing.T) {
	fakeTasks(t)
	ts := testServer(t, false, TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, 1)
		if _, err := io.ReadAll(r.Body); err == nil {
			t.Error("read too much")
		}
		w.WriteHeader(413)
	})))
	res, err := ts.Client().Post(ts.URL, "text/plain", strings.NewReader("four"))
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if !res.Close {
		t.Error("the connection stays open")
	}
}

// TestTaskHandlerForm tests that the server removes the temporary files of a form that the handler
// has parsed, and that those who handed the request on see the pattern.
func TestTaskHandlerForm(t *testing.T) {
	fakeTasks(t)
	t.Setenv("TMPDIR", t.TempDir())
	files := func() []string {
		m, _ := filepath.Glob(filepath.Join(os.TempDir(), "multipart-*"))
		return m
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /{x}", func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseMultipartForm(0); err != nil {
			t.Error(err)
			return
		}
		if f, ok := r.MultipartForm.File["f"]; ok && runtime.GOOS != "windows" {
			if m := files(); len(m) != len(f) {
				t.Errorf("%d temporary files", len(m))
			}
		}
		if r.PathValue("x") == "panic" {
			panic("x")
		}
	})
	h := TaskHandler(mux)
	for _, tt := range []struct {
		name, path string
		around     func(w http.ResponseWriter, r *http.Request)
	}{
		{"handed on", "/1", h.ServeHTTP},
		{"a plain writer", "/1", func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(plainWriter{w}, r) }},
		{"copied", "/1", func(w http.ResponseWriter, r *http.Request) {
			// As OpenTelemetry's handler does.
			r2 := r.WithContext(r.Context())
			defer func() { r.MultipartForm, r.Pattern = r2.MultipartForm, r2.Pattern; r.SetPathValue("x", "1") }()
			h.ServeHTTP(w, r2)
		}},
		{"recovered", "/panic", func(w http.ResponseWriter, r *http.Request) {
			defer func() { recover(); r.SetPathValue("x", "1") }()
			h.ServeHTTP(w, r)
		}},
		{"canceled, a plain writer", "/1", func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithCancel(r.Context())
			cancel()
			r2 := r.WithContext(ctx)
			h.ServeHTTP(plainWriter{w}, r2)
			if r2.MultipartForm != nil || len(files()) != 0 {
				t.Error("the form was kept after the end of the request")
			}
			r.MultipartForm, r.Pattern = new(multipart.Form), r2.Pattern
			r.SetPathValue("x", "1")
		}},
	} {
		var outer http.Request
		ts := testServer(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			tt.around(w, r)
			outer = *r
		}))
		var b bytes.Buffer
		mw := multipart.NewWriter(&b)
		f, _ := mw.CreateFormFile("f", "f")
		f.Write(make([]byte, 11<<20))
		mw.Close()
		res, err := ts.Client().Post(ts.URL+tt.path, mw.FormDataContentType(), &b)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
		ts.Close() // when the request is done
		if outer.Pattern != "POST /{x}" || outer.PathValue("x") != "1" || outer.MultipartForm == nil {
			t.Errorf("%s: the outer handler sees pattern %q, x %q, form %v", tt.name, outer.Pattern, outer.PathValue("x"), outer.MultipartForm)
		}
		if m := files(); len(m) != 0 {
			t.Errorf("%s: temporary files are left: %v", tt.name, m)
		}
	}
}

// A touchy is a handler that says whether it got the very writer and request.
type touchy struct {
	w        http.ResponseWriter
	r        *http.Request
	wrapped  int
	original int
}

func (h *touchy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if w == h.w && r == h.r {
		h.original++
	} else {
		h.wrapped++
	}
}

// TestTaskHandlerOff tests that nothing happens to requests that are not recorded.
func TestTaskHandlerOff(t *testing.T) {
	fakeTasks(t)
	t.Run("recording", func(t *testing.T) {
		fakeTasks(t)
		taskRecording = func() bool { return false }
		taskReceive = nil // would panic
		testTaskOff(t)
	})
	t.Run("task", func(t *testing.T) {
		fakeTasks(t)
		taskReceive = func(ctx context.Context, kind string, h taskHeader) (context.Context, recordedTask) { return ctx, nil }
		testTaskOff(t)
	})
}

func testTaskOff(t *testing.T) {
	h := &touchy{w: httptest.NewRecorder(), r: httptest.NewRequest("GET", "/", nil)}
	h.r.Pattern = "/"
	th := TaskHandler(h)
	if n := testing.AllocsPerRun(100, func() { th.ServeHTTP(h.w, h.r) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if h.wrapped != 0 || h.original == 0 {
		t.Errorf("the handler got the original writer and request %d times, others %d times", h.original, h.wrapped)
	}
}

func benchmarkTaskHandler(b *testing.B, wrap func(http.Handler) http.Handler) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello, world\n") })
	ts := testServer(b, false, wrap(mux))
	c := ts.Client()
	b.ReportAllocs()
	for b.Loop() {
		res, err := c.Get(ts.URL + "/hello")
		if err != nil {
			b.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
}

// BenchmarkTaskHandler serves hello world to a client in the same process. The tasks of
// wrapped do nothing: it is the wrapper alone. Those of on are measured, and not recorded.
func BenchmarkTaskHandler(b *testing.B) {
	b.Run("bare", func(b *testing.B) { benchmarkTaskHandler(b, func(h http.Handler) http.Handler { return h }) })
	b.Run("off", func(b *testing.B) { benchmarkTaskHandler(b, TaskHandler) })
	b.Run("wrapped", func(b *testing.B) {
		emptyTasks(b)
		benchmarkTaskHandler(b, TaskHandler)
	})
	measured := func(b *testing.B) {
		if err := task.Start(task.Config{}); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(task.Stop)
	}
	b.Run("on", func(b *testing.B) {
		measured(b)
		benchmarkTaskHandler(b, TaskHandler)
	})
	// Without a server.
	direct := func(b *testing.B, wrap func(http.Handler) http.Handler) {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /hello", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello, world\n") })
		h, r, w := wrap(mux), httptest.NewRequest("GET", "/hello", nil), discardWriter{}
		b.ReportAllocs()
		for b.Loop() {
			h.ServeHTTP(w, r)
		}
	}
	b.Run("bare/direct", func(b *testing.B) { direct(b, func(h http.Handler) http.Handler { return h }) })
	b.Run("off/direct", func(b *testing.B) { direct(b, TaskHandler) })
	b.Run("wrapped/direct", func(b *testing.B) {
		emptyTasks(b)
		direct(b, TaskHandler)
	})
	b.Run("on/direct", func(b *testing.B) {
		measured(b)
		direct(b, TaskHandler)
	})
}

type discardWriter struct{}

func (discardWriter) Header() http.Header               { return nil }
func (discardWriter) WriteHeader(int)                   {}
func (discardWriter) Write(b []byte) (int, error)       { return len(b), nil }
func (discardWriter) WriteString(s string) (int, error) { return len(s), nil }

// emptyTasks makes TaskHandler use tasks that do nothing.
func emptyTasks(tb testing.TB) {
	fakeTasks(tb)
	taskReceive = func(ctx context.Context, kind string, h taskHeader) (context.Context, recordedTask) {
		return ctx, emptyTask{}
	}
}

type emptyTask struct{ recordedTask }

func (emptyTask) Matched(string)                  {}
func (emptyTask) EndRequest(string, string, bool) {}
func (emptyTask) Wants() bool                     { return false }

// TestTaskHandlerTooLong tests that ReadFrom copies to the Content-Length and no further, as
// it does without TaskHandler.
func TestTaskHandlerTooLong(t *testing.T) {
	fakeTasks(t)
	ts := testServer(t, false, TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "600")
		n, err := w.(io.ReaderFrom).ReadFrom(io.LimitReader(strings.NewReader(strings.Repeat("x", 2000)), 1000))
		if n != 600 || err != http.ErrContentLength {
			t.Errorf("ReadFrom: %d, %v; want 600, %v", n, err, http.ErrContentLength)
		}
	})))
	if _, body, err := do(t, ts, "GET", "/"); len(body) != 600 || err != nil {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}
