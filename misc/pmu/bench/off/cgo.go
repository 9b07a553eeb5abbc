// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build cgo

package off

// static void nothing(void) {}
import "C"

func init() {
	ops = append(ops, op{"cgo call", func(n int) {
		for i := 0; i < n; i++ {
			C.nothing()
		}
	}})
}
