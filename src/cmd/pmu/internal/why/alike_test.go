// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// alikeTable returns a table of requests that are slow for what column x says, with copies of
// it that are x times a power of two.
func alikeTable(rows, columns int, scaled bool) *Table {
	rnd := rand.New(rand.NewPCG(1, 2))
	t := &Table{Unit: "ms"}
	var x []float64
	for range rows {
		l := 10 * rnd.ExpFloat64()
		t.Latency = append(t.Latency, l)
		x = append(x, l+5*rnd.NormFloat64())
	}
	for i := range columns {
		c := Column{Name: fmt.Sprintf("x%d", i), Values: slices.Clone(x)}
		if scaled {
			for k := range c.Values {
				c.Values[k] *= float64(int(1) << (i % 20))
			}
		}
		t.Columns = append(t.Columns, c)
	}
	return t
}

// TestAlikeWork tests that columns that tell the same requests apart take no more of what takes
// long than one of them, and that all of them have its impact.
func TestAlikeWork(t *testing.T) {
	var one work
	want, err := analyze(alikeTable(5000, 1, false), Params{}, &one)
	if err != nil {
		t.Fatal(err)
	}
	if one.resampled.Load() != 1 || one.compared.Load() != 0 || one.tried.Load() == 0 || len(want.Patterns) == 0 || want.Impacts[0].Low <= 0 {
		t.Fatalf("one column: %d events resampled, %d sets compared, %d conditions tried, %d patterns, impact %+v", one.resampled.Load(), one.compared.Load(), one.tried.Load(), len(want.Patterns), want.Impacts[0])
	}
	for _, scaled := range []bool{false, true} {
		const columns = 80
		var w work
		got, err := analyze(alikeTable(5000, columns, scaled), Params{}, &w)
		if err != nil {
			t.Fatal(err)
		}
		if r, c, n := w.resampled.Load(), w.compared.Load(), w.tried.Load(); r != 1 || c != 1 || n != one.tried.Load() {
			t.Errorf("scaled %v: of %d columns, %d events resampled, %d sets compared, %d conditions tried; want 1, 1, %d", scaled, columns, r, c, n, one.tried.Load())
		}
		if len(got.Impacts) != columns || len(got.Pairs) != columns*(columns-1)/2 {
			t.Errorf("scaled %v: %d impacts, %d pairs", scaled, len(got.Impacts), len(got.Pairs))
		}
		for _, e := range got.Impacts {
			if w := want.Impacts[0]; e.Raw != w.Raw || e.Low != w.Low || e.Above != w.Above || e.Adjusted != w.Adjusted || e.Remark != w.Remark || len(e.Without.Values) != len(w.Without.Values) {
				t.Errorf("scaled %v: impact of %s is %v (%v to %v), want %v (%v to %v)", scaled, e.Event, e.Raw, e.Low, e.Above, w.Raw, w.Low, w.Above)
			}
		}
		for _, p := range got.Pairs {
			if p.Jaccard != 1 {
				t.Errorf("scaled %v: %v", scaled, p)
			}
		}
		if fmt.Sprint(got.Patterns) != fmt.Sprint(want.Patterns) {
			t.Errorf("scaled %v: patterns %+v, want %+v", scaled, got.Patterns, want.Patterns)
		}
		note := `conditions on "x0" describe the same requests as some on "x1", "x10", "x11" and 76 more`
		if !slices.Contains(got.Notes, note) {
			t.Errorf("scaled %v: notes %q, want %q", scaled, got.Notes, note)
		}
	}
	if strings.Contains(strings.Join(want.Notes, ""), "conditions on") {
		t.Errorf("one column: notes %q", want.Notes)
	}
}

// TestNotAlike tests that columns that differ in one request are not taken to be alike.
func TestNotAlike(t *testing.T) {
	tab := alikeTable(5000, 3, false)
	slowest := slices.Index(tab.Latency, slices.Max(tab.Latency))
	tab.Columns[1].Values[slowest] = 0
	tab.Columns[2].Values[slowest] = nan
	var w work
	rep, err := analyze(tab, Params{}, &w)
	if err != nil {
		t.Fatal(err)
	}
	if w.resampled.Load() != 3 {
		t.Errorf("%d events resampled, want 3", w.resampled.Load())
	}
	for _, n := range rep.Notes {
		if strings.Contains(n, "conditions on") {
			t.Errorf("note %q", n)
		}
	}
	// What a note says has to be of the same kind.
	a, b := &attr{from: []bitset{{1}, {2}}}, &attr{from: []bitset{{1}, {2}}, words: true}
	if a.sameConds(b) || !a.sameConds(a) {
		t.Error("words are taken for numbers")
	}
}

// TestFirstAlike tests firstAlike, with hashes that collide.
func TestFirstAlike(t *testing.T) {
	items := []string{"a", "b", "a", "c", "b", "a"}
	for _, mod := range []uint64{1, 2, 1000} {
		got := firstAlike(len(items), func(i int) uint64 { return uint64(items[i][0]) % mod }, func(i, j int) bool { return items[i] == items[j] })
		if want := []int{0, 1, 0, 3, 1, 0}; !slices.Equal(got, want) {
			t.Errorf("hashes modulo %d: %v, want %v", mod, got, want)
		}
	}
}
