// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// These tests are about what TaskHandler hands on: the very writer, and a request that is the
// server's in all that handlers look for.

// A lazyWriter sends its header late, as gin's does: websockets call WriteHeaderNow before
// they hijack.
type lazyWriter struct {
	http.ResponseWriter
	status int
}

func (w *lazyWriter) WriteHeader(status int)      { w.status = status }
func (w *lazyWriter) WriteHeaderNow()             { w.ResponseWriter.WriteHeader(w.status) }
func (w *lazyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
func (w *lazyWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return w.ResponseWriter.(http.Hijacker).Hijack()
}

// A plainWriter is what most middlewares have.
type plainWriter struct{ http.ResponseWriter }

// An openWriter is what they ought to have.
type openWriter struct{ http.ResponseWriter }

func (w openWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// TestTaskHandlerWriter tests that handlers get the writer that came, whatever its type, and what
// is known then of the answer.
func TestTaskHandlerWriter(t *testing.T) {
	same := func(w http.ResponseWriter) http.ResponseWriter { return w }
	plain := func(w http.ResponseWriter) http.ResponseWriter { return plainWriter{w} }
	open := func(w http.ResponseWriter) http.ResponseWriter { return openWriter{openWriter{w}} }
	lazy := func(w http.ResponseWriter) http.ResponseWriter { return &lazyWriter{w, 200} }
	nothing := func(w http.ResponseWriter) {}
	teapot := func(w http.ResponseWriter) { w.WriteHeader(418) }
	broken := func(w http.ResponseWriter) { w.WriteHeader(503); io.WriteString(w, "x") }
	abort := func(w http.ResponseWriter) { panic(http.ErrAbortHandler) }
	hijack := func(w http.ResponseWriter) {
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			c.Close()
		}
	}
	for _, tt := range []struct {
		name  string
		wrap  func(http.ResponseWriter) http.ResponseWriter
		do    func(http.ResponseWriter)
		want  string
		http1 bool // only
	}{
		{"the server's", same, broken, "status=503 failed", false},
		{"the server's, nothing", same, nothing, "status=200", false},
		{"plain", plain, broken, "", false},
		{"plain, nothing", plain, nothing, "", false},
		{"plain, abort", plain, abort, "status=aborted failed", false},
		{"open", open, broken, "status=503 failed", false},
		{"open, informational", open, func(w http.ResponseWriter) { w.WriteHeader(103); w.WriteHeader(204) }, "status=204", false},
		{"open, flush", open, func(w http.ResponseWriter) { http.NewResponseController(w).Flush() }, "status=200", false},
		{"open, nothing", open, nothing, "", false},
		{"open, abort", open, abort, "status=aborted failed", false},
		{"open, hijack", open, hijack, "status=hijacked", true},
		{"open, hijack and abort", open, func(w http.ResponseWriter) { hijack(w); abort(w) }, "status=hijacked failed", true},
		{"plain within open", func(w http.ResponseWriter) http.ResponseWriter { return openWriter{plainWriter{w}} }, teapot, "", false},
		{"lazy, not sent", lazy, teapot, "", false},
		{"lazy, sent", lazy, func(w http.ResponseWriter) {
			w.WriteHeader(418)
			w.(interface{ WriteHeaderNow() }).WriteHeaderNow()
		}, "status=418", false},
		{"lazy, upgrade", lazy, func(w http.ResponseWriter) {
			w.WriteHeader(101)
			w.(interface{ WriteHeaderNow() }).WriteHeaderNow()
			hijack(w)
		}, "status=101", true},
	} {
		for _, http2 := range []bool{false, true} {
			if http2 && tt.http1 {
				continue
			}
			l := fakeTasks(t)
			ts := testServer(t, http2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				want := tt.wrap(w)
				TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if w != want {
						t.Errorf("%s: the handler got a %T, want the very %T", tt.name, w, want)
					}
					tt.do(w)
				})).ServeHTTP(want, r)
			}))
			do(t, ts, "GET", "/")
			got := l.take(t)
			for i, s := range got {
				got[i] = strings.Replace(s, " context=canceled", "", 1)
			}
			if want := []string{"GET (no pattern) " + tt.want}; !slices.Equal(got, want) {
				t.Errorf("%s, HTTP/2 %v: tasks %q, want %q", tt.name, http2, got, want)
			}
			ts.Close()
		}
	}
}

