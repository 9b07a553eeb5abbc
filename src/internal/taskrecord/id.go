// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import "errors"

var (
	errTraceID = errors.New("task: trace ID is not 32 lower-case hexadecimal digits")
	errSpanID  = errors.New("task: span ID is not 16 lower-case hexadecimal digits")
)

const hexDigits = "0123456789abcdef"

// appendHex appends src in lower-case hexadecimal digits.
func appendHex(b, src []byte) []byte {
	for _, x := range src {
		b = append(b, hexDigits[x>>4], hexDigits[x&15])
	}
	return b
}

// unhex fills dst with what s says in lower-case hexadecimal digits, exactly, and reports
// whether it does.
func unhex(dst []byte, s string) bool {
	if len(s) != 2*len(dst) {
		return false
	}
	for i := range dst {
		hi, ok1 := hexDigit(s[2*i])
		lo, ok2 := hexDigit(s[2*i+1])
		if !ok1 || !ok2 {
			return false
		}
		dst[i] = hi<<4 | lo
	}
	return true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}

// IsZero reports whether id names no trace.
func (id TraceID) IsZero() bool { return id == TraceID{} }

// String returns id as 32 lower-case hexadecimal digits.
func (id TraceID) String() string { return string(appendHex(make([]byte, 0, 2*len(id)), id[:])) }

// AppendText implements [encoding.TextAppender]: it appends what String returns.
func (id TraceID) AppendText(b []byte) ([]byte, error) { return appendHex(b, id[:]), nil }

// MarshalText implements [encoding.TextMarshaler]: it returns what String does.
func (id TraceID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler], as [ParseTraceID] does.
func (id *TraceID) UnmarshalText(b []byte) error {
	var x TraceID
	if !unhex(x[:], string(b)) {
		return errTraceID
	}
	*id = x
	return nil
}

// ParseTraceID returns the ID that s is the String of. All zeros are the zero TraceID, and no
// error; upper-case digits are one.
func ParseTraceID(s string) (TraceID, error) {
	var id TraceID
	if !unhex(id[:], s) {
		return TraceID{}, errTraceID
	}
	return id, nil
}

// IsZero reports whether id names no task.
func (id SpanID) IsZero() bool { return id == SpanID{} }

// String returns id as 16 lower-case hexadecimal digits.
func (id SpanID) String() string { return string(appendHex(make([]byte, 0, 2*len(id)), id[:])) }

// AppendText implements [encoding.TextAppender]: it appends what String returns.
func (id SpanID) AppendText(b []byte) ([]byte, error) { return appendHex(b, id[:]), nil }

// MarshalText implements [encoding.TextMarshaler]: it returns what String does.
func (id SpanID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler], as [ParseSpanID] does.
func (id *SpanID) UnmarshalText(b []byte) error {
	var x SpanID
	if !unhex(x[:], string(b)) {
		return errSpanID
	}
	*id = x
	return nil
}

// ParseSpanID returns the ID that s is the String of. All zeros are the zero SpanID, and no
// error; upper-case digits are one.
func ParseSpanID(s string) (SpanID, error) {
	var id SpanID
	if !unhex(id[:], s) {
		return SpanID{}, errSpanID
	}
	return id, nil
}
