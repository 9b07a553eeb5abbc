// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

// A plugin with something to do.
package main

//go:noinline
func Compute(n int) (x int) {
	for i := range n {
		x += i * i
	}
	return x
}

func main() {}
