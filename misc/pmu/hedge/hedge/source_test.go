// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"net/url"
	"os"
	"path/filepath"
	"runtime/hazard"
	"strings"
	"sync"
	"testing"
)

// shm returns a file on tmpfs.
func shm(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "hedge-test-*")
	if err != nil {
		t.Skipf("pages are published on Linux: %v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "page")
}

func publish(t testing.TB, file string) *hazard.Publisher {
	t.Helper()
	p, err := hazard.Publish(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// A watched is a Transport whose first server has a source.
type watched struct {
	testing.TB
	*Transport
	logged *syncBuilder
}

func watchSource(t testing.TB, s Source) *watched {
	u, _ := url.Parse("http://a.test")
	w := &watched{TB: t, logged: new(syncBuilder)}
	var err error
	w.Transport, err = New(Config{Backends: []Backend{{URL: u, Source: s}, {URL: u}}, ErrorLog: log.New(w.logged, "", 0)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// until waits until the server says that it is in a state, for a reason, and whether it is avoided.
func (w *watched) until(state, reason string, avoided bool) {
	w.Helper()
	eventually(w, fmt.Sprintf("%s (%s), avoided: %v", state, reason, avoided), func() bool {
		b := w.Stats().Backends[0]
		return b.State == state && strings.Contains(b.Reason, reason) && b.Avoided == avoided
	})
}

type syncBuilder struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuilder) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuilder) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestFile tests a page that is not there yet, changes, ends, and is there again.
func TestFile(t *testing.T) {
	file := shm(t)
	w := watchSource(t, File(file))
	eventually(t, "that it says nothing is logged", func() bool { return strings.Contains(w.logged.String(), "no such file") })
	w.until("unknown", "", false)
	for range 2 {
		p := publish(t, file)
		w.until("OK", "", false)
		p.Set(hazard.Draining, "new version")
		w.until("Draining", "new version", true)
		p.Set(hazard.OK, "")
		w.until("OK", "", false)
		p.Close()
		w.until("Gone", "", true)
	}
	if n := strings.Count(w.logged.String(), "\n"); n > 4 {
		t.Errorf("logged %d times:\n%s", n, w.logged)
	}
	os.WriteFile(file, []byte("something else"), 0o600)
	w.until("unknown", "", false)
}

// TestStream tests the same by HTTP, and what says nothing.
func TestStream(t *testing.T) {
	check := leaks(t)
	srv := httptest.NewServer(http.HandlerFunc(pprof.Hazard))
	client := &http.Client{Transport: &http.Transport{}}
	w := watchSource(t, Stream(srv.URL, client))
	eventually(t, "that it says nothing is logged", func() bool { return strings.Contains(w.logged.String(), "hazard.Publish") })
	w.until("unknown", "", false)
	file := shm(t)
	for range 2 {
		p := publish(t, file)
		w.until("OK", "", false)
		p.Set(hazard.Draining, "new version")
		w.until("Draining", "new version", true)
		p.Close()
		// There is nothing any more, and the server says so.
		w.until("unknown", "", false)
	}
	p := publish(t, file)
	w.until("OK", "", false)
	srv.CloseClientConnections()
	srv.Close()
	w.until("Gone", "broken", true)
	p.Close()
	w.Close()
	client.CloseIdleConnections()
	check()
}

// TestStreamErrors tests streams that are not what they should be.
func TestStreamErrors(t *testing.T) {
	event := "event: status\nid: 1\ndata: %s\n\n"
	for _, c := range []struct{ name, kind, text, want string }{
		{"text", "text/plain", "something else", "no event stream"},
		{"no JSON", "text/event-stream", fmt.Sprintf(event, "x"), "invalid character"},
		{"no state", "text/event-stream", fmt.Sprintf(event, `{"number":1,"state":"Sleepy","program":"OK"}`), "want a number, a state"},
		{"no number", "text/event-stream", fmt.Sprintf(event, `{"state":"OK","program":"OK"}`), "want a number, a state"},
		{"long", "text/event-stream", strings.Repeat("x", 1<<20), "too long"},
		{"none", "text/event-stream", "", "has ended"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", c.kind)
			io.WriteString(w, c.text)
		}))
		w := watchSource(t, Stream(srv.URL, nil))
		eventually(t, c.name+": an error is logged", func() bool { return strings.Contains(w.logged.String(), c.want) })
		w.until("unknown", "", false)
		w.Close()
		srv.Close()
	}
}

// TestSilence tests a server of which nothing is heard, and then something again.
func TestSilence(t *testing.T) {
	beats := make(chan bool)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "beat=10ms" {
			t.Errorf("asked with %q", r.URL.RawQuery)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(w, "event: status\nid: 1\ndata: {\"number\":1,\"state\":\"OK\",\"program\":\"OK\",\"reason\":\"\"}\n\n")
		w.(http.Flusher).Flush()
		for range beats {
			fmt.Fprint(w, ":\n\n")
			w.(http.Flusher).Flush()
		}
	}))
	defer srv.Close()
	w := watchSource(t, Stream(srv.URL, nil))
	for range 2 {
		w.until("Stopped", silent, true)
		for heard := false; !heard; {
			beats <- true
			b := w.Stats().Backends[0]
			heard = b.State == "OK" && !b.Avoided
		}
	}
	close(beats)
	w.until("Gone", "broken", true)
}
