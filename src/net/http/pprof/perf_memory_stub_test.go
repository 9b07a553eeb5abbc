// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package pprof

// freshMemory returns n bytes. Nothing here samples page faults.
func freshMemory(n int) (b []byte, free func()) { return make([]byte, n), func() {} }
