// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27

package hedge

// A budget bounds duplicates: for each request it earns a part of one, and what it has saved up is
// bounded. It begins with one, so there is one more than earned at most.
//
// Delays may take half of it. When all are late, as on a machine that has too much to do, duplicates do
// not help. There should be some left for a server that stops then, whose requests they do help.
type budget struct{ all, delays account }

type account struct {
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
	each, most := int64(part*unit), max(int64(burst), 1)*unit
	return budget{account{each, most, unit}, account{each / 2, max(most/2, unit), unit}}
}

func (b *budget) earn() {
	b.all.earn()
	b.delays.earn()
}

func (a *account) earn() { a.saved = min(a.saved+a.each, a.most) }

// take reports whether there may be one more duplicate, and if so, counts it.
func (b *budget) take(why cause) bool {
	if b.all.saved < unit || why == delay && b.delays.saved < unit {
		return false
	}
	b.all.saved -= unit
	if why == delay {
		b.delays.saved -= unit
	}
	return true
}
