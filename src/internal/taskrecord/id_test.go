// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"encoding"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

var (
	_ encoding.TextAppender    = TraceID{}
	_ encoding.TextMarshaler   = TraceID{}
	_ encoding.TextUnmarshaler = (*TraceID)(nil)
	_ encoding.TextAppender    = SpanID{}
	_ encoding.TextMarshaler   = SpanID{}
	_ encoding.TextUnmarshaler = (*SpanID)(nil)
)

func TestIDs(t *testing.T) {
	type ids struct {
		Trace  TraceID
		Span   SpanID
		Parent SpanID `json:",omitzero"`
	}
	for _, tt := range []struct {
		ids
		zero        bool
		trace, span string
	}{
		{ids{}, true, strings.Repeat("0", 32), strings.Repeat("0", 16)},
		{ids{Trace: TraceID{0, 0x12, 0xab, 15: 0xff}, Span: SpanID{0xfe, 7: 1}}, false, "0012ab000000000000000000000000ff", "fe00000000000001"},
	} {
		if tt.Trace.IsZero() != tt.zero || tt.Span.IsZero() != tt.zero {
			t.Errorf("%v %v: zero %v, %v", tt.Trace, tt.Span, tt.Trace.IsZero(), tt.Span.IsZero())
		}
		if got := fmt.Sprint(tt.Trace, tt.Span); got != tt.trace+" "+tt.span {
			t.Errorf("got %s, want %s %s", got, tt.trace, tt.span)
		}
		if id, err := ParseTraceID(tt.trace); id != tt.Trace || err != nil {
			t.Errorf("%s: %v, %v", tt.trace, id, err)
		}
		if id, err := ParseSpanID(tt.span); id != tt.Span || err != nil {
			t.Errorf("%s: %v, %v", tt.span, id, err)
		}
		b, err := json.Marshal(tt.ids)
		if want := fmt.Sprintf(`{"Trace":"%s","Span":"%s"}`, tt.trace, tt.span); string(b) != want || err != nil {
			t.Errorf("got %s, %v; want %s", b, err, want)
		}
		back := ids{Trace: TraceID{1}, Span: SpanID{1}}
		if err := json.Unmarshal(b, &back); back != tt.ids || err != nil {
			t.Errorf("%s: %v, %v", b, back, err)
		}
	}
}

func TestIDErrors(t *testing.T) {
	for _, s := range []string{"", "0", "01", "g", "/", ":", "`", "F", " ", "\x00", "é"} {
		for _, n := range []int{14, 15, 16, 17, 30, 31, 32, 33} {
			for _, in := range []string{s + strings.Repeat("1", max(0, n-len(s))), strings.Repeat("1", max(0, n-len(s))) + s} {
				valid := strings.Trim(in, "0123456789abcdef") == ""
				if id, err := ParseTraceID(in); (err == nil) != (valid && len(in) == 32) || err != nil && !id.IsZero() {
					t.Errorf("%q: %v, %v", in, id, err)
				}
				if id, err := ParseSpanID(in); (err == nil) != (valid && len(in) == 16) || err != nil && !id.IsZero() {
					t.Errorf("%q: %v, %v", in, id, err)
				}
			}
		}
	}
	trace, span := TraceID{1}, SpanID{1}
	if err := trace.UnmarshalText([]byte("x")); err != errTraceID || trace != (TraceID{1}) {
		t.Errorf("%v, %v", trace, err)
	}
	if err := span.UnmarshalText([]byte("x")); err != errSpanID || span != (SpanID{1}) {
		t.Errorf("%v, %v", span, err)
	}
}
