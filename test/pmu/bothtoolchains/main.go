// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Bothtoolchains shows how one code base profiles by an event when it is built
// by the fork, and by the timer when it is built by stock Go.
//
// The fork sets the build tag gopmu. What only the fork has is called in one
// file with that tag, profile_gopmu.go; profile_stock.go has the same function
// for everybody else. The rest of the program, this file, does not know which
// toolchain built it, but is told what is sampled and says so: a profile by
// another event must not pass for the one that was asked for.
//
//	goroot/bin/go run -C test/pmu ./bothtoolchains -event task-clock
//	go run -C test/pmu ./bothtoolchains -event task-clock
//	go test -C test/pmu -count=1 ./bothtoolchains         # both, whichever runs it
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"time"
)

func main() {
	event := flag.String("event", "cycles", "what to sample by: timer, or an `event` as perf list names it")
	out := flag.String("o", "cpu.pprof", "write the profile to `file`")
	d := flag.Duration("d", 300*time.Millisecond, "work for that long")
	flag.Parse()
	if err := profile(*out, *event, func() { work(*d) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// profile writes a profile of f to the file out.
func profile(out, event string, f func()) error {
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	defer file.Close()
	// Both toolchains have StopCPUProfile, which ends either kind of profile.
	sampled, why, err := startProfile(file, event)
	if err != nil {
		return err
	}
	fmt.Printf("sampling %s", sampled)
	if why != "" {
		fmt.Printf(" instead of %s: %s", event, why)
	}
	fmt.Println()
	f()
	pprof.StopCPUProfile()
	return file.Close()
}

var sink uint64

// work computes for d.
func work(d time.Duration) {
	for start := time.Now(); time.Since(start) < d; {
		for i := 0; i < 100000; i++ {
			sink = sink*6364136223846793005 + 1442695040888963407
		}
	}
}
