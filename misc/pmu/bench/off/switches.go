// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build go1.23 && linux

package off

import (
	"iter"
	"syscall"
)

func init() {
	ops = append(ops,
		op{"system call that may block", mayBlock},
		op{"coroutine, there and back", pull})
}

// mayBlock tells the scheduler of its system calls, which getppid does not.
func mayBlock(n int) {
	for i := 0; i < n; i++ {
		syscall.Syscall(syscall.SYS_GETPPID, 0, 0, 0)
	}
}

func pull(n int) {
	next, stop := iter.Pull(func(yield func(int) bool) {
		for i := 0; yield(i); i++ {
		}
	})
	defer stop()
	for i := 0; i < n; i++ {
		next()
	}
}
