// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package htmltext is what pages of HTML have in common whose texts may come from anybody.
package htmltext

import (
	"io"
	"strings"
	"unicode"
)

// Put writes HTML to w, in which each %s is replaced by an argument, as escape returns it. An
// error of w is lost: w is a buffer.
func Put(w io.StringWriter, escape func(string) string, format string, args ...string) {
	for _, arg := range args {
		before, after, _ := strings.Cut(format, "%s")
		w.WriteString(before)
		w.WriteString(escape(arg))
		format = after
	}
	w.WriteString(format)
}

// Clean returns s in one line of printable characters, the first most of them. It is not
// escaped.
func Clean(s string, most int) string {
	var b strings.Builder
	n := 0
	for _, c := range s {
		if n++; n > most {
			b.WriteRune('…')
			break
		}
		switch {
		case unicode.IsSpace(c):
			b.WriteByte(' ')
		case unicode.IsPrint(c):
			b.WriteRune(c)
		default:
			b.WriteRune(unicode.ReplacementChar)
		}
	}
	return b.String()
}
