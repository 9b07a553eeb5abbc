// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package whycmd

import (
	"bufio"
	"bytes"
	"cmd/pmu/internal/keep"
	"cmd/pmu/internal/source"
	tracing "cmd/pmu/internal/spans"
	"cmd/pmu/internal/why"
	"errors"
	"fmt"
	"hash/maphash"
	"internal/taskrecord"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
)

// Bounds of what is one thing in a file, and so in memory at once. Who wants to have a file read may
// not have written it.
const (
	maxLine   = 16 << 20 // bytes of a line of JSON. A task with a full timeline has about a tenth
	maxObject = 64 << 20 // bytes of an object of JSON of several lines
	maxRecord = 1 << 20  // bytes of a record of CSV

	// maxColumns is how many columns a table may have: an analysis numbers them by 16 bits, and an
	// empty one takes 300 bytes.
	maxColumns = 1 << 14
)

// An input reads requests into a table, and reports what it can't read.
type input struct {
	source.Source
	latency  string // the name of its column
	block    int    // the size of all blocks, if it isn't 0: for tests
	stderr   io.Writer
	progress *progress
	failed   bool
	arg      string // what is read, as the command has it

	b     why.Builder
	most  int64  // bytes that the table may take, or 0 if that isn't bounded
	unit  string // of latencies, of all files
	tasks bool   // there were records of tasks

	spans  spans
	joined joined

	// For -sql: where in a line each column is, by name; nil if it is in two places.
	sql    bool
	engine string // or "", for PostgreSQL
	paths  map[string][]string

	// Records that have been read, by what names them: a server may have been asked twice.
	seen map[uint64]struct{}
}

var (
	seed = maphash.MakeSeed()
	nan  = math.NaN() // an empty cell
)

// readAll reads a file or URL, or the files of a folder, and says what is missing in that.
func (in *input) readAll(name string) {
	in.arg = name
	files, err := source.Files(name)
	if err != nil {
		fmt.Fprintf(in.stderr, "pmu why: %v\n", err)
		in.failed = true
	}
	for _, file := range files {
		in.read(file)
	}
	if missing := keep.Missing(name); missing != "" {
		fmt.Fprintf(in.stderr, "pmu why: %s: %s\n", name, missing)
	}
}

// read reads a file or URL. Errors end the file, not the program: what has been read counts.
func (in *input) read(name string) {
	fail := func(err error) {
		fmt.Fprintf(in.stderr, "pmu why: %s: %v\n", name, err)
		in.failed = true
	}
	r, err := in.Open(name)
	if errors.Is(err, fs.ErrNotExist) && name != in.arg { // a folder had it
		fmt.Fprintf(in.stderr, "pmu why: %s: it has been removed meanwhile\n", name)
		return
	}
	if err != nil {
		fail(err)
		return
	}
	defer r.Close()
	b := bufio.NewReaderSize(r, 1<<20)
	f := file{input: in, r: b, size: r.Size(), name: name}
	inflated, compressed, err := source.Inflate(b, in.Max)
	if err != nil {
		fail(err)
		return
	}
	if compressed {
		b = bufio.NewReaderSize(inflated, 1<<20)
		f.r, f.size = b, 0
	}
	head, err := b.Peek(1)
	switch {
	case err == io.EOF:
		err = nil // a file that nothing was written to yet
	case err == nil:
		err = f.readAny(head[0])
	}
	if err != nil {
		fail(err)
	}
	if err := r.Err(); err != nil {
		fail(err)
	}
	for _, missing := range r.Missing() {
		fmt.Fprintf(in.stderr, "pmu why: %s: %s\n", name, missing)
	}
	f.saySkipped()
}

// readAny reads a file that is not empty. Head is its first byte.
func (f *file) readAny(head byte) error {
	switch {
	case head == '<':
		return errors.New("it is HTML or XML, not records: a server has them at /debug/pprof/tasks?format=json")
	case head == '{', head == '[':
		switch format := tracing.Detect(peek(f.r, detected), f.latency); {
		case format != tracing.None:
			return f.readSpans(format)
		case head == '{':
			return f.readJSON()
		case isArray(peek(f.r, detected)):
			return errors.New("it is an array of JSON, and no spans of Zipkin v2 or Jaeger: in a table there is an object a line")
		}
	case head >= 0x80 && !bytes.HasPrefix(peek(f.r, 3), []byte("\xef\xbb\xbf")):
		return f.readRecords()
	}
	return f.readCSV()
}

