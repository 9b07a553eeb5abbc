// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

// Ratio prints how many instructions the operations take that a profiler could slow down.
// Built by stock, it does that in one situation: alone. It is for the emulated machine.
package main

import (
	"fmt"
	"os"
	"runtime"

	"pmu/bench/off"
)

// A situation is one in which operations are done, by a function that calls do.
type situation struct {
	name string
	with func(do func())
}

var situations = []situation{{"alone", func(do func()) { do() }}}

func main() {
	runtime.GOMAXPROCS(1)
	for _, s := range situations {
		s.with(func() {
			err := off.Count(func(op string, instructions float64) {
				fmt.Printf("%s: %s\t%.3f\n", s.name, op, instructions)
			})
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		})
	}
}
