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
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"internal/taskrecord"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"
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

// readJSON reads lines of JSON, of tasks or of any table.
func (f *file) readJSON() error {
	isTasks := tasksIn(peek(f.r, detected))
	s := &splitter{r: f.r, size: f.blockSize(firstBlock), end: lastLine}
	first := &block{}
	lines := 0
	tooLong := func() error {
		return fmt.Errorf("line %d is longer than %d bytes: the rest is left out; an object a line is a request, or an export of spans", lines+1, maxLine)
	}
	err := s.next(first, maxLine)
	if err == errLong {
		return tooLong()
	}
	isTasks = isTasks || tasksIn(first.data) // a line may be longer
	unit := f.columnUnit(f.latency)
	if isTasks {
		unit = "ms"
	}
	if err := f.use(unit); err != nil {
		return err
	}
	var known atomic.Pointer[schema]
	known.Store(newSchema(f.b.Columns(), f.b.Skip))
	var firstErr, full error
	rows := 0
	merge := func(b *block) bool {
		lines += b.lines
		if full = f.fullFor(b); full != nil {
			return false
		}
		b.merge(&f.b, func(r *slowRow) {
			// Each may have a column of its own, which takes as much as others.
			if full == nil {
				full = f.full()
			}
			switch {
			case full != nil:
			case r.task != nil:
				f.task(r.task)
			default:
				f.object(r.object)
			}
		})
		if len(b.slow) > 0 && !isTasks {
			known.Store(newSchema(f.b.Columns(), f.b.Skip))
		}
		f.skipped += b.skipped
		rows += b.rows
		if firstErr == nil {
			firstErr = b.err
		}
		f.progress.rows(f.b.Rows())
		return full == nil
	}
	parse := func(b *block) { f.parseJSON(b, known.Load(), isTasks) }
	parse(first)
	before := f.b.Rows()
	if merge(first) && err == nil {
		f.expect(f.b.Rows()-before, int64(len(first.data)))
		s.size = f.blockSize(blockSize)
		err = blocks(s, maxLine, parse, merge)
	}
	switch {
	case full != nil:
		return full
	case err == errLong:
		return tooLong()
	case err != nil && err != io.EOF:
		return err
	case rows > 0:
		return nil
	}
	if firstErr != nil && lines > 1 && !isTasks {
		firstErr = fmt.Errorf("it is JSON, and no spans of OTLP, Zipkin v2 or Jaeger; for a table with an object a line: %w", firstErr)
	}
	return firstErr
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

// readCSV reads a table with a header.
func (f *file) readCSV() error {
	if bytes.HasPrefix(peek(f.r, 3), []byte("\xef\xbb\xbf")) {
		f.r.Discard(3)
	}
	s := &splitter{r: f.r, size: f.blockSize(firstBlock), end: lastRecord, cut: true}
	first := &block{}
	var err error
	lines := 0
	for err == nil && len(bytes.TrimLeft(first.data, "\r\n")) == 0 {
		lines += bytes.Count(first.data, []byte("\n"))
		err = s.next(first, maxRecord)
	}
	tooLong := func() error {
		return fmt.Errorf("the record in line %d is longer than %d bytes: the rest is left out; it is no table, or a quote lacks its end", lines+1, maxRecord)
	}
	if err == errLong {
		return tooLong()
	}
	if err != nil && err != io.EOF && len(first.data) == 0 {
		return err
	}
	head := csv.NewReader(bytes.NewReader(first.data))
	head.FieldsPerRecord = -1
	head.TrimLeadingSpace = true
	header, headErr := head.Read()
	if headErr != nil {
		return fmt.Errorf("this is no header of CSV, and no other format that is known: %w", headErr)
	}
	if err := f.use(f.columnUnit(f.latency)); err != nil {
		return err
	}
	if left := 0; len(header) > maxColumns {
		if f.b.Skip != nil {
			for _, name := range header {
				if f.b.Skip(strings.TrimSpace(name)) {
					left++
				}
			}
		}
		if len(header)-left > maxColumns {
			return fmt.Errorf("there are %d columns, more than %d: -columns names those that matter", len(header), maxColumns)
		}
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
	row := func(fields []string) {
		v, ok := parseNumber(strings.TrimSpace(fields[at]))
		if !ok {
			v = nan
		}
		f.b.Add(v)
		for i, c := range columns {
			if c != nil {
				c.Text(fields[i])
			}
		}
	}

	var known atomic.Pointer[schema]
	known.Store(newSchema(columns, f.b.Skip))
	lines += bytes.Count(first.data[:head.InputOffset()], []byte("\n"))
	var bad error
	merge := func(b *block) bool {
		if bad = f.fullFor(b); bad != nil {
			return false
		}
		b.merge(&f.b, func(r *slowRow) { row(r.fields) })
		if len(b.slow) > 0 {
			known.Store(newSchema(columns, f.b.Skip))
		}
		f.short += b.short
		if b.err != nil {
			bad = csvError(b.err, lines)
		}
		lines += b.lines
		f.progress.rows(f.b.Rows())
		return bad == nil
	}
	parse := func(b *block) { b.parseCSV(known.Load(), at) }
	first.data = first.data[head.InputOffset():]
	parse(first)
	before := f.b.Rows()
	if merge(first) && err == nil {
		f.expect(f.b.Rows()-before, int64(len(first.data)))
		s.size = f.blockSize(blockSize)
		err = blocks(s, maxRecord, parse, merge)
	}
	switch {
	case bad != nil:
		return bad
	case err == errLong:
		return tooLong()
	case err != io.EOF:
		return err
	}
	return nil
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
