// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// text returns the report of a table as text.
func text(t *testing.T, tab *Table, o Params) string {
	t.Helper()
	r, err := Analyze(tab, o)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNoCause tests that no cause is made up: of events that have nothing to do with
// latency, however it is distributed, none is one, and no pattern describes slow requests.
func TestNoCause(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds = 6
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		n := []int{500, 2000, 30_000}[seed%3]
		tab := &Table{Unit: "ms"}
		for range n {
			var v float64
			switch seed / 3 % 4 {
			case 0:
				v = lognormal(r, 0.1)
			case 1:
				v = lognormal(r, 1)
			case 2: // two modes
				v = 10 + r.Float64()
				if r.IntN(20) == 0 {
					v += 50
				}
			default: // steps of a coarse clock
				v = float64(1 + r.IntN(3))
			}
			tab.Latency = append(tab.Latency, v)
		}
		for j := range 12 {
			c := Column{Name: fmt.Sprint("c", j)}
			for range n {
				v := lognormal(r, 0.3)
				switch {
				case j%3 == 0 && r.IntN(30) == 0:
					v += 20
				case j%3 == 1:
					v = float64(r.IntN(4))
				}
				c.Values = append(c.Values, v)
			}
			if j%3 == 1 && j > 4 {
				c.Words = []string{"a", "b", "c", "d"}
			}
			tab.Columns = append(tab.Columns, c)
		}
		for _, p := range []float64{0.5, 0.9, 0.99} {
			got := text(t, tab, Params{P: p, Seed: seed})
			few := above(p, n)+1 < fewest
			if first, _, _ := strings.Cut(got, "\n"); few != strings.HasPrefix(first, "too few") || !few && !strings.HasPrefix(first, "no cause found") || strings.Contains(got, "describes") {
				t.Errorf("seed %d, n %d, p %v:\n%s", seed, n, p, got)
			}
		}
	}
}

// TestWords tests that words describe slow requests, too.
func TestWords(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	tab := &Table{Unit: "ms", Columns: []Column{
		{Name: "server", Words: []string{"a", "b", "c"}},
		{Name: "tenant", Words: []string{"x", "y"}},
		{Name: "always", Words: []string{"the same"}},
	}}
	for range 5000 {
		s, y := float64(r.IntN(3)), float64(r.IntN(2))
		v := 10 * lognormal(r, 0.1)
		if s == 1 && y == 1 && r.IntN(4) == 0 || r.IntN(1000) == 0 {
			v += 30
		}
		tab.Latency = append(tab.Latency, v)
		for j, x := range []float64{s, y, 0} {
			tab.Columns[j].Values = append(tab.Columns[j].Values, x)
		}
	}
	// A quarter of b's requests of y: not enough to describe the slow ones precisely.
	if got := text(t, tab, Params{}); strings.Contains(got, "describes") {
		t.Errorf("a quarter of the requests:\n%s", got)
	}
	for i, s := range tab.Columns[0].Values {
		if s == 1 && tab.Columns[1].Values[i] == 1 && tab.Latency[i] < 20 && r.IntN(10) > 0 {
			tab.Latency[i] += 30
		}
	}
	got := text(t, tab, Params{P: 0.9})
	if !strings.Contains(got, `server = "b" and tenant = "y": F 0.9`) {
		t.Error(got)
	}
}

