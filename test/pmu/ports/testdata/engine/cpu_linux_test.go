// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package engine

import (
	"syscall"
	"testing"
	"time"
)

// spinFor spins until the process has used ms of CPU time, or more, and returns
// how many.
func spinFor(t *testing.T, ms int64) int64 {
	t.Helper()
	cpu := func() time.Duration {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			t.Fatal(err)
		}
		return time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	for start := cpu(); ; spin(1e5) {
		if used := (cpu() - start).Milliseconds(); used >= ms {
			return used
		}
	}
}
