// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package source

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestErrors tests that an error says what is wrong, and what would help.
func TestErrors(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/cut", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "the beginning")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	srv := httptest.NewServer(mux)
	defer srv.Close()
	gone := httptest.NewServer(mux)
	gone.Close()
	host := strings.TrimPrefix(srv.URL, "http://")
	for _, test := range []struct {
		name string
		src  Source
		want string
		not  string // said by the caller, or of no use
	}{
		{host + "/debug/pprof/tasks", Source{}, "no such file or directory: a URL begins with http:// or https://", ""},
		{"localhost/debug/pprof/tasks", Source{}, "no such file or directory: a URL begins with http:// or https://", ""},
		{"none", Source{}, "no such file or directory", "URL"},
		{"", Source{}, "no such file or directory", "URL"},
		{"http://", Source{}, "the URL has no host", "Get"},
		{srv.URL, Source{}, "404 page not found\": profiles are below /debug/pprof/", ""},
		{srv.URL + "/", Source{Path: "/debug/pprof/tasks"}, "does it import net/http/pprof?", ""},
		{gone.URL + "/x", Source{}, ": is the server running, and is this its address?", "Get"},
		{srv.URL + "/none", Source{}, `the server says 404 Not Found: "404 page not found"`, "task"},
		{srv.URL + "/debug/pprof/tasks", Source{}, "404 page not found\": has the program been built with this Go, and does it import net/http/pprof?", ""},
		{srv.URL + "/slow", Source{Timeout: time.Millisecond}, "it took longer than 1ms: raise -timeout", "Get"},
		{srv.URL + "/cut", Source{Timeout: 100 * time.Millisecond}, "it took longer than 100ms: raise -timeout", "Get"},
		{srv.URL + "/cut", Source{Timeout: -1}, "-timeout is -1ns: it must not be less than 0", "Get"},
	} {
		test.src.Max = 1 << 20
		var data []byte
		r, err := test.src.Open(test.name)
		if err == nil {
			data, err = io.ReadAll(r)
			r.Close()
		}
		if err == nil {
			t.Errorf("%s: no error, and %q", test.name, data)
			continue
		}
		if s := err.Error(); !strings.Contains(s, test.want) || test.not != "" && strings.Contains(s, test.not) {
			t.Errorf("%s: %q, and not %q without %q", test.name, s, test.want, test.not)
		}
	}
}

// TestMissing tests that the trailers of a server's answer are read, when all of it was.
func TestMissing(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Go-Tasks-Lost, X-Go-Tasks-Left-Out")
		io.WriteString(w, "records")
		w.Header().Set("X-Go-Tasks-Lost", r.FormValue("lost"))
		w.Header().Set("X-Go-Tasks-Left-Out", r.FormValue("left"))
	}))
	defer srv.Close()
	for _, test := range []struct {
		query string
		max   int64
		want  string
	}{
		{"lost=0&left=0", 100, ""},
		{"lost=3&left=0", 100, "3 records were lost on the server, where newer ones took the place in the rings"},
		{"lost=1&left=2", 100, "1 record was lost on the server, where newer ones took the place in the rings|2 records were left out by the server as too large for the format"},
		{"lost=x&left=-1", 100, ""},
		{"lost=3&left=0", 2, ""}, // it has not been read to the end
	} {
		src := Source{Max: test.max}
		r, err := src.Open(srv.URL + "/?" + test.query)
		if err != nil {
			t.Fatal(err)
		}
		if list := r.Missing(); list != nil {
			t.Errorf("%s: before it was read: %q", test.query, list)
		}
		io.ReadAll(r)
		if got := strings.Join(r.Missing(), "|"); got != test.want {
			t.Errorf("%s: %q, want %q", test.query, got, test.want)
		}
		r.Close()
	}
	src := Source{Max: 1, Stdin: strings.NewReader("")}
	if r, err := src.Open("-"); err != nil || r.Missing() != nil {
		t.Errorf("of standard input: %v", err)
	}
}
