// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"internal/taskrecord"
	"slices"
	"strconv"
	"strings"
)

// A Builder makes a Table, row by row. The zero Builder is ready.
type Builder struct {
	// MaxColumns bounds the columns, if it is not 0. Cells of others are left out; Left counts
	// those that were set.
	MaxColumns int
	Left       int64

	// Skip reports which columns are left out, by name: nothing is kept of their cells. If it is
	// nil, all are kept. It has to be set before there are columns.
	Skip func(name string) bool

	latency []float64
	time    []float64 // nil, or of the first rows
	biased  []bool    // ditto
	trace   []taskrecord.TraceID
	text    int // bytes of words
	columns []*ColumnBuilder
	byName  map[string]*ColumnBuilder
}

// A ColumnBuilder makes a column of a Builder. A cell that isn't set is empty.
type ColumnBuilder struct {
	b       *Builder
	column  Column
	empty   float64        // what a cell is that isn't set
	numbers map[string]int // of words
	words   bool
	begun   bool // else there are cells of words at most that say that nothing is known
	out     bool // there are too many
	skip    bool

	// Bad counts the cells that were left empty since they did not fit the column: they are
	// no numbers, or there were more than 65,536 different words.
	Bad int64
}

// maxDictionary is the number of different words of a column.
const maxDictionary = 1 << 16

// Add begins the next row, of a request that took so long. NaN says that it isn't known.
func (b *Builder) Add(latency float64) { b.latency = append(b.latency, latency) }

// AddRows adds rows whose requests took so long. [ColumnBuilder.Cells] sets their cells.
func (b *Builder) AddRows(latency []float64) { b.latency = append(b.latency, latency...) }

// Grow makes room for so many more rows, in the columns of which half of the cells or more are
// set. Without it, columns are copied as they grow, and take twice as much memory for some time.
func (b *Builder) Grow(rows int) {
	n := len(b.latency) + rows
	for _, c := range b.columns {
		set := 0
		for _, v := range c.column.Values {
			if v == v {
				set++
			}
		}
		if set > 0 && 2*set >= len(b.latency) {
			c.column.Values = grow(c.column.Values, n)
		}
	}
	b.latency = grow(b.latency, n)
}

// grow returns s with room for n values. Unlike with slices.Grow, memory that is never used takes
// none of the machine's.
func grow(s []float64, n int) []float64 {
	if n <= cap(s) {
		return s
	}
	t := make([]float64, len(s), n)
	copy(t, s)
	return t
}

// Time sets when the present row's request began; see [Table].
func (b *Builder) Time(v float64) {
	row := len(b.latency) - 1
	for len(b.time) <= row {
		b.time = append(b.time, nan)
	}
	b.time[row] = v
}

// Biased says that the present row's request was not chosen at random; see [Table].
func (b *Builder) Biased() {
	row := len(b.latency) - 1
	for len(b.biased) <= row {
		b.biased = append(b.biased, false)
	}
	b.biased[row] = true
}

// Trace sets the ID of the present row's trace.
func (b *Builder) Trace(id taskrecord.TraceID) {
	if row := len(b.latency) - 1; len(b.trace) < row {
		b.trace = append(b.trace, make([]taskrecord.TraceID, row-len(b.trace))...)
	}
	b.trace = append(b.trace, id)
}

// Rows returns the number of rows.
func (b *Builder) Rows() int { return len(b.latency) }

// wordSize is what a word takes beside its text: its header in a slice, and an entry of a map.
const wordSize = 64

// Size returns about how many bytes the table takes, so that one can be bounded that grows by
// what others send.
func (b *Builder) Size() int {
	const cell = 8
	return cell*(len(b.columns)+1)*len(b.latency) + len(b.trace)*len(taskrecord.TraceID{}) + b.text
}

