// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	_ "net/http/pprof"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// A config says how to run.
type config struct {
	duration time.Duration
	quiet    time.Duration // between two times without a profile
	seed     uint64
	clients  int
}

// A soak is one run. Its counters are written by all of its goroutines.
type soak struct {
	config
	logf func(format string, args ...any)
	addr string // of the server: http://127.0.0.1:PORT

	want    [works]string // the right answers, computed before the first profile
	signals string        // dispositions before it

	errors   atomic.Int64 // each is logged
	requests atomic.Int64 // answers of the service
	threads  atomic.Int64 // threads that came, computed and went
	procs    atomic.Int64 // processes started
	handled  atomic.Int64 // calls of serve, for the breakpoint on it

	prof   profiles
	meters []meter // at times without a profile; owned by run
}

func newSoak(c config, logf func(string, ...any)) *soak {
	s := &soak{config: c, logf: logf}
	s.prof.byStatus = make(map[string]int)
	s.prof.samples = make(map[string]int64)
	s.signals = dispositions()
	for i := range s.want {
		s.want[i] = work(uint64(i))
	}
	return s
}

// errorf notes that something is wrong. The run goes on, to show what else is.
func (s *soak) errorf(format string, args ...any) {
	if n := s.errors.Add(1); n <= 100 {
		s.logf("ERROR: "+format, args...)
	}
}

// run returns the number of errors.
func (s *soak) run() int64 {
	s.logf("%s, seed %d, %d clients, %v", runtime.Version(), s.seed, s.clients, s.duration)
	http.HandleFunc("/work", handle(s))
	server := httptest.NewServer(s.gated(http.DefaultServeMux))
	defer server.Close()
	s.addr = server.URL
	os.Setenv("GO_PPROF_ENABLE_HTTP_PROBES", "true")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	defer debug.SetGCPercent(debug.SetGCPercent(100))

	ctx, cancel := context.WithTimeout(context.Background(), s.duration)
	defer cancel()
	var load sync.WaitGroup
	for i := range s.clients {
		load.Go(func() { s.client(ctx, s.rand(1, i)) })
	}
	load.Go(func() { s.churnThreads(ctx) })
	load.Go(func() { s.startProcesses(ctx) })
	load.Go(func() { s.touchPages(ctx) })
	load.Go(func() { s.turnKnobs(ctx, s.rand(2, 0)) })

	// The service has to have grown to its size before it is measured.
	time.Sleep(min(s.quiet, s.duration/8))
	s.measure()
	for ctx.Err() == nil {
		s.profileFor(ctx, s.quiet)
		s.measure()
	}
	load.Wait()
	s.report()
	return s.errors.Load()
}

// report checks and prints what the run came to.
func (s *soak) report() {
	s.logf("requests: %d, threads: %d, processes: %d, errors: %d",
		s.requests.Load(), s.threads.Load(), s.procs.Load(), s.errors.Load())
	s.prof.report(s)
	first, last := medians(s.meters)
	s.logf("descriptors: %d at the start, %d at the end", first.fds, last.fds)
	s.logf("threads: %d at the start, %d at the end", first.threads, last.threads)
	s.logf("heap: %.1f MB at the start, %.1f MB at the end", mb(first.heap), mb(last.heap))
	s.logf("resident: %.1f MB at the start, %.1f MB at the end", mb(first.rss), mb(last.rss))
	if s.requests.Load() == 0 || s.threads.Load() == 0 || s.procs.Load() == 0 {
		s.errorf("there was no load")
	}
	// Connections of requests that were given up linger for a while.
	if last.fds > first.fds+10 {
		s.errorf("descriptors have grown")
	}
	if last.threads > first.threads+10 {
		s.errorf("threads have grown")
	}
	// Requests and profiles in flight have 2 to 9 MB of the heap. The medians of a long
	// run are of many measurements, those of a short run of a few.
	slack := 4 << 20
	if len(s.meters) < 30 {
		slack = 16 << 20
	}
	if last.heap > first.heap+first.heap/4+slack {
		s.errorf("the heap has grown")
	}
	if last.rss > first.rss+first.rss/4+24<<20 {
		s.errorf("resident memory has grown")
	}
}

func mb(n int) float64 { return float64(n) / 1e6 }
