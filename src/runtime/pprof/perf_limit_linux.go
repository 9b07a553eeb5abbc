// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package pprof

import (
	"math"
	"syscall"
)

// perfMaxFD returns the least descriptor that a session must not take, even if the
// kernel would give it out: a program that finds no descriptor for its next connection
// or file is harmed more than a profile in which some threads are missing.
func perfMaxFD() int {
	var lim syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &lim); err != nil {
		return math.MaxInt32
	}
	n := min(uint64(lim.Cur), math.MaxInt32)
	return int(n - min(n/4, 256))
}
