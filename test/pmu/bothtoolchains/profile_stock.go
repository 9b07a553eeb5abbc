// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !gopmu

package main

import (
	"io"
	"runtime"
	"runtime/pprof"
)

// timer is the operating system's timer, which every toolchain samples by.
const timer = "timer"

// startProfile starts a profile by the timer, which is all that this toolchain
// has. If another event is asked for, why says so.
func startProfile(w io.Writer, event string) (sampled, why string, err error) {
	if event != timer {
		why = "built by " + runtime.Version() + ", which samples by the timer only"
	}
	return timer, why, pprof.StartCPUProfile(w)
}
