// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

//go:debug httpmuxgo121=0

// Hedge is a proxy that stands before servers that give the same answers. When the one that it asks
// says that it is stopped, drains or has gone, it asks another one, and sends what is in flight again.
//
//	../../goroot/bin/go run ./hedge -listen localhost:8080 \
//		-backend http://localhost:8081,/dev/shm/shop/a \
//		-backend http://localhost:8082,/dev/shm/shop/b
//
// What follows the comma is where the server says that: the file of its page, or the URL of its
// /debug/pprof/hazard if it runs on another machine. Without it only delays and failed connections tell.
//
// What the proxy has done is at /debug/hedge of the address of -debug, and what each request
// has waited for at /debug/pprof/tasks. doc/pmu-hazard.md has more.
package main

import (
	"flag"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"runtime/task"
	"time"

	"pmu/hedge/hedge"
)

var (
	listen = flag.String("listen", "localhost:8080", "`address` to serve at")
	debug  = flag.String("debug", "localhost:6060", "`address` of /debug/hedge and /debug/pprof; none, if empty")
	budget = flag.Float64("budget", 0.05, "requests that are sent again at most, as a `part` of all")
	delay  = flag.Duration("delay", 0, "send again after this `time`, not after what 99 of 100 take; never, if negative")
	name   = flag.String("name", "hedge", "of this server, in records of tasks")
	id     = flag.Uint("id", 1000, "of this server, in causal clocks")
	rate   = flag.Float64("rate", 0.01, "part of requests that are recorded, whether slow or not")
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("hedge: ")
	var backends backends
	flag.Var(&backends, "backend", "`URL[,FILE|,URL]` of a server, and where it says what state it is in; may be repeated")
	flag.Parse()
	if flag.NArg() > 0 || len(backends) == 0 || *id > math.MaxUint16 {
		flag.Usage()
		os.Exit(2)
	}
	l := log.New(os.Stderr, "", 0) // packages say their names themselves
	base := http.DefaultTransport.(*http.Transport).Clone()
	base.Proxy = nil
	base.MaxIdleConns, base.MaxIdleConnsPerHost = 0, 1000
	base.DisableCompression = true // the clients decide
	c := hedge.Config{
		Backends: backends,
		Base:     pprof.TaskTransport(base),
		Budget:   *budget,
		Scoped:   true,
		ErrorLog: l,
	}
	if *budget == 0 {
		c.Budget = -1
	}
	if *delay != 0 {
		c.Delay = func(string, time.Duration) time.Duration { return *delay }
	}
	t, err := hedge.New(c)
	if err != nil {
		log.Fatal(err)
	}
	if err := task.Start(task.Config{Name: *name, Server: uint16(*id), Rate: *rate}); err != nil {
		log.Fatal(err)
	}
	if *debug != "" {
		http.HandleFunc("GET /debug/hedge", t.ServeStats)
		serve("what was done at http://%s/debug/hedge", *debug, nil)
	}
	serve("requests at http://%s", *listen, pprof.TaskHandler(hedge.Proxy(t, l)))
	select {}
}

// serve serves at an address, until that fails.
func serve(what, addr string, h http.Handler) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf(what, l.Addr())
	go func() { log.Fatal(http.Serve(l, h)) }()
}