// TestTaskHandlerOnce tests that there is one task per answer, even if a handler between has
// forgotten the context.
func TestTaskHandlerOnce(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		l := fakeTasks(t)
		h := TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) }))
		ts := testServer(t, http2, TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h.ServeHTTP(openWriter{w}, r.WithContext(t.Context()))
		})))
		for range 3 { // on one connection
			do(t, ts, "GET", "/")
		}
		one := "GET (no pattern) status=500 failed"
		l.want(t, "twice", one, one, one)
	}
}

// aroundTask are ways in which a request may come to TaskHandler. Each hands on to it.
var aroundTask = []struct {
	name string
	wrap func(h http.Handler) http.Handler
}{
	{"the server's", func(h http.Handler) http.Handler { return TaskHandler(h) }},
	{"within a mux", func(h http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/", TaskHandler(h))
		return mux
	}},
	{"within a middleware", func(h http.Handler) http.Handler {
		h = TaskHandler(h)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(plainWriter{w}, r) })
	}},
	{"within a limit", func(h http.Handler) http.Handler {
		h = TaskHandler(h)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
			h.ServeHTTP(w, r)
		})
	}},
	{"within a limit and a middleware", func(h http.Handler) http.Handler {
		h = TaskHandler(h)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Body = http.MaxBytesReader(w, r.Body, 1<<20)
			h.ServeHTTP(plainWriter{w}, r)
		})
	}},
	{"twice", func(h http.Handler) http.Handler {
		mux := http.NewServeMux()
		mux.Handle("/", TaskHandler(TaskHandler(h)))
		return mux
	}},
}

// TestTaskHandlerTrailers tests that a handler finds the request's trailers, announced or not, as
// do those around it, and that the connection can be used again.
func TestTaskHandlerTrailers(t *testing.T) {
	fakeTasks(t)
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		before := len(r.Trailer)
		b, err := io.ReadAll(r.Body)
		fmt.Fprint(w, before, string(b), r.Trailer, err)
	})
	for _, tt := range []struct{ name, header, end, want string }{
		{"none", "", "\r\n", "0 abc map[] <nil>"},
		{"announced", "Trailer: X-A\r\n", "X-A: 1\r\n\r\n", "1 abc map[X-A:[1]] <nil>"},
		{"not announced", "", "X-A: 1\r\n\r\n", "0 abc map[X-A:[1]] <nil>"},
		{"some announced", "Trailer: X-A\r\n", "X-A: 1\r\nX-B: 2\r\n\r\n", "1 abc map[X-A:[1] X-B:[2]] <nil>"},
		{"asked for", "Expect: 100-continue\r\n", "X-A: 1\r\n\r\n", "0 abc map[X-A:[1]] <nil>"},
	} {
		for _, a := range aroundTask {
			var around http.Header
			inner := a.wrap(h)
			ts := testServer(t, false, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				inner.ServeHTTP(w, r)
				around = r.Trailer
			}))
			if a.name == "the server's" {
				ts.Config.Handler = inner
			}
			c, err := net.Dial("tcp", ts.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			br := bufio.NewReader(c)
			for range 2 {
				around = nil
				io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"+tt.header+"\r\n3\r\nabc\r\n0\r\n"+tt.end)
				res, err := http.ReadResponse(br, nil)
				if err == nil && res.StatusCode == 100 {
					res, err = http.ReadResponse(br, nil)
				}
				if err != nil {
					t.Fatalf("%s, %s: %v", tt.name, a.name, err)
				}
				b, _ := io.ReadAll(res.Body)
				if got := strings.TrimPrefix(string(b), "0abc"); strings.ReplaceAll(string(b), " ", "") != strings.ReplaceAll(tt.want, " ", "") {
					t.Errorf("%s, %s: %q, want %q (%s)", tt.name, a.name, b, tt.want, got)
				}
			}
			c.Close()
			ts.Close() // when all handlers are done
			if a.name != "the server's" && !strings.Contains(tt.want, fmt.Sprint(around)) {
				t.Errorf("%s, %s: the handler around has %v", tt.name, a.name, around)
			}
		}
	}
	// HTTP/2 drops those that are not announced.
	for _, a := range aroundTask {
		ts := testServer(t, true, a.wrap(h))
		r, _ := http.NewRequest("POST", ts.URL, io.MultiReader(strings.NewReader("abc")))
		r.Trailer = http.Header{"X-A": {"1"}}
		res, err := ts.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if want := "1abcmap[X-A:[1]]<nil>"; strings.ReplaceAll(string(b), " ", "") != want {
			t.Errorf("HTTP/2, %s: %q, want %q", a.name, b, want)
		}
		ts.Close()
	}
}

