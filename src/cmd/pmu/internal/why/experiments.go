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
	"strconv"
)

// This file compares experiments, as VarMRI does (its figures 8 and 9): the same service before and
// after a change, with other settings, or on other machines. It says of each the impact of each
// event, and what the percentiles of latency and of these events are.

// An Experiment is a table that is compared with others.
type Experiment struct {
	Name  string
	Table *Table
}

// maxExperiments is how many are compared at most: those with the most requests.
const maxExperiments = 8

// A Comparison says how experiments differ.
type Comparison struct {
	By          string // what tells experiments apart
	P           float64
	Unit        string
	Experiments []*Compared // in order of their names, or of their numbers
	Events      []string    // that have an impact in one of them, the greatest first
	Segments    int         // that each was cut into; 0 if they were not
	Notes       []string

	units map[string]string // of events
	zero  map[string]bool   // events: where nothing was recorded there are none
	of    map[string]string // what names of events of another server's tasks end in
}

// A Compared is one of the experiments.
type Compared struct {
	Name string
	*Report

	// Quantiles are those of latency, "", and of each event: of all requests, and of those of each
	// segment. An event that was not counted has none.
	Quantiles map[string][]Quantiles

	low, high float64 // bounds of the tail
	zeros     bool    // it has such columns
	events    map[string]*Impact
	of        map[string]bool // whose tasks on other servers have records
}

// Quantiles are of N values: the median, and the percentile that is called the tail. That is NaN if
// there are too few to have one.
type Quantiles struct {
	N         int
	P50, Tail float64
}

// Split returns the experiments that a column tells apart, which is removed, and notes on what is left
// out: requests without a value in the column, and experiments that are too many.
func Split(t *Table, column string) (list []Experiment, notes []string, err error) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == column })
	if i < 0 {
		return nil, nil, fmt.Errorf("there is no column %.100q", column)
	}
	c := t.Columns[i]
	counts := make(map[float64]int)
	unknown := 0
	for row, v := range c.Values {
		switch {
		case bad(t.Latency[row]):
		case bad(v):
			unknown++
		default:
			counts[v]++
		}
	}
	values := make([]float64, 0, len(counts))
	for v := range counts {
		values = append(values, v)
	}
	before := func(a, b float64) int {
		if c.Words != nil {
			return cmp.Compare(c.Words[int(a)], c.Words[int(b)])
		}
		return cmp.Compare(a, b)
	}
	slices.SortFunc(values, func(a, b float64) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), before(a, b)) })
	if n := len(values) - maxExperiments; n > 0 {
		left := 0
		for _, v := range values[maxExperiments:] {
			left += counts[v]
		}
		notes = append(notes, fmt.Sprintf("%s has %d values: these are those of the most requests, and %s of %s are left out", column, len(values), taskrecord.Count(left, "request"), taskrecord.Count(n, "other value")))
		values = values[:maxExperiments]
	}
	if unknown > 0 {
		notes = append(notes, fmt.Sprintf("%s without a known %s are left out", taskrecord.Count(unknown, "request"), column))
	}
	slices.SortFunc(values, before)
	rest := *t
	rest.Columns = slices.Delete(slices.Clone(t.Columns), i, i+1)
	for _, v := range values {
		name := strconv.FormatFloat(v, 'g', -1, 64)
		if c.Words != nil {
			name = c.Words[int(v)]
		}
		var rows []int32
		for row, x := range c.Values {
			if x == v {
				rows = append(rows, int32(row))
			}
		}
		list = append(list, Experiment{name, rest.pickAll(rows)})
	}
	return list, notes, nil
}

// pickAll is pick, with times and whether rows were chosen at random.
func (t *Table) pickAll(rows []int32) *Table {
	s := t.pick(rows)
	if t.Time != nil {
		s.Time = make([]float64, len(rows))
	}
	if t.Biased != nil {
		s.Biased = make([]bool, len(rows))
	}
	s.Trace = nil
	for k, i := range rows {
		if t.Time != nil {
			s.Time[k] = t.Time[i]
		}
		if t.Biased != nil {
			s.Biased[k] = t.Biased[i]
		}
	}
	return s
}

