// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// A profile is what report needs of a pprof profile.
type profile struct {
	types      [][2]string // type and unit of each sample value
	periodType [2]string
	period     int64
	comments   []string
	samples    []sample
}

// A sample is one stack with its values.
type sample struct {
	stack  []string // function names, innermost first
	values []int64  // one for each of profile.types
}

// readProfile reads the profile in the file name. A reader of our own, of a
// few fields only, is here because "go tool pprof" is built on first use,
// which takes longer than the demonstration.
func readProfile(name string) (*profile, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %v", name, err)
	}
	if data, err = io.ReadAll(z); err != nil {
		return nil, fmt.Errorf("%s: %v", name, err)
	}
	p, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %v", name, err)
	}
	return p, nil
}

// raw holds the messages of a profile as the file has them, by number. The
// field numbers are those of profile.proto (github.com/google/pprof/proto).
type raw struct {
	strings    []string
	types      [][]byte
	samples    [][]byte
	periodType []byte
	period     int64
	comments   []int64
	locations  map[int64][]int64 // functions of a location, innermost first
	functions  map[int64]int64   // name of a function
}

func decode(data []byte) (*profile, error) {
	r := &raw{locations: make(map[int64][]int64), functions: make(map[int64]int64)}
	err := fields(data, func(field int, num int64, msg []byte) error {
		switch field {
		case 1:
			r.types = append(r.types, msg)
		case 2:
			r.samples = append(r.samples, msg)
		case 4:
			return r.location(msg)
		case 5:
			return r.function(msg)
		case 6:
			r.strings = append(r.strings, string(msg))
		case 11:
			r.periodType = msg
		case 12:
			r.period = num
		case 13:
			return ints(&r.comments, num, msg)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return r.profile()
}

func (r *raw) location(msg []byte) error {
	var id int64
	var funcs []int64
	err := fields(msg, func(field int, num int64, msg []byte) error {
		switch field {
		case 1:
			id = num
		case 4: // Line; the last is the function that the others were inlined into
			return fields(msg, func(field int, num int64, msg []byte) error {
				if field == 1 {
					funcs = append(funcs, num)
				}
				return nil
			})
		}
		return nil
	})
	r.locations[id] = funcs
	return err
}

func (r *raw) function(msg []byte) error {
	var id, name int64
	err := fields(msg, func(field int, num int64, msg []byte) error {
		switch field {
		case 1:
			id = num
		case 2:
			name = num
		}
		return nil
	})
	r.functions[id] = name
	return err
}

// profile resolves the numbers, which the file may use before it says what
// they stand for.
func (r *raw) profile() (*profile, error) {
	p := &profile{period: r.period}
	var err error
	if p.periodType, err = r.valueType(r.periodType); err != nil {
		return nil, err
	}
	for _, msg := range r.types {
		t, err := r.valueType(msg)
		if err != nil {
			return nil, err
		}
		p.types = append(p.types, t)
	}
	for _, c := range r.comments {
		p.comments = append(p.comments, r.string(c))
	}
	for _, msg := range r.samples {
		s, err := r.sample(msg)
		if err != nil {
			return nil, err
		}
		if len(s.values) != len(p.types) {
			return nil, fmt.Errorf("sample with %d values, want %d", len(s.values), len(p.types))
		}
		p.samples = append(p.samples, s)
	}
	return p, nil
}

func (r *raw) string(i int64) string {
	if i < 0 || i >= int64(len(r.strings)) {
		return ""
	}
	return r.strings[i]
}

func (r *raw) valueType(msg []byte) (t [2]string, err error) {
	err = fields(msg, func(field int, num int64, _ []byte) error {
		if field == 1 || field == 2 {
			t[field-1] = r.string(num)
		}
		return nil
	})
	return t, err
}

func (r *raw) sample(msg []byte) (s sample, err error) {
	var locs []int64
	err = fields(msg, func(field int, num int64, msg []byte) error {
		switch field {
		case 1:
			return ints(&locs, num, msg)
		case 2:
			return ints(&s.values, num, msg)
		}
		return nil
	})
	for _, l := range locs {
		for _, f := range r.locations[l] {
			s.stack = append(s.stack, r.string(r.functions[f]))
		}
	}
	return s, err
}

var errTruncated = errors.New("truncated or not a profile")

// fields calls f for each field of a protocol buffer message: with num for a
// varint, with msg for bytes. A profile has no other kinds.
func fields(data []byte, f func(field int, num int64, msg []byte) error) error {
	for len(data) > 0 {
		key, n := binary.Uvarint(data)
		if n <= 0 {
			return errTruncated
		}
		data = data[n:]
		v, n := binary.Uvarint(data)
		if n <= 0 {
			return errTruncated
		}
		data = data[n:]
		var msg []byte
		switch key & 7 {
		case 0:
		case 2:
			if v > uint64(len(data)) {
				return errTruncated
			}
			msg, data = data[:v:v], data[v:]
		default:
			return errTruncated
		}
		if err := f(int(key>>3), int64(v), msg); err != nil {
			return err
		}
	}
	return nil
}

// ints appends a repeated integer field to list: one number, or several
// packed in msg.
func ints(list *[]int64, num int64, msg []byte) error {
	if msg == nil {
		*list = append(*list, num)
		return nil
	}
	for len(msg) > 0 {
		v, n := binary.Uvarint(msg)
		if n <= 0 {
			return errTruncated
		}
		*list = append(*list, int64(v))
		msg = msg[n:]
	}
	return nil
}