// TestTaskHandlerGoesOn tests that goroutines of a handler may go on with its request, and
// those of handlers around it with theirs: the race detector finds what TaskHandler has to
// do with it.
func TestTaskHandlerGoesOn(t *testing.T) {
	fakeTasks(t)
	for _, a := range aroundTask {
		for _, http2 := range []bool{false, true} {
			var wg sync.WaitGroup
			mux := http.NewServeMux()
			mux.HandleFunc("/{x}", func(w http.ResponseWriter, r *http.Request) {
				wg.Go(func() {
					r.FormValue("a")
					r.SetPathValue("x", r.PathValue("x"))
					r.Header = r.Header.Clone()
					r.URL.Path = "/"
				})
				if r.Method == "POST" {
					io.WriteString(w, "x")
				}
			})
			inner := a.wrap(mux)
			h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == "GET" {
					// It is a request like others, unless it has an old-style body.
					wg.Go(func() { _ = r.URL; _ = r.Trailer; _ = r.MultipartForm; _ = r.Form; _ = r.Context() })
				}
				inner.ServeHTTP(w, r)
			})
			ts := testServer(t, http2, h)
			if a.name == "the server's" {
				ts.Config.Handler = inner
			}
			for range 10 {
				do(t, ts, "GET", "/1?a=b")
				res, err := ts.Client().Post(ts.URL+"/1", "application/x-www-form-urlencoded", io.MultiReader(strings.NewReader("a=b")))
				if err != nil {
					t.Fatal(err)
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
			wg.Wait()
			ts.Close()
		}
	}
}

// TestTaskHandlerGivenUp tests a handler that goes on when a timeout around it has answered
// in its place, and that the answers of later requests are not taken for its own.
func TestTaskHandlerGivenUp(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		l := fakeTasks(t)
		goOn := make(chan bool)
		var wg sync.WaitGroup
		h := TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-goOn }))
		ts := testServer(t, http2, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/slow":
				began := make(chan bool)
				wg.Go(func() {
					// Its writer is not used any more, but leads to the server's.
					h.ServeHTTP(beganWriter{openWriter{w}, sync.OnceFunc(func() { close(began) })}, r.WithContext(t.Context()))
				})
				<-began
				return
			case "/hijack":
				if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
					c.Close()
				}
			}
			w.Header().Set("A", "1")
			w.WriteHeader(503)
		}))
		const n = 10
		for range n {
			do(t, ts, "GET", "/slow")
			do(t, ts, "GET", "/other")
		}
		do(t, ts, "GET", "/hijack")
		for range n {
			goOn <- true
		}
		wg.Wait()
		ts.Close()
		var want []string
		for range n {
			want = append(want, "GET (no pattern) ")
		}
		// Whether the server's own answer came before the watch is open.
		got := l.take(t)
		for i, s := range got {
			got[i] = strings.Replace(s, "status=200", "", 1)
		}
		if !slices.Equal(got, want) {
			t.Errorf("HTTP/2 %v: tasks %q, want %q", http2, got, want)
		}
	}
}

// A beganWriter calls began when TaskHandler looks at it.
type beganWriter struct {
	openWriter
	began func()
}

func (w beganWriter) Unwrap() http.ResponseWriter {
	defer w.began()
	return w.ResponseWriter
}

