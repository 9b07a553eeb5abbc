// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestCost tests that a cost is never named as a cause, nor in a pattern, if it is high in slow requests and
// nothing else is.
func TestCost(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	var b Builder
	for i := range 2000 {
		cost := r.Float64()
		latency := 10 + r.Float64()
		if i%33 == 7 {
			cost += 40
			latency += 40
		}
		b.Add(latency)
		c := b.Column("cost running", "ms", 0)
		c.Group(Sum)
		c.column.Cost = true
		c.Number(cost)
		b.Column("size", "", nan).Number(float64(r.IntN(100)))
	}
	tab := b.Table("ms")
	rep, err := Analyze(tab, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := text(t, tab, Options{})
	if len(rep.First) > 0 || len(rep.Patterns) > 0 || !strings.HasPrefix(s, "no cause found\n") ||
		!strings.Contains(s, "high in slow requests, but cost, and no part of the latency: cost running (7") {
		t.Errorf("%q, %d patterns\n%s", rep.First, len(rep.Patterns), s)
	}
	// The same, if it is no cost.
	tab.Columns[0].Cost = false
	if s := text(t, tab, Options{}); !strings.HasPrefix(s, "cost running makes the tail") {
		t.Errorf("%s", s)
	}
}

// TestTaskRules tests which events can cause others: on one server, by their groups, or those that they are part of.
func TestTaskRules(t *testing.T) {
	column := func(name, of string, g Group) *Column {
		tab := &Table{Columns: []Column{{Name: name + of, Of: of, Group: g}}}
		tab.Describe(nil)
		return &tab.Columns[0]
	}
	a, b := " on a (k)", " on b (k)"
	for _, tt := range []struct {
		cause, effect *Column
		want          bool
	}{
		{column("instructions", a, Unknown), column("cycles:u", a, Unknown), true},
		{column("instructions", a, Unknown), column("cycles:u", b, Unknown), false},
		{column("instructions", a, Unknown), column("running", "", Unknown), false},
		{column("note size", a, Input), column("running", b, Unknown), true},
		{column("mutex", a, Unknown), column("call k of a", "", Sum), true},
		{column("call k of a", "", Sum), column("mutex", a, Unknown), false},
		{column("call k of a", "", Sum), column("cost running", "", Sum), false},
	} {
		if got := tt.cause.mayCause(tt.effect); got != tt.want {
			t.Errorf("%s may cause %s: %v", tt.cause.Name, tt.effect.Name, got)
		}
	}
	tab := &Table{Columns: []Column{{Name: "branches" + a, Of: a}, {Name: "instructions" + a, Of: a}, {Name: "instructions" + b, Of: b}}}
	tab.Describe(nil)
	if got := strings.Join(tab.Columns[0].Parents, ", "); got != "instructions on a (k)" {
		t.Errorf("parents of branches: %s", got)
	}
}
