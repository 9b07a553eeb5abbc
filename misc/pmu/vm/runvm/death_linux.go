// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"runtime"
	"syscall"
)

// The parent-death signal comes when the thread that forked ends, so that
// thread must be one that lasts: the main one.
func init() { runtime.LockOSThread() }

func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
