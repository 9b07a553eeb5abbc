// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package why says why some requests are slow. It is given a table of thousands of
// requests, of records of package runtime/task or from elsewhere, and finds
//
//   - which events make the tail of their latency, and by how much it would be lower
//     without those requests in which they are high, as VarMRI does
//     (github.com/t1mch0w/varmri);
//   - which conditions on attributes describe each group of slow requests (Cortellessa and
//     Traini, Detecting Latency Degradation Patterns in Service-based Systems, ICPE 2020).
//
// It finds what occurs together; that one causes the other is a conclusion, of which it says
// what speaks against it.
package why

import (
	"fmt"
	"maps"
	"slices"
)

// Params are how to analyze. The zero Params are the defaults.
type Params struct {
	P         float64 // the percentile that is called the tail; 0 means 0.99
	Bandwidth float64 // of clusters, in the unit of a column; 0 has it estimated for each
	Seed      uint64  // of what is drawn at random: the same seed gives the same report
	Procs     int     // the most goroutines that work at once; 0 means GOMAXPROCS
	Groups    *Groups // what is known of events by their names; nil means what is known of all

	// Done stops the analysis when it is closed, so that Analyze returns an error. A nil
	// channel never does.
	Done <-chan struct{}
}

// A Report says why some requests are slow.
type Report struct {
	P          float64
	Unit       string // of latencies
	Requests   int    // that have a latency
	Left       int    // that have none, and were left out
	LeftBiased int    // that were left out since they were not chosen at random

	// Latencies by percentile: P50, P90, that of P, and the greatest one.
	P50, P90, Tail, Max float64

	Latencies CDF // of all of them

	// Notes are sentences on the requests for people to read: what was recorded in some of
	// them only. The caller may add what was chosen or left out. They follow the numbers.
	Notes []string

	Impacts  []Impact // of all events, the greatest first
	First    []string // the event that makes the tail; several if no rule says which of them does
	Pairs    []Pair
	Together *Joint    // if no event makes the tail by itself; nil if none do together
	Patterns []Pattern // that are not by chance, by latency
}

const (
	// searched is among how many requests patterns are searched for. What is found is then
	// counted in all.
	searched = 20_000

	// leastF is below which a pattern describes nothing.
	leastF = 0.5

	// leastPrecision and mostConds are of patterns of what others do not describe.
	leastPrecision, mostConds = 0.8, 3

	// chance is the probability above which there may be such a pattern, or impact, by chance,
	// in any place where it could have been found.
	chance = 1e-3
)

// Analyze says why requests are slow.
func Analyze(t *Table, o Params) (*Report, error) { return analyze(t, o, nil) }

func analyze(t *Table, o Params, w *work) (*Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := t.check(); err != nil {
		return nil, err
	}
	c := *t
	c.Columns = slices.Clone(t.Columns)
	c.Sort()
	c.Describe(o.Groups) // which names parents in order of the columns
	random, biased := t.countRandom()
	// Among those that are there for being slow, all else is as among slow ones. Without them there
	// is no tail but that of all.
	enough := biased > 0 && random >= Needed(o.P, 1)
	r := rank(&c, enough)
	r.crew = crew{o.Procs, o.Done, w}
	rep, err := newReport(r, o.P, enough, biased)
	if err != nil {
		return nil, err
	}
	rep.Left = len(t.Latency) - random - biased
	if r.worst[len(r.worst)-1] == r.worst[0] {
		return rep, nil
	}
	if err := rep.causesOf(r, o); err != nil {
		return nil, err
	}
	// What only follows another event describes nothing, nor does a cost, nor what takes less time.
	c.Columns = slices.DeleteFunc(c.Columns, func(col Column) bool {
		i := slices.IndexFunc(rep.Impacts, func(e Impact) bool { return e.Event == col.Name })
		return col.Cost || i >= 0 && (rep.Impacts[i].follows() || rep.Impacts[i].short())
	})
	var also map[string][]string
	if rep.Patterns, also = describeSlow(r, o); r.stopped() {
		return nil, errStopped
	}
	for _, name := range slices.Sorted(maps.Keys(also)) {
		rep.Notes = append(rep.Notes, alsoNote(name, also[name]))
	}
	return rep, nil
}

// check returns an error if o is not what Params says, and sets the percentile that is not given.
func (o *Params) check() error {
	if o.P == 0 {
		o.P = 0.99
	}
	if !(o.P > 0 && o.P < 1) {
		return fmt.Errorf("the percentile has to be between 0 and 1, and is %v", o.P)
	}
	if o.Bandwidth < 0 || bad(o.Bandwidth) {
		return fmt.Errorf("the bandwidth has to be positive, and is %v", o.Bandwidth)
	}
	return nil
}

