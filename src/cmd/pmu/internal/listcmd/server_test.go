// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package listcmd

import (
	"bytes"
	"cmd/pmu/internal/verb"
	"fmt"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof"
	"runtime/pprof"
	"strings"
	"testing"
)

func call(args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	status = run(Verb, args, verb.IO{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &err})
	return status, out.String(), err.String()
}

// TestServer compares the list of a server, which is in this process, with the own one.
func TestServer(t *testing.T) {
	srv := httptest.NewServer(http.DefaultServeMux)
	defer srv.Close()
	wantStatus, want, _ := call("-all")
	for _, path := range []string{"/debug/pprof/", "/debug/pprof", "/debug/pprof/tasks?seconds=1"} {
		status, got, errs := call("-all", srv.URL+path)
		if status != wantStatus || errs != "" || got != want {
			t.Errorf("%s: status %d, want %d: %s\ngot\n%s\nwant\n%s", path, status, wantStatus, errs, got, want)
		}
	}
	if len(pprof.Events()) > 0 && strings.Count(want, "\n") < len(pprof.Events()) {
		t.Errorf("there are %d events:\n%s", len(pprof.Events()), want)
	}
}

// TestServerError tests answers that are no list.
func TestServerError(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r) }))
	defer srv.Close()
	for _, test := range []struct{ body, want string }{
		{"<html>an index that knows no events", "the answer is no list of events"},
		{"null", "the answer is no list of events"},
		{`{"Name":"cycles"}`, "the answer is no list of events"},
		{"", "the answer is no list of events"},
		{"[" + strings.Repeat(" ", 100) + "]", "more than 50 bytes"},
	} {
		answer = func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, test.body) }
		status, out, errs := call("-max", "50", srv.URL)
		if status != verb.Error || out != "" || !strings.Contains(errs, test.want) {
			t.Errorf("%q: status %d, %q, %q", test.body, status, out, errs)
		}
	}
	answer = func(w http.ResponseWriter, r *http.Request) { http.Error(w, "events are off", http.StatusForbidden) }
	if status, _, errs := call(srv.URL + "/debug/pprof/"); status != verb.Error || !strings.Contains(errs, "403") || !strings.Contains(errs, "events are off") {
		t.Errorf("403: status %d, %q", status, errs)
	}
	// What a server says may be obeyed by a terminal.
	answer = func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `[{"Name":"a\u001b[31m","Kind":"\n","Aliases":["\t"],"Sampled":true},{"Name":"b","Err":"why\u001b"}]`)
	}
	status, out, errs := call(srv.URL)
	if status != verb.OK || errs != "" || strings.ContainsAny(out, "\x1b\t") || !strings.Contains(out, "a\ufffd[31m") || !strings.Contains(out, "why\ufffd") {
		t.Errorf("status %d, %q, %q", status, out, errs)
	}
	for _, args := range [][]string{{"file"}, {srv.URL, srv.URL}, {"http://[::1"}} {
		if status, _, errs := call(args...); status != verb.Error || errs == "" {
			t.Errorf("%q: status %d, %q", args, status, errs)
		}
	}
}

// TestAddress tests that the error of what is no address says what one is.
func TestAddress(t *testing.T) {
	for _, address := range []string{"localhost:6060/debug/pprof/", ""} {
		if _, err := listURL(address); err == nil || !strings.Contains(err.Error(), "begins with http:// or https://") {
			t.Errorf("%q: error %v", address, err)
		}
	}
	if u, err := listURL("http://h:1"); err != nil || u != "http://h:1/debug/pprof/?events=1&format=json" {
		t.Errorf("no path: %q, error %v", u, err)
	}
	if _, err := listURL("http://"); err == nil || err.Error() != "the URL has no host" {
		t.Errorf("no host: error %v", err)
	}
}
