// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package spans

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// MaxValue is how many bytes an object or array may have that is a value of its own, on one line or
// several.
const MaxValue = 64 << 20

// jsonValues are values of JSON, read one after the other. A value may be a line, or several. What is none
// costs its own lines: those that are whole values by themselves are read, also where something
// before them was cut.
type jsonValues struct {
	r       *bufio.Reader
	column  string
	line    []byte // read, and in no value yet; of buf
	buf     []byte
	broken  []byte // lines that are no value together, to be read one by one
	err     error
	Skipped int64 // bytes
}

// next returns the next value. The error is io.EOF at the end, or that a value is too long.
func (v *jsonValues) next() ([]byte, error) {
	var pending []byte
	var s scan
	for {
		if len(pending) == 0 {
			if value := v.nextBroken(); value != nil {
				return value, nil
			}
		}
		if v.line == nil && v.err == nil {
			v.line, v.err = v.readLine(MaxValue - len(pending))
		}
		if v.err == errLong {
			return nil, fmt.Errorf("an object is longer than %d bytes: write spans as several, one a line", MaxValue)
		}
		line := v.line
		if len(line) == 0 && v.err != nil {
			if len(pending) == 0 {
				return nil, v.err
			}
			v.broken, pending, s = pending, nil, scan{}
			continue
		}
		if len(pending) > 0 && !awaits(pending) && v.isValue(line) { // what is pending was cut
			v.broken, pending, s = pending, nil, scan{}
			continue
		}
		v.line = nil
		if len(pending) == 0 && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		pending = append(pending, line...)
		switch s.add(line); {
		case s.bad || s.depth <= 0 && !json.Valid(pending):
			v.broken, pending, s = pending, nil, scan{}
		case s.depth <= 0:
			return pending, nil
		}
	}
}

// nextBroken returns the next of the broken lines that is a value by itself, perhaps with the comma
// of an array after it, or nil.
func (v *jsonValues) nextBroken() []byte {
	for len(v.broken) > 0 {
		line, rest, _ := bytes.Cut(v.broken, []byte("\n"))
		size := len(v.broken) - len(rest)
		v.broken = rest
		if value := bytes.TrimSuffix(bytes.TrimSpace(line), []byte(",")); v.isValue(value) {
			return value
		}
		v.Skipped += int64(size)
	}
	return nil
}

// isValue reports whether a line is a whole value that may have spans.
func (v *jsonValues) isValue(line []byte) bool {
	return whole(line) && json.Valid(line) && Detect(line, v.column) != None
}

// awaits reports whether a value that isn't whole has to go on with another value: with an element,
// or with that of a member.
func awaits(pending []byte) bool {
	pending = bytes.TrimRight(pending, " \t\r\n")
	return len(pending) > 0 && strings.IndexByte("[,:", pending[len(pending)-1]) >= 0
}

// whole reports whether a line may be a whole object or array.
func whole(line []byte) bool {
	line = bytes.TrimRight(line, " \t\r\n")
	if len(line) < 2 {
		return false
	}
	first := line[0]
	return first == '{' && line[len(line)-1] == '}' || first == '[' && line[len(line)-1] == ']'
}

var errLong = fmt.Errorf("too long")

// readLine reads a line with its end, of most bytes. The next one replaces it.
func (v *jsonValues) readLine(most int) (line []byte, err error) {
	line = v.buf[:0]
	for {
		part, err := v.r.ReadSlice('\n')
		line = append(line, part...)
		v.buf = line
		if len(line) > most {
			return nil, errLong
		}
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// A scan follows how deep in objects and arrays a text is. Strings end on their line.
type scan struct {
	depth int
	bad   bool
}

func (s *scan) add(line []byte) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			s.depth--
		}
	}
	s.bad = s.bad || quoted || s.depth < 0
}

// A Decoder reads spans.
type Decoder struct {
	Format Format

	// Others counts values that are of other signals: metrics, logs. Bad counts spans that are
	// left out, by what they lack.
	Others int64
	Bad    map[string]int64
	N      int64 // spans

	values jsonValues
	add    func(*Span)
}

// NewDecoder returns a Decoder that calls add for each span of a format. Column is as for Detect.
func NewDecoder(r *bufio.Reader, f Format, column string, add func(*Span)) *Decoder {
	return &Decoder{Format: f, values: jsonValues{r: r, column: column}, Bad: make(map[string]int64), add: add}
}

// Skipped returns how many bytes were skipped that are no JSON of the format.
func (r *Decoder) Skipped() int64 { return r.values.Skipped }

// Lack says what spans lack that are left out, and of how many.
func (r *Decoder) Lack() (what string, n int64) {
	for i, key := range slices.Sorted(maps.Keys(r.Bad)) {
		if i > 0 {
			what += ", "
		}
		what += fmt.Sprintf("%d lack %s", r.Bad[key], key)
		n += r.Bad[key]
	}
	return what, n
}

// Read reads all spans. more is asked before each value whether there is room for it.
func (r *Decoder) Read(more func() error) error {
	for {
		data, err := r.values.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		size := len(data)
		if data = bytes.TrimSpace(data); len(data) > 0 {
			if err := more(); err != nil {
				return err
			}
		}
		switch r.Format {
		case OTLP:
			err = r.otlp(data)
		case Zipkin:
			err = r.zipkin(data, 0)
		case Jaeger:
			err = r.jaeger(data, 0)
		}
		if err != nil {
			r.values.Skipped += int64(size)
		}
	}
}

// span adds one, or counts why not.
func (r *Decoder) span(s *Span, trace, id_, parent string) {
	switch {
	case !id(s.Trace[:], trace):
		r.Bad["a trace ID"]++
	case !id(s.ID[:], id_):
		r.Bad["an ID"]++
	case parent != "" && !id(s.Parent[:], parent):
		r.Bad["a parent's ID"]++
	case s.Start < 0:
		r.Bad["a start"]++
	case s.End < s.Start:
		r.Bad["an end after the start"]++
	default:
		r.N++
		r.add(s)
	}
}

// elements calls f for each element of an array, and counts those that are none, and those
// for which f returns an error.
func (r *Decoder) elements(list []json.RawMessage, f func(json.RawMessage) error) {
	for _, data := range list {
		if string(data) == "null" || f(data) != nil {
			r.Bad["the form of a span"]++
		}
	}
}
