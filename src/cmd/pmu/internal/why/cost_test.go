// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"internal/taskrecord"
	"math/rand/v2"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"
	"time"
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
	rep, err := Analyze(tab, Params{})
	if err != nil {
		t.Fatal(err)
	}
	s := text(t, tab, Params{})
	if len(rep.First) > 0 || len(rep.Patterns) > 0 || !strings.HasPrefix(s, "no cause found\n") ||
		!strings.Contains(s, "high in slow requests, but cost, and no part of the latency: cost running (7") {
		t.Errorf("%q, %d patterns\n%s", rep.First, len(rep.Patterns), s)
	}
	// The same, if it is no cost.
	tab.Columns[0].Cost = false
	if s := text(t, tab, Params{}); !strings.HasPrefix(s, "cost running makes the tail") {
		t.Errorf("%s", s)
	}
}

// TestCostColumn tests that the cost is all of a task's time on a thread, and not there if it is the latency's.
func TestCostColumn(t *testing.T) {
	rows := func(list ...int) *Table {
		var b Builder
		for _, running := range list {
			x := &taskrecord.Record{Wall: 1000, Goroutines: 1}
			x.Parts[pprof.TimeRunning] = 1000
			if running != 1000 {
				x.Ender, x.Goroutines = taskrecord.Ender{Goroutine: 1, Parts: x.Parts}, 2
			}
			x.Parts[pprof.TimeRunning] = time.Duration(running)
			b.AddTask(x)
		}
		return b.Table("ms")
	}
	cost := func(c Column) bool { return c.Name == "cost running" }
	if slices.ContainsFunc(rows(1000, 1009).Columns, cost) {
		t.Error("there is a cost that is the latency")
	}
	tab := rows(1000, 1010, 3000, 1000)
	i := slices.IndexFunc(tab.Columns, cost)
	if want := []float64{1e-3, 1e-3, 3e-3, 1e-3}; i < 0 || !slices.Equal(tab.Columns[i].Values, want) {
		t.Errorf("cost in column %d, want %v", i, want)
	}
}

// TestSameTasks tests that times of tasks of a kind on one server are summed up, and that there are no notes of them.
func TestSameTasks(t *testing.T) {
	server := &taskrecord.Server{Name: "b"}
	x := &taskrecord.Record{Trace: taskrecord.TraceID{1}, Span: taskrecord.SpanID{1}, Kind: "a", Wall: 20e6, Goroutines: 1, Server: &taskrecord.Server{Name: "a"}}
	x.Parts[pprof.TimeSelect] = 20e6
	list := []*taskrecord.Record{x}
	for i := range 2 {
		from := time.Duration(i) * 10e6
		x.Calls = append(x.Calls, taskrecord.Call{Span: taskrecord.SpanID{byte(i + 2)}, Kind: "c", Flags: taskrecord.Client, Start: from, Wall: 9e6})
		y := &taskrecord.Record{Trace: x.Trace, Span: taskrecord.SpanID{byte(i + 4)}, Parent: taskrecord.SpanID{byte(i + 2)}, Kind: "k", Flags: taskrecord.ServerOf, Start: int64(from), Wall: 9e6, Goroutines: 1, Server: server}
		y.Parts[pprof.TimeMutex] = 9e6
		y.Notes = []taskrecord.Note{{Key: "n", Value: "1"}}
		list = append(list, y)
	}
	for n, want := range map[int]string{2: "mutex on b (k) 9, note n on b (k) 1", 3: "mutex on b (k) 18"} {
		one := *x
		one.Calls = x.Calls[:n-1]
		list[0] = &one
		r := taskrecord.Join(slices.Values(list[:n]))[0]
		var b Builder
		var known Callees
		known.Learn(r)
		b.AddRequest(r.Roots[0], &known)
		known.Done()
		var got []string
		for _, c := range b.Table("ms").Columns {
			if c.Of != "" && !strings.HasPrefix(c.Name, "call") && !strings.HasPrefix(c.Name, "way") {
				got = append(got, c.Name+" "+number(c.Values[0]))
			}
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%d tasks: %s, want %s", n, got, want)
		}
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
