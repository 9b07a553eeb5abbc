// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Soak is a long test of a service that is profiled while it works.
//
// It is one process with a net/http server on loopback. Its clients have it parse,
// match, sort and hash, and check every answer against the one computed before the
// first profile. Threads come and go, processes are
// started, GOMAXPROCS and the garbage collector's pace change. Meanwhile
// another client takes profiles from /debug/pprof/profile: random events,
// periods and durations, requests that it gives up, two at once, and requests
// that must be refused.
//
// From time to time no profile runs. Then nothing of the profiler may be left: no
// counter, no ring, no change of SIGPROF's handler, no signal, and no more descriptors,
// threads or memory than the first time.
//
//	go run ./soak -duration 30m
//
// needs the fork's go command. The last line is "soak: ok" or the exit status
// is 1; -seed repeats a run's random choices, as far as timing allows.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	var c config
	flag.DurationVar(&c.duration, "duration", 30*time.Minute, "how long to run")
	flag.DurationVar(&c.quiet, "quiet", 20*time.Second, "time between two times without a profile")
	flag.Uint64Var(&c.seed, "seed", uint64(time.Now().UnixNano()), "seed of the random choices")
	flag.IntVar(&c.clients, "clients", 3, "clients that keep the service busy")
	flag.Parse()
	if os.Getenv(childEnv) != "" {
		child()
		return
	}
	s := newSoak(c, func(format string, args ...any) {
		fmt.Printf("%s "+format+"\n", append([]any{time.Now().UTC().Format(time.TimeOnly)}, args...)...)
	})
	if s.run() > 0 {
		fmt.Println("soak: FAILED")
		os.Exit(1)
	}
	fmt.Println("soak: ok")
}
