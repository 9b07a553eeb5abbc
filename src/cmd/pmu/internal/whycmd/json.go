// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"internal/taskrecord"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"
)

// tasksIn reports whether lines of JSON are records of tasks: the first one is that is an object.
func tasksIn(data []byte) bool {
	for line := range bytes.Lines(data) {
		var keys map[string]json.RawMessage
		if json.Unmarshal(line, &keys) == nil {
			return keys["trace_id"] != nil && keys["wall_ns"] != nil
		}
	}
	return false
}

// A jsonTable is the lines of JSON of a file, of tasks or of any table.
type jsonTable struct {
	*file
	isTasks bool
	known   atomic.Pointer[schema]
	lines   int   // that have been merged
	rows    int   // of these
	err     error // of the first line that is none
	full    error // the table takes more than it may
}

// readJSON reads lines of JSON, of tasks or of any table.
func (f *file) readJSON() error {
	t := &jsonTable{file: f, isTasks: tasksIn(peek(f.r, detected))}
	s := &splitter{r: f.r, size: f.blockSize(firstBlock), end: lastLine}
	first := &block{}
	err := s.next(first, maxLine)
	if err == errLong {
		return t.tooLong()
	}
	t.isTasks = t.isTasks || tasksIn(first.data) // a line may be longer
	unit := f.columnUnit(f.latency)
	if t.isTasks {
		unit = "ms"
	}
	if err := f.use(unit); err != nil {
		return err
	}
	t.know()
	err = f.readBlocks(s, first, err, maxLine, func(b *block) { f.parseJSON(b, t.known.Load(), t.isTasks) }, t.merge)
	switch {
	case t.full != nil:
		return t.full
	case err == errLong:
		return t.tooLong()
	case err != nil && err != io.EOF:
		return err
	case t.rows > 0:
		return nil
	}
	if t.err != nil && t.lines > 1 && !t.isTasks {
		return fmt.Errorf("it is JSON, and no spans of OTLP, Zipkin v2 or Jaeger; for a table with an object a line: %w", t.err)
	}
	return t.err
}

func (t *jsonTable) tooLong() error {
	return fmt.Errorf("line %d is longer than %d bytes: the rest is left out; an object a line is a request, or an export of spans", t.lines+1, maxLine)
}

// know has the blocks that are parsed from now on know the columns that there are.
func (t *jsonTable) know() { t.known.Store(newSchema(t.b.Columns(), t.b.Skip)) }

// merge adds a block. It reports false if the table is full.
func (t *jsonTable) merge(b *block) bool {
	t.lines += b.lines
	if t.full = t.fullFor(b); t.full != nil {
		return false
	}
	b.merge(&t.b, func(r *slowRow) {
		// Each may have a column of its own, which takes as much as others.
		if t.full == nil {
			t.full = t.input.full()
		}
		switch {
		case t.full != nil:
		case r.task != nil:
			t.task(r.task)
		default:
			t.object(r.object)
		}
	})
	if len(b.slow) > 0 && !t.isTasks {
		t.know()
	}
	t.skipped += b.skipped
	t.rows += b.rows
	if t.err == nil {
		t.err = b.err
	}
	t.progress.rows(t.b.Rows())
	return t.full == nil
}

// parseJSON parses the lines of a block.
func (f *file) parseJSON(b *block, s *schema, isTasks bool) {
	b.reset(s)
	b.seen = append(b.seen[:0], make([]int, len(s.columns))...)
	data := unsafe.String(unsafe.SliceData(b.data), len(b.data))
	b.lines = 0
	for n := 1; len(data) > 0; n++ {
		var line string
		line, data, _ = strings.Cut(data, "\n")
		b.lines++
		line = strings.TrimSuffix(line, "\r")
		size := int64(len(line)) + 1
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if !isTasks && !f.sql && f.flat(b, line, n) {
			b.rows++
			continue
		}
		r := slowRow{at: len(b.latency)}
		var err error
		if isTasks {
			r.task, err = taskrecord.ParseJSON([]byte(line), json.Unmarshal)
		} else {
			r.object, err = f.decode(line)
		}
		if err != nil {
			if b.err == nil {
				b.err = err
			}
			b.skipped += size
			continue
		}
		b.rows++
		b.slow = append(b.slow, r)
	}
}

// columnUnit returns the unit that a name ends in.
func (in *input) columnUnit(name string) string {
	for _, u := range []string{"ns", "us", "ms", "s"} {
		if strings.HasSuffix(name, "_"+u) {
			return u
		}
	}
	return ""
}

// decode parses a line of a table: an object whose members are cells.
func (f *file) decode(line string) (object, error) {
	if depth(line) > maxDepth {
		return nil, fmt.Errorf("there are objects in objects, more than %d deep", maxDepth)
	}
	d := json.NewDecoder(strings.NewReader(line))
	var o object
	if err := d.Decode(&o); err != nil {
		return nil, err
	}
	if _, ok := o[f.latency]; !ok {
		return nil, fmt.Errorf("there is no column %q: -latency names the one that is how long a request took", f.latency)
	}
	return o, nil
}

// object adds a line of a table. Members of objects within are named by both names with a dot
// between. Arrays are left out.
func (f *file) object(o object) {
	v := nan
	if n, ok := o[f.latency].v.(json.Number); ok {
		v, _ = n.Float64()
	}
	delete(o, f.latency)
	f.b.Add(v)
	f.members("", nil, o)
}

func (f *file) members(prefix string, path []string, o object) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		v := o[name]
		path := append(path, name)
		name = prefix + name
		f.place(name, path)
		switch v := v.v.(type) {
		case object:
			f.members(name+".", path, v)
		case string:
			f.b.Column(name, "", nan).Text(v)
		case json.Number:
			f.b.Column(name, f.columnUnit(name), nan).Text(v.String())
		case bool:
			f.b.Column(name, "", nan).Word(strconv.FormatBool(v))
		case array:
			f.array(name)
		}
	}
}

// array notes that a member is an array. Nothing of it is kept.
func (f *file) array(name string) {
	if f.b.Skip != nil && f.b.Skip(name) {
		return
	}
	if f.arrays == nil {
		f.arrays = make(map[string]bool)
	}
	if len(f.arrays) < maxArrays {
		f.arrays[name] = true
	}
}

// maxArrays bounds the names of arrays that are kept to be reported.
const maxArrays = 100

// place notes for -sql where a column is.
func (in *input) place(name string, path []string) {
	if !in.sql {
		return
	}
	if in.paths == nil {
		in.paths = make(map[string][]string)
	}
	if old, ok := in.paths[name]; !ok {
		in.paths[name] = slices.Clone(path)
	} else if !slices.Equal(old, path) {
		in.paths[name] = nil
	}
}
