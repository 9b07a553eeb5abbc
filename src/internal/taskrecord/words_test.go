// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"testing"
	"time"
)

func TestInUnits(t *testing.T) {
	for _, test := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0 ns"}, {999, "999 ns"}, {1000, "1 us"}, {1234, "1.23 us"}, {850 * time.Microsecond, "850 us"},
		{7 * testMs, "7 ms"}, {12345 * time.Microsecond, "12.3 ms"}, {123456 * time.Microsecond, "123 ms"},
		{1500 * testMs, "1.5 s"}, {100 * time.Second, "100 s"}, {-7 * testMs, "-7 ms"},
	} {
		if got := Duration(test.d); got != test.want {
			t.Errorf("%d: got %s, want %s", test.d, got, test.want)
		}
	}
}
