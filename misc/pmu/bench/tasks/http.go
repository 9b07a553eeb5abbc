// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.25

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"sort"
	"sync"
	"time"

	"pmu/bench/stretch"
)

const clients = 4

// timeHTTP measures requests to a server that says hello, over loopback, from clients in
// the same process.
func timeHTTP(rounds int) {
	hello := func() http.Handler {
		mux := http.NewServeMux()
		mux.HandleFunc("GET /hello", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello, world\n") })
		return mux
	}
	var calls []stretch.Call
	var ways []*way
	for _, w := range []struct {
		name    string
		handler http.Handler
		recording
	}{
		{"unwrapped", hello(), none},
		{"unwrapped, again", hello(), none},
		{"wrapped, off", pprof.TaskHandler(hello()), none},
		{"wrapped, slow ones", pprof.TaskHandler(hello()), tasks("", 0)},
		{"wrapped, 1 %", pprof.TaskHandler(hello()), tasks("", 0.01)},
		{"wrapped, all", pprof.TaskHandler(hello()), tasks("", 1)},
		{"unwrapped, flight recorder", hello(), flightRecorder()},
		{"unwrapped, execution trace", hello(), executionTrace()},
	} {
		way := newWay(w.handler)
		ways = append(ways, way)
		calls = append(calls, w.recording.call(w.name, way.do))
	}
	wall, cpu := stretch.Times(rounds, 100*time.Millisecond, calls...)
	show("request", calls, wall, cpu)
	for i, w := range ways {
		sort.Slice(w.latencies, func(i, j int) bool { return w.latencies[i] < w.latencies[j] })
		n := len(w.latencies)
		fmt.Printf("p50\trequest\t%s\t%d\n", calls[i].Name, w.latencies[n/2].Microseconds())
		fmt.Printf("p99\trequest\t%s\t%d\n", calls[i].Name, w.latencies[n*99/100].Microseconds())
		fmt.Printf("n\trequest\t%s\t%d\n", calls[i].Name, n)
		w.server.Close()
	}
}

// A way is a server with its clients, which keep their connections.
type way struct {
	server *httptest.Server
	client *http.Client

	mu        sync.Mutex
	latencies []time.Duration
}

func newWay(h http.Handler) *way {
	return &way{server: httptest.NewServer(h), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}}
}

// do makes n requests.
func (w *way) do(n int) {
	url := w.server.URL + "/hello"
	var wg sync.WaitGroup
	for c := 0; c < clients; c++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var took []time.Duration
			for i := c; i < n; i += clients {
				start := time.Now()
				resp, err := w.client.Get(url)
				must(err)
				_, err = io.Copy(io.Discard, resp.Body)
				must(err)
				resp.Body.Close()
				took = append(took, time.Since(start))
				if resp.StatusCode != http.StatusOK {
					must(fmt.Errorf("status %s", resp.Status))
				}
			}
			w.mu.Lock()
			w.latencies = append(w.latencies, took...)
			w.mu.Unlock()
		}()
	}
	wg.Wait()
}
