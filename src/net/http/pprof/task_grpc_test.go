// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTaskGRPC tests that calls of gRPC fail by their grpc-status, on the server and in the client.
func TestTaskGRPC(t *testing.T) {
	const grpc = "application/grpc"
	trailer := func(w http.ResponseWriter, key, code string) {
		if key == grpcStatus {
			w.Header().Set("Trailer", key)
		}
		io.WriteString(w, "message")
		w.Header().Set(key, code)
	}
	for _, test := range []struct {
		name, contentType string
		answer            func(w http.ResponseWriter)
		code              string // with which both tasks fail, or none
	}{
		{"ok", grpc, func(w http.ResponseWriter) { trailer(w, grpcStatus, "0") }, ""},
		{"trailer", grpc, func(w http.ResponseWriter) { trailer(w, grpcStatus, "13") }, "13"},
		{"trailer, proto", grpc + "+proto", func(w http.ResponseWriter) { trailer(w, grpcStatus, "2") }, "2"},
		{"trailer, not announced", grpc, func(w http.ResponseWriter) { trailer(w, http.TrailerPrefix+grpcStatus, "14") }, "14"},
		{"trailers only", grpc, func(w http.ResponseWriter) { w.Header().Set(grpcStatus, "5") }, "5"},
		{"something else", "text/plain", func(w http.ResponseWriter) { trailer(w, grpcStatus, "13") }, ""},
		{"of another name", grpc + "x", func(w http.ResponseWriter) { trailer(w, grpcStatus, "13") }, ""},
	} {
		for _, wrapped := range []bool{false, true} {
			log := fakeTasks(t)
			h := TaskHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", test.contentType)
				test.answer(w)
			}))
			if wrapped {
				inner := h
				h = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					inner.ServeHTTP(struct{ http.ResponseWriter }{w}, r) // it hides the server's
				})
			}
			s := httptest.NewUnstartedServer(h)
			s.EnableHTTP2 = true
			s.StartTLS()
			c := s.Client()
			c.Transport = TaskTransport(c.Transport)
			r, _ := http.NewRequestWithContext(context.WithValue(context.Background(), fakeKey{}, 1), "POST", s.URL, strings.NewReader("x"))
			r.Header.Set("Content-Type", test.contentType)
			resp, err := c.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			if b, err := io.ReadAll(resp.Body); err != nil || resp.ProtoMajor != 2 {
				t.Errorf("%s: %q, %v, HTTP/%d", test.name, b, err, resp.ProtoMajor)
			}
			resp.Body.Close()
			s.Close()
			tasks := log.take(t)
			if len(tasks) != 2 {
				t.Fatalf("%s: tasks %q", test.name, tasks)
			}
			for _, got := range tasks {
				fails := strings.HasSuffix(got, " failed")
				_, code, _ := strings.Cut(got, "grpc-status=")
				code, _, _ = strings.Cut(code, " ")
				if fails != (test.code != "") || code != test.code {
					t.Errorf("%s: %q, want grpc-status %q", test.name, got, test.code)
				}
			}
		}
	}
}

// TestTaskGRPCClose tests, with the race detector, that an answer may be closed while it is read to
// its end.
func TestTaskGRPCClose(t *testing.T) {
	for range 20 {
		fakeTasks(t)
		resp := &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"application/grpc"}}, Body: io.NopCloser(strings.NewReader("x"))}
		resp.Trailer = http.Header{grpcStatus: {"13"}}
		rt := TaskTransport(roundTrip(func(r *http.Request) (*http.Response, error) { return resp, nil }))
		r, _ := http.NewRequestWithContext(context.WithValue(context.Background(), fakeKey{}, 1), "POST", "http://x", nil)
		resp, err := rt.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan bool)
		go func() {
			io.ReadAll(resp.Body)
			close(done)
		}()
		resp.Body.Close()
		<-done
	}
}
