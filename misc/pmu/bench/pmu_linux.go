// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build linux && (amd64 || arm64)

package main

import (
	"runtime"

	"pmu/bench/bare"
)

func countsCycles() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := bare.Count(bare.Cycles, bare.User)
	if err == nil {
		c.Close()
	}
	return err
}
