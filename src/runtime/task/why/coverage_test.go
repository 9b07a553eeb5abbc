// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
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
		r, err := Analyze(b.Table("ms"), Options{})
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
		b.Column("rare", "", nan)
		if i%4 == 0 {
			b.Column("rare", "", nan).Number(float64(i % 7))
		}
	}
	var out strings.Builder
	r, err := Analyze(b.Table("ms"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.WriteText(&out); !strings.Contains(out.String(), "too few: rare (recorded in 500 requests; it takes 1000)") {
		t.Error(out.String())
	}
}
