// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestFilter tests that a filter selects the rows that conditions do, whatever is in names and words, and has
// no more digits than that takes.
func TestFilter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 40))
	names := []string{"a", "a and b", "a >= 1", "a in [1", `q"`, "mutex on x (GET /)", "a < 2 and a", "w = "}
	words := []string{"b", `x" and a >= 1`, "", "it's", "é\x00"}
	tab := &Table{Unit: "ms"}
	for i, name := range names {
		c := Column{Name: name, Unit: []string{"ms", ""}[i%2]}
		if i%3 == 2 {
			c.Words = words
			c.Unit = ""
		}
		for range 50 {
			v := r.NormFloat64() * math.Pow(10, float64(r.IntN(9)-4))
			if c.Words != nil {
				v = float64(r.IntN(len(words)))
			} else if r.IntN(9) == 0 {
				v = nan
			}
			c.Values = append(c.Values, v)
		}
		tab.Columns = append(tab.Columns, c)
	}
	long := 0
	for range 2000 {
		var list []Cond
		conds := make(map[string]Cond)
		for _, i := range r.Perm(len(names))[:1+r.IntN(3)] {
			x := &tab.Columns[i]
			c := Cond{Column: x.Name, Unit: x.Unit, Lo: math.Inf(-1), Hi: math.Inf(1)}
			end := func() float64 { return x.Values[r.IntN(50)] }
			switch r.IntN(3) {
			case 0:
				c.Lo = end()
			case 1:
				c.Hi = end()
			default:
				c.Lo, c.Hi = end(), end()
			}
			if x.Words != nil {
				c = Cond{Column: x.Name, IsWord: true, Word: words[r.IntN(len(words))]}
			}
			if c.Lo != c.Lo || c.Hi != c.Hi {
				continue
			}
			list = append(list, c)
			conds[c.Column] = c
		}
		if len(list) == 0 {
			continue
		}
		text := Filter(list, tab)
		got, err := ParseConds(text, tab)
		if err != nil || len(got) != len(list) {
			t.Fatalf("%s: %v, %d conditions of %d", text, err, len(got), len(list))
		}
		again := make(map[string]Cond)
		for _, c := range got {
			again[c.Column] = c
		}
		for row := range 50 {
			if tab.Meets(row, conds) != tab.Meets(row, again) {
				t.Fatalf("row %d: %s", row, text)
			}
		}
		if len(text) > 120*len(list) || strings.Contains(text, "00000001") {
			long++
		}
	}
	if long > 0 {
		t.Errorf("%d filters have more digits than they need", long)
	}
	for expression, want := range map[string]string{
		"":                      "there is no column",
		"b >= 1":                "there is no column and condition at \"b >= 1\"",
		"a >= x":                `"x" is no number`,
		"a >= NaN":              `"NaN" is no number`,
		"a in [1,2":             "has no end",
		"a >= 1 or a":           "which is no \" and \"",
		"a >= 1 s":              "after a >= 1",
		"a = \"b\"":             "has numbers",
		"a >= 1 >= 1":           `"a >= 1" has words`,
		"a >= 1 = b":            "is no word in quotes",
		"a >= 1 ms and  a >= 1": "no column",
	} {
		if _, err := ParseConds(expression, tab); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", expression, err, want)
		}
	}
	// What the report prints, rounded, is one, too.
	c := Cond{Column: "a", Unit: "ms", Lo: 3.8512, Hi: 19.42}
	if list, err := ParseConds(c.String(), tab); err != nil || len(list) != 1 || list[0].Lo != 3.85 || list[0].Hi != 19.4 {
		t.Errorf("%v: %v, %v", c, list, err)
	}
}