// saySkipped reports what of the file was left out.
func (f *file) saySkipped() {
	for _, n := range []struct {
		n         int64
		one, many string
	}{
		{f.skipped, "byte skipped, which was damaged or cut", "bytes skipped, which were damaged or cut"},
		{f.twice, "record skipped that is there already", "records skipped that are there already"},
		{f.short, "line skipped that lacks columns, or has too many", "lines skipped that lack columns, or have too many"},
	} {
		switch {
		case n.n == 1:
			fmt.Fprintf(f.stderr, "pmu why: %s: 1 %s\n", f.name, n.one)
		case n.n > 1:
			fmt.Fprintf(f.stderr, "pmu why: %s: %d %s\n", f.name, n.n, n.many)
		}
	}
	if len(f.arrays) > 0 {
		fmt.Fprintf(f.stderr, "pmu why: %s: columns left out, as they are arrays: %s\n", f.name, list(slices.Sorted(maps.Keys(f.arrays))))
	}
}

// detected is how much of a file says what it is.
const detected = 1 << 20

// isArray reports whether data, which begin with a bracket, go on as an array of JSON.
func isArray(data []byte) bool {
	data = bytes.TrimSpace(data[1:])
	return len(data) == 0 || bytes.IndexByte([]byte("{[]"), data[0]) >= 0
}

func peek(b *bufio.Reader, n int) []byte {
	head, _ := b.Peek(n)
	return head
}

// A file is one that is being read.
type file struct {
	*input
	name           string
	r              *bufio.Reader
	size           int64 // of it in bytes, or 0 if that isn't known
	skipped, twice int64
	short          int64 // lines of CSV
	arrays         map[string]bool
}

func (in *input) blockSize(usual int) int {
	if in.block > 0 {
		return in.block
	}
	return usual
}

// readBlocks parses and merges the first block, and the others unless the file has ended with it.
// End is the error that reading it ended with. No line or record is longer than most bytes.
func (f *file) readBlocks(s *splitter, first *block, end error, most int, parse func(*block), merge func(*block) bool) error {
	parse(first)
	before := f.b.Rows()
	if !merge(first) || end != nil {
		return end
	}
	f.expect(f.b.Rows()-before, int64(len(first.data)))
	s.size = f.blockSize(blockSize)
	return blocks(s, most, parse, merge)
}

// use says in which unit the file has latencies. All files must have one.
func (in *input) use(unit string) error {
	if in.b.Rows() == 0 && len(in.spans.list) == 0 && len(in.joined.arrived) == 0 {
		in.unit = unit
	}
	if in.unit != unit {
		return fmt.Errorf("its latencies are in %s, those before in %s", unitName(unit), unitName(in.unit))
	}
	return nil
}

// full returns an error if the table takes more than it may. It is asked when there is more to add, so
// that something is left out if it does. (Columns that few requests have take as much as others, so a
// small file may make a large table.)
func (in *input) full() error {
	return in.atMost(in.b.Size() + in.spans.size + in.joined.size)
}

// fullFor is full for a block, if there are rows in it.
func (in *input) fullFor(b *block) error {
	if len(b.latency)+len(b.slow) == 0 {
		return nil
	}
	return in.full()
}

// fullOfRows is full while rows are made of spans or of tasks, which have been counted by themselves.
func (in *input) fullOfRows() error { return in.atMost(in.b.Size()) }

func (in *input) atMost(size int) error {
	if in.most == 0 || int64(size) <= in.most {
		return nil
	}
	return fmt.Errorf("the table takes more than %d bytes, so the rest is left out: -columns names the columns that matter, and -table raises the bound", in.most)
}

// sayLeft reports the cells of columns that were too many.
func (in *input) sayLeft() {
	if in.b.Left > 0 {
		fmt.Fprintf(in.stderr, "pmu why: %d cells are left out, as there are more than %d columns: -columns names those that matter\n", in.b.Left, maxColumns)
	}
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
	r := taskrecord.NewFileReader(f.r)
	for {
		t, err := r.Next()
		if err == nil {
			err = f.full()
		}
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
