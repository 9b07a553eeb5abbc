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

// experiment returns requests. One in 40 waits for a mutex for so long, and one in 50 for a
// system call of 20 ms. Events are counted as well that have nothing to do with it.
func experiment(seed uint64, n int, mutex float64) *Table {
	r := rand.New(rand.NewPCG(seed, 7))
	var b Builder
	for i := range n {
		d, x, y := 10+r.Float64(), 0.0, 0.0
		if mutex > 0 && r.IntN(40) == 0 {
			x = mutex + r.Float64()
		}
		if r.IntN(50) == 0 {
			y = 20 + r.Float64()
		}
		b.Add(d + x + y)
		b.Time(float64(i))
		for name, v := range map[string]float64{"mutex": x, "syscall": y} {
			c := b.Column(name, "ms", nan)
			c.Within(name)
			c.Number(v)
		}
		for k := range 5 {
			b.Column(fmt.Sprint("decoy", k), "", nan).Number(r.Float64())
		}
	}
	return b.Table("ms")
}

func compare(t *testing.T, segments int, list ...Experiment) (*Comparison, string) {
	t.Helper()
	c, err := Compare("commit", list, segments, nil, Params{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := c.WriteText(&out); err != nil {
		t.Fatal(err)
	}
	return c, out.String()
}

// TestExperiments tests that a cause that is planted in one of two experiments is found, of whatever
// sizes they are, and not the one that both have; that what it makes is what was planted; and that of
// two equal ones no difference is found.
func TestExperiments(t *testing.T) {
	seeds := uint64(20)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		n := 2000 + 340*int(seed)
		a, b := experiment(2*seed, 5000, 0), experiment(2*seed+1, n, 60)
		c, text := compare(t, 0, Experiment{"a", a}, Experiment{"b", b})
		if first, _, _ := strings.Cut(text, "\n"); !strings.HasPrefix(first, "mutex makes the difference: p99 is ") {
			t.Errorf("seed %d, %d requests: %s", seed, n, text)
			continue
		}
		list := c.Differences()
		if d := list[0]; d.Event != "mutex" || d.More.Name != "b" || d.Less.Name != "a" {
			t.Errorf("seed %d: %s, more in %s than in %s", seed, d.Event, d.More.Name, d.Less.Name)
			continue
		}
		// Without the mutex b has the tail that a has.
		if d := list[0].By - (c.Experiments[1].Tail - c.Experiments[0].Tail); d < -3 || d > 3 {
			t.Errorf("seed %d: off by %v ms\n%s", seed, d, text)
		}
		for _, mutex := range []float64{0, 60} {
			a, b := experiment(1000+2*seed, 5000, mutex), experiment(1001+2*seed, n, mutex)
			if c, text := compare(t, 0, Experiment{"a", a}, Experiment{"b", b}); !strings.HasPrefix(text, "no difference found: p99 is ") || len(c.Differences()) > 0 {
				t.Errorf("seed %d, %d equal requests: %s", seed, n, text)
			}
		}
	}
}

// TestExperimentsPage tests that the page has what the text has: a bar for each impact that is known, a dot
// and a ring for the percentiles of each part of an experiment, and names as they are.
func TestExperimentsPage(t *testing.T) {
	const bad = `<b>"&'`
	a, b, other := experiment(1, 4000, 0), experiment(2, 5000, 60), experiment(3, 2000, 0)
	other.Columns = slices.DeleteFunc(other.Columns, func(c Column) bool { return c.Name == "mutex" })
	c, text := compare(t, 2, Experiment{"a", a}, Experiment{bad, b}, Experiment{"c", other})
	var out strings.Builder
	if err := c.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	d, err := parsePage(out.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	first, _, _ := strings.Cut(text, "\n")
	for _, want := range []string{first, bad, "not counted", c.impactText(c.Experiments[1], "mutex"), "1 of 2: " + c.quantilesText(c.Experiments[1], "mutex", 1)} {
		if !strings.Contains(d.text, want) {
			t.Errorf("no %q in\n%s", want, d.text)
		}
	}
	// syscall in all, mutex in one: it never changes in a, and c has not counted it.
	if n := len(d.by["bar.width"]); n != 4 {
		t.Errorf("%d bars", n)
	}
	// Of latency and syscall in three, and of mutex in two, each of all and of two segments.
	if dots, rings := len(d.by["dot.cx"]), len(d.by["ring.cx"]); dots != 8*3 || rings != 8*3 {
		t.Errorf("%d dots, %d rings", dots, rings)
	}
}

// TestExperimentsHostile tests that no text gets into a page as it is.
func TestExperimentsHostile(t *testing.T) {
	const evil = "'\"><b>\x1b"
	c, _ := compare(t, 2, Experiment{"a" + evil, experiment(1, 4000, 0)}, Experiment{"b" + evil, experiment(2, 5000, 60)})
	c.By, c.Unit, c.Notes, c.Events = evil, evil, []string{evil}, append(c.Events, evil)
	for _, y := range c.Experiments {
		for i := range y.Impacts {
			y.Impacts[i].Event = evil
		}
	}
	var out strings.Builder
	if err := c.WriteHTML(&out); err != nil {
		t.Fatal(err)
	}
	if d, err := parsePage(out.String()); err != nil || d.elements["b"] > 0 || strings.Count(d.text, "'\"><b>\ufffd") < 20 {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

// TestExperimentsMany tests that those with the most requests are compared, and the rest is said.
func TestExperimentsMany(t *testing.T) {
	var list []Experiment
	for i := range maxExperiments + 2 {
		list = append(list, Experiment{string(rune('a' + i)), experiment(uint64(i), 1000+i%9, 0)})
	}
	c, text := compare(t, 0, list...)
	if n := len(c.Experiments); n != maxExperiments || !strings.Contains(text, "2 experiments with the fewest requests are left out: \"a\", \"j\"\n") {
		t.Errorf("%d experiments:\n%s", n, text)
	}
}

// TestExperimentsAlike tests experiments with equal tails that have other causes.
func TestExperimentsAlike(t *testing.T) {
	a, b := experiment(1, 5000, 30), experiment(2, 5000, 30)
	for i := range b.Columns {
		switch c := &b.Columns[i]; c.Name {
		case "mutex":
			c.Name, c.Within = "chan", []string{"chan"}
		}
	}
	for _, x := range []struct {
		to   *Table
		name string
	}{{a, "chan"}, {b, "mutex"}} {
		x.to.Columns = append(x.to.Columns, Column{Name: x.name, Unit: "ms", Within: []string{x.name}, Values: make([]float64, 5000)})
	}
	_, text := compare(t, 0, Experiment{"a", a}, Experiment{"b", b})
	if !strings.HasPrefix(text, "no difference of p99 is certain, but it has other reasons: it is ") || !strings.Contains(text, "0 (always the same)") {
		t.Error(text)
	}
}

// TestExperimentsNotCounted tests that an event that an experiment has not counted is not 0 there, and
// that no difference is drawn from it. A region that no request of an experiment was in is none.
func TestExperimentsNotCounted(t *testing.T) {
	without := func(x *Table) *Table {
		x.Columns = slices.DeleteFunc(x.Columns, func(c Column) bool { return c.Name == "mutex" })
		return x
	}
	list := []Experiment{{"a", without(experiment(1, 3000, 0))}, {"b", experiment(2, 4000, 60)}}
	c, text := compare(t, 0, list...)
	first, rest, _ := strings.Cut(text, "\n")
	if !strings.HasSuffix(first, "in a, and no event that both have counted makes the difference: mutex makes the tail in b, and was not counted in a") || slices.ContainsFunc(c.Differences(), func(d Difference) bool { return d.Event == "mutex" }) {
		t.Error(text)
	}
	if strings.Count(rest, "not counted") != 2 { // the impact, and the quantiles
		t.Error(text)
	}
	// The same if the column is there and says nothing.
	var empty Builder
	for _, v := range list[0].Table.Latency {
		empty.Add(v)
		empty.Column("mutex", "ms", nan)
	}
	if _, text := compare(t, 0, Experiment{"a", empty.Table("ms")}, list[1]); strings.Count(text, "not counted") != 3 {
		t.Error(text)
	}
	zero := func(x *Table) {
		for i := range x.Columns {
			x.Columns[i].Zero = true
		}
	}
	zero(list[1].Table) // beside a table that does not say what it had none of
	if _, text := compare(t, 0, list...); strings.Count(text, "not counted") != 3 {
		t.Error(text)
	}
	zero(list[0].Table)
	if _, text := compare(t, 0, list...); !strings.HasPrefix(text, "mutex makes the difference: ") || strings.Count(text, "none") != 2+strings.Count(text, "none found") {
		t.Error(text)
	}
}

// TestExperimentsSegments tests the percentiles of segments, and experiments that are too short.
func TestExperimentsSegments(t *testing.T) {
	var x Builder
	for i := range 4000 { // the first half takes 1 to 2000 ms, the other one twice as long
		v := float64(i%2000 + 1)
		x.Add(v * float64(1+i/2000))
		x.Time(float64(-i)) // the other way round
		x.Column("n", "", nan).Number(v * float64(1+i/2000))
	}
	var y Builder
	for i := range 900 {
		y.Add(float64(i))
		y.Column("n", "", nan).Number(1)
	}
	table := x.Table("ms")
	c, text := compare(t, 2, Experiment{"x", table}, Experiment{"y", table})
	for _, q := range [][]Quantiles{c.Experiments[0].Quantiles[""], c.Experiments[1].Quantiles[""]} {
		want := []Quantiles{{4000, 1334, 3922}, {2000, 2002, 3962}, {2000, 1001, 1981}}
		if !slices.Equal(q, want) {
			t.Errorf("%v, want %v", q, want)
		}
	}
	for _, want := range []string{"no difference found: p99 is 3922 ms in y and 3922 ms in x\n", "\n  2 of 2     1001 / 1981  1001 / 1981\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	short := Experiment{"y", y.Table("ms")}
	if _, err := Compare("file", []Experiment{{"x", table}, short}, 2, nil, Params{}); err == nil || err.Error() != "y: segments of 450 requests are too short: for p99 it takes 1000" {
		t.Errorf("error %v", err)
	}
	if _, text := compare(t, 0, Experiment{"x", table}, short); !strings.HasPrefix(text, "too few requests to compare: it takes 1000 for p99, in two experiments or more\n") {
		t.Error(text)
	}
	var none Builder
	if _, text := compare(t, 0, Experiment{"x", table}, Experiment{"z", none.Table("ms")}); !strings.Contains(text, "z       0         -") {
		t.Error(text)
	}
	if _, err := Compare("file", []Experiment{{"x", table}}, 0, nil, Params{}); err == nil {
		t.Error("one experiment")
	}
}

// TestSplitExperiments tests experiments by a column: of words, of numbers, of values that are not known and of too many.
func TestSplitExperiments(t *testing.T) {
	var b Builder
	for i := range 1000 {
		if b.Add(float64(i)); i >= 100 {
			b.Column("word", "", nan).Word(string(rune('c' - i%4%3)))
			b.Column("number", "", nan).Number(float64(10 * (i % 2)))
		}
		b.Column("many", "", nan).Number(float64(i * i % 77))
		b.Time(float64(i))
	}
	table := b.Table("ms")
	names := func(column string) string {
		list, notes, err := Split(table, column)
		if err != nil {
			t.Fatal(err)
		}
		s := ""
		for _, x := range list {
			s += fmt.Sprintf("%s %d, ", x.Name, len(x.Table.Latency))
			if len(x.Table.Columns) != 2 || len(x.Table.Time) != len(x.Table.Latency) || x.Table.Time[1] != x.Table.Latency[1] {
				t.Errorf("%s: %+v", column, x.Table)
			}
		}
		return s + strings.Join(notes, "|")
	}
	for column, want := range map[string]string{
		"word":   "a 225, b 225, c 450, 100 requests without a known word are left out",
		"number": "0 450, 10 450, 100 requests without a known number are left out",
	} {
		if got := names(column); got != want {
			t.Errorf("%s: %q, want %q", column, got, want)
		}
	}
	if got := names("many"); !strings.Contains(got, "many has 24 values: these are those of the most requests, and ") || !strings.HasSuffix(got, " of 16 other values are left out") {
		t.Error(got)
	}
	if len(table.Columns) != 3 {
		t.Errorf("%d columns are left", len(table.Columns))
	}
	if _, _, err := Split(table, "none"); err == nil {
		t.Error("no error of no column")
	}
}
