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

// segmented returns a table of requests in random order, of which one in 50 is slowed down, in
// the first half of the time by a and in the other one by b, which takes twice as long.
func segmented(seed uint64, n int) *Table {
	r := rand.New(rand.NewPCG(seed, 1))
	var b Builder
	for _, i := range r.Perm(n) {
		cause, other, d := "a", "b", 20.0
		if i >= n/2 {
			cause, other, d = "b", "a", 40
		}
		if r.IntN(50) > 0 {
			d = 0
		} else {
			d += r.Float64()
		}
		b.Add(10 + r.Float64() + d)
		b.Time(1e9 + float64(i))
		b.Column(cause, "ms", 0).Number(d)
		b.Column(other, "ms", 0).Number(0)
		b.Column("nothing", "", nan).Number(r.Float64())
	}
	return b.Table("ms")
}

func TestSegments(t *testing.T) {
	for seed := range uint64(3) {
		table := segmented(seed, 20_000)
		list, err := Segments(table, 4, Params{})
		if err != nil {
			t.Fatal(err)
		}
		for k, s := range list {
			want, tail := "a", 30.0
			if k >= 2 {
				want, tail = "b", 50
			}
			if s.Top() != want || s.Tail < tail || s.Tail > tail+2 || s.Requests != 5000 || s.From != 1e9+5000*float64(k) || s.To != s.From+4999 {
				t.Errorf("seed %d, segment %d: %s, tail %v of %d requests, %v to %v", seed, k, s.Top(), s.Tail, s.Requests, s.From, s.To)
			}
			for i := range table.Columns {
				if got := len(table.Columns[i].Values); got != 20_000 {
					t.Fatalf("the table has %d rows left", got)
				}
			}
		}
		var out strings.Builder
		if err := WriteSegments(&out, list, true); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"p99 in 4 segments: ", "2001-09-09 01:46:40..03:09:59  5000", " longest tail\n", " middle\n", " shortest tail\n", "event  longest tail"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, out.String())
			}
		}
		if seed == 0 {
			t.Log("\n" + out.String())
		}
		// What is not known when it was is in no segment, and without times rows are in order.
		table.Time[7] = nan
		if list, err = Segments(table, 2, Params{}); err != nil || list[0].Requests+list[1].Requests != 19_999 {
			t.Error(list, err)
		}
		table.Time = nil
		if list, err = Segments(table, 2, Params{}); err != nil || list[1].From != 10_000 || list[1].To != 19_999 {
			t.Error(list, err)
		}
	}
}

func TestSegmentsBad(t *testing.T) {
	table := segmented(1, 5000)
	for _, n := range []int{-1, 0, 1, 6, 5000, 1 << 30} {
		if list, err := Segments(table, n, Params{}); err == nil {
			t.Errorf("%d segments: %v", n, list)
		} else {
			t.Log(err)
		}
	}
	if _, err := Segments(table, 5, Params{}); err != nil {
		t.Error(err)
	}
	if _, err := Segments(table, 5, Params{P: 0.995}); err == nil {
		t.Error("segments are long enough for p99.5")
	}
	table.Time = table.Time[1:]
	if _, err := Segments(table, 2, Params{}); err == nil {
		t.Error("a time is missing")
	}
	if err := WriteSegments(nil, nil, false); err != nil {
		t.Error(err)
	}
}

// TestNeeded tests that an event is found from so many requests on.
func TestNeeded(t *testing.T) {
	for _, c := range []struct {
		p, part float64
		want    int
	}{{0.99, 1, 1000}, {1e-300, 1, math.MaxInt32}, {0.99, 0.05, 20_000}, {0.5, 1, 20}, {0.999, 1, 10_000}, {0.9, 0.25, 400}} {
		n := Needed(c.p, c.part)
		if n != c.want {
			t.Errorf("p %v, part %v: %d, want %d", c.p, c.part, n, c.want)
		}
		if n > 1<<20 {
			continue
		}
		for _, rows := range []int{n, n - 1} {
			table := segmented(3, rows)
			e := &table.Columns[2]
			recorded := int(c.part * float64(n))
			if rows < n {
				recorded--
			}
			for i := range e.Values {
				if i >= recorded {
					e.Values[i] = nan
				}
			}
			r, err := Analyze(table, Params{P: c.p})
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(r.Impacts, func(e Impact) bool { return e.Event == "nothing" })
			if few := r.Impacts[i].Remark == remarkFew; few != (rows < n) && recorded >= 2*minRange {
				t.Errorf("p %v, part %v: too few of %d: %v", c.p, c.part, rows, few)
			}
		}
	}
}
