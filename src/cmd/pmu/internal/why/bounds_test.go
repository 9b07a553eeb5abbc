// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// TestBounds tests that a Builder's columns are bounded, and that what it says it takes is
// about what it takes.
func TestBounds(t *testing.T) {
	b := &Builder{MaxColumns: 3}
	for i := range 10 {
		b.Add(1)
		b.Column("first", "", nan).Number(1)
		b.Column(fmt.Sprint("a", i), "", nan).Number(1)
		b.Column(fmt.Sprint("b", i), "", nan).Word("w")
		c := b.Column(fmt.Sprint("c", i), "", nan)
		c.Text("w")
		c.Group(Input)
		c.Within("first")
	}
	if names := fmt.Sprintf("%d %s %s", len(b.Columns()), b.Columns()[1].Name(), b.Columns()[2].Name()); names != "3 a0 b0" || b.Left != 28 {
		t.Errorf("columns %s, %d cells left out", names, b.Left)
	}
	if tab := b.Table(""); len(tab.Columns) != 3 || tab.check() != nil {
		t.Errorf("%d columns, %v", len(tab.Columns), tab.check())
	}

	const rows = 50_000
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	b = new(Builder)
	long := strings.Repeat("x", 100)
	for i := range rows {
		b.Add(1)
		for j := range 5 {
			b.Column(fmt.Sprint("n", j), "", nan).Number(1)
		}
		b.Column("w", "", nan).Word(fmt.Sprint(i, long))
	}
	got, size := float64(heap()-before), float64(b.Size())
	if got < size/2 || got > 2*size {
		t.Errorf("a table takes %v bytes, and says %v", got, size)
	}
	runtime.KeepAlive(b)
}
