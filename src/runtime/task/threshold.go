// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package task

import (
	"internal/runtime/perf"
	"sync/atomic"
	"time"
)

// The threshold of a kind, if none is given, is what is normal: what 99 % of the tasks of a window
// did not exceed, in the best one of the last hour. What lasts for less does not move it up. So an
// incident is recorded from its beginning to its end, and not only until it has become usual.
//
// Then many tasks may be slow. A kind has a budget of records of such, so that a bad hour of one
// does not take all room in the rings.
const (
	leastSpan   = 5 * time.Minute
	leastSpans  = 12
	slowBudget  = 20 // records a second of a kind
	budgetBurst = 200
)

// A leastOf has the least values of the last spans. The zero leastOf is ready.
type leastOf struct {
	span   int64 // number of the latest one
	values [leastSpans]int64
}

// add adds a value that is not 0, at a time, and returns the least.
func (l *leastOf) add(v, now int64) int64 {
	span := now / int64(leastSpan)
	for n := max(l.span+1, span-leastSpans+1); n <= span; n++ {
		l.values[n%leastSpans] = 0
	}
	l.span = max(l.span, span)
	at := &l.values[l.span%leastSpans]
	if *at == 0 || v < *at {
		*at = v
	}
	least := v
	for _, v := range l.values {
		if v != 0 {
			least = min(least, v)
		}
	}
	return least
}

// A budget bounds how often something is done.
type budget struct{ next atomic.Int64 } // when it is whole again, less what the burst takes to come

// take takes one at a time, if there is one left.
func (b *budget) take(now int64) bool {
	const each = int64(time.Second) / slowBudget
	for {
		old := b.next.Load()
		next := max(old, now-budgetBurst*each) + each
		if next > now {
			return false
		}
		if b.next.CompareAndSwap(old, next) {
			return true
		}
	}
}

// slow reports whether a task that has ended is slow, and whether that is recorded.
func (k *kind) slow(u *perf.TaskUsage, threshold int64) (slow, recorded bool) {
	if threshold == 0 || u.Wall <= threshold {
		return false, false
	}
	return true, k.fixed.Load() || k.budget.take(u.Ended)
}
