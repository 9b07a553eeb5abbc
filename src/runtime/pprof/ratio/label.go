// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

import (
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// This file adds labels to a profile as it is encoded. (Package internal/profile writes no
// comments, which tell how many samples there are, and no default sample type.)

// Label is the key of the label that [Profile.WriteProfile] adds.
const Label = "ratio"

// Fields of the messages of profile.proto (github.com/google/pprof/proto).
const (
	fieldSample  = 2 // of Profile
	fieldString  = 6
	fieldComment = 13
	fieldLabel   = 3 // of Sample
	fieldKey     = 1 // of Label
	fieldStr     = 2
)

// WriteProfile writes the profile with a label for each sample that has the class of the
// ratio of its innermost function: of what that executes itself, in all stacks. A stack by
// itself seldom has enough samples of both events. All else stays as it is.
func (p *Profile) WriteProfile(w io.Writer) error {
	for _, s := range p.raw.Sample {
		if s.Label[Label] != nil || s.NumLabel[Label] != nil {
			return fmt.Errorf("ratio: the profile's samples have labels %q already", Label)
		}
	}
	t := p.grow()
	var out []byte
	samples, strings := 0, 0
	err := fields(p.data, func(field int, all, message []byte) {
		switch field {
		case fieldString:
			strings++
		case fieldSample:
			samples++
		}
	})
	if err != nil || samples != len(p.raw.Sample) {
		return errors.New("ratio: the profile has another format than it was read with") // not after Read
	}
	// The new strings follow all others: the key, the classes, and the comment.
	sample := 0
	fields(p.data, func(field int, all, message []byte) {
		if field != fieldSample {
			out = append(out, all...)
			return
		}
		var label []byte
		label = appendNumber(label, fieldKey, strings)
		label = appendNumber(label, fieldStr, strings+1+p.labelOf(t, sample))
		sample++
		out = appendBytes(out, field, appendBytes(message[:len(message):len(message)], fieldLabel, label))
	})
	add := []string{Label}
	for c := range classes + 2 {
		add = append(add, p.className(c))
	}
	add = append(add, fmt.Sprintf("%s: label with the class of each function's own %s; uncertain: its standard error is above %s", Label, p.kind.long, limit(p.maxError)))
	for _, s := range add {
		out = appendBytes(out, fieldString, []byte(s))
	}
	out = appendNumber(out, fieldComment, strings+len(add)-1)
	z := gzip.NewWriter(w)
	if _, err := z.Write(out); err != nil {
		return err
	}
	return z.Close()
}

// labelOf returns the class of a sample.
func (p *Profile) labelOf(t *tree, sample int) int {
	if stack := stackOf(p.raw.Sample[sample]); len(stack) > 0 {
		if f := t.functions[stack[len(stack)-1]]; f != nil {
			return p.class(&f.own)
		}
	}
	return noRatio
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
