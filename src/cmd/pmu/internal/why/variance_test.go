// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A cause is planted: it hits a part of the requests, and delays them.
type cause struct {
	event string
	part  float64
	delay float64 // ms, on average
	cost  float64 // by how much the event is higher, on average
}

// A plantedTable is one whose truth is known.
type plantedTable struct {
	Table
	causes []cause
	hit    [][]bool    // by cause and request
	delay  [][]float64 // by cause and request: 0 where it did not hit
}

// lognormal returns a number of median 1.
func lognormal(r *rand.Rand, sigma float64) float64 { return math.Exp(r.NormFloat64() * sigma) }

// plant makes a table of n requests with causes chosen by the seed, of the kinds that
// section 5.5 of VarMRI's protocol has: extra instructions, page faults, waits for locks,
// for the collector and for channels, and a busy CPU. Beside them are decoys, which occur as
// often in fast requests as in slow ones, and children, which follow instructions.
func plant(seed uint64, n int) *plantedTable {
	r := rand.New(rand.NewPCG(seed, 17))
	t := &plantedTable{Table: Table{Unit: "ms"}}
	for _, event := range []string{"instructions", "page-faults", "mutex", "gc", "chan", "runnable"} {
		t.causes = append(t.causes, cause{
			event: event,
			part:  0.003 * math.Pow(10, r.Float64()), // 0.3 to 3 %
			delay: 5 * math.Pow(8, r.Float64()),      // 5 to 40 ms
			cost:  20 * math.Pow(5, r.Float64()),
		})
	}
	t.Latency = make([]float64, n)
	column := func(name string) []float64 {
		t.Columns = append(t.Columns, Column{Name: name, Values: make([]float64, n)})
		return t.Columns[len(t.Columns)-1].Values
	}
	events := make([][]float64, len(t.causes))
	t.hit, t.delay = make([][]bool, len(t.causes)), make([][]float64, len(t.causes))
	for k, c := range t.causes {
		events[k] = column(c.event)
		t.hit[k], t.delay[k] = make([]bool, n), make([]float64, n)
	}
	cycles, branches := column("cycles"), column("branches")
	steps, noise, rare, constant := column("decoy-steps"), column("decoy-noise"), column("decoy-rare"), column("decoy-constant")
	for i := range n {
		t.Latency[i] = 10 * lognormal(r, 0.1)
		for k, c := range t.causes {
			events[k][i] = 10 * lognormal(r, 0.2)
			if r.Float64() < c.part {
				size := lognormal(r, 0.2)
				t.hit[k][i], t.delay[k][i] = true, c.delay*size
				events[k][i] += c.cost * size
				t.Latency[i] += c.delay * size
			}
		}
		cycles[i] = events[0][i]*2 + 3*lognormal(r, 0.2)
		branches[i] = events[0][i] / 5 * (1 + 0.01*r.NormFloat64())
		noise[i] = 10 * lognormal(r, 0.5)
		constant[i] = 7
		steps[i] = 10 * lognormal(r, 0.1)
		if r.Float64() < 0.03 {
			steps[i] += 50
		}
		if r.Float64() < 0.001 {
			rare[i] = 1
		}
	}
	return t
}

// truth returns by how much the percentile p is lower without a cause, as part of it.
func (t *plantedTable) truth(k int, p float64) float64 {
	with := slices.Clone(t.Latency)
	without := slices.Clone(t.Latency)
	for i, d := range t.delay[k] {
		without[i] -= d
	}
	slices.Sort(with)
	slices.Sort(without)
	return (percentile(with, p) - percentile(without, p)) / percentile(with, p)
}

// kendall returns the rank correlation of two lists without ties.
func kendall(a, b []float64) float64 {
	s, n := 0, 0
	for i := range a {
		for j := range i {
			n++
			switch d := (a[i] - a[j]) * (b[i] - b[j]); {
			case d > 0:
				s++
			case d < 0:
				s--
			}
		}
	}
	return float64(s) / float64(n)
}

func find(t *testing.T, list []Impact, event string) *Impact {
	t.Helper()
	for i := range list {
		if list[i].Event == event {
			return &list[i]
		}
	}
	t.Fatalf("no event %s", event)
	return nil
}

func analyzeVariance(t *Table, p float64) ([]Impact, []Pair) {
	t.Describe(nil)
	list, pairs, _, _ := variance(rank(t, false), p, 1)
	return list, pairs
}

// TestVariancePlanted tests that events are ranked by what they really do to the tail, and
// that fixing the first one shrinks it by what was predicted. Events that do nothing, or
// that only follow others, have no impact.
func TestVariancePlanted(t *testing.T) {
	seeds, n := uint64(20), 200_000
	if testing.Short() {
		seeds = 2
	}
	for _, tt := range []struct{ covered, tau, off, decoy, child, first float64 }{
		{1, 0.9, 0.05, 0.02, 0.02, 0.1},
		// Of 10,000 requests that recorded an event, 100 are in the tail.
		{0.05, 0, 0.1, 0.1, 0.15, 1},
	} {
		var tau, off, first, decoy, child float64
		for seed := range seeds {
			pt := plant(seed, n)
			pt.cover(seed, tt.covered)
			list, _ := analyzeVariance(&pt.Table, 0.99)
			var got, want []float64
			for k, c := range pt.causes {
				got = append(got, find(t, list, c.event).Adjusted)
				want = append(want, pt.truth(k, 0.99))
				off = max(off, math.Abs(got[k]-want[k]))
			}
			tau += kendall(got, want) / float64(seeds)
			k := slices.IndexFunc(pt.causes, func(c cause) bool { return c.event == list[0].Event })
			if k < 0 {
				t.Fatalf("seed %d: %s is first", seed, list[0].Event)
			}
			first = max(first, math.Abs(got[k]/want[k]-1))
			planted := func(event string) bool {
				return slices.ContainsFunc(pt.causes, func(c cause) bool { return c.event == event })
			}
			for i, e := range (&Report{Impacts: list}).causes() {
				if strings.HasPrefix(e.Event, "decoy") || i == 0 && !planted(e.Event) {
					t.Errorf("seed %d: %+v is named", seed, e)
				}
			}
			for _, e := range list {
				switch {
				case strings.HasPrefix(e.Event, "decoy"):
					decoy = max(decoy, e.Adjusted)
				case e.Event == "cycles", e.Event == "branches":
					child = max(child, e.Adjusted)
				}
			}
		}
		t.Logf("%v of the events recorded: tau %.3f; impacts off by up to %.3f, the first by up to %.1f %%; of decoys up to %.3f, of children up to %.3f",
			tt.covered, tau, off, 100*first, decoy, child)
		if tau < tt.tau || off > tt.off || decoy > tt.decoy || child > tt.child || first > tt.first {
			t.Errorf("want %+v", tt)
		}
	}
}

// cover removes what was recorded, but a part of it.
func (t *plantedTable) cover(seed uint64, part float64) {
	if part == 1 {
		return
	}
	r := rand.New(rand.NewPCG(seed, 18))
	for _, c := range t.Columns {
		for i := range c.Values {
			if r.Float64() >= part {
				c.Values[i] = nan
			}
		}
	}
}
