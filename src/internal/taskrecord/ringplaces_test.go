// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import "testing"

func TestRingPlaces(t *testing.T) {
	places := func(text string) (p RingPlaces) {
		t.Helper()
		if err := p.UnmarshalText([]byte(text)); err != nil {
			t.Error(err)
		}
		if again, _ := p.MarshalText(); string(again) != text {
			t.Errorf("%q is %q", text, again)
		}
		return p
	}
	for _, test := range []struct {
		p, o   string
		within bool
		max    string
	}{
		{"", "", true, ""},
		{"", "3:1", true, "3:1"},
		{"3:1", "", false, "3:1"},
		{"0:5 3:1", "0:5 1:2 3:1", true, "0:5 1:2 3:1"},
		{"0:6 3:1", "0:5 1:2 3:4", false, "0:6 1:2 3:4"},
	} {
		p := places(test.p)
		if got := p.Within(places(test.o)); got != test.within {
			t.Errorf("%q is within %q: %v", test.p, test.o, got)
		}
		p.Raise(places(test.o))
		if got, _ := p.MarshalText(); string(got) != test.max {
			t.Errorf("%q raised to %q is %q, want %q", test.p, test.o, got, test.max)
		}
	}
	for _, text := range []string{"x", "1", "1:", ":1", "1:-1", "2:1 1:1", "1:1 1:2"} {
		if err := new(RingPlaces).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for places", text)
		}
	}
}
