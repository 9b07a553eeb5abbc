// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

var (
	errMalformed = errors.New("malformed record")
	errStrings   = errors.New("more strings than a section can hold")
)

// A coder writes the body of a record, or reads it. It does both with the same code, so
// that the two cannot differ: functions that are given a pointer to a field read from
// there, or write there. The first error stays, and from then on all that is read is zero.
type coder struct {
	reading bool
	b       []byte // what has been written, or is left to read
	err     error

	// In writing: the numbers of the section's strings, and those that are new in this
	// record.
	number map[string]uint64
	fresh  []string
	frames []byte // scratch

	// In reading: the section's strings by number, and the stacks among them that have
	// been used. Stretches share these, so that a stack which is long and often used
	// takes memory once.
	table  []tableString
	bytes  int
	stacks map[uint64][]Frame
}

// A tableString is a string, or what is known of it if the record that had it is lost.
type tableString struct {
	s    string
	lost bool
}

func (c *coder) fail(err error) {
	if c.err == nil {
		c.err = err
	}
	if c.reading {
		c.b = nil
	}
}

// integer is what integer fields are.
type integer interface {
	~int | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// unsigned codes a number that is not negative.
func unsigned[T integer](c *coder, v *T) {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, uint64(*v))
		return
	}
	u, n := binary.Uvarint(c.b)
	if n <= 0 || uint64(T(u)) != u {
		*v = 0
		c.fail(errMalformed)
		return
	}
	c.b = c.b[n:]
	*v = T(u)
}

// signed codes a number.
func signed[T integer](c *coder, v *T) { delta(c, v, 0) }

// delta codes a number that is near another one.
func delta[T integer](c *coder, v *T, from T) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, int64(*v-from))
		return
	}
	i, n := binary.Varint(c.b)
	if n <= 0 || int64(T(i)) != i {
		*v = 0
		c.fail(errMalformed)
		return
	}
	c.b = c.b[n:]
	*v = from + T(i)
}

// raw codes all bytes of p.
func (c *coder) raw(p []byte) {
	switch {
	case !c.reading:
		c.b = append(c.b, p...)
	case len(c.b) < len(p):
		c.fail(errMalformed)
	default:
		c.b = c.b[copy(p, c.b):]
	}
}

// list codes the elements of s with f, each of which takes at least min bytes.
func list[T any](c *coder, s *[]T, min int, f func(v *T)) {
	n := uint64(len(*s))
	unsigned(c, &n)
	if c.reading {
		*s = nil
		if n > uint64(len(c.b)/min) {
			c.fail(errMalformed)
			return
		}
		if n > 0 {
			*s = make([]T, n)
		}
	}
	for i := range *s {
		f(&(*s)[i])
	}
}

// intern returns the number of a string in writing. If it is new, key makes the string
// that is kept.
func (c *coder) intern(s string) uint64 {
	if s == "" {
		return 0
	}
	n, ok := c.number[s]
	if !ok {
		if len(s) > maxString {
			c.fail(fmt.Errorf("a string of %d bytes; at most %d can be written", len(s), maxString))
			return 0
		}
		n = uint64(len(c.number)) + 1
		if n >= maxStrings {
			c.fail(errStrings)
			return 0
		}
		c.number[s] = n
		c.fresh = append(c.fresh, s)
	}
	return n
}

// forget takes back the strings that are new in this record.
func (c *coder) forget() {
	for _, s := range c.fresh {
		delete(c.number, s)
	}
	c.fresh = c.fresh[:0]
}

// lookup returns the string of a number in reading.
func (c *coder) lookup(n uint64) string {
	if n >= uint64(len(c.table)) || c.table[n].lost {
		c.fail(errMalformed)
		return ""
	}
	return c.table[n].s
}

func (c *coder) str(s *string) {
	var n uint64
	if !c.reading {
		n = c.intern(*s)
	}
	unsigned(c, &n)
	if c.reading {
		*s = c.lookup(n)
	}
}

// define adds to the table, in reading, the strings that are new in this record.
func (c *coder) define() {
	var first, n uint64
	unsigned(c, &first)
	unsigned(c, &n)
	if c.err != nil {
		return
	}
	if first < uint64(len(c.table)) || first > maxStrings || n > maxStrings-first || n > uint64(len(c.b)) {
		c.fail(errMalformed)
		return
	}
	c.table = slices.Grow(c.table, int(first+n)-len(c.table))
	for uint64(len(c.table)) < first {
		c.table = append(c.table, tableString{lost: true})
	}
	for range n {
		s := c.inline()
		c.bytes += len(s)
		if c.bytes > maxTable {
			c.fail(errMalformed)
		}
		if c.err != nil {
			return
		}
		c.table = append(c.table, tableString{s: s})
	}
}

// inline reads a string that is not in the table.
func (c *coder) inline() string {
	var n uint64
	unsigned(c, &n)
	if n > uint64(len(c.b)) || n > maxString {
		c.fail(errMalformed)
		return ""
	}
	s := string(c.b[:n])
	c.b = c.b[n:]
	return s
}
