// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if os.Getenv("HEDGE_TEST_MAIN") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestProxy tests the command: a request goes through it, and it says so.
func TestProxy(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.URL.Path+" "+r.Header.Get("X-Forwarded-Host"))
	}))
	defer srv.Close()
	cmd := exec.Command(os.Args[0], "-listen", "127.0.0.1:0", "-debug", "127.0.0.1:0", "-rate", "1",
		"-backend", srv.URL, "-backend", srv.URL+","+srv.URL)
	cmd.Env = append(os.Environ(), "HEDGE_TEST_MAIN=1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	var proxy, debug string
	for in := bufio.NewScanner(stderr); (proxy == "" || debug == "") && in.Scan(); {
		_, url, _ := strings.Cut(in.Text(), "http://")
		if d, ok := strings.CutSuffix(url, "/debug/hedge"); ok {
			debug = "http://" + d
		} else if strings.Contains(in.Text(), "requests at") {
			proxy = "http://" + url
		}
	}
	go io.Copy(io.Discard, stderr)
	if got, want := get(t, proxy+"/cart"), "/cart "+strings.TrimPrefix(proxy, "http://"); got != want {
		t.Errorf("answer %q, want %q", got, want)
	}
	if got := get(t, debug+"/debug/hedge"); !strings.Contains(got, `"requests": 1,`) || !strings.Contains(got, srv.URL) {
		t.Errorf("/debug/hedge: %s", got)
	}
	if got := get(t, debug+"/debug/pprof/tasks"); !strings.Contains(got, "GET /cart") {
		t.Errorf("/debug/pprof/tasks: %s", got)
	}
}

func TestBackends(t *testing.T) {
	var b backends
	for _, arg := range []string{"http://localhost:1", "http://localhost:1,/dev/shm/x", "http://localhost:1,https://localhost:2/debug/pprof/hazard"} {
		if err := b.Set(arg); err != nil {
			t.Errorf("%s: %v", arg, err)
		}
	}
	if len(b) != 3 || b[0].Source != nil || b[1].Source == nil || b[2].Source == nil {
		t.Errorf("%+v", b)
	}
	for _, arg := range []string{"http://local host", "http://localhost:1,x", "http://localhost:1,http://%zz"} {
		if err := b.Set(arg); err == nil {
			t.Errorf("%s: no error", arg)
		}
	}
}
