// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package htmltext

import (
	"html"
	"strings"
	"testing"
)

func TestPut(t *testing.T) {
	var b strings.Builder
	Put(&b, html.EscapeString, "<b>%s</b>%s\n", "<%s>", "&")
	Put(&b, html.EscapeString, "100 %")
	if got, want := b.String(), "<b>&lt;%s&gt;</b>&amp;\n100 %"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestClean(t *testing.T) {
	for _, test := range []struct{ s, want string }{
		{"", ""},
		{"a<b", "a<b"},
		{"äöü", "äöü"},
		{"äöüß", "äöü…"},
		{"a\nb", "a b"},
		{"\x00\x7f\u202e", "\ufffd\ufffd\ufffd"},
		{"\xff", "\ufffd"},
	} {
		if got := Clean(test.s, 3); got != test.want {
			t.Errorf("%q: %q, want %q", test.s, got, test.want)
		}
	}
}
