// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package runtime

import (
	"internal/runtime/atomic"
	"internal/runtime/perf"
	"unsafe"
)

// PerfLetGo returns how many times tasks' locks were let go of; see perftaskread.go.
func PerfLetGo() int64 { return perfLetGo.Load() }

// PerfMadeWay returns how many times who asks made way for others.
func PerfMadeWay() int64 { return perfMadeWay.Load() }

// PerfAskedFor returns the most that was looked at without letting go of a lock, since the
// last time, and how much may be.
func PerfAskedFor() (most, limit int64) {
	most = perfAskedFor.Load()
	perfAskedFor.Store(0)
	return most, perfAskMost + perfAskCounts
}

// PerfTaskTree returns the tree of tasks that the calling goroutine works for.
func PerfTaskTree() unsafe.Pointer {
	return unsafe.Pointer(perfAccountOf(getg()).member.ptr().task.root)
}

// PerfPeekLater returns for how long a goroutine has been runnable, in ns, that was so for a
// second, had its thread for another, and waits since, for who asked after a second.
func PerfPeekLater() int64 {
	const second = 1e9
	ticks := func(ns int64) int64 { return int64(float64(ns) * (1 << 32) / float64(perfTickRate())) }
	mp := acquirem()
	for perfTickRate() == 0 {
		perfNow(mp)
	}
	a := perfNewAccount(perf.PartChan)
	a.ticks[perf.PartRunnable], a.ticks[perf.PartRunning] = ticks(second), ticks(second)
	a.since = a.settled + ticks(2*second)
	var u perf.GoroutineTime
	a.peek(&u, a.latest+second, a.settled+ticks(second))
	perfFreeAccount.push(&a.node)
	perfCountAccount(-1)
	releasem(mp)
	return u.Parts[perf.PartRunnable]
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