// Column returns the column with a name, which it makes if there is none. Empty is the value
// of cells that are not set: NaN, or 0 for what there is none of then. If there are too many, the
// column is one that ignores what is done with it.
func (b *Builder) Column(name, unit string, empty float64) *ColumnBuilder {
	c := b.byName[name]
	if c == nil && b.Skip != nil && b.Skip(name) {
		return &ColumnBuilder{b: b, column: Column{Name: name, Unit: unit}, skip: true}
	}
	if c == nil && b.MaxColumns > 0 && len(b.columns) >= b.MaxColumns {
		return &ColumnBuilder{b: b, column: Column{Name: name, Unit: unit}, out: true}
	}
	if c == nil {
		name = strings.Clone(name) // which may be of a long line
		c = &ColumnBuilder{b: b, column: Column{Name: name, Unit: unit}, empty: empty}
		if b.byName == nil {
			b.byName = make(map[string]*ColumnBuilder)
		}
		b.byName[name] = c
		b.columns = append(b.columns, c)
	}
	return c
}

// Columns returns the columns, in the order in which they were made.
func (b *Builder) Columns() []*ColumnBuilder { return b.columns }

// Name returns the column's name.
func (c *ColumnBuilder) Name() string { return c.column.Name }

// Group sets the column's group.
func (c *ColumnBuilder) Group(g Group) { c.column.Group = g }

// State reports whether there is a cell that is not empty, and whether these are words.
func (c *ColumnBuilder) State() (begun, words bool) { return c.begun, c.words }

// unset makes a cell empty, in any row.
func (c *ColumnBuilder) unset(row int) {
	if c.skip || c.out {
		return
	}
	c.fill(row)
	if row < len(c.column.Values) {
		c.column.Values[row] = nan
	} else {
		c.column.Values = append(c.column.Values, nan)
	}
}

// copy makes the cells before the present row those of another column, of numbers.
func (c *ColumnBuilder) copy(of *ColumnBuilder) {
	if of == nil || c.skip || c.out {
		return
	}
	c.begin(false)
	row := len(c.b.latency) - 1
	c.column.Values = append(c.column.Values[:0], of.column.Values[:min(row, len(of.column.Values))]...)
}

// Set reports whether the cell in the present row is set.
func (c *ColumnBuilder) Set() bool { return len(c.column.Values) == len(c.b.latency) }

// Within sets which columns include the time of the event; see [Column].
func (c *ColumnBuilder) Within(columns ...string) { c.column.Within = columns }

// Number adds v to the cell in the present row, which is 0 unless it is set.
func (c *ColumnBuilder) Number(v float64) {
	if c.out {
		c.b.Left++
		return
	}
	if c.skip {
		return
	}
	if c.words {
		c.Text(strconv.FormatFloat(v, 'g', -1, 64))
		return
	}
	c.begin(false)
	row := len(c.b.latency) - 1
	if n := len(c.column.Values); n == row+1 {
		c.column.Values[row] += v
		return
	}
	c.fill(row)
	c.column.Values = append(c.column.Values, v)
}

// Word sets the cell in the present row to a word. The column is of words from then on, so all
// of its cells have to be.
func (c *ColumnBuilder) Word(s string) {
	if c.out {
		c.b.Left++
		return
	}
	if c.skip {
		return
	}
	c.begin(true)
	c.setWord(c.word(s))
}

// setWord sets the cell in the present row to the word of an index.
func (c *ColumnBuilder) setWord(n int) {
	if n < 0 {
		c.Bad++
		return
	}
	row := len(c.b.latency) - 1
	if n := len(c.column.Values); n == row+1 {
		c.column.Values = c.column.Values[:row]
	}
	c.fill(row)
	c.column.Values = append(c.column.Values, float64(n))
}

// begin says what the column is of, if that isn't known yet. Cells that said that nothing is known
// are words of a column of words, and empty in one of numbers.
func (c *ColumnBuilder) begin(words bool) {
	if c.begun {
		return
	}
	c.begun, c.words = true, words
	if !words {
		c.column.Values, c.column.Words, c.numbers = c.column.Values[:0], nil, nil
	}
}

// word returns the index of a word, or -1 if it does not fit the column.
func (c *ColumnBuilder) word(s string) int {
	if c.begun && !c.words {
		return -1
	}
	if c.numbers == nil {
		c.numbers = make(map[string]int)
	}
	n, ok := c.numbers[s]
	if !ok {
		if n = len(c.column.Words); n == maxDictionary {
			return -1
		}
		s = strings.Clone(s) // which may be of a long line
		c.numbers[s] = n
		c.b.text += len(s) + wordSize
		c.column.Words = append(c.column.Words, s)
	}
	return n
}

