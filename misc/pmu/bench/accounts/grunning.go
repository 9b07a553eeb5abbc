// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build grunning && linux && (amd64 || arm64)

package main

import (
	"fmt"
	"runtime"
	"time"
)

var kinds = []kind{
	{"CockroachDB's scheme", func([]string) (*account, error) { return &account{check: checkRunning()}, nil }},
	{"CockroachDB's scheme, read each turn", func([]string) (*account, error) {
		turn := func() (each, end func()) { return func() { runtime.Grunningnanos() }, func() {} }
		return &account{turn, checkRunning()}, nil
	}},
}

// checkRunning returns a check that the calling goroutine runs about half of the time from
// now on: the other one has the rest.
func checkRunning() func(uint64) error {
	began, before := time.Since(start), runtime.Grunningnanos()
	return func(turns uint64) error {
		wall, ran := time.Since(start)-began, time.Duration(runtime.Grunningnanos()-before)
		if ran < wall/10 || ran > wall*9/10 {
			return fmt.Errorf("in %d turns the goroutine ran for %v of %v", turns, ran, wall)
		}
		return nil
	}
}

func newCalls([]string) ([]call, error) {
	return []call{{Name: "Grunningnanos", Do: func(n int) {
		for i := 0; i < n; i++ {
			runtime.Grunningnanos()
		}
	}}}, nil
}
