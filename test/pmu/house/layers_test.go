// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"math/rand"
	"testing"
)

func TestLayers(t *testing.T) {
	tests := []struct {
		name   string
		n      int
		arrows [][2]int
		want   int
	}{
		{"empty", 0, nil, 0},
		{"one", 1, nil, 0},
		{"chain", 4, [][2]int{{3, 2}, {2, 1}, {1, 0}, {3, 0}}, 0},
		{"cycle", 3, [][2]int{{0, 1}, {1, 2}, {2, 0}}, 1},
		{"two cycles", 4, [][2]int{{0, 1}, {1, 0}, {2, 3}, {3, 2}, {1, 2}}, 2},
		{"all", 4, [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 0}, {1, 2}, {1, 3}, {2, 0}, {2, 1}, {2, 3}, {3, 0}, {3, 1}, {3, 2}}, 6},
		{"hub", 5, [][2]int{{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 0}}, 1},
	}
	for _, test := range tests {
		var arrows []arrow
		for _, a := range test.arrows {
			arrows = append(arrows, arrow{from: a[0], to: a[1], names: []string{"x"}})
		}
		if got := len(runUp(layers(test.n, arrows), arrows)); got != test.want {
			t.Errorf("%s: %d run up, want %d", test.name, got, test.want)
		}
	}
}

// TestLayersBest compares with the best of all orders.
func TestLayersBest(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	for i := 0; i < 100; i++ {
		const n = 6
		var arrows []arrow
		for from := 0; from < n; from++ {
			for to := 0; to < n; to++ {
				if from != to && rnd.Intn(3) == 0 {
					arrows = append(arrows, arrow{from, to, make([]string, 1+rnd.Intn(5))})
				}
			}
		}
		weight := func(order []int) int {
			sum := 0
			for _, a := range runUp(order, arrows) {
				sum += anArrow + len(a.names)
			}
			return sum
		}
		least := weight([]int{0, 1, 2, 3, 4, 5})
		var permute func(order []int, k int)
		permute = func(order []int, k int) {
			if k == n {
				least = min(least, weight(order))
			}
			for j := k; j < n; j++ {
				order[k], order[j] = order[j], order[k]
				permute(order, k+1)
				order[k], order[j] = order[j], order[k]
			}
		}
		permute([]int{0, 1, 2, 3, 4, 5}, 0)
		if got := weight(layers(n, arrows)); got != least {
			t.Errorf("%v: %d arrows and %d names run up, want %d and %d", arrows, got/anArrow, got%anArrow, least/anArrow, least%anArrow)
		}
	}
}
