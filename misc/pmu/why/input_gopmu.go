// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

//go:build gopmu && go1.23

package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"math"
	"pmu/internal/source"
	"runtime/task/record"
	"runtime/task/why"
	"slices"
	"strconv"
	"strings"
)

// maxLine is how long a line may be. A task with a full timeline has about a tenth.
const maxLine = 16 << 20

// An input reads requests into a table, and reports what it can't read.
type input struct {
	source.Source
	latency  string // the name of its column
	stderr   io.Writer
	progress *progress
	failed   bool

	b     why.Builder
	unit  string // of latencies, of all files
	tasks bool   // there were records of tasks

	spans spans

	// For -sql: where in a line each column is, by name; nil if it is in two places.
	sql   bool
	paths map[string][]string

	// Records that have been read, by what names them: a server may have been asked twice.
	seen map[uint64]struct{}
}

var (
	seed = maphash.MakeSeed()
	nan  = math.NaN() // an empty cell
)

// read reads a file or URL. Errors end the file, not the program: what has been read counts.
func (in *input) read(name string) {
	fail := func(err error) {
		fmt.Fprintf(in.stderr, "why: %s: %v\n", name, err)
		in.failed = true
	}
	r, err := in.Open(name)
	if err != nil {
		fail(err)
		return
	}
	defer r.Close()
	b := bufio.NewReaderSize(r, 1<<20)
	f := file{input: in, r: b}
	head, err := b.Peek(1)
	switch {
	case err == io.EOF:
		err = nil // a file that nothing was written to yet
	case err != nil:
		fail(err)
		return
	case head[0] == '<':
		fail(errors.New("it is a page, not records: ask for ?format=json"))
		return
	case head[0] == '{':
		err = f.readJSON()
	case head[0] >= 0x80 && !bytes.HasPrefix(peek(b, 3), []byte("\xef\xbb\xbf")):
		err = f.readRecords()
	default:
		err = f.readCSV()
	}
	if err != nil {
		fail(err)
	}
	if r.Exceeded() {
		fail(fmt.Errorf("there are more than %d bytes: raise -max to read the rest", in.Max))
	}
	for _, n := range []struct {
		n    int64
		what string
	}{{f.skipped, "bytes skipped, which were damaged or cut"}, {f.twice, "records skipped that are there already"}, {f.short, "lines skipped that lack columns, or have too many"}} {
		if n.n > 0 {
			fmt.Fprintf(in.stderr, "why: %s: %d %s\n", name, n.n, n.what)
		}
	}
}

func peek(b *bufio.Reader, n int) []byte {
	head, _ := b.Peek(n)
	return head
}

// A file is one that is being read.
type file struct {
	*input
	r              *bufio.Reader
	skipped, twice int64
	short          int64 // lines of CSV
}

// use says in which unit the file has latencies. All files must have one.
func (in *input) use(unit string) error {
	if in.b.Rows() == 0 && len(in.spans.list) == 0 {
		in.unit = unit
	}
	if in.unit != unit {
		return fmt.Errorf("its latencies are in %s, those before in %s", unitName(unit), unitName(in.unit))
	}
	return nil
}

func unitName(u string) string {
	if u == "" {
		return "no unit"
	}
	return u
}

// readRecords reads the format of files of records.
func (f *file) readRecords() error {
	if err := f.use("ms"); err != nil {
		return err
	}
	r := record.NewReader(f.r)
	for {
		t, err := r.Next()
		if err != nil {
			f.skipped = r.Skipped()
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = nil // it is in Skipped
			}
			return err
		}
		f.task(t)
	}
}

// task adds the record of a task. Calls of other servers are attributes of the tasks that
// make them.
func (f *file) task(t *record.Task) {
	f.tasks = true
	var h maphash.Hash
	h.SetSeed(seed)
	h.Write(t.Trace[:])
	h.Write(t.Span[:])
	id := h.Sum64()
	if !t.Span.IsZero() {
		if _, ok := f.seen[id]; ok {
			f.twice++
			return
		}
		if f.seen == nil {
			f.seen = make(map[uint64]struct{})
		}
		f.seen[id] = struct{}{}
	}
	if t.Flags&record.Client == 0 {
		f.b.AddTask(t)
		f.progress.rows(f.b.Rows())
	}
}

