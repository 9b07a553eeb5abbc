// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27 && amd64

// Clobber profiles assembly that uses the frame pointer's register for something else,
// so that the kernel does not find its callers.
package main

import (
	"os"

	"pmu/test/life/testdata/session"
)

// spin counts n down with BP at nothing.
func spin(n int)

//go:noinline
func caller() {
	for range 500 {
		spin(1e6)
	}
}

func main() {
	session.Start("task-clock:u", 200e3)
	caller()
	session.Stop(os.Args[1])
}
