// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime/hazard"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestClientsGo tests clients that go away at any moment: nothing of them is left.
func TestClientsGo(t *testing.T) {
	check := leaks(t)
	clients := size(10_000, 500)
	var open atomic.Int32 // handlers
	p := newPair(t, Config{Budget: 1, Burst: 1000, Delay: func(string, time.Duration) time.Duration { return time.Millisecond }}, func(i int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			open.Add(1)
			defer open.Add(-1)
			io.Copy(io.Discard, r.Body)
			switch n := len(r.URL.Path); {
			case n%3 == 0: // for ever
				<-r.Context().Done()
			case n%3 == 1:
				io.WriteString(w, "begin")
				w.(http.Flusher).Flush()
				<-r.Context().Done()
			default:
				io.WriteString(w, "all")
			}
		})
	})
	stop := make(chan bool)
	var swaps, all sync.WaitGroup
	swaps.Go(func() { p.swapAround(stop, 2*time.Millisecond) })
	var next, gone atomic.Int64
	for c := range 16 {
		all.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 1))
			for n := next.Add(1); n <= int64(clients); n = next.Add(1) {
				if p.leave(r, n) {
					gone.Add(1)
				}
			}
		})
	}
	all.Wait()
	close(stop)
	swaps.Wait()
	s := p.settle(t)
	eventually(t, "no handler is left", func() bool { return open.Load() == 0 })
	t.Logf("%d clients, %d gone: %d requests, %d sent again: %d won, %d lost, %d cancelled", clients, gone.Load(), s.Requests, s.Resent, s.Won, s.Lost, s.Cancelled)
	if int(gone.Load()) < clients/2 || s.Cancelled == 0 {
		t.Error("that is no test")
	}
	p.end()
	check()
}

// leave is a client that goes away at some moment. It reports whether it did so before it had it all.
func (p *pair) leave(r *rand.Rand, n int64) bool {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var body io.Reader
	method := "GET"
	if n%2 == 0 {
		method, body = "POST", strings.NewReader(strings.Repeat("x", r.IntN(1000)))
	}
	req, err := http.NewRequestWithContext(ctx, method, p.proxy.URL+strings.Repeat("/x", 1+r.IntN(3)), body)
	if err != nil {
		panic(err)
	}
	if n%4 == 0 {
		req.Header.Set("Idempotency-Key", "x")
	}
	time.AfterFunc(time.Duration(r.IntN(int(10*time.Millisecond))), cancel)
	resp, err := p.client.Do(req)
	if err != nil {
		return true
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err != nil
}

// TestServersDie tests servers that end while requests are in flight, whether they say so or not.
// Each request has its answer from the other one, and nothing is left of the server.
func TestServersDie(t *testing.T) {
	const requests = 10
	check := leaks(t)
	for n := range size(100, 10) {
		var held atomic.Int32
		p := newPair(t, Config{Budget: 1, Burst: 100}, func(i int) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if i == 0 && r.URL.Path == "/held" {
					held.Add(1)
					<-r.Context().Done()
					return
				}
				w.Write(body)
			})
		})
		for range requests { // which earn what the others need
			if err := p.post("/", "x"); err != nil {
				t.Fatal(err)
			}
		}
		var all sync.WaitGroup
		for range requests {
			all.Go(func() {
				if err := p.post("/held", "y"); err != nil {
					t.Error(err)
				}
			})
		}
		eventually(t, "all are held", func() bool { return held.Load() == requests })
		if n%2 == 0 {
			p.sources[0].say(hazard.Gone, "killed")
		}
		p.servers[0].Listener.Close()
		p.servers[0].CloseClientConnections()
		all.Wait()
		s := p.settle(t)
		if s.Hedged != requests || s.Won != requests || n%2 == 0 && s.Swaps != 1 {
			t.Errorf("%+v", s)
		}
		// Later requests find the other one, if need be by one more duplicate.
		if err := p.post("/held", "z"); err != nil {
			t.Error(err)
		}
		if s = p.settle(t); s.Swaps != 1 || !s.Backends[1].Active {
			t.Errorf("%+v", s)
		}
		p.end()
	}
	check()
}

func (p *pair) post(path, body string) error {
	req, err := http.NewRequest("POST", p.proxy.URL+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Idempotency-Key", "1")
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err == nil && (string(got) != body || resp.StatusCode != 200) {
		err = fmt.Errorf("%s: %s, %q, want %q", path, resp.Status, got, body)
	}
	return err
}

// TestByteByByte tests answers that come in single bytes: the winner's is complete, though the
// other attempt ends, and that one's server is rid of it.
func TestByteByByte(t *testing.T) {
	check := leaks(t)
	const length = 2000
	var open atomic.Int32 // handlers
	var p *pair
	p = newPair(t, Config{Budget: 1, Burst: 1000}, func(i int) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			open.Add(1)
			defer open.Add(-1)
			if i == 0 {
				// Sent to the other one, which answers byte by byte. This one begins, too, and never ends.
				p.sources[0].drain()
				eventually(t, "it is sent again", func() bool { return p.Stats().Resent > 0 })
				<-r.Context().Done()
				return
			}
			for i := range length {
				w.Write([]byte{byte(i)})
				w.(http.Flusher).Flush()
			}
		})
	})
	for n := range size(200, 10) {
		p.sources[0].well()
		p.sources[1].well()
		eventually(t, "both are well", func() bool {
			s := p.Stats()
			return s.Backends[0].State == "OK" && s.Backends[1].State == "OK"
		})
		p.mu.Lock()
		p.active = p.backends[0]
		p.mu.Unlock()
		resp, err := p.client.Get(p.proxy.URL)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || len(got) != length || got[length-1] != byte((length-1)%256) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		eventually(t, "no handler is left", func() bool { return open.Load() == 0 })
		if s := p.settle(t); s.Won != uint64(n+1) {
			t.Fatalf("%+v", s)
		}
	}
	p.end()
	check()
}
