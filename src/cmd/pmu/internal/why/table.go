// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"cmp"
	"fmt"
	"internal/taskrecord"
	"math"
	"slices"
)

// A Table has a row for each request: how long it took, and what else is known of it.
type Table struct {
	Latency []float64
	Unit    string // of Latency: "ms"
	Columns []Column

	// Time is when each request began, in any unit; NaN if it isn't known. It is nil if rows are
	// in order of time.
	Time []float64

	// Biased are the requests that were not chosen at random: they are there for being slow, or
	// others of their time are not there any more. It is nil if there are none.
	Biased []bool

	// Trace are the IDs of the requests' traces; it is nil if they have none.
	Trace []taskrecord.TraceID
}

// A Column is an attribute of requests: a number, or a word. Numbers are what analyses call
// events, whatever they are: counts, times, sizes.
type Column struct {
	Name   string
	Unit   string // of the numbers: "ms"; "" for those that have none, like counts
	Values []float64

	// Words are the different words of a column of words, whose Values are indexes of
	// Words. It is nil if the column is of numbers.
	Words []string

	// Within are the columns that include the time of the event: these are parts of the latency,
	// in its unit. Of a column that is such a part, it is the column itself. Without the event a
	// request would have taken so much less, at most. It is nil if there is no such bound.
	Within []string

	// Group and Parents say what the event can be caused by; Parents are events whose number
	// includes this one's, the nearest first. If Group is Unknown, both are looked up by Name in
	// the table of events.
	Group   Group
	Parents []string

	// Of is what Name ends in if the column is of a task that worked for the request on another
	// server: " on db (GET /)". The event is what is before.
	Of string

	// Cost says that the event is no part of the latency, and so never makes the tail: what all
	// goroutines have used, whether the request waited for them or not.
	Cost bool

	// Zero says that there is none of it in requests that did not set it, as there is no time in a
	// region that was not entered. Otherwise nothing is known of them.
	Zero bool
}

// mayCause reports whether the event of column c can cause that of column d. Where they are of
// different tasks of a request it may do so only if the one includes the other, or comes with the
// request: instructions on one server make no misses on another.
func (c *Column) mayCause(d *Column) bool {
	return c.Group.mayCause(d.Group) && (c.Of == d.Of || c.Group == Input || d.Group == Sum)
}

// Sort sorts the columns by name, so that their order says nothing.
func (t *Table) Sort() {
	slices.SortStableFunc(t.Columns, func(a, b Column) int { return cmp.Compare(a.Name, b.Name) })
}

// nan is the value of a cell that is empty: nothing was recorded.
var nan = math.NaN()

// check returns an error if the table is not one, and how many rows have no latency. These
// are left out.
func (t *Table) check() error {
	if len(t.Latency) == 0 {
		return fmt.Errorf("there are no requests")
	}
	if int64(len(t.Latency)) > math.MaxInt32 {
		return fmt.Errorf("%d requests are more than %d", len(t.Latency), math.MaxInt32)
	}
	if t.Biased != nil && len(t.Biased) != len(t.Latency) {
		return fmt.Errorf("of %d requests it is known whether they were chosen at random, and there are %d", len(t.Biased), len(t.Latency))
	}
	names := make(map[string]bool)
	for i := range t.Columns {
		c := &t.Columns[i]
		if len(c.Values) != len(t.Latency) {
			return fmt.Errorf("column %.100q has %d values for %d requests", c.Name, len(c.Values), len(t.Latency))
		}
		if names[c.Name] {
			return fmt.Errorf("there are two columns %.100q", c.Name)
		}
		names[c.Name] = true
		if c.Words == nil {
			continue
		}
		for _, v := range c.Values {
			if v == v && (v < 0 || v >= float64(len(c.Words)) || v != math.Trunc(v)) {
				return fmt.Errorf("column %.100q has %v for the index of one of its %d words", c.Name, v, len(c.Words))
			}
		}
	}
	return nil
}

// bad reports whether v is no measurement.
func bad(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// ranked is a table with its rows in order of their latency.
type ranked struct {
	*Table
	crew
	rows  []int32   // of the table that have a latency, in descending order of it
	worst []float64 // their latencies
}

// rank ranks the rows of a table, if random only those that were chosen at random.
func rank(t *Table, random bool) *ranked {
	type row struct {
		latency float64
		i       int32
	}
	list := make([]row, 0, len(t.Latency))
	for i, v := range t.Latency {
		if !bad(v) && !(random && t.isBiased(i)) {
			list = append(list, row{v, int32(i)})
		}
	}
	slices.SortFunc(list, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.latency, a.latency), cmp.Compare(a.i, b.i))
	})
	r := &ranked{Table: t, rows: make([]int32, len(list)), worst: make([]float64, len(list))}
	for k, row := range list {
		r.rows[k], r.worst[k] = row.i, row.latency
	}
	return r
}

func (t *Table) isBiased(row int) bool { return t.Biased != nil && t.Biased[row] }

// above returns how many of n values are above their percentile p, which is VarMRI's:
// with the index int(p*n) of the sorted values.
func above(p float64, n int) int { return n - 1 - min(int(p*float64(n)), n-1) }

// mix is the finalizer of SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom
// Number Generators, 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Keep removes the rows of which keep reports false.
func (t *Table) Keep(keep func(row int) bool) {
	rows := make([]int32, 0, len(t.Latency))
	for i := range t.Latency {
		if keep(i) {
			rows = append(rows, int32(i))
		}
	}
	pick := func(v []float64) []float64 {
		for k, i := range rows { // k is at most i
			v[k] = v[i]
		}
		return v[:len(rows)]
	}
	t.Latency = pick(t.Latency)
	if t.Time != nil {
		t.Time = pick(t.Time)
	}
	if t.Biased != nil {
		for k, i := range rows {
			t.Biased[k] = t.Biased[i]
		}
		t.Biased = t.Biased[:len(rows)]
	}
	if t.Trace != nil {
		for k, i := range rows {
			t.Trace[k] = t.Trace[i]
		}
		t.Trace = t.Trace[:len(rows)]
	}
	for i := range t.Columns {
		t.Columns[i].Values = pick(t.Columns[i].Values)
	}
}
