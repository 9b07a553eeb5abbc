// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Host opens a plugin while it is profiled, and has it compute.
package main

import (
	"bytes"
	"os"
	"plugin"
	"runtime/pprof"
)

func main() {
	var buf bytes.Buffer
	if err := pprof.StartCPUProfileWithConfig(pprof.PerfEvent(&buf, "task-clock:uk", 100e3)); err != nil {
		panic(err)
	}
	p, err := plugin.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	f, err := p.Lookup("Compute")
	if err != nil {
		panic(err)
	}
	f.(func(int) int)(200e6)
	pprof.StopCPUProfile()
	if err := os.WriteFile(os.Args[2], buf.Bytes(), 0o666); err != nil {
		panic(err)
	}
}
