// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
)

// A FileWriter writes records to a file, or to whatever takes its bytes. The output can be
// appended to that of another FileWriter.
type FileWriter struct {
	// Public leaves out of the records what may be secret; see [Record.Public].
	Public bool

	// At is how far an answer goes with the next record, so that who reads it knows that if it breaks off.
	// The first place is that in the record's own ring. Others are where it has passed over records
	// since the one before.
	At Progress

	w      io.Writer
	server *Server // of tasks without one

	section *Server // whose the open section is; nil if there is none
	size    int     // of it
	seed    uint32  // CRC of its nonce
	c       coder
	body    []byte // scratch: strings and task
	out     []byte // scratch: what to write
}

// NewFileWriter returns a FileWriter of the records of a server. (Records of tasks of other servers
// are written as such.) Nothing is written before the first record.
func NewFileWriter(w io.Writer, s *Server) *FileWriter {
	if s == nil {
		s = new(Server)
	}
	return &FileWriter{w: w, server: s}
}

// Write writes the record of a task, with a single call of the underlying writer. A
// record that is too large to be read again is not written: of more than 1 MiB, or with
// a string or a stack of more than 64 KiB. After any error the FileWriter can be used on;
// readers skip a record that was written in part.
func (w *FileWriter) Write(t *Record) error {
	if w.Public {
		t = t.Public()
	}
	at := w.At
	w.At = Progress{}
	server := t.Server
	if server == nil {
		server = w.server
	}
	begin := w.section == nil || w.size >= sectionSize || !w.section.equal(server)
	err := w.encode(t, server, begin, at)
	if err == errStrings && !begin {
		begin = true
		err = w.encode(t, server, begin, at)
	}
	if err != nil {
		if begin {
			w.section = nil
		}
		return fmt.Errorf("task: cannot write a task of kind %.100q: %w", t.Kind, err)
	}
	if n, err := w.w.Write(w.out); err != nil || n < len(w.out) {
		// What has got through is not known: readers may lack the strings of this record.
		w.section = nil
		if err == nil {
			err = io.ErrShortWrite
		}
		return err
	}
	w.size += len(w.out)
	return nil
}

// encode sets w.out to the record, after a header if a section begins.
func (w *FileWriter) encode(t *Record, server *Server, begin bool, at Progress) error {
	w.out = w.out[:0]
	if begin {
		if err := w.begin(server, nil); err != nil {
			return err
		}
	}
	c := &w.c
	c.b, c.err, c.fresh = c.b[:0], nil, c.fresh[:0]
	first := len(c.number) + 1
	c.task(t, server)
	c.progress(&at)

	b := binary.AppendUvarint(w.body[:0], uint64(first))
	b = binary.AppendUvarint(b, uint64(len(c.fresh)))
	for _, s := range c.fresh {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = append(b, c.b...)
	w.body = b
	b = escapeBody(b)
	if c.err == nil && len(b) > maxRecord {
		c.err = fmt.Errorf("the record has %d bytes; at most %d can be written", len(b), maxRecord)
	}
	if c.err != nil {
		c.forget()
		return c.err
	}

	n := len(w.out)
	w.out = append(w.out, marker)
	w.out = appendUint24(w.out, len(b))
	w.out = binary.LittleEndian.AppendUint32(w.out, crc32.Update(w.seed, castagnoli, b))
	w.out = binary.LittleEndian.AppendUint16(w.out, uint16(crc32.Update(w.seed, castagnoli, w.out[n:])))
	w.out = append(w.out, b...)
	return nil
}

// Mark writes a mark, which is none of the records. Readers of older releases pass over it: it is a section
// without any.
func (w *FileWriter) Mark(m *Mark) error {
	w.out = w.out[:0]
	err := w.begin(new(Server), m)
	w.section = nil // the next record begins another one
	if err == nil {
		_, err = w.w.Write(w.out)
	}
	return err
}

// begin begins a section: it adds a header to w.out.
func (w *FileWriter) begin(s *Server, m *Mark) error {
	nonce := binary.LittleEndian.AppendUint64(nil, rand.Uint64())
	b := slices.Clone(nonce)
	b = binary.AppendUvarint(b, uint64(s.ID))
	b = appendString(b, s.Name)
	b = binary.AppendVarint(b, int64(s.PID))
	b = binary.AppendVarint(b, s.Start)
	b = binary.AppendUvarint(b, uint64(len(s.Events)))
	for _, e := range s.Events {
		b = appendString(b, e)
	}
	b = appendString(b, s.Boot)
	if m == nil {
		b = append(b, noMark)
	} else {
		b = append(b, beginMark)
		if m.End {
			b[len(b)-1] = endMark
		}
		c := coder{b: appendString(b, m.Process)}
		c.progress(&m.Progress)
		c.taken(&m.Taken)
		if c.err != nil {
			return c.err
		}
		b = c.b
	}
	b = escapeBody(b)
	if len(b) > maxHeader {
		return fmt.Errorf("name and events of the server have %d bytes; at most %d can be written", len(b), maxHeader)
	}
	w.out = append(w.out, magic...)
	w.out = append(w.out, version)
	w.out = appendUint24(w.out, len(b))
	crc := crc32.Checksum(w.out[len(magic):], castagnoli)
	w.out = binary.LittleEndian.AppendUint32(w.out, crc32.Update(crc, castagnoli, b))
	w.out = append(w.out, b...)

	w.section = s
	w.size = 0
	w.seed = crc32.Checksum(nonce, castagnoli)
	w.c.number = make(map[string]uint64)
	return nil
}

// equal reports whether s and o are the same server.
func (s *Server) equal(o *Server) bool {
	return s == o || s.ID == o.ID && s.Name == o.Name && s.PID == o.PID && s.Start == o.Start && s.Boot == o.Boot && slices.Equal(s.Events, o.Events)
}

func escapeBody(b []byte) []byte {
	if bytes.Contains(b, escaped) {
		return bytes.ReplaceAll(b, escaped, escape)
	}
	return b
}

func unescapeBody(b []byte) []byte {
	if bytes.Contains(b, escaped) {
		return bytes.ReplaceAll(b, escape, escaped)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendUint24(b []byte, n int) []byte {
	return append(b, byte(n), byte(n>>8), byte(n>>16))
}

func uint24(b []byte) int {
	return int(b[0]) | int(b[1])<<8 | int(b[2])<<16
}
