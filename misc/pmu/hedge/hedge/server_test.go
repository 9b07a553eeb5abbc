// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"testing"
	"time"
)

// eventually waits until a condition holds, for a minute at most.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !cond(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after a minute: not %s", what)
		}
	}
}

// A pair is two servers of this process, and a Transport to them, behind a proxy.
type pair struct {
	*Transport
	servers []*httptest.Server
	sources []*planted
	proxy   *httptest.Server
	client  *http.Client
	base    *http.Transport
}

// newPair starts one. The servers answer with what handler returns for their number.
func newPair(t testing.TB, c Config, handler func(i int) http.Handler) *pair {
	t.Helper()
	p := &pair{base: &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true}}
	for i := range 2 {
		s := httptest.NewUnstartedServer(handler(i))
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.Start()
		u, err := url.Parse(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		p.servers = append(p.servers, s)
		p.sources = append(p.sources, plant())
		c.Backends = append(c.Backends, Backend{URL: u, Source: p.sources[i]})
	}
	c.Base, c.Scoped = p.base, true
	c.ErrorLog = log.New(io.Discard, "", 0)
	var err error
	if p.Transport, err = New(c); err != nil {
		t.Fatal(err)
	}
	p.proxy = httptest.NewUnstartedServer(Proxy(p.Transport, c.ErrorLog))
	p.proxy.Config.ErrorLog = c.ErrorLog
	p.proxy.Start()
	p.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100, DisableCompression: true}}
	return p
}

// end ends all of it.
func (p *pair) end() {
	p.client.CloseIdleConnections()
	p.proxy.Close()
	p.Close()
	p.CloseIdleConnections()
	for _, s := range p.servers {
		s.CloseClientConnections()
		s.Close()
	}
}

// settle waits until nothing is in flight any more, and checks the sums.
func (p *pair) settle(t testing.TB) Stats {
	t.Helper()
	eventually(t, "all requests and duplicates have ended", func() bool {
		s := p.Stats()
		return s.InFlight == 0 && s.Running == 0
	})
	p.mu.Lock()
	if p.flights.first() != nil {
		t.Error("the table is not empty")
	}
	for _, k := range p.kinds {
		if k.waiting.first() != nil {
			t.Errorf("something of %s waits", k.name)
		}
	}
	p.mu.Unlock()
	s := p.Stats()
	checkStats(t, s, p.c.Budget)
	return s
}

// leaks returns a function that checks that there are no more goroutines and descriptors than when
// leaks was called.
func leaks(t testing.TB) (check func()) {
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	return func() {
		t.Helper()
		eventually(t, "as many goroutines as before", func() bool { return runtime.NumGoroutine() <= goroutines })
		eventually(t, "as many descriptors as before", func() bool { return descriptors(t) <= files })
	}
}

func descriptors(t testing.TB) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // elsewhere than on Linux
	}
	return len(list)
}

// swapAround has the servers drain in turns, until a channel is closed.
func (p *pair) swapAround(stop chan bool, each time.Duration) {
	states := []func(i int){
		func(i int) { p.sources[i].drain() },
		func(i int) { p.sources[i].stop() },
	}
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(each):
		}
		a := i / 2 % 2
		p.sources[1-a].well()
		states[i/4%2](a)
	}
}
