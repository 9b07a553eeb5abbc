// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// PerfLetGo returns how many times tasks' locks were let go of; see perftaskread.go.
func PerfLetGo() int64 { return perfLetGo.Load() }

// PerfTaskTree returns the tree of tasks that the calling goroutine works for.
func PerfTaskTree() unsafe.Pointer {
	return unsafe.Pointer(perfAccountOf(getg()).member.ptr().task.root)
}

// PerfLockTree locks a tree for a time in ns, and sets held meanwhile.
func PerfLockTree(tree unsafe.Pointer, ns int64, held *uint32) {
	systemstack(func() {
		root := (*perfTask)(tree)
		lock(&root.lock)
		atomic.Store(held, 1)
		for start := nanotime(); nanotime()-start < ns; {
		}
		unlock(&root.lock)
	})
}
