// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu

package main

import (
	"errors"
	"io"
	"runtime/pprof"
	"syscall"
)

// timer is the operating system's timer, which every toolchain samples by.
const timer = "timer"

// startProfile starts a profile by event. If this machine or process can't
// sample it, the profile is by the timer, and why says why.
func startProfile(w io.Writer, event string) (sampled, why string, err error) {
	if event == timer {
		return timer, "", pprof.StartCPUProfile(w)
	}
	err = pprof.StartCPUProfileWithConfig(pprof.PerfEvent(w, event, 0))
	if err == nil {
		return event, "", nil
	}
	// Only errors that are the kernel's have an errno: no PMU, no permission.
	// The others, such as a misspelled name, are the program's.
	var errno syscall.Errno
	if !errors.As(err, &errno) && !errors.Is(err, errors.ErrUnsupported) {
		return "", "", err
	}
	return timer, err.Error(), pprof.StartCPUProfile(w)
}
