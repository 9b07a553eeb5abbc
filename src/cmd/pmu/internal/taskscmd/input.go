// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"bufio"
	"bytes"
	"cmd/pmu/internal/source"
	"encoding/json"
	"errors"
	"fmt"
	record "internal/task"
	"io"
)

// maxLine is how long a line of JSON may be. A task with a full timeline has about a tenth.
const maxLine = 16 << 20

// An input reads tasks from files and URLs, and reports what it can't read.
type input struct {
	source.Source
	stderr io.Writer
	err    error // the first one
}

// read calls yield with the tasks of a file or URL. It returns false if yield does. Errors
// end the file, not the program: what has been read counts.
func (in *input) read(name string, yield func(*record.Task) bool) bool {
	fail := func(err error) {
		err = fmt.Errorf("%s: %w", name, err)
		fmt.Fprintln(in.stderr, "pmu tasks:", err)
		if in.err == nil {
			in.err = err
		}
	}
	r, err := in.Open(name)
	if err != nil {
		fail(err)
		return true
	}
	defer r.Close()
	b := bufio.NewReader(r)
	var skipped int64
	more := true
	switch head, err := b.Peek(1); {
	case err == io.EOF:
		err = nil // a file that nothing was written to yet
	case err != nil:
		fail(err)
		return true
	case head[0] == '{':
		more, skipped, err = readLines(b, yield)
		if err != nil {
			fail(err)
		}
	case head[0] == '<':
		fail(errors.New("it is a page, not records: ask for ?format=json"))
		return true
	default:
		more, skipped, err = readRecords(b, yield)
		if err != nil {
			fail(err)
		}
	}
	if err := r.Err(); err != nil {
		fail(err)
	}
	if skipped > 0 {
		fmt.Fprintf(in.stderr, "pmu tasks: %s: %d bytes skipped, which were damaged or cut\n", name, skipped)
	}
	return more
}

// readRecords reads the format of files.
func readRecords(r io.Reader, yield func(*record.Task) bool) (more bool, skipped int64, err error) {
	rr := record.NewReader(r)
	for {
		t, err := rr.Next()
		if err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				err = nil // it is in Skipped
			}
			return true, rr.Skipped(), err
		}
		if !yield(t) {
			return false, rr.Skipped(), nil
		}
	}
}

// readLines reads lines of JSON.
func readLines(r io.Reader, yield func(*record.Task) bool) (more bool, skipped int64, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	var first error // of the lines, unless there are tasks
	tasks := false
	for s.Scan() {
		line := s.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		t, err := record.ParseJSON(line, json.Unmarshal)
		if err != nil {
			if first == nil {
				first = err
			}
			skipped += int64(len(line)) + 1
			continue
		}
		tasks = true
		if !yield(t) {
			return false, skipped, nil
		}
	}
	if s.Err() == bufio.ErrTooLong {
		return true, skipped, fmt.Errorf("a line is longer than %d bytes: it is not the JSON of a task", maxLine)
	}
	if err := s.Err(); err != nil || tasks {
		return true, skipped, err
	}
	return true, skipped, first
}
