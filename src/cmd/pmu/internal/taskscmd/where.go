// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskscmd

import (
	"bufio"
	"cmd/pmu/internal/whycmd"
	"fmt"
	"internal/taskrecord"
	"io"
	"os"
)

// A spool has the tasks that were read, in a file, as it takes all of them to say which are selected.
type spool struct {
	f     *os.File
	in    *input
	n     int
	where *whycmd.Where
}

// maxTable is how many bytes the table of -where may take.
const maxTable = 8 << 30

// filter reads all tasks, and selects those of requests that meet the conditions of -where.
func (c *config) filter(in *input, tasks func(func(*taskrecord.Record) bool)) (s *spool, err error) {
	s = &spool{in: in, where: whycmd.NewWhere(c.kind, maxTable, in.stderr)}
	if s.f, err = os.CreateTemp("", "pmu-tasks-"); err != nil {
		return nil, err
	}
	os.Remove(s.f.Name()) // where the system keeps what is open, a signal leaves nothing behind
	b := bufio.NewWriter(s.f)
	w := taskrecord.NewFileWriter(b, nil)
	large := 0
	tasks(func(t *taskrecord.Record) bool {
		if e := w.Write(t); e != nil {
			if err = b.Flush(); err != nil {
				return false
			}
			large++
			return true
		}
		s.n++
		err = s.where.Add(t)
		return err == nil
	})
	if err == nil {
		err = b.Flush()
	}
	if large > 0 {
		fmt.Fprintf(in.stderr, "pmu tasks: %d records left out, as they are too large for -where\n", large)
	}
	matched, of := 0, 0
	if err == nil {
		matched, of, err = s.where.Select(c.where)
	}
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("-where: %w", err)
	}
	fmt.Fprintf(in.stderr, "pmu tasks: %d of %d requests: %s\n", matched, of, c.where)
	return s, nil
}

// read calls yield with those tasks that are selected.
func (s *spool) read(yield func(*taskrecord.Record) bool) {
	_, err := s.f.Seek(0, io.SeekStart)
	r := taskrecord.NewFileReader(bufio.NewReader(s.f))
	for n := 0; n < s.n && err == nil; n++ {
		var t *taskrecord.Record
		if t, err = r.Next(); err == nil && s.where.Has(n) && !yield(t) {
			return
		}
	}
	if err != nil {
		s.in.fail(fmt.Errorf("-where: %s: %w", s.f.Name(), err))
	}
}

// Close removes the file.
func (s *spool) Close() {
	s.f.Close()
	os.Remove(s.f.Name())
}
