// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package http

import (
	"bufio"
	"context"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"
	"testing"
)

type taskTestHandler struct{ int }

func (*taskTestHandler) ServeHTTP(ResponseWriter, *Request) {}

// TestOwnTaskRequest tests that the context of a request is only set in place if the server
// has just made it, for that handler.
func TestOwnTaskRequest(t *testing.T) {
	h, other := new(taskTestHandler), new(taskTestHandler)
	r := new(Request).WithContext(context.Background())
	w := &response{req: r, conn: &conn{server: &Server{Handler: h}}}
	if c := ownTaskRequest(w, r, h); c != &r.ctx {
		t.Errorf("%p, want %p", c, &r.ctx)
	}
	with := func(h Handler) *response { return &response{req: r, conn: &conn{server: &Server{Handler: h}}} }
	for name, c := range map[string]*context.Context{
		"a copy":                  ownTaskRequest(w, r.WithContext(r.Context()), h),
		"one with another writer": ownTaskRequest(struct{ ResponseWriter }{w}, r, h),
	} {
		if c != nil {
			t.Errorf("%s is taken for the server's own request", name)
		}
	}
	if serves(new(Server), h) {
		t.Skip("all handlers are wrapped here")
	}
	for name, h2 := range map[string]Handler{"another": other, "a function": HandlerFunc(h.ServeHTTP), "DefaultServeMux": nil} {
		if ownTaskRequest(with(h2), r, h) != nil {
			t.Errorf("the server's handler is %s, and its request is taken for h's", name)
		}
	}
}

// TestMatchTask tests that it does what ServeMux.ServeHTTP does, and that its pattern is one that
// is registered.
func TestMatchTask(t *testing.T) {
	defer func(was bool) { use121 = was }(use121)
	for _, use121 = range []bool{false, true} {
		mux, other := NewServeMux(), NewServeMux()
		h := new(taskTestHandler)
		registered := []string{"GET /a/{id}", "/t/{x}/", "/c/", "example.com/d/"}
		if use121 {
			registered = []string{"/a/1", "/t/x/", "/c/", "example.com/d/"}
		}
		for _, p := range registered {
			mux.Handle(p, h)
			other.Handle(p, h)
		}
		for _, tt := range []struct{ method, path, pattern string }{
			{"GET", "/a/1", registered[0]},
			{"POST", "/a/2", ""},
			{"GET", "/b", ""},
			{"GET", "/c/x", "/c/"},
			{"GET", "/c", ""}, // redirects, all of them
			{"GET", "/c//x", ""},
			{"GET", "/t/x", ""},
			{"CONNECT", "/t/x", ""},
			{"CONNECT", "/c", ""},
			{"CONNECT", "/t/x/", registered[1]},
			{"OPTIONS", "*", ""},
		} {
			r := &Request{Method: tt.method, RequestURI: tt.path, URL: &url.URL{Path: tt.path}, Host: "x"}
			got, pattern := matchTask(mux, r)
			if use121 && pattern != "" && tt.pattern == "" && got == Handler(mux) && (tt.path == "/c" || tt.path == "/t/x" || tt.path == "/c//x") {
				// Go 1.21 has the pattern of where it redirects to, if that is registered.
				tt.pattern = pattern
				if pattern != "/c/" && pattern != "/t/x/" {
					t.Errorf("%s %s: pattern %q is not registered", tt.method, tt.path, pattern)
				}
			}
			if pattern != tt.pattern {
				t.Errorf("use121 %v: %s %s: pattern %q, want %q", use121, tt.method, tt.path, pattern, tt.pattern)
			}
			if use121 || tt.path == "*" {
				if got != Handler(mux) {
					t.Errorf("use121 %v: %s %s: handler %v", use121, tt.method, tt.path, got)
				}
				continue
			}
			r2 := &Request{Method: tt.method, RequestURI: tt.path, URL: &url.URL{Path: tt.path}, Host: "x"}
			other.ServeHTTP(httpNull{}, r2)
			if r.Pattern != r2.Pattern || (r.pat == nil) != (r2.pat == nil) || !slices.Equal(r.matches, r2.matches) || got == nil || (got == Handler(h)) != (tt.pattern != "") {
				t.Errorf("%s %s: handler %v, pattern %q, matches %q; a ServeMux has pattern %q, matches %q", tt.method, tt.path, got, r.Pattern, r.matches, r2.Pattern, r2.matches)
			}
		}
	}
}

type httpNull struct{}

func (httpNull) Header() Header              { return make(Header) }
func (httpNull) WriteHeader(int)             {}
func (httpNull) Write(b []byte) (int, error) { return len(b), nil }

