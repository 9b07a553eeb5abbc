// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !arm64

package main

// count is for the emulated machine only.
func count([]string) { panic("not arm64") }
