// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"bufio"
	"bytes"
	"cmd/pmu/internal/keep"
	"cmd/pmu/internal/source"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"internal/taskrecord"
	"io"
	"io/fs"
)

// maxLine is how long a line of JSON may be. A task with a full timeline has about a tenth.
const maxLine = 16 << 20

// An input reads tasks from files and URLs, and reports what it can't read.
type input struct {
	source.Source
	verb   string // in messages; tasks if it is empty
	stderr io.Writer
	err    error           // the first one
	listed map[string]bool // the files that were in folders: one may be removed before it is read

	// taken is why the threads of processes had no CPU, as their latest answers say. Of no more than
	// reportKinds.
	taken map[string]taskrecord.Taken

	from *origins

	// seen has the tasks that were read, by their spans, if there are several files: a server
	// may have been asked twice. It takes some 50 bytes a task.
	seen map[spanOf]struct{}
}

// A spanOf is the span of a task.
type spanOf struct {
	trace taskrecord.TraceID
	span  taskrecord.SpanID
}

// again reports whether a task was read already.
func (in *input) again(t *taskrecord.Record) bool {
	if in.seen == nil || t.Span.IsZero() {
		return false
	}
	n := len(in.seen)
	in.seen[spanOf{t.Trace, t.Span}] = struct{}{}
	return len(in.seen) == n
}

// files returns the files that arguments name, with those in folders, and says what is missing in these.
func (in *input) files(names []string) (files []string) {
	in.listed = make(map[string]bool)
	for _, name := range names {
		list, err := source.Files(name)
		if err != nil {
			in.fail(err)
		}
		for _, file := range list {
			in.listed[file] = file != name
		}
		files = append(files, list...)
		if missing := keep.Missing(name); missing != "" {
			in.say("%s: %s", name, missing)
		}
	}
	return files
}

// say writes a message.
func (in *input) say(format string, args ...any) {
	fmt.Fprintf(in.stderr, "pmu %s: %s\n", cmp.Or(in.verb, "tasks"), fmt.Sprintf(format, args...))
}

// fail reports an error.
func (in *input) fail(err error) {
	in.say("%v", err)
	if in.err == nil {
		in.err = err
	}
}

// read calls yield with the tasks of a file or URL. It returns false if yield does. Errors
// end the file, not the program: what has been read counts.
func (in *input) read(name string, yield func(*taskrecord.Record) bool) bool {
	fail := func(err error) { in.fail(fmt.Errorf("%s: %w", name, err)) }
	r, err := in.Open(name)
	if errors.Is(err, fs.ErrNotExist) && in.listed[name] {
		in.say("%s: it has been removed meanwhile", name)
		return true
	}
	if err != nil {
		fail(err)
		return true
	}
	defer r.Close()
	inflated, _, err := source.Inflate(bufio.NewReader(r), in.Max)
	if err != nil {
		fail(err)
		return true
	}
	b := bufio.NewReader(inflated)
	var twice int64
	once := func(t *taskrecord.Record) bool {
		if in.again(t) {
			twice++
			return true
		}
		in.from.read(t, name)
		return yield(t)
	}
	more, skipped, err := in.readAny(b, once)
	if full := r.Err(); full != nil {
		err = full // and not what it has cut
	}
	if err != nil {
		fail(err)
	}
	if skipped > 0 {
		in.say("%s: %d bytes skipped, which were damaged or cut", name, skipped)
	}
	for _, missing := range r.Missing() {
		in.say("%s: %s", name, missing)
	}
	if twice > 0 {
		in.say("%s: %d records skipped that are there already", name, twice)
	}
	return more
}

// readAny calls yield with the tasks of a file, whatever its format. It returns false if yield does, and how many
// bytes it skipped.
func (in *input) readAny(b *bufio.Reader, yield func(*taskrecord.Record) bool) (more bool, skipped int64, err error) {
	switch head, err := b.Peek(1); {
	case err == io.EOF:
		return true, 0, nil // a file that nothing was written to yet
	case err != nil:
		return true, 0, err
	case head[0] == '{':
		return readLines(b, yield)
	case head[0] == '<':
		return true, 0, errors.New("it is HTML or XML, not records: a server has them at /debug/pprof/tasks?format=json")
	}
	return readRecords(b, yield, in.mark)
}

// mark notes what a mark says of its process.
func (in *input) mark(m *taskrecord.Mark) {
	if _, ok := in.taken[m.Process]; in.taken != nil && (ok || len(in.taken) < reportKinds) {
		in.taken[m.Process] = m.Taken
	}
}

// readRecords reads the format of files.
func readRecords(r io.Reader, yield func(*taskrecord.Record) bool, mark func(*taskrecord.Mark)) (more bool, skipped int64, err error) {
	rr := taskrecord.NewFileReader(r)
	rr.Mark = mark
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
func readLines(r io.Reader, yield func(*taskrecord.Record) bool) (more bool, skipped int64, err error) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxLine)
	var first error // of the lines, unless there are tasks
	tasks := false
	for s.Scan() {
		line := s.Bytes()
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		t, err := taskrecord.ParseJSON(line, json.Unmarshal)
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
