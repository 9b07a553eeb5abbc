// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// A library for a C program that has a handler for SIGPROF.
package main

import "C"

import (
	"bytes"
	"fmt"
	"runtime/pprof"
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

func main() {}
