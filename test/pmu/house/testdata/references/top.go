// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package references is for a test.
package references

import "strings"

func top() {
	var m middle
	m.work()
	upstream()
	_ = strings.Repeat(bottom, count)
}
