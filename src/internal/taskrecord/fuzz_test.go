// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"bytes"
	"strings"
	"testing"
)

func FuzzParseTraceparent(f *testing.F) {
	for _, version := range []string{"00", "01", "fe", "ff", "0A"} {
		for _, end := range []string{"-00", "-01", "-02", "-ff", "-01-", "-01-x", "", "-0x"} {
			f.Add(version + "-" + someTrace + "-" + someSpan + end)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParseTraceparent(s)
		if err != nil {
			if p != (Traceparent{}) {
				t.Fatalf("%q: %v and %v", s, p, err)
			}
			return
		}
		b, err := p.AppendText(nil)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		// But for the version, flags and the end it is what came.
		if string(b[2:53]) != s[2:53] || len(b) != 55 {
			t.Fatalf("%q: %s", s, b)
		}
		if got, err := ParseTraceparent(string(b)); got != p || err != nil {
			t.Fatalf("%q: %v, then %v, %v", s, p, got, err)
		}
	})
}

func FuzzParseTracestate(f *testing.F) {
	for _, s := range []string{
		"", goMember, goMember + ",a=1", "a=1 , b= 2," + goMember + ",,c@d=3", "go=AA,go=AA", "go=x,b", "a,go=AA", "go=gA",
		nMembers(33), nMembers(31) + "," + goMember, "a=" + strings.Repeat("v", 256) + ",b=" + strings.Repeat("v", 200) + "," + goMember,
		strings.Repeat("k", 257) + "=v", "a=\x7f", "A=1", "a=1\n",
	} {
		f.Add(s)
	}
	f.Fuzz(checkTracestate)
}

func FuzzParseClock(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0})
	f.Add([]byte{0x80})
	f.Add([]byte{1, 0, 1, 0, 0, 0, 1})
	f.Add([]byte{0x82, 0, 1, 0, 0, 0, 1, 0, 7, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{2, 0, 7, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := ParseClock(b)
		if err != nil {
			if c != (Clock{}) {
				t.Fatalf("%x: %v and %v", b, c, err)
			}
			return
		}
		got, err := c.AppendBinary(nil)
		if err != nil || !bytes.Equal(got, b) {
			t.Fatalf("%x: %v, then %x, %v", b, c, got, err)
		}
		if x := merged(c, c); x != c || !c.Before(&c) {
			t.Fatalf("%v: merged with itself %v", c, x)
		}
		c.Tick(9)
		if err := c.check(); err != nil {
			t.Fatalf("%x: after a tick %v: %v", b, c, err)
		}
	})
}
