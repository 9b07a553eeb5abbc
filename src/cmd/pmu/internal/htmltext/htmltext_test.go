// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package htmltext

import (
	"html/template"
	"io"
	"strings"
	"testing"
	"testing/fstest"
)

// TestPage tests that a page has the style sheets as they are and texts escaped, that nothing is written of
// one that fails, and that errors of the writer are returned.
func TestPage(t *testing.T) {
	files := fstest.MapFS{"a.html": {Data: []byte(`{{define "title"}}{{.}}{{end}}{{define "body"}}<p title="{{.}}">{{upper .}}</p>{{end}}`)}}
	p := Parse("a>b{c:d}", template.FuncMap{"upper": strings.ToUpper}, files, "a.html")
	var b strings.Builder
	if err := p.Write(&b, `<"&'>`); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>&lt;&#34;&amp;&#39;&gt;</title>", "\n<style>" + Style + "a>b{c:d}</style>\n", `<p title="&lt;&#34;&amp;&#39;&gt;">&lt;&#34;&amp;&#39;&gt;</p></body>`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := p.Write(&b, 1); err == nil || b.Len() > 0 {
		t.Errorf("%v; wrote %q", err, b.String())
	}
	r, w := io.Pipe()
	r.Close()
	if err := p.Write(w, ""); err != io.ErrClosedPipe {
		t.Errorf("%v, want %v", err, io.ErrClosedPipe)
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

func TestCallers(t *testing.T) {
	for want, stack := range map[string][]string{
		"":                             nil,
		"a":                            {"a"},
		"a < b < c < d < e":            {"a", "b", "c", "d", "e"},
		"a < b < c < d < e < ...":      {"a", "b", "c", "d", "e", "f", "g"},
		"a b < \ufffd":                 {"a\nb", "\x00"},
		strings.Repeat("a", 200) + "…": {strings.Repeat("a", 201)},
	} {
		if got := Callers(stack); got != want {
			t.Errorf("%q: %q, want %q", stack, got, want)
		}
	}
}
