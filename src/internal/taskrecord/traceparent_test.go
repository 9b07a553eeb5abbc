// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"encoding"
	"errors"
	"strings"
	"testing"
)

var _ encoding.TextAppender = Traceparent{}

const (
	someTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	someSpan  = "00f067aa0ba902b7"
)

func TestParseTraceparent(t *testing.T) {
	trace, _ := ParseTraceID(someTrace)
	span, _ := ParseSpanID(someSpan)
	const ids = someTrace + "-" + someSpan
	for _, tt := range []struct {
		in              string
		sampled, random bool
	}{
		{"00-" + ids + "-00", false, false},
		{"00-" + ids + "-01", true, false},
		{"00-" + ids + "-02", false, true},
		{"00-" + ids + "-03", true, true},
		{"00-" + ids + "-ff", true, true}, // flags without meaning
		{"00-" + ids + "-fc", false, false},
		{"01-" + ids + "-01", true, false},
		{"cc-" + ids + "-03", true, false}, // another version's flag may mean something else
		{"cc-" + ids + "-01-", true, false},
		{"cc-" + ids + "-01-what-the-future-will-be-like", true, false},
		{"fe-" + ids + "-00-\x00", false, false},
	} {
		got, err := ParseTraceparent(tt.in)
		if want := (Traceparent{trace, span, tt.sampled, tt.random}); got != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", tt.in, got, err, want)
		}
	}
}

func TestParseTraceparentErrors(t *testing.T) {
	const ids = someTrace + "-" + someSpan
	zero := strings.NewReplacer("1", "0", "2", "0", "3", "0", "4", "0", "5", "0", "6", "0", "7", "0", "8", "0", "9", "0",
		"a", "0", "b", "0", "c", "0", "d", "0", "e", "0", "f", "0").Replace
	for _, tt := range []struct {
		in   string
		want error
	}{
		{"", errTraceparentSize},
		{"00", errTraceparentSize},
		{"00-" + ids + "-0", errTraceparentSize},
		{"00-" + ids + "-", errTraceparentSize},
		{"00-" + ids + "-010", errTraceparentSize},
		{"00-" + ids + "-01-", errTraceparentSize},
		{"00-" + ids + "-01-more", errTraceparentSize},
		{"00-" + ids + "-01 ", errTraceparentSize},
		{" 00-" + ids + "-01", errTraceparentVersion},
		{"01-" + ids + "-010", errTraceparentSize},
		{"01-" + ids + "-01.more", errTraceparentSize},
		{"01-" + ids + "-0", errTraceparentSize},
		{"ff-" + ids + "-01", errTraceparentVersion},
		{"ff-" + ids + "-01-", errTraceparentVersion},
		{"0x-" + ids + "-01", errTraceparentVersion},
		{"0A-" + ids + "-01", errTraceparentVersion},
		{"00_" + ids + "-01", errTraceparentVersion},
		{"000" + ids + "-01", errTraceparentVersion},
		{"00-" + strings.ToUpper(someTrace) + "-" + someSpan + "-01", errTraceparentTrace},
		{"00-" + zero(someTrace) + "-" + someSpan + "-01", errTraceparentTrace},
		{"00-." + someTrace[1:] + "-" + someSpan + "-01", errTraceparentTrace},
		{"00-" + someTrace[1:] + "-" + someSpan + "-01--", errTraceparentSize},
		{"01-" + someTrace[1:] + "-" + someSpan + "-01--", errTraceparentTrace},
		{"00-" + someTrace + "0" + someSpan + "-01", errTraceparentTrace},
		{"00-" + someTrace + "-" + strings.ToUpper(someSpan) + "-01", errTraceparentSpan},
		{"00-" + someTrace + "-" + zero(someSpan) + "-01", errTraceparentSpan},
		{"00-" + someTrace + "-" + someSpan[1:] + ".-01", errTraceparentSpan},
		{"00-" + ids + "001", errTraceparentSpan},
		{"00-" + ids + "-0g", errTraceparentFlags},
		{"00-" + ids + "-0A", errTraceparentFlags},
		{"00-" + ids + "- 1", errTraceparentFlags},
		{"00-" + ids + "-.0", errTraceparentFlags},
	} {
		if got, err := ParseTraceparent(tt.in); err != tt.want || got != (Traceparent{}) {
			t.Errorf("%q: %v, %v; want error %v", tt.in, got, err, tt.want)
		}
	}
}

// No other text than those of the form is taken, whichever character is wrong.
func TestParseTraceparentCharacters(t *testing.T) {
	good := "00-" + someTrace + "-" + someSpan + "-01"
	for i := range good {
		for c := range 256 {
			in := good[:i] + string([]byte{byte(c)}) + good[i+1:]
			isHex := strings.IndexByte(hexDigits, byte(c)) >= 0
			want := isHex && good[i] != '-' || byte(c) == good[i]
			if _, err := ParseTraceparent(in); (err == nil) != want {
				t.Errorf("%q: %v", in, err)
			}
		}
	}
}

func TestTraceparentText(t *testing.T) {
	p := Traceparent{Trace: TraceID{15: 1}, Span: SpanID{0xab}}
	for flags := range 4 {
		p.Sampled, p.Random = flags&1 != 0, flags&2 != 0
		want := "00-00000000000000000000000000000001-ab00000000000000-0" + hexDigits[flags:flags+1]
		b, err := p.AppendText([]byte("x"))
		if string(b) != "x"+want || err != nil || p.String() != want {
			t.Errorf("got %s, %v and %v, want %s", b, err, p, want)
		}
	}
	for _, tt := range []struct {
		p    Traceparent
		want error
	}{
		{Traceparent{Span: SpanID{1}}, errTraceparentTrace},
		{Traceparent{Trace: TraceID{1}}, errTraceparentSpan},
	} {
		if b, err := tt.p.AppendText([]byte("x")); !errors.Is(err, tt.want) || string(b) != "x" {
			t.Errorf("%v: %q, %v; want error %v", tt.p, b, err, tt.want)
		}
	}
}

func TestTraceparentAllocs(t *testing.T) {
	in := "00-" + someTrace + "-" + someSpan + "-03"
	bad := in[:len(in)-1] + "x"
	buf := make([]byte, 0, len(in))
	if n := testing.AllocsPerRun(100, func() {
		p, err := ParseTraceparent(in)
		if err != nil {
			panic(err)
		}
		if buf, err = p.AppendText(buf[:0]); string(buf) != in || err != nil {
			panic("wrong text")
		}
		if _, err = ParseTraceparent(bad); err == nil {
			panic("no error")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
