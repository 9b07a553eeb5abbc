// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package foreign

import (
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long to wait for what must happen. Nothing takes as long on a machine that
// is not overloaded.
const patience = 20 * time.Second

// A site is a server, and those behind it.
type site struct {
	t        *testing.T
	seen     *notebook
	log      *serverLog
	errorLog *log.Logger // writes to log
	servers  []*httptest.Server
}

func newSite(t *testing.T) *site {
	s := &site{t: t, seen: new(notebook), log: new(serverLog)}
	s.errorLog = log.New(s.log, "", 0)
	t.Cleanup(s.close)
	return s
}

// serve starts a server, which close ends.
func (s *site) serve(h http.Handler, p protocol) *httptest.Server {
	ts := httptest.NewUnstartedServer(h)
	ts.Config.ErrorLog = s.errorLog
	if p == http2 {
		ts.EnableHTTP2 = true
		ts.StartTLS()
	} else {
		ts.Start()
	}
	s.servers = append(s.servers, ts)
	return ts
}

// close ends the servers, the outer ones first. It may be called several times.
func (s *site) close() {
	for i := len(s.servers) - 1; i >= 0; i-- {
		s.servers[i].Close()
	}
	s.servers = nil
	s.awaitHandlers()
}

// awaitHandlers waits for the goroutines of HTTP/2 handlers, which no server waits for: they log a
// panic when the client knows of it.
func (s *site) awaitHandlers() {
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		var stacks strings.Builder
		pprof.Lookup("goroutine").WriteTo(&stacks, 1)
		if !strings.Contains(stacks.String(), "http2.(*serverConn).runHandler") {
			return
		}
		if time.Now().After(deadline) {
			s.t.Error("handlers go on when their server has ended")
			return
		}
	}
}

// A serverLog has the lines of a server's ErrorLog. Of stacks of panics it has the first
// line: they have TaskHandler, as they must.
type serverLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *serverLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first, _, _ := strings.Cut(string(b), "\n")
	l.lines = append(l.lines, hidePorts(first))
	return len(b), nil
}

// sorted returns the lines in the order of their text: that in time depends on goroutines.
func (l *serverLog) sorted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.lines))
}

var port = regexp.MustCompile(`127\.0\.0\.1:\d+`)

func hidePorts(s string) string { return port.ReplaceAllString(s, "127.0.0.1:port") }
