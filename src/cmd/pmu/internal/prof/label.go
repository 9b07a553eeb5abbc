// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package prof

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// This file adds labels to a profile as it is encoded. (Package internal/profile writes no
// comments, which tell how many samples there are, and no default sample type.)

// Fields of the messages of profile.proto (github.com/google/pprof/proto).
const (
	fieldSample  = 2 // of Profile
	fieldString  = 6
	fieldComment = 13
	fieldLabel   = 3 // of Sample
	fieldKey     = 1 // of Label
	fieldStr     = 2
)

// WriteLabeled writes the profile with a label for each sample: of the i-th, with the value
// that f returns, or none if that is "". Comments are added. All else stays as it is.
func (p *File) WriteLabeled(w io.Writer, key string, f func(i int) string, comments ...string) error {
	for _, s := range p.Sample {
		if s.Label[key] != nil || s.NumLabel[key] != nil {
			return fmt.Errorf("the profile's samples have labels %q already", key)
		}
	}
	samples, strings := 0, 0
	err := fields(p.data, func(field int, all, message []byte) {
		switch field {
		case fieldString:
			strings++
		case fieldSample:
			samples++
		}
	})
	if err != nil || samples != len(p.Sample) {
		return errors.New("the profile has another format than it was read with") // not after Read
	}
	// New strings follow all others.
	var added []string
	index := make(map[string]int)
	stringOf := func(s string) int {
		i, ok := index[s]
		if !ok {
			i = strings + len(added)
			index[s] = i
			added = append(added, s)
		}
		return i
	}
	var out []byte
	sample := 0
	fields(p.data, func(field int, all, message []byte) {
		value := ""
		if field == fieldSample {
			value = f(sample)
			sample++
		}
		if value == "" {
			out = append(out, all...)
			return
		}
		var label []byte
		label = appendNumber(label, fieldKey, stringOf(key))
		label = appendNumber(label, fieldStr, stringOf(value))
		out = appendBytes(out, field, appendBytes(message[:len(message):len(message)], fieldLabel, label))
	})
	for _, c := range comments {
		out = appendNumber(out, fieldComment, stringOf(c))
	}
	for _, s := range added {
		out = appendBytes(out, fieldString, []byte(s))
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(out); err != nil {
		return err
	}
	return z.Close()
}

var errFormat = errors.New("not a profile")

// fields calls f for each field of a message: with all of its bytes, and with those of
// the message in it, if it has a length.
func fields(data []byte, f func(field int, all, message []byte)) error {
	for len(data) > 0 {
		all := data
		key, n := binary.Uvarint(data)
		if n <= 0 {
			return errFormat
		}
		data = data[n:]
		size := uint64(0)
		var message []byte
		switch key & 7 {
		case 0:
			_, n := binary.Uvarint(data)
			if n <= 0 {
				return errFormat
			}
			size = uint64(n)
		case 1:
			size = 8
		case 2:
			length, n := binary.Uvarint(data)
			if n <= 0 || length > uint64(len(data)-n) {
				return errFormat
			}
			message = data[n : n+int(length)]
			size = uint64(n) + length
		case 5:
			size = 4
		default:
			return errFormat
		}
		if size > uint64(len(data)) {
			return errFormat
		}
		data = data[size:]
		f(int(key>>3), all[:len(all)-len(data)], message)
	}
	return nil
}

func appendNumber(b []byte, field, n int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), uint64(n))
}

func appendBytes(b []byte, field int, x []byte) []byte {
	b = binary.AppendUvarint(b, uint64(field)<<3|2)
	return append(binary.AppendUvarint(b, uint64(len(x))), x...)
}
