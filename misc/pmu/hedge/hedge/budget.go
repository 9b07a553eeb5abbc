// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

// A budget bounds duplicates: for each request it earns a part of one, and what it has saved up is
// bounded. It begins with one, so there is one more than earned at most.
type budget struct {
	each  int64 // what a request earns
	most  int64
	saved int64
}

// unit is one duplicate: integers, so that the sums are exact.
const unit = 1_000_000

func newBudget(part float64, burst int) budget {
	if part <= 0 {
		return budget{}
	}
	return budget{each: int64(part * unit), most: max(int64(burst), 1) * unit, saved: unit}
}

func (b *budget) earn() { b.saved = min(b.saved+b.each, b.most) }

// take reports whether there may be one more duplicate, and if so, counts it.
func (b *budget) take() bool {
	if b.saved < unit {
		return false
	}
	b.saved -= unit
	return true
}
