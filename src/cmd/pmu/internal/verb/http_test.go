// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package verb

import (
	"bufio"
	"flag"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestServe tests the pages of -http, whose address is printed, and that they are not for who
// comes by another name.
func TestServe(t *testing.T) {
	t.Setenv("BROWSER", "true")
	v := &Verb{Name: "verb"}
	fs := flag.NewFlagSet("", flag.PanicOnError)
	h := v.HTTP(fs)
	if h.Given() {
		t.Error("given by default")
	}
	if fs.Parse([]string{"-http=:"}); !h.Given() {
		t.Error("not given")
	}
	other := flag.NewFlagSet("", flag.ContinueOnError)
	other.SetOutput(io.Discard)
	v.HTTP(other)
	if err := other.Parse([]string{"-http=localhost"}); err == nil || !strings.Contains(err.Error(), "missing port") {
		t.Errorf("without a port: error %v", err)
	}
	r, w := io.Pipe()
	go h.ServePage(IO{Stderr: w}, "default-src 'none'", func(w io.Writer) error {
		_, err := io.WriteString(w, "the page")
		return err
	})
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, url, _ := strings.Cut(line, "are at ")
	url, _, _ = strings.Cut(url, " ")
	if !strings.HasPrefix(line, "pmu verb: ") || !strings.HasPrefix(url, "http://127.0.0.1:") && !strings.HasPrefix(url, "http://[::1]:") {
		t.Fatal(line)
	}
	_, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"))
	for _, tt := range []struct {
		host, path string
		status     int
	}{
		{"", "", http.StatusOK},
		{"localhost", "", http.StatusOK},
		{"localhost:" + port, "", http.StatusOK},
		{"[::1]:1", "", http.StatusOK},
		{"example.com", "", http.StatusForbidden},
		{"example.com:" + port, "", http.StatusForbidden},
		{"192.0.2.1", "", http.StatusForbidden},
		{"", "other", http.StatusNotFound},
	} {
		req, err := http.NewRequest("GET", url+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Host = tt.host
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != tt.status || (string(body) == "the page") != (tt.status == http.StatusOK) {
			t.Errorf("%+v: %s, %q, %v", tt, resp.Status, body, err)
		}
		if p := resp.Header.Get("Content-Security-Policy"); tt.status == http.StatusOK && p != "default-src 'none'" {
			t.Errorf("policy %q", p)
		}
	}
	for _, addr := range []string{"x", "localhost", ":http-none"} {
		if err := (&HTTP{addr: addr}).Serve(IO{Stderr: io.Discard}, nil); err == nil || !strings.HasPrefix(err.Error(), "-http: ") {
			t.Errorf("%q: %v", addr, err)
		}
	}
}
