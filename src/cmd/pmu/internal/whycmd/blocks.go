// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"bytes"
	"cmd/pmu/internal/why"
	"errors"
	"internal/taskrecord"
	"io"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// This file reads files by blocks of whole lines. Several are parsed at a time, and become rows
// in their order, so that the table is the same as if one line was read after the other.

const (
	blockSize = 1 << 20

	// firstBlock is the size of the first block, which says what columns there are: nothing
	// else is parsed before that is known.
	firstBlock = 1 << 16
)

// A block is some whole lines of a file, and what a worker has made of them.
type block struct {
	data []byte
	done chan struct{}

	latency []float64 // of rows
	columns []chunk   // by their index in the schema
	schema  *schema

	// Rows that only the merge can add, since it knows all columns. Each comes before row
	// number at.
	slow []slowRow

	lines    int // for positions of errors
	fields   []string
	tokens   []token
	last     []int // the columns of the last line, in their order
	seen     []int // the line in which each column was last
	objects  []string
	prefixes map[string]string
	short    int64 // lines
	skipped  int64 // bytes
	rows     int   // of JSON, that are none of skipped
	err      error // the rest of the file is left out, or for JSON the first of skipped
}

// A slowRow is a row that has a cell of a column that isn't known to be of
// numbers or of words, or some other form that a worker does not know.
type slowRow struct {
	at     int
	fields []string // of CSV
	object object   // of JSON
	size   int64    // of its line
	task   *taskrecord.Record
	err    error
}

// A chunk is the cells of a block in one column.
type chunk struct {
	values  []float64
	words   []string
	numbers map[string]int
	bad     int64
	row     int // the last one that was set, of JSON; rows begin at 1
}

// A schema is what is known of columns.
type schema struct {
	columns []schemaColumn
	unknown []int          // columns not known to be of numbers or of words
	byName  map[string]int // of JSON
}

type schemaColumn struct {
	c            *why.ColumnBuilder // nil if it isn't a column
	name         string
	begun, words bool
	skip         bool // it is left out
}

// newSchema returns what is known of columns.
func newSchema(columns []*why.ColumnBuilder, skip func(string) bool) *schema {
	s := &schema{columns: make([]schemaColumn, len(columns)), byName: make(map[string]int)}
	for i, c := range columns {
		if c == nil { // it is the latency's
			continue
		}
		x := &s.columns[i]
		x.c, x.name = c, c.Name()
		x.begun, x.words = c.State()
		x.skip = skip != nil && skip(x.name)
		if !x.begun && !x.skip {
			s.unknown = append(s.unknown, i)
		}
		s.byName[x.name] = i
	}
	return s
}

// reset makes a block ready to be parsed by a schema.
func (b *block) reset(s *schema) {
	b.schema = s
	b.latency, b.slow = b.latency[:0], b.slow[:0]
	b.lines, b.short, b.skipped, b.rows, b.err = 0, 0, 0, 0, nil
	for len(b.columns) < len(s.columns) {
		b.columns = append(b.columns, chunk{})
	}
	for i := range s.columns {
		c := &b.columns[i]
		c.values, c.words, c.numbers, c.bad, c.row = c.values[:0], nil, nil, 0, 0
		if s.columns[i].words {
			c.words = []string{}
			c.numbers = make(map[string]int)
		}
	}
}

// number sets a cell in the last row. Cells before it that were not set are empty.
func (c *chunk) number(row int, v float64) {
	for len(c.values) < row {
		c.values = append(c.values, nan)
	}
	c.values = append(c.values, v)
}

func (c *chunk) word(row int, s string) {
	n, ok := c.numbers[s]
	if !ok {
		if c.numbers == nil {
			c.numbers = make(map[string]int)
		}
		n = len(c.words)
		c.words = append(c.words, s) // the merge clones what it keeps
		c.numbers[s] = n
	}
	c.number(row, float64(n))
}

// text does what [why.ColumnBuilder.Text] does, of a column that has begun.
func (c *chunk) text(row int, s string, words bool) {
	if s = why.Trim(s); s == "" {
		return
	}
	if words {
		c.word(row, s)
	} else if v, ok := parseNumber(s); !ok {
		if !why.Empty(s) {
			c.bad++
		}
	} else if v == v {
		c.number(row, v)
	}
}

// merge adds the rows of a block to the table. slow adds one of those that are slow.
func (b *block) merge(t *why.Builder, slow func(*slowRow)) {
	from := 0
	add := func(to int) {
		if to == from {
			return
		}
		t.AddRows(b.latency[from:to])
		for i := range b.schema.columns {
			c := &b.columns[i]
			if s := &b.schema.columns[i]; s.c != nil && (s.begun || c.words != nil) && !s.skip {
				n := len(c.values)
				if n <= from {
					continue
				}
				for len(c.values) < to {
					c.values = append(c.values, nan)
				}
				s.c.Cells(c.values[from:to], c.words)
			}
		}
		from = to
	}
	for i := range b.slow {
		add(b.slow[i].at)
		slow(&b.slow[i])
		b.slow[i] = slowRow{}
	}
	add(len(b.latency))
	for i := range b.schema.columns {
		if s := &b.schema.columns[i]; s.c != nil {
			s.c.Bad += b.columns[i].bad
		}
	}
}

