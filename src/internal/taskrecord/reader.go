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
)

// A FileReader reads records that a [FileWriter] has written. It may be given any bytes: what is
// damaged is skipped, and counted.
type FileReader struct {
	// Mark, if it is not nil, is called in Next with each mark between records.
	Mark func(m *Mark)

	r       io.Reader
	store   []byte
	buf     []byte // what has been read ahead, within store
	end     error  // why there is no more than that
	err     error  // what Next returns from now on
	skipped int64
	cut     bool     // the last bytes that were skipped are no record
	alien   bool     // there was nothing that looks like a header yet
	at      Progress // what At returns

	section *Server // whose the open section is; nil if there is none
	seed    uint32  // CRC of its nonce
	c       coder
	servers []*Server // the last ones
}

// NewFileReader returns a FileReader of r. It does not wait for more of r than the next record.
func NewFileReader(r io.Reader) *FileReader {
	return &FileReader{r: r, alien: true}
}

// Skipped returns how many bytes have been skipped so far: those that were damaged, were
// records that need strings of damaged ones, or were cut at the end.
func (r *FileReader) Skipped() int64 { return r.skipped }

// At returns the [FileWriter.At] of the record that Next has returned last, or a zero one.
func (r *FileReader) At() Progress { return r.at }

// Next returns the next record. Records share servers, strings and stacks, which must not
// be modified. The error is [io.EOF] at the end, and [io.ErrUnexpectedEOF] if what is
// there at the end is not a whole record; all records before it have been returned then.
// Input that has no header, a version of the format that is not known, and errors of the
// underlying reader end the records as well.
func (r *FileReader) Next() (*Record, error) {
	for r.err == nil {
		b := r.peek(headerFrame)
		if len(b) == 0 {
			r.stop()
			break
		}
		// How long is what is at b, is it valid, and what task is it the record of?
		n, valid := 1, false
		var t *Record
		switch {
		case string(b[:min(len(magic), len(b))]) == magic[:min(len(magic), len(b))]:
			n, valid = r.header(b)
			r.cut = !valid
		case r.section != nil && r.framed(b):
			t, n = r.record(b)
			valid = t != nil
			r.cut = n > len(r.buf)
			n = min(n, len(r.buf))
		default:
			r.cut = true
		}
		if !valid {
			r.skipped += int64(n)
		}
		r.buf = r.buf[n:]
		if t != nil {
			return t, nil
		}
	}
	return nil, r.err
}

// stop sets the error with which the records end, at the end of the input.
func (r *FileReader) stop() {
	switch {
	case r.end != io.EOF:
		r.err = r.end
	case r.alien && r.skipped > 0:
		r.err = fmt.Errorf("task: %d bytes without a header: this is not a file of task records", r.skipped)
	case r.cut:
		r.err = io.ErrUnexpectedEOF
	default:
		r.err = io.EOF
	}
}

// peek returns the next bytes: n, or fewer at the end. It asks for memory as bytes come,
// and not as a length in the input says.
func (r *FileReader) peek(n int) []byte {
	for empty := 0; len(r.buf) < n && r.end == nil; {
		if cap(r.buf) == len(r.buf) {
			if len(r.buf) > cap(r.store)/2 || r.store == nil {
				r.store = make([]byte, max(4<<10, 2*len(r.buf)))
			}
			r.buf = r.store[:copy(r.store, r.buf)]
		}
		m, err := r.r.Read(r.buf[len(r.buf):cap(r.buf)])
		r.buf = r.buf[:len(r.buf)+m]
		r.end = err
		if m > 0 {
			empty = 0
		} else if empty++; empty == 100 && err == nil {
			r.end = io.ErrNoProgress
		}
	}
	return r.buf[:min(n, len(r.buf))]
}

// header reads the header that may begin at b and opens its section. If it is damaged or
// cut, another one may begin after its first byte, but not before.
func (r *FileReader) header(b []byte) (n int, valid bool) {
	r.alien = false
	if len(b) < headerFrame || uint24(b[len(magic)+1:]) > maxHeader {
		return 1, false
	}
	n = headerFrame + uint24(b[len(magic)+1:])
	if b = r.peek(n); len(b) < n {
		return 1, false
	}
	crc := crc32.Checksum(b[len(magic):len(magic)+4], castagnoli)
	if crc32.Update(crc, castagnoli, b[headerFrame:]) != binary.LittleEndian.Uint32(b[len(magic)+4:]) {
		return 1, false
	}
	if v := b[len(magic)]; v != version {
		r.err = fmt.Errorf("task: task records in version %d of the format, and this program reads version %d: use the release of Go that has written them, or a later one", v, version)
		return 0, true
	}

	s := new(Server)
	c := coder{reading: true, b: unescapeBody(b[headerFrame:])}
	var nonce [8]byte
	c.raw(nonce[:])
	unsigned(&c, &s.ID)
	s.Name = c.inline()
	signed(&c, &s.PID)
	signed(&c, &s.Start)
	list(&c, &s.Events, 1, func(e *string) { *e = c.inline() })
	if len(c.b) > 0 {
		s.Boot = c.inline()
	}
	m := c.mark()
	if c.err != nil {
		return 1, false
	}
	if m != nil && r.Mark != nil {
		r.Mark(m)
	}
	r.section = r.known(s)
	r.seed = crc32.Checksum(nonce[:], castagnoli)
	r.c = coder{reading: true, table: append(r.c.table[:0], tableString{}), stacks: make(map[uint64][]Frame)}
	return n, true
}

// known returns s, or the same server if there was a section of it not long ago.
func (r *FileReader) known(s *Server) *Server {
	for _, k := range r.servers {
		if k.equal(s) {
			return k
		}
	}
	const most = 64
	if len(r.servers) == most {
		r.servers = append(r.servers[:0], r.servers[1:]...)
	}
	r.servers = append(r.servers, s)
	return s
}

// framed reports whether a record of the section begins at b.
func (r *FileReader) framed(b []byte) bool {
	return len(b) >= recordFrame && b[0] == marker && uint24(b[1:]) <= maxRecord &&
		uint16(crc32.Update(r.seed, castagnoli, b[:8])) == binary.LittleEndian.Uint16(b[8:])
}

// record reads the record whose frame begins at b. If it cannot be read, it returns no
// task, and how many bytes are lost, which may be more than there are.
func (r *FileReader) record(b []byte) (*Record, int) {
	n := recordFrame + uint24(b[1:])
	crc := binary.LittleEndian.Uint32(b[4:])
	b = r.peek(n)
	if len(b) < n || crc32.Update(r.seed, castagnoli, b[recordFrame:]) != crc {
		// If the program was killed while it wrote the record, and was started again, the
		// next header is within what should be the body. Otherwise the body is damaged.
		if i := bytes.Index(r.peek(n+len(magic)-1), []byte(magic)); i >= 0 {
			return nil, i
		}
		return nil, n
	}
	c := &r.c
	c.b, c.err = unescapeBody(b[recordFrame:]), nil
	c.define()
	t := &Record{Server: r.section}
	c.task(t, r.section)
	if r.at = (Progress{}); len(c.b) > 0 {
		c.progress(&r.at)
	}
	c.b = nil
	if c.err != nil {
		return nil, n
	}
	return t, n
}
