// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package profile

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
)

// WriteLabeled writes the profile in data, which is compressed, with a label for each
// sample: of the i-th, with the value that f returns, or none if that is "". All else stays as
// it is.
func WriteLabeled(w io.Writer, data []byte, key string, f func(i int) string) error {
	data, err := unzip(bytes.NewReader(data))
	if err != nil {
		return err
	}
	strings := 0
	err = fields(data, func(field int, num int64, msg []byte) error {
		if field == 6 {
			strings++
		}
		return nil
	})
	if err != nil {
		return err
	}
	// New strings follow all others, the key first.
	added := []string{key}
	index := make(map[string]int)
	var out []byte
	sample := 0
	fields(data, func(field int, num int64, msg []byte) error {
		if field == 2 {
			value := f(sample)
			sample++
			if value != "" {
				if index[value] == 0 {
					index[value] = len(added)
					added = append(added, value)
				}
				var label []byte
				label = appendField(label, 1, int64(strings), nil)
				label = appendField(label, 2, int64(strings+index[value]), nil)
				msg = appendField(msg, 3, 0, label)
			}
		}
		out = appendField(out, field, num, msg)
		return nil
	})
	for _, s := range added {
		out = appendField(out, 6, 0, []byte(s))
	}
	z := gzip.NewWriter(w)
	if _, err := z.Write(out); err != nil {
		return err
	}
	return z.Close()
}

// appendField appends a field: msg or, if that is nil, num. See fields.
func appendField(b []byte, field int, num int64, msg []byte) []byte {
	if msg == nil {
		b = binary.AppendUvarint(b, uint64(field)<<3)
		return binary.AppendUvarint(b, uint64(num))
	}
	b = binary.AppendUvarint(b, uint64(field)<<3|2)
	b = binary.AppendUvarint(b, uint64(len(msg)))
	return append(b, msg...)
}
