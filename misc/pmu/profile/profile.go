// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package profile reads what the tools here need from a pprof profile. (It is a reader
// of our own because "go tool pprof" is built on first use, which takes longer than a
// demonstration, and because the tools have no other dependency.)
package profile

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// A Profile is a pprof profile's samples and what is said about them.
type Profile struct {
	Types      [][2]string // type and unit of each sample value
	PeriodType [2]string
	Period     int64
	Comments   []string
	Samples    []Sample
}

// A Sample is one stack with its values.
type Sample struct {
	Stack  []string // function names, innermost first
	Values []int64  // one for each of Profile.Types
	Labels map[string]string
}

// ReadFile reads the profile in the file name.
func ReadFile(name string) (*Profile, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %v", name, err)
	}
	return p, nil
}

// Read reads a profile.
func Read(r io.Reader) (*Profile, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, err
	}
	return decode(data)
}

// Index returns the index in p.Types of the sample type name, or of the event
// name, or -1. Types have no hyphens and the like, but the comments of each event,
// in the types' order, begin with its name.
func (p *Profile) Index(name string) int {
	for i, t := range p.Types {
		if t[0] == name {
			return i
		}
	}
	for i, event := range p.values(Event) {
		if event == name && i+1 < len(p.Types) {
			return i + 1
		}
	}
	return -1
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
	dangling   error             // the first reference that leads nowhere
}

func decode(data []byte) (*Profile, error) {
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
func (r *raw) profile() (*Profile, error) {
	p := &Profile{Period: r.period}
	var err error
	if p.PeriodType, err = r.valueType(r.periodType); err != nil {
		return nil, err
	}
	for _, msg := range r.types {
		t, err := r.valueType(msg)
		if err != nil {
			return nil, err
		}
		p.Types = append(p.Types, t)
	}
	for _, c := range r.comments {
		p.Comments = append(p.Comments, r.string(c))
	}
	for _, msg := range r.samples {
		s, err := r.sample(msg)
		if err != nil {
			return nil, err
		}
		if len(s.Values) != len(p.Types) {
			return nil, fmt.Errorf("sample with %d values, want %d", len(s.Values), len(p.Types))
		}
		p.Samples = append(p.Samples, s)
	}
	return p, r.dangling
}

func (r *raw) string(i int64) string {
	if i < 0 || i >= int64(len(r.strings)) {
		r.miss("string", i)
		return ""
	}
	return r.strings[i]
}

// names appends the functions of a location, innermost first.
func (r *raw) names(names []string, location int64) []string {
	funcs, ok := r.locations[location]
	if !ok {
		r.miss("location", location)
	}
	for _, f := range funcs {
		name, ok := r.functions[f]
		if !ok {
			r.miss("function", f)
		}
		names = append(names, r.string(name))
	}
	return names
}

func (r *raw) miss(what string, i int64) {
	if r.dangling == nil {
		r.dangling = fmt.Errorf("the profile has no %s %d", what, i)
	}
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

func (r *raw) sample(msg []byte) (s Sample, err error) {
	var locs []int64
	err = fields(msg, func(field int, num int64, msg []byte) error {
		switch field {
		case 1:
			return ints(&locs, num, msg)
		case 2:
			return ints(&s.Values, num, msg)
		case 3: // Label
			var label [3]int64 // by field: key 1, string 2
			err := fields(msg, func(field int, num int64, _ []byte) error {
				if field == 1 || field == 2 {
					label[field] = num
				}
				return nil
			})
			if s.Labels == nil {
				s.Labels = make(map[string]string)
			}
			s.Labels[r.string(label[1])] = r.string(label[2])
			return err
		}
		return nil
	})
	for _, l := range locs {
		s.Stack = r.names(s.Stack, l)
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
