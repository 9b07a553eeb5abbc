// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheckStack(t *testing.T) {
	const other = "# example\nnosplit: callRet<13> +800 -> runtime.morestack<0>\n"
	chain := func(leaf int) string {
		return other + fmt.Sprintf(`nosplit: runtime.sigprofNonGo<1> +80 -> runtime.(*cpuProfile).addNonGo<1>
nosplit: runtime.sigprofNonGo<1> +80 -> runtime.perfSigprofNonGo<1>
nosplit: runtime.(*cpuProfile).addNonGo<1> +176
nosplit: wrapper<21> +544 -> runtime.sigprofNonGo<1>
nosplit: runtime.perfSigprofNonGo<1> +64 -> runtime.gettid<0>
nosplit: runtime.perfSigprofNonGo<1> +64 -> runtime.leaf<1>
nosplit: runtime.leaf<1> +0 -> (*P[go.shape.struct { a int; b chan int }]).Load<1>
nosplit: (*P[go.shape.struct { a int; b chan int }]).Load<1> +%d
`, leaf)
	}
	for _, test := range []struct {
		out  string
		want string // in the error; "" for none
	}{
		{other, ""}, // not ours
		{chain(64), ""},
		{chain(72), "under wrapper<21> leave 40 bytes"},
		{other + "nosplit: runtime.(*perfRing).head<1> +760\n", "head<1> leave 40 bytes"},
		{"# example\n", "says nothing"},
	} {
		err := checkStack(test.out)
		if test.want == "" {
			if err != nil {
				t.Error(err)
			}
		} else if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want one with %q", err, test.want)
		}
	}
	if got, want := withoutStack(chain(8)+"undefined: x\n"), "# example\nundefined: x\n"; got != want {
		t.Errorf("without the stack: got %q, want %q", got, want)
	}
}