// Cells sets the cells in the last rows, of which none was set. NaN is an empty cell. If words is
// not nil, values are indexes of it. The column is the same as with [ColumnBuilder.Number] or
// [ColumnBuilder.Word] for each cell.
func (c *ColumnBuilder) Cells(values []float64, words []string) {
	if c.skip {
		return
	}
	row := len(c.b.latency) - len(values)
	if words == nil && !c.words && !c.out {
		if !c.begun && !slices.ContainsFunc(values, func(v float64) bool { return v == v }) {
			return // it may be of words yet
		}
		c.begin(false)
		c.fill(row)
		c.column.Values = append(c.column.Values, values...)
		if c.empty == c.empty {
			for i, v := range c.column.Values[row:] {
				if v != v {
					c.column.Values[row+i] = c.empty
				}
			}
		}
		return
	}
	numbers := make([]int, len(words)) // of words; 0 is not known yet
	for _, v := range values {
		if row++; v != v {
			continue
		}
		var n int
		if c.out {
			c.b.Left++
			continue
		} else if words == nil {
			n = c.word(strconv.FormatFloat(v, 'g', -1, 64))
		} else if n = numbers[int(v)] - 1; n < 0 {
			s := words[int(v)]
			if !Empty(s) {
				c.begin(true)
			} else if c.begun && !c.words {
				continue
			}
			n = c.word(s)
			numbers[int(v)] = n + 1
		}
		if n < 0 {
			c.Bad++
			continue
		}
		c.fill(row - 1)
		c.column.Values = append(c.column.Values, float64(n))
	}
}

// Empty reports whether a cell of a table says that nothing is known, as databases and programs
// write that: NULL, None, NA, N/A, \N, nan or -, in upper or lower case, or nothing.
func Empty(s string) bool {
	switch len(s) {
	case 0:
		return true
	case 1:
		return s == "-"
	case 2:
		return s == `\N` || strings.EqualFold(s, "NA")
	case 3:
		return strings.EqualFold(s, "N/A") || strings.EqualFold(s, "nan")
	case 4:
		return strings.EqualFold(s, "null") || strings.EqualFold(s, "none")
	}
	return false
}

// Trim returns s without the space around it, which is none of a cell's.
func Trim(s string) string {
	if s == "" || s[0]-'!' < 0x80-'!' && s[len(s)-1]-'!' < 0x80-'!' {
		return s // as most are
	}
	return strings.TrimSpace(s)
}

// Text sets the cell in the present row, from text. If the first cell of a column that is known is a
// number, the column is of numbers, and otherwise it is of words. A cell that is [Empty] is empty
// in a column of numbers, and a word among others: a region may have the name NA.
func (c *ColumnBuilder) Text(s string) {
	if s = Trim(s); s == "" || c.skip {
		return
	}
	if c.out {
		c.b.Left++
		return
	}
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case c.begun && c.words:
		c.Word(s)
	case Empty(s):
		if !c.begun {
			c.setWord(c.word(s))
		}
	case err == nil:
		c.Number(v)
	case c.begun:
		c.Bad++
	default:
		c.Word(s)
	}
}

// fill sets the cells before a row that were not set.
func (c *ColumnBuilder) fill(row int) {
	empty := c.empty
	if c.words || !c.begun {
		empty = nan
	}
	for len(c.column.Values) < row {
		c.column.Values = append(c.column.Values, empty)
	}
}

// Table returns the table. The Builder must not be used after that.
func (b *Builder) Table(unit string) *Table {
	t := &Table{Latency: b.latency, Unit: unit}
	if b.time != nil {
		for len(b.time) < len(b.latency) {
			b.time = append(b.time, nan)
		}
		t.Time = b.time
	}
	if b.biased != nil {
		for len(b.biased) < len(b.latency) {
			b.biased = append(b.biased, false)
		}
		t.Biased = b.biased
	}
	if b.trace != nil {
		t.Trace = append(b.trace, make([]taskrecord.TraceID, len(b.latency)-len(b.trace))...)
	}
	for _, c := range b.columns {
		if !c.begun {
			c.begin(false) // nothing is known of any cell
		}
		if c.words && c.column.Words == nil {
			c.column.Words = []string{}
		}
		c.fill(len(b.latency))
		c.column.Zero = c.empty == 0
		t.Columns = append(t.Columns, c.column)
	}
	return t
}
