// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import _ "unsafe" // for go:linkname

// nameTask is SetKind with a pattern that a request was found to match, which is what others
// guess: what the program has set stays.
//
//go:linkname nameTask net/http/pprof.nameTask
func nameTask(t *Task, pattern string) {
	k := kindOf(pattern)
	if !t.lockOpen() {
		return
	}
	defer t.unlockOpen()
	if !t.named {
		t.setKind(k)
	}
}
