// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task_test

import "runtime"

// haveStacks is whether records say where goroutines waited. The stacks are taken by frame
// pointers, which the compiler sets up on these ports only; see perfFramePCs in package runtime.
const haveStacks = runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64"

// noStacks is why a test is left out elsewhere.
const noStacks = "where a goroutine waits is not known on " + runtime.GOARCH + ": its code has no frame pointers"

// atPlanted returns how a cause begins whose place is in planted_test.go, if places are known.
func atPlanted(text string) string {
	if haveStacks {
		text += " at planted_test.go:"
	}
	return text
}

// ifStacks returns with where there are stacks, and without elsewhere.
func ifStacks(with, without string) string {
	if haveStacks {
		return with
	}
	return without
}