// newReport returns what is said of the latencies alone.
func newReport(r *ranked, p float64, enough bool, biased int) (*Report, error) {
	n := len(r.rows)
	if n == 0 {
		return nil, fmt.Errorf("none of %d requests has a latency", len(r.Latency))
	}
	at := func(p float64) float64 { return r.worst[above(p, n)] }
	if r.worst[0] < 0 || at(0) < 0 {
		return nil, fmt.Errorf("there are latencies below 0: %v", at(0))
	}
	rep := &Report{P: p, Unit: r.Unit, Requests: n, P50: at(0.5), P90: at(0.9), Tail: at(p), Max: at(1)}
	if enough {
		rep.LeftBiased = biased
	}
	for _, note := range []string{biasNote(p, enough, biased), coverage(r)} {
		if note != "" {
			rep.Notes = append(rep.Notes, note)
		}
	}
	rep.Notes = append(rep.Notes, wordNotes(r)...)
	rep.Latencies = newCDF(n, p, func(k int) float64 { return r.worst[k] })
	return rep, nil
}

// causesOf adds the impacts of events, and what makes the tail: one of them, or several together.
func (rep *Report) causesOf(r *ranked, o Params) error {
	var events []*event
	ok := false
	if rep.Impacts, rep.Pairs, events, ok = variance(r, o.P, o.Seed); !ok {
		return errStopped
	}
	if rep.few() {
		return nil
	}
	rep.First = first(r, rep.causes(), events, o.P)
	if rep.hasTail() && len(rep.causes()) == 0 {
		if rep.Together = jointly(r, o.P, o.Seed, events); r.stopped() {
			return errStopped
		}
	}
	return nil
}

// countRandom returns how many requests with a latency were chosen at random, and how many were not.
func (t *Table) countRandom() (random, biased int) {
	for i, v := range t.Latency {
		switch {
		case bad(v):
		case t.isBiased(i):
			biased++
		default:
			random++
		}
	}
	return random, biased
}

// biasNote says what was done with requests that were not chosen at random, if there are any: if
// enough were, they are left out.
func biasNote(p float64, enough bool, biased int) string {
	switch {
	case biased == 0:
		return ""
	case enough:
		return fmt.Sprintf("%d others are left out: they were recorded for being slow, or others of their time are gone. These were chosen at random, so percentiles are those of all", biased)
	}
	return fmt.Sprintf("%d of them were recorded for being slow, or others of their time are gone: percentiles are those of the records. Those of all take %d that were chosen at random", biased, Needed(p, 1))
}

// follows reports whether the event's impact is likely to be another one's.
func (e *Impact) follows() bool {
	return e.Parent != "" || e.Remark == "" && e.Raw >= leastCause && e.Adjusted < leastImpact
}

// short reports whether the event is high in slow requests, but took less than half of the time by which these are
// slow: what nobody waited for is counted, too.
func (e *Impact) short() bool {
	return e.Remark == "" && e.Raw >= leastCause && e.Own < e.Raw/2
}

// causes returns the events that make the tail.
func (r *Report) causes() (list []Impact) {
	if !r.hasTail() {
		return nil
	}
	for _, e := range r.Impacts {
		if e.makesTail() && !e.Beside {
			list = append(list, e)
		}
	}
	return list
}

// leastTail is how many times the median the tail has to be to be one.
const leastTail = 1.25

// hasTail reports whether there is something to explain.
func (r *Report) hasTail() bool { return r.P <= 0.5 || r.Tail >= leastTail*r.P50 }

// leastCause is the least impact that is worth a word.
const leastCause = 0.05

// Top returns the event that makes the tail, or "" if there is none or no rule says which one does.
func (r *Report) Top() string {
	if len(r.First) == 1 {
		return r.First[0]
	}
	return ""
}

// first returns the event that makes the tail, or several if it is one of them, in order of their names:
// they are high in the same slow requests, their impacts are alike, and no rule says which of them is
// the cause.
//
// An event whose time is known is part of the latency, and it comes before one that is only counted.
func first(r *ranked, list []Impact, events []*event, p float64) (names []string) {
	if len(list) == 0 {
		return nil
	}
	find := func(name string) *event {
		return events[slices.IndexFunc(events, func(e *event) bool { return e.Name == name })]
	}
	top := &list[0]
	t := find(top.Event)
	names = []string{top.Event}
	least, _ := top.bounds()
	slow := above(p, len(r.rows)) + 1
	words := (slow + 63) / 64 // those on the last one's word are nearly as slow
	for i := range list[1:] {
		x := &list[1+i]
		e := find(x.Event)
		if _, most := x.bounds(); x.Known != top.Known || x.Only != top.Only || most < least || t.mayCause(e.Column) || e.mayCause(t.Column) {
			continue
		}
		if jaccard(t.high[:words], t.recorded[:words], e.high[:words], e.recorded[:words]) >= together {
			names = append(names, x.Event)
		}
	}
	slices.Sort(names)
	return names
}
