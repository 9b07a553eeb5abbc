// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestCells tests that cells of many rows at a time make the same column as one at a time.
func TestCells(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 1))
		var one, many Builder
		empty := nan
		if r.IntN(2) == 0 {
			empty = 0
		}
		if r.IntN(2) == 0 {
			many.Grow(r.IntN(100))
		}
		for range 1 + r.IntN(6) {
			n := r.IntN(10)
			values, latency := make([]float64, n), make([]float64, n)
			var words []string
			if r.IntN(2) == 0 {
				words = []string{"a", "b", fmt.Sprint(seed, r.IntN(9))}
			}
			left := r.IntN(8) == 0 // a column that these rows do not have
			for i := range values {
				values[i] = float64(r.IntN(3))
				if r.IntN(3) == 0 {
					values[i] = nan
				}
				one.Add(0)
				if c := one.Column("c", "", empty); values[i] == values[i] && !left {
					if words != nil {
						c.Word(words[int(values[i])])
					} else {
						c.Number(values[i])
					}
				}
			}
			many.AddRows(latency)
			if c := many.Column("c", "", empty); !left {
				c.Cells(values, words)
			}
		}
		if bad, want := many.Column("c", "", empty).Bad, one.Column("c", "", empty).Bad; bad != want {
			t.Errorf("seed %d: %d bad cells, want %d", seed, bad, want)
		}
		got, want := fmt.Sprint(*many.Table("")), fmt.Sprint(*one.Table(""))
		if got != want {
			t.Fatalf("seed %d:\n%s\n%s", seed, got, want)
		}
	}
}

// TestSkip tests that columns that are left out are not there.
func TestSkip(t *testing.T) {
	b := Builder{Skip: func(name string) bool { return name != "a" }}
	b.Add(1)
	for _, name := range []string{"a", "b", "c"} {
		c := b.Column(name, "", nan)
		c.Group(Input)
		c.Within("a")
		c.Text("1")
		c.Number(2)
		b.Column(name+"word", "", nan).Word("x")
		b.Column(name+"cells", "", nan).Cells([]float64{1}, nil)
	}
	table := b.Table("")
	want := []Column{{Name: "a", Values: []float64{3}, Within: []string{"a"}, Group: Input}}
	if !reflect.DeepEqual(table.Columns, want) {
		t.Errorf("columns are %+v", table.Columns)
	}
}