// TestBadTables tests that there is an error, or a clear sentence, for each bad table.
func TestBadTables(t *testing.T) {
	many := make([]float64, 1000)
	for i := range many {
		many[i] = float64(i)
	}
	same := make([]float64, 1000)
	none := []float64{nan, math.Inf(1), math.Inf(-1)}
	for _, tt := range []struct {
		name string
		tab  Table
		o    Params
		want string
	}{
		{"empty", Table{}, Params{}, "there are no requests"},
		{"short column", Table{Latency: many, Columns: []Column{{Name: "c", Values: same[:5]}}}, Params{}, `column "c" has 5 values for 1000 requests`},
		{"two columns", Table{Latency: many, Columns: []Column{{Name: "c", Values: same}, {Name: "c", Values: same}}}, Params{}, `there are two columns "c"`},
		{"no such word", Table{Latency: same[:1], Columns: []Column{{Name: "c", Values: many[1:2], Words: []string{"a"}}}}, Params{}, `column "c" has 1 for the index of one of its 1 words`},
		{"no latency", Table{Latency: none}, Params{}, "none of 3 requests has a latency"},
		{"negative", Table{Latency: []float64{1, -2}}, Params{}, "there are latencies below 0: -2"},
		{"percentile", Table{Latency: many}, Params{P: 1}, "the percentile has to be between 0 and 1, and is 1"},
		{"percentile NaN", Table{Latency: many}, Params{P: nan}, "the percentile has to be between 0 and 1, and is NaN"},
		{"bandwidth", Table{Latency: many}, Params{Bandwidth: -1}, "the bandwidth has to be positive, and is -1"},

		{"one", Table{Latency: many[1:2]}, Params{}, "too few requests: 1 is above p99, and it takes 10"},
		{"no columns", Table{Latency: many}, Params{}, "no cause found"},
		{"all the same", Table{Latency: same, Columns: []Column{{Name: "c", Values: many}}}, Params{}, "no cause found: all requests took the same time"},
		{"latency as column", Table{Latency: many, Columns: []Column{{Name: "c", Values: many}}}, Params{}, "no event makes the tail, but c >= 990 describes slow requests"},
		{"empty column", Table{Latency: many, Columns: []Column{{Name: "c", Values: append(make([]float64, 0), fill(1000, nan)...)}}}, Params{}, "no cause found"},
		{"infinite", Table{Latency: many, Columns: []Column{{Name: "c", Values: fill(1000, math.Inf(1))}}}, Params{}, "no cause found"},
		{"no words", Table{Latency: many, Columns: []Column{{Name: "c", Words: []string{}, Values: fill(1000, nan)}}}, Params{}, "no cause found"},
	} {
		got := ""
		if r, err := Analyze(&tt.tab, tt.o); err != nil {
			got = err.Error()
		} else {
			var b strings.Builder
			r.WriteText(&b)
			got = b.String()
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
		if strings.Contains(got, "NaN%") || strings.Contains(got, "%!") {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

func fill(n int, v float64) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// FuzzAnalyze tests that no table is too strange.
func FuzzAnalyze(f *testing.F) {
	f.Add([]byte("0123456789"), uint16(300), uint8(3), 0.9)
	f.Add([]byte{0, 255, 1, 254}, uint16(1000), uint8(5), 0.5)
	f.Fuzz(func(t *testing.T, data []byte, n uint16, columns uint8, p float64) {
		if len(data) == 0 || n > 3000 || columns > 8 {
			return
		}
		special := []float64{0, 1, -1, nan, math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 1e300, 0.1}
		at := 0
		next := func() float64 {
			b := data[at%len(data)] ^ byte(at/len(data)*37)
			at++
			if b < 128 {
				return float64(b)
			}
			return special[int(b)%len(special)]
		}
		tab := &Table{}
		for range n {
			tab.Latency = append(tab.Latency, math.Abs(next()))
		}
		for j := range columns {
			c := Column{Name: fmt.Sprint(j), Parents: []string{"0"}, Group: Group(j % 6)}
			if j%3 == 2 {
				c.Words = []string{"a", "b", "c"}
			}
			for range n {
				v := next()
				if c.Words != nil {
					v = float64(int(math.Abs(v)) % 3)
				}
				c.Values = append(c.Values, v)
			}
			tab.Columns = append(tab.Columns, c)
		}
		r, err := Analyze(tab, Params{P: p})
		if err != nil {
			return
		}
		for _, e := range r.Impacts {
			if e.Remark == "" && !(e.Raw <= 1) || bad(e.Adjusted) || e.High > e.N || e.N > r.Requests {
				t.Errorf("%+v", e)
			}
		}
		for _, q := range r.Patterns {
			if q.TP > q.Pos || q.TP+q.FP > r.Requests || !(q.F >= 0 && q.F <= 1) {
				t.Errorf("%+v", q)
			}
		}
		if err := r.WriteText(&strings.Builder{}); err != nil {
			t.Error(err)
		}
		var b strings.Builder
		if err := r.WriteHTML(&b); err != nil {
			t.Error(err)
		}
		if _, err := parsePage(b.String()); err != nil {
			t.Errorf("%v:\n%s", err, b.String())
		}
	})
}
