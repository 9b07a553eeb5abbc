// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package otlp

import (
	"internal/taskrecord"
	"strconv"
)

// The messages are those of opentelemetry/proto/trace/v1/trace.proto and
// common/v1/common.proto in github.com/open-telemetry/opentelemetry-proto, their JSON form
// that of "JSON Protobuf Encoding" in docs/specification.md there: IDs are hexadecimal,
// enumerations numbers, and numbers of 64 bits strings.

type (
	span struct {
		TraceID           string   `json:"traceId"`
		SpanID            string   `json:"spanId"`
		ParentSpanID      string   `json:"parentSpanId,omitempty"`
		Flags             uint32   `json:"flags,omitempty"`
		Name              string   `json:"name"`
		Kind              int      `json:"kind"`
		Start             unixNano `json:"startTimeUnixNano"`
		End               unixNano `json:"endTimeUnixNano"`
		Attributes        attrs    `json:"attributes,omitempty"`
		DroppedAttributes uint32   `json:"droppedAttributesCount,omitempty"`
		Events            []event  `json:"events,omitempty"`
		DroppedEvents     uint32   `json:"droppedEventsCount,omitempty"`
		Status            status   `json:"status"`
	}

	event struct {
		Time       unixNano `json:"timeUnixNano"`
		Name       string   `json:"name"`
		Attributes attrs    `json:"attributes,omitempty"`
	}

	status struct {
		Code int `json:"code,omitempty"`
	}

	resource struct {
		Attributes attrs `json:"attributes,omitempty"`
	}

	scope struct {
		Name string `json:"name"`
	}

	attrs []attr

	attr struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}

	// value is an AnyValue: one of these is set.
	value struct {
		String *string `json:"stringValue,omitempty"`
		Bool   *bool   `json:"boolValue,omitempty"`
		Int    *number `json:"intValue,omitempty"`
		Array  *array  `json:"arrayValue,omitempty"`
	}

	array struct {
		Values []value `json:"values"`
	}

	number int64

	// unixNano is in ns since 1970, which in OTLP is not negative.
	unixNano int64
)

func (i number) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, strconv.FormatInt(int64(i), 10)), nil
}

func (t unixNano) MarshalJSON() ([]byte, error) { return number(max(t, 0)).MarshalJSON() }

// Enumerations of trace.proto.
const (
	kindInternal = 1 // Span.SpanKind
	kindServer   = 2
	kindClient   = 3

	statusError = 2 // Status.StatusCode

	flagSampled    = 1 << 0 // SpanFlags: W3C's sampled,
	flagKnowRemote = 1 << 8 // and whether
	flagRemote     = 1 << 9 // the parent is on another server
)

func (a *attrs) value(key string, v value) { *a = append(*a, attr{key, v}) }

func (a *attrs) string(key, s string) {
	if s != "" {
		a.value(key, value{String: &s})
	}
}

// int adds a number, of anything, if it is not zero.
func (a *attrs) int(key string, n int64) {
	if n != 0 {
		i := number(n)
		a.value(key, value{Int: &i})
	}
}

func (a *attrs) bool(key string, b bool) {
	if b {
		a.value(key, value{Bool: &b})
	}
}

func (a *attrs) frame(prefix string, f taskrecord.Frame) {
	a.string(prefix+"code.function.name", f.Func)
	a.string(prefix+"code.file.path", f.File)
	a.int(prefix+"code.line.number", int64(f.Line))
}
