// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package references

import "time"

type helper struct{ depth int }

// help calls a method of a type of another file, and asks another package for one.
func (h helper) help() int {
	if time.Now().IsZero() {
		new(middle).work()
	}
	return len(bottom)
}
