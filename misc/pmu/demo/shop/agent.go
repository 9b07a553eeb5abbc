// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.23

package main

import (
	"runtime"
	"time"
)

// agent looks at the stacks of all goroutines again and again, as a monitoring agent may do. That stops
// the world. There are many: one for each cart, which would remind its customer.
func agent(every time.Duration) {
	for range numCarts {
		go func() { select {} }()
	}
	buf := make([]byte, 16<<20)
	for range time.Tick(every) {
		runtime.Stack(buf, true)
	}
}
