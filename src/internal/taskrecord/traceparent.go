// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import "errors"

// A Traceparent is what a message says of where it comes from: the header traceparent of W3C
// Trace Context, section 3.2 (levels 1 and 2).
type Traceparent struct {
	Trace   TraceID
	Span    SpanID // the task that sent it
	Sampled bool   // the sender may have recorded it
	Random  bool   // Trace's last seven bytes are random (level 2)
}

// The form of version 00. Later ones begin in the same way, and may go on after a '-'.
const (
	traceAt        = len("00-")
	spanAt         = traceAt + 2*len(TraceID{}) + len("-")
	flagsAt        = spanAt + 2*len(SpanID{}) + len("-")
	traceparentLen = flagsAt + len("00")

	flagSampled = 1 << 0
	flagRandom  = 1 << 1
)

var (
	errTraceparentSize    = errors.New("task: traceparent is not of 55 characters, or of more after a '-' in a later version than 00")
	errTraceparentVersion = errors.New("task: traceparent does not begin with a version, two lower-case hexadecimal digits other than ff, and '-'")
	errTraceparentTrace   = errors.New("task: traceparent has no valid trace ID: 32 lower-case hexadecimal digits, not all zero, and '-'")
	errTraceparentSpan    = errors.New("task: traceparent has no valid parent ID: 16 lower-case hexadecimal digits, not all zero, and '-'")
	errTraceparentFlags   = errors.New("task: traceparent has no valid flags: two lower-case hexadecimal digits")
)

// ParseTraceparent returns what the value of a header traceparent says. It is strict: space,
// upper-case digits and IDs of zeros are errors. Flags that have no meaning yet are ignored.
// So is what versions later than 00 add to the end, and of their flags all but Sampled, as
// the others may have come to mean something else.
func ParseTraceparent(s string) (Traceparent, error) {
	var t Traceparent
	var version, flags [1]byte
	if len(s) < traceparentLen {
		return Traceparent{}, errTraceparentSize
	}
	if !unhex(version[:], s[:traceAt-1]) || s[traceAt-1] != '-' || version[0] == 0xff {
		return Traceparent{}, errTraceparentVersion
	}
	if len(s) > traceparentLen && (version[0] == 0 || s[traceparentLen] != '-') {
		return Traceparent{}, errTraceparentSize
	}
	if !unhex(t.Trace[:], s[traceAt:spanAt-1]) || s[spanAt-1] != '-' || t.Trace.IsZero() {
		return Traceparent{}, errTraceparentTrace
	}
	if !unhex(t.Span[:], s[spanAt:flagsAt-1]) || s[flagsAt-1] != '-' || t.Span.IsZero() {
		return Traceparent{}, errTraceparentSpan
	}
	if !unhex(flags[:], s[flagsAt:traceparentLen]) {
		return Traceparent{}, errTraceparentFlags
	}
	t.Sampled = flags[0]&flagSampled != 0
	t.Random = flags[0]&flagRandom != 0 && version[0] == 0
	return t, nil
}

// AppendText implements [encoding.TextAppender]: it appends the header's value, of version
// 00. It is an error if an ID is zero, as nobody would take it.
func (t Traceparent) AppendText(b []byte) ([]byte, error) {
	if t.Trace.IsZero() {
		return b, errTraceparentTrace
	}
	if t.Span.IsZero() {
		return b, errTraceparentSpan
	}
	return t.append(b), nil
}

// String returns the header's value.
func (t Traceparent) String() string {
	return string(t.append(make([]byte, 0, traceparentLen)))
}

func (t *Traceparent) append(b []byte) []byte {
	var flags [1]byte
	if t.Sampled {
		flags[0] |= flagSampled
	}
	if t.Random {
		flags[0] |= flagRandom
	}
	b = append(b, "00-"...)
	b = appendHex(b, t.Trace[:])
	b = append(b, '-')
	b = appendHex(b, t.Span[:])
	b = append(b, '-')
	return appendHex(b, flags[:])
}
