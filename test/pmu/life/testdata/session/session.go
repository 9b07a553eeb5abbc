// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// Package session has what the test programs share: the profile that each takes of
// itself, and the choice of what it does meanwhile.
package session

import (
	"bytes"
	"os"
	"runtime/pprof"
)

// Check panics if err is not nil.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Main runs the mode that the program's first argument names.
func Main(modes map[string]func()) { modes[os.Args[1]]() }

var buf bytes.Buffer

// Start starts the profile.
func Start(event string, period uint64) {
	buf.Reset()
	Check(pprof.StartCPUProfileWithConfig(pprof.PerfEvent(&buf, event, period)))
}

// Stop stops the profile and writes it to file.
func Stop(file string) {
	pprof.StopCPUProfile()
	Check(os.WriteFile(file, buf.Bytes(), 0o666))
}
