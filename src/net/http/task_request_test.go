// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package http

import (
	"context"
	"mime/multipart"
	"net/url"
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
		"one that is watched":     ownTaskRequest(watchTask(w, &taskLog{}), r, h),
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

// TestMatchTask tests that it does what ServeMux.ServeHTTP does.
func TestMatchTask(t *testing.T) {
	mux := NewServeMux()
	h := new(taskTestHandler)
	mux.Handle("GET /a/{id}", h)
	for _, tt := range []struct{ method, path, pattern, id string }{
		{"GET", "/a/1", "GET /a/{id}", "1"},
		{"POST", "/a/1", "", ""},
		{"GET", "/b", "", ""},
	} {
		r := &Request{Method: tt.method, RequestURI: tt.path, URL: &url.URL{Path: tt.path}}
		m := matchTask(mux, r)
		if r.Pattern != tt.pattern || r.PathValue("id") != tt.id || (m == Handler(h)) != (tt.pattern != "") || m == nil {
			t.Errorf("%s %s: %v, pattern %q, id %q", tt.method, tt.path, m, r.Pattern, r.PathValue("id"))
		}
	}
	if m := matchTask(mux, &Request{Method: "OPTIONS", RequestURI: "*", URL: &url.URL{Path: "*"}}); m != nil {
		t.Errorf("*: %v", m)
	}
}

// TestKeepTaskRequest tests that what a handler leaves in its request is not forgotten.
func TestKeepTaskRequest(t *testing.T) {
	r := &Request{Method: "GET"}
	r2 := &Request{Method: "POST", Pattern: "p", Form: url.Values{}, PostForm: url.Values{}, MultipartForm: &multipart.Form{},
		pat: &pattern{segments: []segment{{s: "a", wild: true}}}, matches: []string{"1"}}
	r2.SetPathValue("b", "2")
	keepTaskRequest(r, r2)
	if r.Pattern != "p" || r.Form == nil || r.PostForm == nil || r.MultipartForm != r2.MultipartForm ||
		r.PathValue("a") != "1" || r.PathValue("b") != "2" || r.Method != "GET" {
		t.Errorf("kept %+v", r)
	}
}
