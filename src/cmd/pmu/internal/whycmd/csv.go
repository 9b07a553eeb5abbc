// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"bytes"
	"cmd/pmu/internal/why"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"
)

// A csvTable is the records of CSV of a file.
type csvTable struct {
	*file
	columns []*why.ColumnBuilder // nil where the latency is
	at      int                  // the latency
	known   atomic.Pointer[schema]
	lines   int   // before what is merged next
	err     error // it ends the table
}

// readCSV reads a table with a header.
func (f *file) readCSV() error {
	if bytes.HasPrefix(peek(f.r, 3), []byte("\xef\xbb\xbf")) {
		f.r.Discard(3)
	}
	t := &csvTable{file: f}
	s := &splitter{r: f.r, size: f.blockSize(firstBlock), end: lastRecord, cut: true}
	first := &block{}
	var err error
	for err == nil && len(bytes.TrimLeft(first.data, "\r\n")) == 0 {
		t.lines += bytes.Count(first.data, []byte("\n"))
		err = s.next(first, maxRecord)
	}
	if err == errLong {
		return t.tooLong()
	}
	if err != nil && err != io.EOF && len(first.data) == 0 {
		return err
	}
	size, headErr := t.header(first.data)
	if headErr != nil {
		return headErr
	}
	t.know()
	t.lines += bytes.Count(first.data[:size], []byte("\n"))
	first.data = first.data[size:]
	err = f.readBlocks(s, first, err, maxRecord, func(b *block) { b.parseCSV(t.known.Load(), t.at) }, t.merge)
	switch {
	case t.err != nil:
		return t.err
	case err == errLong:
		return t.tooLong()
	case err != io.EOF:
		return err
	}
	return nil
}

func (t *csvTable) tooLong() error {
	return fmt.Errorf("the record in line %d is longer than %d bytes: the rest is left out; it is no table, or a quote lacks its end", t.lines+1, maxRecord)
}

// header makes the columns that data begin with. It returns how long the header is.
func (t *csvTable) header(data []byte) (size int64, err error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = true
	header, err := r.Read()
	if err != nil {
		return 0, fmt.Errorf("this is no header of CSV, and no other format that is known: %w", err)
	}
	if err := t.use(t.columnUnit(t.latency)); err != nil {
		return 0, err
	}
	if n := len(header); n > maxColumns && n-t.left(header) > maxColumns {
		return 0, fmt.Errorf("there are %d columns, more than %d: -columns names those that matter", n, maxColumns)
	}
	t.columns = make([]*why.ColumnBuilder, len(header))
	t.at = -1
	names := make(map[string]bool)
	for i, name := range header {
		name = strings.TrimSpace(name)
		if names[name] {
			return 0, fmt.Errorf("there are two columns %.100q", name)
		}
		names[name] = true
		if name == t.latency {
			t.at = i
		} else {
			t.columns[i] = t.b.Column(name, t.columnUnit(name), nan)
			t.place(name, []string{name})
		}
	}
	if t.at < 0 {
		return 0, fmt.Errorf("there is no column %q among %s: -latency names the one that is how long a request took", t.latency, list(header))
	}
	return r.InputOffset(), nil
}

// left returns how many columns -columns leaves out.
func (t *csvTable) left(header []string) (n int) {
	if t.b.Skip != nil {
		for _, name := range header {
			if t.b.Skip(strings.TrimSpace(name)) {
				n++
			}
		}
	}
	return n
}

// know has the blocks that are parsed from now on know what the columns are by now.
func (t *csvTable) know() { t.known.Store(newSchema(t.columns, t.b.Skip)) }

// merge adds a block. It reports false if nothing after it counts.
func (t *csvTable) merge(b *block) bool {
	if t.err = t.fullFor(b); t.err != nil {
		return false
	}
	b.merge(&t.b, func(r *slowRow) { t.row(r.fields) })
	if len(b.slow) > 0 {
		t.know()
	}
	t.short += b.short
	if b.err != nil {
		t.err = csvError(b.err, t.lines)
	}
	t.lines += b.lines
	t.progress.rows(t.b.Rows())
	return t.err == nil
}

// row adds a record.
func (t *csvTable) row(fields []string) {
	v, ok := parseNumber(strings.TrimSpace(fields[t.at]))
	if !ok {
		v = nan
	}
	t.b.Add(v)
	for i, c := range t.columns {
		if c != nil {
			c.Text(fields[i])
		}
	}
}

// csvError returns what the sentence on an error of encoding/csv is, where so many lines are
// before what it has read.
func csvError(err error, lines int) error {
	var p *csv.ParseError
	if errors.As(err, &p) {
		p.StartLine += lines
		p.Line += lines
	}
	if errors.Is(err, csv.ErrQuote) || errors.Is(err, csv.ErrBareQuote) {
		return fmt.Errorf("the rest is left out: %v", err)
	}
	return err
}

// parseCSV parses the records of a block.
func (b *block) parseCSV(s *schema, at int) {
	b.reset(s)
	b.lines = bytes.Count(b.data, []byte("\n"))
	if bytes.IndexByte(b.data, '"') >= 0 {
		r := csv.NewReader(bytes.NewReader(b.data))
		r.ReuseRecord = true
		r.FieldsPerRecord = -1
		r.TrimLeadingSpace = true
		for {
			fields, err := r.Read()
			if err != nil {
				if err != io.EOF {
					b.err = err
				}
				return
			}
			b.record(fields, at)
		}
	}
	data := unsafe.String(unsafe.SliceData(b.data), len(b.data))
	for len(data) > 0 {
		end := strings.IndexByte(data, '\n')
		line := data[:max(end, 0)]
		if end < 0 {
			line, data = data, ""
		} else {
			data = data[end+1:]
		}
		line = strings.TrimSuffix(line, "\r")
		if line == "" {
			continue
		}
		b.fields = b.fields[:0]
		from := 0
		for i := range len(line) {
			if line[i] == ',' {
				b.fields = append(b.fields, line[from:i])
				from = i + 1
			}
		}
		b.fields = append(b.fields, line[from:])
		b.record(b.fields, at)
	}
}

// record adds a record of CSV to a block.
func (b *block) record(fields []string, at int) {
	if len(fields) != len(b.schema.columns) {
		b.short++
		return
	}
	for _, i := range b.schema.unknown {
		if !why.Empty(why.Trim(fields[i])) {
			b.slow = append(b.slow, slowRow{at: len(b.latency), fields: slices.Clone(fields)})
			return
		}
	}
	v, ok := parseNumber(strings.TrimSpace(fields[at]))
	if !ok {
		v = nan
	}
	row := len(b.latency)
	b.latency = append(b.latency, v)
	for i := range b.schema.columns {
		if c := &b.schema.columns[i]; c.c != nil && !c.skip {
			b.columns[i].text(row, fields[i], c.words || !c.begun)
		}
	}
}
