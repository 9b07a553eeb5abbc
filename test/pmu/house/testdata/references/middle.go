// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package references

type middle struct{ helper }

// work names nothing of top.go: its top is its own.
func (m *middle) work() {
	top := m.help() + m.depth
	_ = top
}

const count = 2