// readJSON reads lines of JSON, of tasks or of any table, and JSON of OTLP.
func (f *file) readJSON() error {
	s := bufio.NewScanner(f.r)
	s.Buffer(make([]byte, 0, 1<<16), maxLine)
	first := true
	isTasks := false
	var firstErr error
	rows := 0
	for s.Scan() {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 {
			continue
		}
		if first {
			first = false
			var keys map[string]json.RawMessage
			if json.Unmarshal(line, &keys) != nil || keys["resourceSpans"] != nil {
				// It is an object of several lines, or of spans.
				return f.readOTLP(io.MultiReader(bytes.NewReader(append(line, '\n')), rest(s, f.r)))
			}
			isTasks = keys["trace_id"] != nil && keys["wall_ns"] != nil
			unit := f.columnUnit(f.latency)
			if isTasks {
				unit = "ms"
			}
			if err := f.use(unit); err != nil {
				return err
			}
		}
		var err error
		if isTasks {
			var t *record.Task
			if t, err = record.ParseJSON(line); err == nil {
				f.task(t)
			}
		} else {
			err = f.object(line)
		}
		if err != nil {
			if firstErr == nil {
				firstErr = err
			}
			f.skipped += int64(len(s.Bytes())) + 1
			continue
		}
		rows++
	}
	if s.Err() == bufio.ErrTooLong {
		return fmt.Errorf("a line is longer than %d bytes", maxLine)
	}
	if s.Err() != nil || rows > 0 {
		return s.Err()
	}
	return firstErr
}

// rest returns what a scanner has not returned.
func rest(s *bufio.Scanner, r io.Reader) io.Reader {
	return io.MultiReader(&lines{s: s}, r)
}

// lines reads the lines of a scanner.
type lines struct {
	s    *bufio.Scanner
	left []byte
}

func (l *lines) Read(p []byte) (int, error) {
	for len(l.left) == 0 {
		if !l.s.Scan() {
			if err := l.s.Err(); err != nil {
				return 0, err
			}
			return 0, io.EOF
		}
		l.left = append(append(l.left, l.s.Bytes()...), '\n')
	}
	n := copy(p, l.left)
	l.left = l.left[n:]
	return n, nil
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

// object adds a line of a table: an object whose members are cells. Those of objects within
// are named by both names with a dot between. Arrays are left out.
func (f *file) object(line []byte) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	var o map[string]any
	if err := d.Decode(&o); err != nil {
		return err
	}
	latency, ok := o[f.latency]
	if !ok {
		return fmt.Errorf("there is no column %q: -latency names the one that is how long a request took", f.latency)
	}
	v := nan
	if n, ok := latency.(json.Number); ok {
		v, _ = n.Float64()
	}
	delete(o, f.latency)
	f.b.Add(v)
	f.members("", nil, o)
	f.progress.rows(f.b.Rows())
	return nil
}

func (f *file) members(prefix string, path []string, o map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(o)) {
		v := o[name]
		path := append(path, name)
		name = prefix + name
		f.place(name, path)
		switch v := v.(type) {
		case map[string]any:
			f.members(name+".", path, v)
		case string:
			f.b.Column(name, "", nan).Text(v)
		case json.Number:
			f.b.Column(name, f.columnUnit(name), nan).Text(v.String())
		case bool:
			f.b.Column(name, "", nan).Word(strconv.FormatBool(v))
		}
	}
}

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

// readCSV reads a table with a header.
func (f *file) readCSV() error {
	if bytes.HasPrefix(peek(f.r, 3), []byte("\xef\xbb\xbf")) {
		f.r.Discard(3)
	}
	r := csv.NewReader(f.r)
	r.ReuseRecord = true
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return err
	}
	if err := f.use(f.columnUnit(f.latency)); err != nil {
		return err
	}
	columns := make([]*why.ColumnBuilder, len(header))
	at := -1
	names := make(map[string]bool)
	for i, name := range header {
		name = strings.TrimSpace(name)
		if names[name] {
			return fmt.Errorf("there are two columns %.100q", name)
		}
		names[name] = true
		if name == f.latency {
			at = i
		} else {
			columns[i] = f.b.Column(name, f.columnUnit(name), nan)
			f.place(name, []string{name})
		}
	}
	if at < 0 {
		return fmt.Errorf("there is no column %q among %s: -latency names the one that is how long a request took", f.latency, list(header))
	}
	for {
		row, err := r.Read()
		switch {
		case err == io.EOF:
			return nil
		case errors.Is(err, csv.ErrQuote) || errors.Is(err, csv.ErrBareQuote):
			return fmt.Errorf("the rest is left out: %v", err)
		case err != nil:
			return err
		case len(row) != len(columns):
			f.short++
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(row[at]), 64)
		if err != nil {
			v = nan
		}
		f.b.Add(v)
		for i, c := range columns {
			if c != nil {
				c.Text(row[i])
			}
		}
		f.progress.rows(f.b.Rows())
	}
}
