// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Host opens a plugin while it is profiled, has it compute, and prints the CPU time,
// in ns, which that took.
package main

import (
	"fmt"
	"os"
	"plugin"
	"runtime"
	"syscall"

	"pmu/test/life/testdata/session"
)

func main() {
	session.Start("task-clock:uk", 100e3)
	p, err := plugin.Open(os.Args[1])
	session.Check(err)
	f, err := p.Lookup("Compute")
	session.Check(err)
	runtime.LockOSThread()
	start := threadTime()
	f.(func(int) int)(200e6)
	fmt.Println(threadTime() - start)
	session.Stop(os.Args[2])
}

// threadTime returns the CPU time, in ns, of the thread.
func threadTime() int64 {
	var r syscall.Rusage
	session.Check(syscall.Getrusage(syscall.RUSAGE_THREAD, &r))
	return r.Utime.Nano() + r.Stime.Nano()
}