// Compare compares experiments, which are cut into segments if that is not 0, in the order in which
// they are shown. Notes are on what is not in them.
func Compare(by string, list []Experiment, segments int, notes []string, o Params) (*Comparison, error) {
	if o.P == 0 {
		o.P = 0.99
	}
	if len(list) < 2 {
		return nil, fmt.Errorf("there is one experiment by %.100q, and so nothing to compare", by)
	}
	c := &Comparison{By: by, P: o.P, Segments: segments, Notes: slices.Clone(notes), units: make(map[string]string), zero: make(map[string]bool), of: make(map[string]string)}
	if n := len(list) - maxExperiments; n > 0 {
		order := slices.Clone(list)
		slices.SortStableFunc(order, func(a, b Experiment) int { return cmp.Compare(len(b.Table.Latency), len(a.Table.Latency)) })
		names := ""
		for _, x := range order[maxExperiments:] {
			names += fmt.Sprintf(", %.100q", x.Name)
			list = slices.DeleteFunc(slices.Clone(list), func(y Experiment) bool { return y.Table == x.Table })
		}
		c.Notes = append(c.Notes, fmt.Sprintf("%s with the fewest requests are left out: %s", taskrecord.Count(n, "experiment"), names[2:]))
	}
	// All of them have requests of one kind: those that were chosen at random, if these are enough.
	need := Needed(o.P, 1)
	enough, biased := true, 0
	for _, x := range list {
		random, b := x.Table.countRandom()
		biased += b
		enough = enough && (random >= need || random+b < need)
	}
	if note := biasNote(o.P, enough, biased); note != "" {
		c.Notes = append(c.Notes, note)
	}
	for _, x := range list {
		if len(x.Table.Latency) > 0 {
			c.Unit = x.Table.Unit
		}
		y, err := c.analyze(x, enough, len(list), o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", x.Name, err)
		}
		c.Experiments = append(c.Experiments, y)
	}
	c.Events = c.order()
	for i, y := range c.Experiments {
		if err := y.quantiles(list[i].Table, c.Events, enough, segments); err != nil {
			return nil, fmt.Errorf("%s: %w", y.Name, err)
		}
	}
	return c, nil
}

// analyze analyzes an experiment, one of n.
func (c *Comparison) analyze(x Experiment, random bool, n int, o Params) (*Compared, error) {
	y := &Compared{Name: x.Name, events: make(map[string]*Impact), of: make(map[string]bool), low: nan, high: nan}
	t := x.Table
	if rows := t.used(random); len(rows) < len(t.Latency) {
		t = t.pick(rows)
	}
	all := *t
	all.Biased = nil // they are of one kind
	t = &all
	if len(t.Latency) == 0 {
		y.Report = &Report{P: o.P, Unit: t.Unit, P50: nan, P90: nan, Tail: nan, Max: nan}
	} else if r, err := Analyze(t, o); err != nil {
		return nil, err
	} else {
		y.Report = r
		y.low, y.high = tailBounds(rank(t, false).worst, o.P, n)
	}
	for i := range y.Impacts {
		y.events[y.Impacts[i].Event] = &y.Impacts[i]
	}
	for i := range t.Columns {
		col := &t.Columns[i]
		c.units[col.Name] = col.Unit
		c.zero[col.Name] = c.zero[col.Name] || col.Zero
		if col.Of != "" {
			c.of[col.Name], y.of[col.Of] = col.Of, true
		}
		y.zeros = y.zeros || col.Zero
	}
	return y, nil
}

// used returns the rows that have a latency, if random those that were chosen at random.
func (t *Table) used(random bool) (rows []int32) {
	for i, v := range t.Latency {
		if !bad(v) && !(random && t.isBiased(i)) {
			rows = append(rows, int32(i))
		}
	}
	return rows
}

