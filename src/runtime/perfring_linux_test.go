// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime_test

import (
	"runtime"
	"slices"
	"testing"
)

// TestPerfRingSizes tests that a ring takes as little memory as it can where pages
// are large.
func TestPerfRingSizes(t *testing.T) {
	for _, tt := range []struct {
		page uintptr
		want []uintptr
	}{
		{4 << 10, []uintptr{16 << 10, 4 << 10}},
		{16 << 10, []uintptr{16 << 10}},
		{64 << 10, []uintptr{64 << 10}},
	} {
		if got := runtime.PerfRingSizes(tt.page); !slices.Equal(got, tt.want) {
			t.Errorf("with pages of %d bytes: %d, want %d", tt.page, got, tt.want)
		}
	}
}
