// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"internal/runtime/perf"
	"sync/atomic"
)

// Numbers that each task changes are kept apart for a few Ps, and added up by who asks: CPUs that
// write the same words in turns wait for each other. See runtime/perffree.go for what that costs.

const (
	shards = 8
	line   = 64 // bytes, of a CPU's cache
)

// shard returns which one the calling goroutine's P has. It may have another P by now.
func shard() int { return int(uint32(runtime_perfProc()) % shards) }

// kindSums are a shard of what tasks of a kind have used.
type kindSums struct {
	open, failed, slow                                atomic.Int64
	wall, measured, switches, preemptions, migrations atomic.Int64
	parts                                             [perf.NumParts]atomic.Int64
	_                                                 [line]byte
}

// open returns how many tasks of a kind have not ended.
func (k *kind) open() (n int64) {
	for i := range k.sums {
		n += k.sums[i].open.Load()
	}
	return max(n, 0) // they change meanwhile
}

// opened notes that n tasks more are of a kind.
func (k *kind) opened(shard int, n int64) { k.sums[shard].open.Add(n) }

// A quota is how many tasks may be open. Shards take some of it in advance, and give it back. What is
// on the way from one to the other, for some instructions, nobody can take.
type quota struct {
	left  atomic.Int64
	taken [shards]struct {
		unused atomic.Int64
		_      [line - 8]byte
	}
}

const (
	maxQuota   = 10_000
	quotaBatch = 16
)

// take reports whether there may be one more.
func (q *quota) take(shard int) bool {
	if takeFrom(&q.taken[shard].unused) {
		return true
	}
	for n := q.left.Load(); n > 0; n = q.left.Load() {
		batch := min(n, quotaBatch)
		if q.left.CompareAndSwap(n, n-batch) {
			q.taken[shard].unused.Add(batch - 1)
			return true
		}
	}
	for i := range q.taken {
		if takeFrom(&q.taken[i].unused) {
			return true
		}
	}
	return false
}

func takeFrom(unused *atomic.Int64) bool {
	for n := unused.Load(); n > 0; n = unused.Load() {
		if unused.CompareAndSwap(n, n-1) {
			return true
		}
	}
	return false
}

// give says that there is one less.
func (q *quota) give(shard int) {
	unused := &q.taken[shard].unused
	if n := unused.Add(1); n >= 3*quotaBatch && unused.CompareAndSwap(n, n-quotaBatch) {
		q.left.Add(quotaBatch)
	}
}

// open returns how many there are.
func (q *quota) open() int64 {
	n := maxQuota - q.left.Load()
	for i := range q.taken {
		n -= q.taken[i].unused.Load()
	}
	return max(n, 0) // they change meanwhile
}
