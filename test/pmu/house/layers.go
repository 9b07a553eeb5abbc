// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

// starts is how many orders are improved. The folders here need a tenth of that.
const starts = 200

// anArrow is what an arrow that runs up counts beside one of its names.
const anArrow = 1 << 20

// layers returns an order of n files, from top to bottom, in which the fewest arrows run
// up, and of these orders one where they have the fewest names. To find that for sure is
// NP-hard. So it starts from many orders in which only arrows of cycles run up, and moves
// one file at a time to where that is best, while it helps. The same arrows give the same
// order.
func layers(n int, arrows []arrow) []int {
	weights := make([][]int, n) // from, to
	for i := range weights {
		weights[i] = make([]int, n)
	}
	for _, a := range arrows {
		weights[a.from][a.to] = anArrow + len(a.names)
	}
	var best []int
	least := 0
	seed := uint32(1)
	for i := 0; i < starts; i++ {
		files := make([]int, n)
		for j := range files { // a shuffle
			seed = seed*1664525 + 1013904223
			k := int(seed>>16) % (j + 1)
			files[j], files[k] = files[k], j
		}
		order := depthFirst(files, weights)
		for improve(order, weights) {
		}
		weight := 0
		for _, a := range runUp(order, arrows) {
			weight += weights[a.from][a.to]
		}
		if best == nil || weight < least {
			best, least = order, weight
		}
	}
	return best
}

// depthFirst orders the files such that each is above those that can be reached from it,
// but for cycles. It begins with the files in their order.
func depthFirst(files []int, weights [][]int) []int {
	n := len(files)
	order := make([]int, n)
	free := n // the lowest place that is
	seen := make([]bool, n)
	var visit func(file int)
	visit = func(file int) {
		if seen[file] {
			return
		}
		seen[file] = true
		for _, next := range files {
			if weights[file][next] > 0 {
				visit(next)
			}
		}
		free--
		order[free] = file
	}
	for _, file := range files {
		visit(file)
	}
	return order
}

// improve moves each file once to where the arrows that run up weigh least. It reports
// whether they weigh less then.
func improve(order []int, weights [][]int) bool {
	better := false
	for file := range order {
		at := 0
		for order[at] != file {
			at++
		}
		// What the file's move past others changes, first to the top, then to the bottom.
		place, least := at, 0
		try := func(step int) {
			change := 0
			for i := at + step; i >= 0 && i < len(order); i += step {
				other := order[i]
				change += step * (weights[file][other] - weights[other][file])
				if change < least {
					place, least = i, change
				}
			}
		}
		try(-1)
		try(1)
		if least < 0 {
			better = true
			if place < at {
				copy(order[place+1:at+1], order[place:at])
			} else {
				copy(order[at:place], order[at+1:place+1])
			}
			order[place] = file
		}
	}
	return better
}

// runUp returns the arrows that run up in an order.
func runUp(order []int, arrows []arrow) []arrow {
	place := make([]int, len(order))
	for i, file := range order {
		place[file] = i
	}
	var up []arrow
	for _, a := range arrows {
		if place[a.from] > place[a.to] {
			up = append(up, a)
		}
	}
	return up
}
