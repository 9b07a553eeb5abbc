// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && linux && (amd64 || arm64)

// Handlercost prints, as JSON, what a sample costs in instructions, in the kernel
// and in the signal handler, at several depths of stack. For comparison it counts
// the same without a profiler: the kernel's ring alone, and a signal with an empty
// handler. (bench/steps splits the handler into parts.)
//
// It needs a machine that counts instructions. On the emulated one all of them
// are counted and none depends on the time, so that the figures are repeatable:
//
//	export PATH=$PWD/vm:$PATH GOWORK=off CGO_ENABLED=0
//	GOARCH=arm64 ../../goroot/bin/go run ./bench/handlercost
//
// The test of this package guards them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	short := flag.Bool("short", false, "leave out what is above a profile's 64 frames, and take fewer samples by the timer")
	flag.Parse()
	res, err := measureAll(*short)
	if err != nil {
		fmt.Fprintln(os.Stderr, "handlercost:", err)
		os.Exit(1)
	}
	e := json.NewEncoder(os.Stdout)
	e.SetIndent("", "\t")
	e.Encode(res)
}
