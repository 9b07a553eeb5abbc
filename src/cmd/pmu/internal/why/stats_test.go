// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// near reports whether a is b but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b)) }

// TestMeanShift compares with what scikit-learn 1.2.1 found: MeanShift with bin_seeding, and
// estimate_bandwidth with quantile 0.1.
func TestMeanShift(t *testing.T) {
	b, err := os.ReadFile("testdata/meanshift.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Values              []float64
		Bandwidth, Estimate float64
		Min                 int
		Centers, Starts     []float64
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		got := estimateBandwidth(c.Values, 0.1)
		if !near(got, c.Estimate) {
			t.Errorf("%d: bandwidth %v, want %v", i, got, c.Estimate)
		}
		if c.Bandwidth != 0 {
			got = c.Bandwidth
		}
		centers := meanShift(c.Values, got, c.Min)
		if !slices.EqualFunc(centers, c.Centers, near) {
			t.Errorf("%d: centers %v, want %v", i, centers, c.Centers)
		}
		if starts := clusterStarts(c.Values, centers); !slices.EqualFunc(starts, c.Starts, near) {
			t.Errorf("%d: clusters start at %v, want %v", i, starts, c.Starts)
		}
	}
}

// TestSums tests sums of parts against sums of all, and lines in closed form.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		var all sums
		parts := make([]sums, 4)
		for range 1 + r.IntN(50) {
			x, y := 1e6+r.Float64(), r.NormFloat64()
			all.add(x, y)
			parts[r.IntN(4)].add(x, y)
		}
		m := sums{}
		for _, p := range parts {
			m = m.merge(p)
		}
		for _, v := range [][2]float64{{m.n, all.n}, {m.x, all.x}, {m.y, all.y}, {m.sxx, all.sxx}, {m.syy, all.syy}, {m.sxy, all.sxy}} {
			if math.Abs(v[0]-v[1]) > 1e-7 {
				t.Fatalf("%+v, want %+v", m, all)
			}
		}
	}
	// By hand: the line of (1,1), (2,2), (3,2), (4,5) is -0.5+1.2x, and R² is 0.8.
	var s sums
	for x, y := range map[float64]float64{1: 1, 2: 2, 3: 2, 4: 5} {
		s.add(x, y)
	}
	a, b := s.line()
	if !near(a, -0.5) || !near(b, 1.2) || !near(s.r2(a, b), 0.8) {
		t.Errorf("%v + %v x, R² %v", a, b, s.r2(a, b))
	}
	// Through the origin it is 31/30 x, with R² 31*31/(30*34).
	if b, r2 := s.proportion(); !near(b, 31.0/30) || !near(r2, 961.0/1020) {
		t.Errorf("through the origin %v x, R² %v", b, r2)
	}
}

// TestKnots tests that CDFs made of lines turn where they do.
func TestKnots(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 50 {
		n := 20_000 + r.IntN(50_000)
		// Steps, each as large as a line and at least a fifth of the values.
		parts := []float64{0.2 + 0.2*r.Float64(), 0.6 + 0.3*r.Float64()}
		values := make([]float64, n)
		for i := range values {
			x := float64(i) / float64(n)
			switch {
			case x < parts[0]:
				values[i] = 10 + 10*x
			case x < parts[1]:
				values[i] = 30 + 50*x
			default:
				values[i] = 200 + 20*x
			}
		}
		var got []float64
		for _, k := range knots(values) {
			got = append(got, k.part)
		}
		for _, want := range parts {
			if !slices.ContainsFunc(got, func(g float64) bool { return math.Abs(g-want) <= 1.0/maxRanges }) {
				t.Errorf("n %d: knots %v, want %v", n, got, parts)
			}
		}
		if len(got) > 2*len(parts) {
			t.Errorf("n %d: knots %v, want %v", n, got, parts)
		}
	}
	for _, v := range [][]float64{nil, make([]float64, 39), make([]float64, 1000)} {
		if k := knots(v); k != nil {
			t.Errorf("%d values that are the same have knots %v", len(v), k)
		}
	}
}

func TestPercentile(t *testing.T) {
	for _, tt := range []struct {
		n    int
		p    float64
		want float64
	}{{1, 0, 0}, {1, 1, 0}, {100, 0.99, 99}, {100, 1, 99}, {1000, 0.99, 990}, {7, 0.5, 3}} {
		v := make([]float64, tt.n)
		for i := range v {
			v[i] = float64(i)
		}
		if got := percentile(v, tt.p); got != tt.want {
			t.Errorf("percentile %v of %d is %v, want %v", tt.p, tt.n, got, tt.want)
		}
		if got := tt.n - 1 - above(tt.p, tt.n); got != int(tt.want) {
			t.Errorf("%d of %d are above the percentile %v", above(tt.p, tt.n), tt.n, tt.p)
		}
	}
}

func TestJaccard(t *testing.T) {
	set := func(rows ...int) bitset {
		b := newBitset(100)
		for _, i := range rows {
			b.set(i)
		}
		return b
	}
	all := newBitset(100)
	for i := range 100 {
		all.set(i)
	}
	for _, tt := range []struct {
		a, recordedA, b, recordedB bitset
		want                       float64
	}{
		{set(1, 2, 3), all, set(2, 3, 99), all, 0.5},
		{set(1, 2, 3), all, set(), all, 0},
		{set(), all, set(), all, 0},
		{set(1, 2, 3), set(1, 2, 3, 4), set(3, 4), set(3, 4), 0.5},
		{set(64, 65), all, set(64, 65), all, 1},
	} {
		if got := jaccard(tt.a, tt.recordedA, tt.b, tt.recordedB); got != tt.want {
			t.Errorf("%v, want %v", got, tt.want)
		}
	}
}

func TestPoisson(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	const n = 1_000_000
	var counts [20]float64
	for range n {
		counts[int(poisson(r))]++
	}
	want := math.Exp(-1) * n
	for k := range 8 {
		if d := counts[k] - want; math.Abs(d) > 5*math.Sqrt(want) {
			t.Errorf("%v of %d are %d, want %.0f", counts[k], n, k, want)
		}
		want /= float64(k + 1)
	}
}
