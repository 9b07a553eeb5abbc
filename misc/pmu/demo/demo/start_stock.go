// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !gopmu

package demo

import (
	"fmt"
	"io"
	"runtime/pprof"
)

// start starts a profile by the timer, which is all that this Go can do.
func start(w io.Writer, event string, period uint64) (stop func(), err error) {
	if event != "timer" {
		return nil, fmt.Errorf("this program was built by a Go that cannot profile by %s: build it with goroot/bin/go, which ./make.bash makes", event)
	}
	return pprof.StopCPUProfile, pprof.StartCPUProfile(w)
}
