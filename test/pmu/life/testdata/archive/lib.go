// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// A library for a C program that has a handler for SIGPROF.
package main

import "C"

import (
	"bytes"
	"fmt"
	"io"
	"runtime/pprof"
	"time"
)

var buf bytes.Buffer

//export start
func start() C.int {
	buf.Reset()
	if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(&buf, "task-clock:uk", 100e3)); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

//export compute
func compute(n C.long) (x C.long) {
	for i := range n {
		x += i * i
	}
	return x
}

// stop returns the size of the profile.
//
//export stop
func stop() C.int {
	pprof.StopCPUProfile()
	return C.int(buf.Len())
}

var session *pprof.Session

// startBeside starts a session, while which the timer's profile ends, us later than
// that begins.
//
//export startBeside
func startBeside(us C.int) C.int {
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		fmt.Println(err)
		return 1
	}
	started := make(chan error)
	go func() {
		s, err := pprof.StartSession(pprof.PerfEvent(io.Discard, "task-clock:uk", 100e3))
		session = s
		started <- err
	}()
	time.Sleep(time.Duration(us) * time.Microsecond)
	pprof.StopCPUProfile()
	if err := <-started; err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

//export stopBeside
func stopBeside() { session.Stop() }

//export blockedBeside
func blockedBeside() C.int {
	if err := computeBlocked(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func main() {}