// order returns the events that have an impact in some experiment, the greatest first.
func (c *Comparison) order() (names []string) {
	most, makes := make(map[string]float64), make(map[string]int)
	for _, y := range c.Experiments {
		for i := range y.Impacts {
			e := &y.Impacts[i]
			if y.few() || e.Remark != "" || e.Beside || e.Adjusted < leastCause {
				continue
			}
			if _, ok := most[e.Event]; !ok {
				names = append(names, e.Event)
			}
			most[e.Event] = max(most[e.Event], e.tail(y.Report)*e.Adjusted)
			if e.makesTail() {
				makes[e.Event] = 1 // which comes before what may be chance
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(makes[b]-makes[a], cmp.Compare(most[b], most[a]), cmp.Compare(a, b))
	})
	return names
}

// quantiles finds those of latency and of events, of all requests and of each segment.
func (y *Compared) quantiles(t *Table, events []string, random bool, segments int) error {
	y.Quantiles = make(map[string][]Quantiles)
	rows := t.used(random)
	if t.Time != nil {
		rows = slices.DeleteFunc(rows, func(i int32) bool { return segments > 0 && bad(t.Time[i]) })
		slices.SortStableFunc(rows, func(i, j int32) int { return cmp.Compare(t.Time[i], t.Time[j]) })
	}
	if need := Needed(y.P, 1); segments > 0 && len(rows) > 0 && len(rows)/segments < need {
		return fmt.Errorf("segments of %d requests are too short: for %s it takes %d", len(rows)/segments, percentName(y.P), need)
	}
	of := func(values []float64) (list []Quantiles) {
		list = append(list, quantilesOf(values, rows, y.P))
		for k := range segments {
			list = append(list, quantilesOf(values, rows[len(rows)*k/segments:len(rows)*(k+1)/segments], y.P))
		}
		return list
	}
	y.Quantiles[""] = of(t.Latency)
	for i := range t.Columns {
		if col := &t.Columns[i]; col.Words == nil && slices.Contains(events, col.Name) {
			if list := of(col.Values); list[0].N > 0 {
				y.Quantiles[col.Name] = list
			}
		}
	}
	return nil
}

// quantilesOf returns the quantiles of a column in some rows.
func quantilesOf(values []float64, rows []int32, p float64) Quantiles {
	var list []float64
	for _, i := range rows {
		if v := values[i]; !bad(v) {
			list = append(list, v)
		}
	}
	slices.Sort(list)
	q := Quantiles{N: len(list), P50: nan, Tail: nan}
	at := func(p float64) float64 { return list[len(list)-1-above(p, len(list))] }
	if len(list) > 0 {
		q.P50 = at(0.5)
	}
	if len(list) >= Needed(p, 1) {
		q.Tail = at(p)
	}
	return q
}

// tailBounds returns between what the percentile p is of what latencies, which descend, are a sample of.
// It is not with a probability of less than chance, in any of n experiments. How many of the sample are
// above the percentile is off by no more than Bernstein's inequality allows.
func tailBounds(worst []float64, p float64, n int) (low, high float64) {
	size := float64(len(worst))
	l := math.Log(2 * float64(n) / chance)
	off := int(math.Ceil(l/3 + math.Sqrt(l*l/9+2*l*size*p*(1-p))))
	at := above(p, len(worst))
	return worst[min(at+off, len(worst)-1)], worst[max(at-off, 0)]
}

// A state is what is known of an event in an experiment.
type state int

const (
	isCounted  state = iota
	uncounted        // nothing is known
	none             // there is none of it
	rare             // it was recorded in too few requests
	tooShort         // there are too few requests
	unchanging       // it has no step, or is always the same
)

// state returns what is known of an event in y.
func (c *Comparison) state(y *Compared, event string) state {
	e := y.events[event]
	switch {
	case y.few():
		return tooShort
	case e == nil && c.zero[event] && y.zeros && (c.of[event] == "" || y.of[c.of[event]]):
		return none
	case e == nil || e.N == 0:
		return uncounted
	case e.Remark == remarkFew:
		return rare
	case e.Remark == remarkConstant, e.Remark == remarkNoStep:
		return unchanging
	}
	return isCounted
}

// impact returns by how much the tail of y is lower without an event, and between what that is, with as
// much certainty as differences take. It is false if nothing is known of it.
func (c *Comparison) impact(y *Compared, event string) (v, low, high float64, ok bool) {
	switch c.state(y, event) {
	case none, unchanging:
		return 0, 0, 0, true
	case isCounted:
	default:
		return 0, 0, 0, false
	}
	e := y.events[event]
	if e.Only {
		return 0, 0, 0, false // it is of other requests
	}
	low, high = e.bounds()
	if e.Adjusted < leastImpact { // it has no bounds
		low, high = 0, leastCause
	}
	// The bounds are for 95 of 100. One of all that are compared may be off by chance.
	wider := math.Sqrt(2*math.Log(2*float64(len(c.Events)*len(c.Experiments))/chance)) / 1.96
	low = e.Adjusted - wider*(e.Adjusted-low)
	high = e.Adjusted + wider*(high-e.Adjusted)
	v = max(0, e.Adjusted)
	return y.Tail * v, y.Tail * low, y.Tail * high, true
}

// A Difference is an event whose impact is greater in one experiment than in another.
type Difference struct {
	Event      string
	More, Less *Compared
	By         float64 // how much greater, in the unit of latencies
}

// difference returns by how much an event that makes the tail of more has a greater impact there than in
// less. It is false if that may be chance, is too little to be worth a word, or is not known.
func (c *Comparison) difference(event string, more, less *Compared) (d Difference, ok bool) {
	e := more.events[event]
	if more.few() || e == nil || !e.makesTail() || e.Beside || !more.hasTail() {
		return d, false
	}
	a, low, _, known := c.impact(more, event)
	b, _, high, known2 := c.impact(less, event)
	if !known || !known2 || low <= high || a-b < leastCause*more.Tail {
		return d, false
	}
	return Difference{event, more, less, a - b}, true
}

// Differences returns which impacts differ between two experiments, the greatest difference first.
func (c *Comparison) Differences() (list []Difference) {
	for _, more := range c.Experiments {
		for _, less := range c.Experiments {
			for _, event := range c.Events {
				if d, ok := c.difference(event, more, less); ok {
					list = append(list, d)
				}
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Difference) int { return cmp.Compare(b.By, a.By) })
	return list
}

// ends returns the experiments with the longest and the shortest tail, of those that have enough
// requests, and whether these differ by more than chance.
// They are nil if there are no two.
func (c *Comparison) ends() (long, short *Compared, differ bool) {
	list := slices.DeleteFunc(slices.Clone(c.Experiments), func(y *Compared) bool { return y.few() })
	if len(list) < 2 {
		return nil, nil, false
	}
	slices.SortStableFunc(list, func(a, b *Compared) int { return cmp.Compare(b.Tail, a.Tail) })
	long, short = list[0], list[len(list)-1]
	best := long.low - short.high
	for _, a := range list { // others may have more requests
		for _, b := range list {
			if d := a.low - b.high; best <= 0 && d > best {
				long, short, best = a, b, d
			}
		}
	}
	return long, short, best > 0
}
