// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

import (
	"math"
	"strconv"
	"strings"
)

// A Builder makes a Table, row by row. The zero Builder is ready.
type Builder struct {
	// MaxColumns bounds the columns, if it is not 0. Cells of others are left out; Left counts
	// those that were set.
	MaxColumns int
	Left       int64

	latency []float64
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
	begun   bool
	out     bool // there are too many

	// Bad counts the cells that were left empty since they did not fit the column: they are
	// no numbers, or there were more than 65,536 different words.
	Bad int64
}

// maxDictionary is the number of different words of a column.
const maxDictionary = 1 << 16

// Add begins the next row, of a request that took so long. NaN says that it isn't known.
func (b *Builder) Add(latency float64) { b.latency = append(b.latency, latency) }

// Rows returns the number of rows.
func (b *Builder) Rows() int { return len(b.latency) }

// wordSize is what a word takes beside its text: its header in a slice, and an entry of a map.
const wordSize = 64

// Size returns about how many bytes the table takes, so that one can be bounded that grows by
// what others send.
func (b *Builder) Size() int {
	const cell = 8
	return cell*(len(b.columns)+1)*len(b.latency) + b.text
}

// Column returns the column with a name, which it makes if there is none. Empty is the value
// of cells that are not set: NaN, or 0 for what there is none of then. If there are too many, the
// column is one that ignores what is done with it.
func (b *Builder) Column(name, unit string, empty float64) *ColumnBuilder {
	c := b.byName[name]
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

// Within sets which columns include the time of the event; see [Column].
func (c *ColumnBuilder) Within(columns ...string) { c.column.Within = columns }

// Number adds v to the cell in the present row, which is 0 unless it is set.
func (c *ColumnBuilder) Number(v float64) {
	if c.out {
		c.b.Left++
		return
	}
	if c.words {
		c.Text(strconv.FormatFloat(v, 'g', -1, 64))
		return
	}
	c.begun = true
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
	if !c.begun {
		c.begun, c.words = true, true
		c.numbers = make(map[string]int)
	}
	if !c.words {
		c.Bad++
		return
	}
	n, ok := c.numbers[s]
	if !ok {
		if n = len(c.column.Words); n == maxDictionary {
			c.Bad++
			return
		}
		s = strings.Clone(s) // which may be of a long line
		c.numbers[s] = n
		c.b.text += len(s) + wordSize
		c.column.Words = append(c.column.Words, s)
	}
	row := len(c.b.latency) - 1
	if n := len(c.column.Values); n == row+1 {
		c.column.Values = c.column.Values[:row]
	}
	c.fill(row)
	c.column.Values = append(c.column.Values, float64(n))
}

// Text sets the cell in the present row, from text. If the first cell of a column that is not
// empty is a number, the column is of numbers, and otherwise it is of words.
func (c *ColumnBuilder) Text(s string) {
	if s == "" {
		return
	}
	if c.out {
		c.b.Left++
		return
	}
	if c.begun && c.words {
		c.Word(s)
		return
	}
	v, err := strconv.ParseFloat(s, 64)
	switch {
	case err == nil && !math.IsNaN(v):
		c.Number(v)
	case err == nil: // "NaN" says that there is no number
	case c.begun:
		c.Bad++
	default:
		c.Word(s)
	}
}

// fill sets the cells before a row that were not set.
func (c *ColumnBuilder) fill(row int) {
	empty := c.empty
	if c.words {
		empty = nan
	}
	for len(c.column.Values) < row {
		c.column.Values = append(c.column.Values, empty)
	}
}

// Table returns the table. The Builder must not be used after that.
func (b *Builder) Table(unit string) *Table {
	t := &Table{Latency: b.latency, Unit: unit}
	for _, c := range b.columns {
		if c.words && c.column.Words == nil {
			c.column.Words = []string{}
		}
		c.fill(len(b.latency))
		t.Columns = append(t.Columns, c.column)
	}
	return t
}
