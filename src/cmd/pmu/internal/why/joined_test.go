// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// A joined is requests that are slow where all of some conditions are met, and not where some of them
// are alone. Columns without meaning are around them.
type joined struct {
	name    string
	even    bool // the call's times have no gap where they become slow
	zone    bool // there is a third condition
	around  int
	columns []string // of the pattern
}

func (j joined) table(seed uint64) *Table {
	const n = 8000
	r := rand.New(rand.NewPCG(seed, 40))
	t := &Table{Unit: "ms", Latency: make([]float64, n)}
	get, shard, zone := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		t.Latency[i] = 20 + 1.5*r.NormFloat64()
		get[i], shard[i], zone[i] = 2+3*r.Float64(), float64(r.IntN(6)), float64(r.IntN(2))
		if j.zone {
			shard[i] = float64(r.IntN(3))
		}
		if r.IntN(7) == 0 {
			get[i] = 40 + 10*r.Float64()
		}
		if j.even {
			get[i] = 47 * r.Float64()
		}
		if get[i] > 40 && shard[i] == 1 && (!j.zone || zone[i] == 1) {
			t.Latency[i] += 62
		}
	}
	t.Columns = []Column{{Name: "get", Unit: "ms", Values: get}, {Name: "shard", Values: shard, Words: []string{"a", "b", "c", "d", "e", "f"}},
		{Name: "zone", Values: zone, Words: []string{"x", "y"}}}
	for k := range j.around {
		v := make([]float64, n)
		for i := range v {
			v[i] = 100 + 10*r.NormFloat64()
		}
		t.Columns = append(t.Columns, Column{Name: "n" + strconv.Itoa(k), Values: v})
	}
	return t
}

// TestJoined tests that a cause of several conditions is found, wherever chance has put the latencies.
func TestJoined(t *testing.T) {
	for _, j := range []joined{
		{name: "two", around: 8, columns: []string{"get", "shard"}},
		{name: "even", around: 8, even: true, columns: []string{"get", "shard"}},
		{name: "three", around: 8, zone: true, columns: []string{"get", "shard", "zone"}},
		{name: "wide", around: 80, zone: true, columns: []string{"get", "shard", "zone"}},
	} {
		t.Run(j.name, func(t *testing.T) {
			seeds := uint64(35)
			if j.around > 8 {
				seeds = 10
			}
			if testing.Short() {
				seeds = 2
			}
			for seed := range seeds {
				r, err := Analyze(j.table(seed), Params{Seed: seed + 1})
				if err != nil {
					t.Fatal(err)
				}
				named := false
				for _, p := range r.Patterns {
					var columns []string
					for _, c := range p.Conds {
						columns = append(columns, c.Column)
					}
					named = named || slices.Equal(columns, j.columns) && p.F >= 0.8
				}
				if !named {
					t.Errorf("seed %d: no pattern is on %v:\n%s", seed, j.columns, text(t, j.table(seed), Params{Seed: seed + 1}))
				}
			}
		})
	}
}
