// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build !linux

package engine

import "testing"

// spinFor is not run here.
func spinFor(t *testing.T, ms int64) int64 {
	spin(1e8)
	return ms
}
