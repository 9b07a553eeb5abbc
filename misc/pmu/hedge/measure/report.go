// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.27 && linux

package main

import (
	"fmt"
	"slices"

	"pmu/bench/stats"
	"pmu/hedge/hedge"
)

func (to *sum) add(list, stops []stretch, s hedge.Stats) {
	var all []float64
	for _, r := range list {
		ms := float64(r.end-r.begin) / 1e6
		all = append(all, ms)
		if slices.ContainsFunc(stops, r.overlaps) {
			to.hit = append(to.hit, ms)
		} else {
			to.others = append(to.others, ms)
		}
	}
	to.p99 = append(to.p99, quantile(all, 0.99))
	to.stops += len(stops)
	for _, s := range stops {
		to.stopped += float64(s.end-s.begin) / 1e6
	}
	to.stats = append(to.stats, s)
}

// quantile returns the value that a part of x is not above.
func quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return 0
	}
	x = slices.Sorted(slices.Values(x))
	return x[min(int(q*float64(len(x))), len(x)-1)]
}

func (to *sum) count(f func(s *hedge.Stats) uint64) (n uint64) {
	for i := range to.stats {
		n += f(&to.stats[i])
	}
	return n
}

func report(h hazardKind, list []variant, sums []sum) {
	fmt.Printf("\n%s, %d runs of %d requests (times in ms):\n\n", h.what, *runs, *requests)
	fmt.Println("| | Stops | of, on average | Requests hit | Median | p90 | p99 | Median of the others | Ratio | Sent again | For each stop | Swaps | Budget exhausted |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for i, v := range list {
		s := &sums[i]
		resent := s.count(func(s *hedge.Stats) uint64 { return s.Resent })
		fmt.Printf("| %s | %d | %.1f | %d | %.2f | %.1f | %.1f | %.2f | %.2f | %d | %.2f | %d | %d |\n", v.name, s.stops, s.stopped/float64(max(s.stops, 1)), len(s.hit),
			quantile(s.hit, 0.5), quantile(s.hit, 0.9), quantile(s.hit, 0.99), quantile(s.others, 0.5),
			quantile(s.hit, 0.5)/quantile(s.others, 0.5), resent, float64(resent)/float64(max(s.stops, 1)),
			s.count(func(s *hedge.Stats) uint64 { return s.Swaps }), s.count(func(s *hedge.Stats) uint64 { return s.Exhausted }))
	}
}

func reportQuiet(list []variant, sums []sum) {
	fmt.Printf("\nNo hazard, %d runs of %d requests (times in ms):\n\n", *runs, *requests)
	fmt.Println("| | Median | Median of the runs' p99 | Sent again | Swaps |\n|---|--:|--:|--:|--:|")
	for i, v := range list {
		s := &sums[i]
		fmt.Printf("| %s | %.2f | %.2f | %d | %d |\n", v.name, quantile(s.others, 0.5), stats.Median(s.p99),
			s.count(func(s *hedge.Stats) uint64 { return s.Resent }), s.count(func(s *hedge.Stats) uint64 { return s.Swaps }))
	}
	ratios := stats.Ratios(sums[1].p99, sums[0].p99)
	low, high := stats.Quartiles(ratios)
	fmt.Printf("\np99 relative to ReverseProxy alone, run by run: median %.2f, quartiles %.2f to %.2f\n", stats.Median(ratios), low, high)
}