// TestTaskHandlerAsBefore tests that requests and answers are the same with TaskHandler as
// without: all fields, all methods of the writer, and what comes over the wire.
func TestTaskHandlerAsBefore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, bytes.Repeat([]byte("0123456789"), 10000), 0o666); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /fields/{id}", func(w http.ResponseWriter, r *http.Request) {
		v := reflect.ValueOf(r).Elem()
		for i := range v.NumField() {
			switch f := v.Type().Field(i); f.Name {
			case "Body", "TLS", "RemoteAddr", "Host", "ctx", "pat", "GetBody":
			default:
				fmt.Fprintf(w, "%s %v\n", f.Name, v.Field(i))
			}
		}
		fmt.Fprint(w, r.PathValue("id"), r.FormValue("a"), fmt.Sprintf("%T %T", r.Body, w))
	})
	mux.HandleFunc("GET /methods", func(w http.ResponseWriter, r *http.Request) {
		typ := reflect.TypeOf(w)
		for i := range typ.NumMethod() {
			fmt.Fprintln(w, typ.Method(i).Name)
		}
	})
	mux.HandleFunc("GET /file", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	mux.HandleFunc("GET /parts", func(w http.ResponseWriter, r *http.Request) {
		for range 3 {
			io.WriteString(w, "part")
			w.(http.Flusher).Flush()
		}
		w.Header().Set(http.TrailerPrefix+"T", "1")
	})
	mux.HandleFunc("GET /copy", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(w, io.LimitReader(strings.NewReader(strings.Repeat("x", 9999)), 8888))
		w.Header().Set(http.TrailerPrefix+"T", fmt.Sprint(n, err))
	})
	mux.HandleFunc("GET /failing", func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(w, io.MultiReader(strings.NewReader(""), failingReader{})); err != nil {
			http.Error(w, err.Error(), 500)
		}
	})
	mux.HandleFunc("GET /early", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(103); w.WriteHeader(304) })
	mux.Handle("GET /timeout", http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("A", "1")
		w.WriteHeader(202)
	}), time.Hour, ""))
	for _, http2 := range []bool{false, true} {
		answers := func(h http.Handler) (all []string) {
			ts := testServer(t, http2, h)
			defer ts.Close()
			for _, path := range []string{"/fields/1?a=b", "/methods", "/file", "/parts", "/copy", "/failing", "/early", "/timeout", "/none", "/fields"} {
				method := "GET"
				if strings.HasPrefix(path, "/fields/") {
					method = "POST"
				}
				for range 2 { // keep-alive
					res, body, err := do(t, ts, method, path)
					if err != nil {
						t.Fatal(err)
					}
					res.Header.Del("Date")
					all = append(all, fmt.Sprint(path, res.StatusCode, res.Header, res.Trailer, res.ContentLength, res.TransferEncoding, res.Close, body))
				}
			}
			return all
		}
		want := answers(mux)
		l := fakeTasks(t)
		for _, a := range aroundTask {
			if a.name == "within a mux" || a.name == "twice" || strings.Contains(a.name, "middleware") || strings.Contains(a.name, "limit") {
				// Its own pattern, writer or body would be seen.
				continue
			}
			for i, got := range answers(a.wrap(mux)) {
				if got != want[i] {
					t.Errorf("%s:\ngot  %q\nwant %q", a.name, got, want[i])
				}
			}
		}
		h := TaskHandler(mux)
		for i, got := range answers(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(w, r) })) {
			if got != want[i] {
				t.Errorf("within a handler:\ngot  %q\nwant %q", got, want[i])
			}
		}
		if len(l.take(t)) == 0 {
			t.Error("no tasks")
		}
	}
}

type failingReader struct{}

func (failingReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestTaskHandlerWithin tests that requests that a handler makes for other handlers of the program
// don't change the kind of the client's.
func TestTaskHandlerWithin(t *testing.T) {
	log := fakeTasks(t)
	mux := http.NewServeMux()
	h := TaskHandler(mux)
	mux.HandleFunc("POST /batch", func(w http.ResponseWriter, r *http.Request) {
		for _, h := range []http.Handler{mux, h} {
			sub, err := http.NewRequestWithContext(r.Context(), "GET", "/item/1", nil)
			if err != nil {
				t.Error(err)
			}
			h.ServeHTTP(httptest.NewRecorder(), sub)
		}
	})
	items := 0
	mux.HandleFunc("GET /item/{id}", func(w http.ResponseWriter, r *http.Request) { items++ })
	h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/batch", nil))
	if tasks := log.take(t); items != 2 || len(tasks) != 1 || !strings.Contains(tasks[0], "POST /batch") || strings.Contains(tasks[0], "item") {
		t.Errorf("%d items, tasks %q", items, tasks)
	}
}

// TestTaskHandlerPatternAround tests that handlers around TaskHandler see the pattern that a
// ServeMux within has chosen, as they do without it.
func TestTaskHandlerPatternAround(t *testing.T) {
	fakeTasks(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /a/{id}", func(w http.ResponseWriter, r *http.Request) {})
	for _, h := range []http.Handler{mux, http.HandlerFunc(mux.ServeHTTP)} {
		for _, path := range []string{"/a/1", "/b"} {
			serve := func(h http.Handler) (string, string) {
				r := httptest.NewRequest("GET", path, nil)
				r.Pattern = "outer"
				h.ServeHTTP(httptest.NewRecorder(), r)
				return r.Pattern, r.PathValue("id")
			}
			pattern, id := serve(TaskHandler(h))
			wantPattern, wantID := serve(h)
			if pattern != wantPattern || id != wantID {
				t.Errorf("%T, %s: pattern %q, id %q; want %q, %q", h, path, pattern, id, wantPattern, wantID)
			}
		}
	}
}
