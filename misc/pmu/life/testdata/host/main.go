// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Host opens a plugin while it is profiled, and has it compute.
package main

import (
	"os"
	"plugin"

	"pmu/life/testdata/session"
)

func main() {
	session.Start("task-clock:uk", 100e3)
	p, err := plugin.Open(os.Args[1])
	session.Check(err)
	f, err := p.Lookup("Compute")
	session.Check(err)
	f.(func(int) int)(200e6)
	session.Stop(os.Args[2])
}
