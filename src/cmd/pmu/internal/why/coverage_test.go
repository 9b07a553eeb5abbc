// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestCoverage(t *testing.T) {
	// Of column j every request i has a value for which i mod every[j] is rest[j].
	for _, c := range []struct {
		every, rest []int
		want        string
	}{
		{[]int{1, 1}, []int{0, 0}, ""},
		{[]int{1, 2}, []int{0, 0}, ""},
		{[]int{2, 2, 1}, []int{1, 1, 0}, "2 events were recorded in some requests only, each in 2000"},
		{[]int{2, 4, 4}, []int{0, 1, 2}, "3 events were recorded in some requests only, each in 1000 to 2000; 2 of 3 pairs of them never together, so that neither is known to follow the other"},
	} {
		var b Builder
		for i := range 4000 {
			b.Add(float64(i))
			b.Column("kind", "", nan).Word("k")
			for j, every := range c.every {
				column := b.Column("e"+string(rune('0'+j)), "", nan)
				if i%every == c.rest[j] {
					column.Number(float64(i % 7))
				}
			}
		}
		r, err := Analyze(b.Table("ms"), Params{})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Notes, "|"); got != c.want {
			t.Errorf("%v: %q, want %q", c.every, got, c.want)
		}
	}
}

func TestTooFew(t *testing.T) {
	var b Builder
	for i := range 2000 {
		b.Add(float64(i))
		for name, every := range map[string]int{"rare": 4, "x": 5, "y": 5, "z": 50} {
			if b.Column(name, "", nan); i%every == 0 {
				b.Column(name, "", nan).Number(float64(i % 7))
			}
		}
		b.Column("never", "", nan)
	}
	var out strings.Builder
	r, err := Analyze(b.Table("ms"), Params{})
	if err != nil {
		t.Fatal(err)
	}
	want := "too few: recorded in 400 requests, and it takes 1000: x, y\nnot recorded: never\n" +
		"too few: recorded in so many requests, and it takes 1000: rare (500), z (40)\n"
	if r.WriteText(&out); !strings.Contains(out.String(), want) || strings.Count(out.String(), "recorded in") != 3 {
		t.Error(out.String())
	}
}

// TestTurnsDrift tests that what is recorded in turns is taken to be true of all requests though
// they take longer at some times.
func TestTurnsDrift(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var b Builder
		turn, slower := 0, 1.0
		for i := range 8000 {
			if i%400 == 0 { // both events have as many epochs
				if i%800 == 0 {
					turn = r.IntN(2)
				} else {
					turn = 1 - turn
				}
				slower = 1 + 0.2*r.Float64()
			}
			d, x := 10*slower+r.Float64(), 0.0
			if i%33 == 7 {
				x = 40
			}
			b.Add(d + x)
			if turn == 0 {
				b.Column("cause", "", nan).Number(x)
			} else {
				b.Column("other", "", nan).Number(r.Float64())
			}
		}
		rep, err := Analyze(b.Table("ms"), Params{})
		if err != nil {
			t.Fatal(err)
		}
		if e := rep.Impacts[0]; e.Event != "cause" || e.Only || e.Adjusted < 0.65 || e.Adjusted > 0.85 {
			t.Errorf("seed %d: %+v", seed, e)
		}
	}
}
