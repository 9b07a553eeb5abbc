// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package taskrecord

import (
	"strings"
	"testing"
)

func TestPlace(t *testing.T) {
	for _, test := range []struct{ stack, want string }{
		{"", ""},
		{"time.Sleep main.f", "main.f"},
		{"sync.(*Mutex).Lock net/http.(*Server).Serve example.com/a/b.(*T).f main.main", "example.com/a/b.(*T).f"},
		{"internal/poll.runtime_pollWait net.(*conn).Read bufio.(*Reader).fill network/x.f main.f", "network/x.f"},
		{"timely.f time.Sleep", "timely.f"},
		{"runtime.gopark runtime.main", "runtime.gopark"},
	} {
		var stack []Frame
		for _, f := range strings.Fields(test.stack) {
			stack = append(stack, Frame{Func: f})
		}
		if got := Place(stack).Func; got != test.want {
			t.Errorf("%s: got %s, want %s", test.stack, got, test.want)
		}
	}
}
