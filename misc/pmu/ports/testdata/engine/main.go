// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Engine has the linker keep all that the fork adds: it samples, it counts, and
// it tries the events. See package main of ports, which links it.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime/pprof"
)

func main() {
	for _, e := range pprof.Events() {
		fmt.Println(e.Name, e.Sampled)
	}
	c, err := pprof.OpenCounters("task-clock")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		values := make([]pprof.CounterValue, len(c.Events()))
		fmt.Println(c.Read(values), values)
		c.Close()
	}
	if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(io.Discard, "task-clock", 0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	pprof.StopCPUProfile()
}
