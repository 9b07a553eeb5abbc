// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"testing"
)

// This file makes valid frames around bodies, as the comment in file.go says, and
// without the FileWriter.

func setHeaderCRC(b []byte) {
	crc := crc32.Checksum(b[8:12], castagnoli)
	binary.LittleEndian.PutUint32(b[12:], crc32.Update(crc, castagnoli, b[16:]))
}

func headerOf(body string) []byte {
	b := append([]byte(magic), 1, byte(len(body)), byte(len(body)>>8), byte(len(body)>>16), 0, 0, 0, 0)
	b = append(b, body...)
	setHeaderCRC(b)
	return b
}

func recordOf(nonce, body string) []byte {
	b := []byte{0xe5, byte(len(body)), byte(len(body) >> 8), byte(len(body) >> 16)}
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum([]byte(nonce+body), castagnoli))
	b = binary.LittleEndian.AppendUint16(b, uint16(crc32.Checksum(append([]byte(nonce), b...), castagnoli)))
	return append(b, body...)
}

// bodies returns the bodies of a valid file of one section.
func bodies(t testing.TB, file []byte) (header string, records []string) {
	if !bytes.HasPrefix(file, []byte(magic)) {
		t.Fatal("no header")
	}
	n := 16 + uint24(file[9:])
	header = string(file[16:n])
	for file = file[n:]; len(file) > 0; file = file[n:] {
		if file[0] != 0xe5 {
			t.Fatal("no record")
		}
		n = 10 + uint24(file[1:])
		records = append(records, string(file[10:n]))
	}
	return header, records
}

// moreFields adds something at the end of the header and of each record.
func moreFields(t testing.TB, file []byte) []byte {
	header, records := bodies(t, file)
	out := headerOf(header + "more and more")
	for _, r := range records {
		out = append(out, recordOf(header[:8], r+"more and more")...)
	}
	return out
}

// claims returns a file of valid frames in which lengths and numbers are too large: of
// strings, and, each in a record, of whatever is 0 in an empty one.
func claims(t testing.TB) []byte {
	const nonce = "12345678"
	const many = "\xff\xff\xff\x07"
	out := headerOf(nonce + "\x01\x01s\x02\x02\x00")
	ids := string(make([]byte, 32))
	out = append(out, recordOf(nonce, "\x01"+many)...)
	out = append(out, recordOf(nonce, "\xff\xff\x03\x00"+ids)...)
	file, _ := written(t, nil, new(Record))
	_, records := bodies(t, file)
	for i := 2 + len(ids); i < len(records[0]); i++ {
		// Bytes after it, so that it is not for want of those that it fails.
		out = append(out, recordOf(nonce, records[0][:i]+many+records[0][i+1:]+ids+ids)...)
	}
	out = append(out, headerOf(nonce+"\x01\x01s\x02\x02"+many)...)
	return append(out, recordOf(nonce, string(make([]byte, maxRecord)))[:20]...)
}
