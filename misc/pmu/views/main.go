// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu

// Views takes a profile of each kind, for go tool pprof to show.
//
//	go run ./views -o FILE EVENT...
//
// Several events become the columns of one profile. The event "timer" is the OS
// timer, which is alone.
package main

import (
	"flag"
	"log"
	"os"
	"runtime/pprof"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("views: ")
	out := flag.String("o", "cpu.pprof", "write the profile to `FILE`")
	flag.Parse()
	f, err := os.Create(*out)
	if err != nil {
		log.Fatal(err)
	}
	if err := pprof.StartCPUProfileWithConfig(option(f, flag.Args())); err != nil {
		log.Fatal(err)
	}
	for i := 0; i < 40; i++ {
		touch(spin(2_000_000))
	}
	pprof.StopCPUProfile()
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}

func option(f *os.File, events []string) pprof.ProfilingOption {
	switch {
	case len(events) == 1 && events[0] == "timer":
		return pprof.OSTimer(f)
	case len(events) == 1:
		return pprof.PerfEvent(f, events[0], 0)
	}
	return pprof.PerfEvents(f, 0, events...)
}

var sink []byte

//go:noinline
func spin(n int) (x uint64) {
	for i := 0; i < n; i++ {
		x = x*6364136223846793005 + uint64(i)
	}
	return x
}

// touch has page faults.
//
//go:noinline
func touch(x uint64) {
	sink = make([]byte, 8<<20)
	for i := 0; i < len(sink); i += 4096 {
		sink[i] = byte(x)
	}
}
