// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build pmutest

package httputil_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof"
	"testing"
)

// TestTaskHook tests what makes this package's tests ones of pprof.TaskHandler: the import
// of net/http/pprof with the build tag.
func TestTaskHook(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		ts := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%T", r.Context())
		}))
		ts.EnableHTTP2 = http2
		ts.StartTLS()
		defer ts.Close()
		res, err := ts.Client().Get(ts.URL)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if string(b) != "*pprof.served" {
			t.Errorf("%s: the request's context is a %s, not one of TaskHandler", res.Proto, b)
		}
	}
}
