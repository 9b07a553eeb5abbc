// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27 && linux

// Measure compares what clients see of servers that are stopped now and then: without action, with
// hedging after a delay, and by what the servers say. doc/pmu-hazard.md has its results.
//
//	../../goroot/bin/go run ./hedge/measure -runs 20
//
// It starts two servers. Clients ask through a proxy of this process at random times, 450 a second.
// Again and again the active server is stopped: by SIGSTOP for 40 ms, which it announces; by SIGSTOP, of
// which it says nothing; or by a stop of the world of some 7 ms. Variants take turns. Judged are requests that overlap a
// stop, whichever server they went to, beside the others: maxima here are the machine's.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"pmu/hedge/hedge"
)

var (
	runs     = flag.Int("runs", 20, "`number` of runs of each variant")
	requests = flag.Int("requests", 1000, "`number` of requests of a run")
	rate     = flag.Float64("rate", 450, "requests a `second`")
	only     = flag.String("only", "", "the `hazards` to measure, with commas: announced, silent, world, none; all if empty")
	seed     = flag.Uint64("seed", 1, "of times and of work")
)

// A variant is a way to act.
type variant struct {
	name   string
	alone  bool // ReverseProxy to the first server
	word   bool
	delay  func(string, time.Duration) time.Duration
	budget float64
}

func never(string, time.Duration) time.Duration      { return 0 }
func fiveMillis(string, time.Duration) time.Duration { return 5 * time.Millisecond }

var variants = []variant{
	{name: "no action", delay: never, budget: -1},
	{name: "after 5 ms", delay: fiveMillis, budget: 1},
	{name: "the word", word: true, delay: never},
	{name: "both, as usual", word: true},
}

// quiet are those that are compared without hazards.
var quiet = []variant{{name: "ReverseProxy alone", alone: true}, {name: "both, as usual", word: true}}

func main() {
	log.SetFlags(0)
	log.SetPrefix("measure: ")
	if file := os.Getenv(serverEnv); file != "" {
		serve(file)
		return
	}
	flag.Parse()
	s, err := startServers()
	if err != nil {
		log.Fatal(err)
	}
	defer s.end()
	if err := measure(s); err != nil {
		s.end()
		log.Fatal(err)
	}
}

func measure(s servers) error {
	for _, h := range hazards {
		if *only != "" && !strings.Contains(","+*only+",", ","+h.name+",") {
			continue
		}
		list := variants
		if h.stop == nil {
			list = quiet
		}
		sums := make([]sum, len(list))
		for run := range *runs {
			for i := range list {
				v := (i + run) % len(list)
				if err := oneRun(s, h, list[v], uint64(run), &sums[v]); err != nil {
					return fmt.Errorf("%s, %s: %w", h.name, list[v].name, err)
				}
			}
		}
		if h.stop == nil {
			reportQuiet(list, sums)
			continue
		}
		report(h, list, sums)
	}
	return nil
}

// config is that of a variant.
func (v *variant) config(s servers) hedge.Config {
	c := hedge.Config{Base: newBase(), Delay: v.delay, Budget: v.budget, Scoped: true}
	for _, p := range s {
		b := hedge.Backend{URL: p.url}
		if v.word {
			b.Source = hedge.File(p.file)
		}
		c.Backends = append(c.Backends, b)
	}
	return c
}
