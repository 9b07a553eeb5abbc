// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package perfevent_test

import (
	"internal/perfevent"
	"reflect"
	"testing"
)

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"cycles", []string{"cycles"}},
		{"cycles, cacheMisses ,r1c2", []string{"cycles", "cacheMisses", "r1c2"}},
		{"cpu/event=0x3c,umask=0x1/pp,cycles", []string{"cpu/event=0x3c,umask=0x1/pp", "cycles"}},
		{"mem:example.com/p.f:x,cycles", []string{"mem:example.com/p.f:x", "cycles"}},
		{"mem:main.f[int,string]:x,ibs_op//,cs", []string{"mem:main.f[int,string]:x", "ibs_op//", "cs"}},
		{"", []string{""}},
		{"cycles,", []string{"cycles", ""}},
	} {
		if got := perfevent.Split(tt.in); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("Split(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