var errLong = errors.New("there is no end of a line in a block")

// A splitter cuts a file into blocks.
type splitter struct {
	r    io.Reader
	left []byte // read, and in no block
	size int
	err  error // of r
	end  func(data []byte) int
	cut  bool // if r fails, the last line is left out
}

// next fills a block, up to a line's end. At the end of the file it is io.EOF, or what r has
// returned; the block may have data all the same. errLong says that the data have no end of a
// line within most bytes; no more are read then.
func (s *splitter) next(b *block, most int) error {
	b.data = append(b.data[:0], s.left...)
	s.left = s.left[:0]
	for want := s.size; ; want = min(2*len(b.data), most) {
		n := len(b.data)
		if cap(b.data) < want {
			b.data = append(make([]byte, 0, want+want/8), b.data...)
		}
		for n < want && s.err == nil {
			var k int
			k, s.err = s.r.Read(b.data[n:want])
			n += k
			b.data = b.data[:n]
		}
		if s.err != nil {
			if s.err != io.EOF && s.cut {
				b.data = b.data[:s.end(b.data)]
			}
			return s.err
		}
		if end := s.end(b.data); end > 0 {
			s.left = append(s.left, b.data[end:]...)
			b.data = b.data[:end]
			return nil
		}
		if n >= most {
			return errLong
		}
	}
}

// rest is what is in no block.
func (s *splitter) rest() io.Reader {
	if s.err != nil && s.err != io.EOF {
		return io.MultiReader(bytes.NewReader(s.left), errReader{s.err})
	}
	return io.MultiReader(bytes.NewReader(s.left), s.r)
}

type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// lastLine returns where the last whole line ends.
func lastLine(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }

// lastRecord returns where the last whole record of CSV ends: in quotes there may be line ends.
func lastRecord(data []byte) int {
	if bytes.IndexByte(data, '"') < 0 {
		return lastLine(data)
	}
	end, from, odd := 0, 0, false
	for from < len(data) {
		q := bytes.IndexByte(data[from:], '"')
		if q < 0 {
			q = len(data) - from
		}
		if !odd {
			if n := lastLine(data[from : from+q]); n > 0 {
				end = from + n
			}
		}
		odd = !odd
		from += q + 1
	}
	return end
}

// blocks calls parse for each block of a file, several at a time, and then merge for each in
// their order, until it returns false. It returns the splitter's error.
func blocks(s *splitter, most int, parse func(*block), merge func(*block) bool) (err error) {
	workers := runtime.GOMAXPROCS(0)
	free := make(chan *block, 2*workers+2)
	fill(free)
	work, order := make(chan *block, cap(free)), make(chan *block, cap(free))
	var stop atomic.Bool
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		defer close(work)
		defer close(order)
		for err == nil && !stop.Load() {
			b := <-free
			if err = s.next(b, most); err != errLong && len(b.data) > 0 {
				// What is made of a long line may take many times its size. So it is alone, and
				// its memory is for nothing else.
				alone := len(b.data) > 2*blockSize
				if alone {
					for range cap(free) - 1 {
						<-free
					}
				}
				order <- b
				work <- b
				if alone {
					<-free
					fill(free)
				}
			}
		}
	}()
	for range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for b := range work {
				if !stop.Load() {
					parse(b)
				}
				b.done <- struct{}{}
			}
		}()
	}
	for b := range order {
		<-b.done
		if !stop.Load() && !merge(b) {
			stop.Store(true)
		}
		free <- b
	}
	wg.Wait()
	if stop.Load() {
		return nil
	}
	return err
}

// fill makes as many blocks as there may be.
func fill(free chan<- *block) {
	for range cap(free) {
		free <- &block{done: make(chan struct{}, 1)}
	}
}

// maxReserve bounds the memory that is asked for beforehand, in bytes. What isn't used takes none,
// but a system may refuse so much.
const maxReserve = 8 << 30

// expect makes room for the rows of a file, if its size is known: the first ones of them took so
// many bytes.
func (f *file) expect(rows int, bytes int64) {
	if bytes > 0 {
		// Lines differ. If most are shorter than the first ones the columns grow as they have to.
		n := int(1.03*float64(f.size)/float64(bytes)*float64(rows)) - rows
		f.b.Grow(min(n, maxReserve/8/(len(f.b.Columns())+1)))
	}
}

func parseFloat(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil
}

// parseNumber is strconv.ParseFloat, with fewer steps for what most numbers look like.
func parseNumber(s string) (float64, bool) {
	i, n := 0, uint64(0)
	if i < len(s) && s[i] == '-' {
		i++
	}
	from, dot := i, -1
	for ; i < len(s); i++ {
		c := s[i]
		if c-'0' < 10 {
			n = 10*n + uint64(c-'0')
		} else if c == '.' && dot < 0 {
			dot = i
		} else {
			return parseFloat(s)
		}
	}
	digits, places := i-from, 0
	if dot >= 0 {
		digits--
		places = len(s) - dot - 1
	}
	// Both are exact as float64, so that their quotient is rounded once.
	if digits == 0 || digits > 15 {
		return parseFloat(s)
	}
	v := float64(n)
	if places > 0 {
		v /= powers[places]
	}
	if s[0] == '-' {
		v = -v
	}
	return v, true
}

var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}