// TestKeepTaskForm tests that the request that was copied gets the form, unless the server has
// looked for it already: then its files are removed.
func TestKeepTaskForm(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	over, cancel := context.WithCancel(t.Context())
	cancel()
	own := new(Request)
	for _, tt := range []struct {
		name   string
		server ResponseWriter
		r      *Request
		done   bool
		kept   bool
	}{
		{"the server's", &response{req: own, conn: &conn{}}, own, false, true},
		{"the server's, hijacked", &response{req: own, conn: &conn{hijackedv: true}}, own, false, true},
		{"the server's, given up", &response{req: own, conn: &conn{}}, own, true, false},
		{"a copy", &response{req: own, conn: &conn{}}, new(Request), false, true},
		{"a copy, given up", &response{req: own, conn: &conn{}}, new(Request).WithContext(over), true, true},
		{"nobody's", nil, new(Request), false, true},
		{"nobody's, over", nil, new(Request).WithContext(over), false, false},
	} {
		own.MultipartForm = nil
		if res, ok := tt.server.(*response); ok {
			res.handlerDone.Store(tt.done)
		}
		body := "--b\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\n" + strings.Repeat("x", 100) + "\r\n--b--\r\n"
		form, err := multipart.NewReader(strings.NewReader(body), "b").ReadForm(0)
		if err != nil {
			t.Fatal(err)
		}
		keepTaskForm(tt.server, tt.r, &Request{MultipartForm: form, Form: url.Values{}, Pattern: "p"})
		if kept := tt.r.MultipartForm == form; kept != tt.kept || tt.r.Form != nil || tt.r.Pattern != "" {
			t.Errorf("%s: kept %v, want %v: %+v", tt.name, kept, tt.kept, tt.r)
		}
		f, err := form.File["f"][0].Open()
		if (err == nil) != tt.kept {
			t.Errorf("%s: opening the file: %v", tt.name, err)
		}
		if err == nil {
			f.Close()
			form.RemoveAll()
		}
	}
}

// TestCopyTaskTrailer tests which requests get trailers, and that a body that another goroutine
// reads holds nothing up.
func TestCopyTaskTrailer(t *testing.T) {
	trailers := func(b *body) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.r = bufio.NewReader(strings.NewReader("X: 1\r\n\r\n"))
		b.maxTrailerHeaders = 10
		if err := b.readTrailer(); err != nil {
			t.Fatal(err)
		}
	}
	newBody := func() (*Request, *body) {
		r := &Request{ProtoMajor: 1, TransferEncoding: []string{"chunked"}}
		b := &body{hdr: r}
		r.Body = b
		return r, b
	}
	for _, tt := range []struct {
		name string
		w    func(r *Request, b *body) ResponseWriter // changes r too
	}{
		{"its body", func(*Request, *body) ResponseWriter { return nil }},
		{"a body that waits to be asked for", func(r *Request, b *body) ResponseWriter {
			r.Body = &expectContinueReader{readCloser: b}
			return nil
		}},
		{"the server's body, within another one", func(r *Request, b *body) ResponseWriter {
			r.Body = MaxBytesReader(nil, b, 1)
			return &response{req: r, reqBody: b}
		}},
		{"a body within another one", func(r *Request, b *body) ResponseWriter {
			r.Body = MaxBytesReader(nil, b, 1)
			return nil
		}},
	} {
		r, b := newBody()
		w := tt.w(r, b)
		r2 := r.WithContext(context.Background())
		copyTaskTrailer(w, r, r2)
		r3 := r2.WithContext(context.Background())
		copyTaskTrailer(w, r2, r3)
		r4 := r2.WithContext(context.Background()) // as others do, which have none
		was := r4.Trailer
		trailers(b)
		for i, r := range []*Request{r, r2, r3} {
			if r.Trailer.Get("X") != "1" {
				t.Errorf("%s: copy %d has %v", tt.name, i, r.Trailer)
			}
		}
		if was == nil && r4.Trailer != nil {
			t.Errorf("%s: another's copy has trailers", tt.name)
		}
	}

	r, b := newBody()
	b.mu.Lock() // as Read does
	copyTaskTrailer(nil, r, r.WithContext(context.Background()))
	b.mu.Unlock()
	if r.Trailer != nil || b.hdr != any(r) {
		t.Error("changed while another goroutine reads")
	}
	foreign := r.WithContext(context.Background())
	copyTaskTrailer(nil, foreign, foreign.WithContext(context.Background()))
	if b.hdr != any(r) {
		t.Error("a copy of a request that has no trailers gets them")
	}
	for _, r := range []*Request{
		{ProtoMajor: 1, Body: NoBody},
		{ProtoMajor: 2, TransferEncoding: []string{"chunked"}},
	} {
		if copyTaskTrailer(nil, r, r.WithContext(context.Background())); r.Trailer != nil {
			t.Errorf("a map for the trailers of %+v", r)
		}
	}
}
