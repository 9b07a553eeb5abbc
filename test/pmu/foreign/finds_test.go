// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
)

// around returns a middleware.
func around(f func(h http.Handler, w http.ResponseWriter, r *http.Request)) middleware {
	return func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(h, w, r) })
	}
}

// A poorContext has no values.
type poorContext struct{ context.Context }

func (poorContext) Value(any) any { return nil }

// mutants are handlers that change something, as TaskHandler might, each with the cases in
// which that is found by HTTP/1.1 and HTTP/2, or "" if HTTP/2 has it hidden.
var mutants = []struct {
	name         string
	case1, case2 string
	task         middleware
}{
	{"another writer", "plain", "plain", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(opaqueWriter{w}, r)
	})},
	{"all methods but ReadFrom", "copy-file", "", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(struct {
			http.ResponseWriter
			http.Flusher
			io.StringWriter
			unwrapping
		}{w, w.(http.Flusher), w.(io.StringWriter), unwrapping{w}}, r)
	})},
	{"one more field", "nothing", "nothing", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Task", "1")
		h.ServeHTTP(w, r)
	})},
	{"one field less", "head-length", "head-length", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		w.Header().Del("Content-Length")
	})},
	{"a field in small letters", "options", "", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		if v := w.Header()["Allow"]; v != nil {
			delete(w.Header(), "Allow")
			w.Header()["allow"] = v
		}
	})},
	{"a flush at the end", "plain", "plain", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		http.NewResponseController(w).Flush()
	})},
	{"a status at the end", "(log)", "", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		w.WriteHeader(200)
	})},
	{"an end to panics", "abort-header", "abort-header", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		defer func() { recover() }()
		h.ServeHTTP(w, r)
	})},
	{"another panic", "(log)", "(log)", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		defer func() {
			if recover() != nil {
				panic(http.ErrAbortHandler)
			}
		}()
		h.ServeHTTP(w, r)
	})},
	{"a copy of the request", "(files)", "", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(r.Context()))
	})},
	{"a deep copy of the request", "trailers-in-undeclared", "trailers-in", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.Clone(r.Context()))
	})},
	{"another body", "body", "body", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		r.Body = io.NopCloser(r.Body)
		h.ServeHTTP(w, r)
	})},
	{"a body that was read", "expect-refused", "expect-refused", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(b))
		h.ServeHTTP(w, r)
	})},
	{"a context without values", "plain", "plain", around(func(h http.Handler, w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(poorContext{r.Context()}))
	})},
}

// unwrapping is a method Unwrap.
type unwrapping struct{ w http.ResponseWriter }

func (u unwrapping) Unwrap() http.ResponseWriter { return u.w }

// TestFindsDifferences tests that TestSame would find what mutants do.
func TestFindsDifferences(t *testing.T) {
	for _, p := range []protocol{http1, http2} {
		want := visitSite(t, &stacks[0], p, place{}, nil, cases)
		for _, m := range mutants {
			name := m.case1
			if p == http2 {
				name = m.case2
			}
			if name == "" {
				continue
			}
			found, _ := differences(want, visitSite(t, &stacks[0], p, place{outside: true}, m.task, cases))
			if found[name] == "" {
				t.Errorf("%v: %s is not found in case %s", p, m.name, name)
			}
			t.Logf("%v: %s is found in %d cases", p, m.name, len(found))
		}
	}
}
