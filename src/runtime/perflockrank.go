// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Ranks of our locks, which GOEXPERIMENT=staticlockranking checks.
//
// They aren't among upstream's, which mklockrank.go generates and numbers in their order.
// Those that are taken last have numbers above all of them. That of a tree of tasks is
// below: it is taken first, and a goroutine that holds it may have to grow its stack.
//
// Only two have a name where nobody checks: the linker writes constants to every program.

package runtime

const lockRankPerfTask lockRank = -1 // perfTask.lock; the checker has no name for it

const lockRankPerfTaskRing lockRank = lockRankTestRInternal + 1 // the first of perfLockRanks
