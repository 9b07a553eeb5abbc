// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

// Package htmltext is what pages of HTML have in common whose texts may come from anybody.
package htmltext

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"io/fs"
	"strings"
	"unicode"
)

//go:embed page.html
var page string

// A Page is a template of pages. They are XML, too, so that tests can parse them.
type Page struct{ t *template.Template }

// Parse returns the page whose templates "title" and "body" are in files. A template "policy" may add
// to the head. css comes after [Style].
func Parse(css string, funcs template.FuncMap, files fs.FS, names ...string) Page {
	t := template.New("page.html").Funcs(template.FuncMap{
		"style": func() template.CSS { return template.CSS(Style + css) },
	})
	template.Must(t.Funcs(funcs).Parse(page))
	return Page{template.Must(t.ParseFS(files, names...))}
}

// Write writes a page with the data, or nothing if a template fails.
func (p Page) Write(w io.Writer, data any) error {
	var b bytes.Buffer
	if err := p.t.Execute(&b, data); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

// Clean returns s in one line of printable characters, the first most of them. It is not
// escaped.
func Clean(s string, most int) string {
	n := 0
	for i := range s {
		if n++; n > most {
			return Plain(s[:i]) + "…"
		}
	}
	return Plain(s)
}

// Plain returns s in one line of printable characters: names come from anywhere. It is not escaped.
func Plain(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c):
			return ' '
		case unicode.IsPrint(c):
			return c
		}
		return unicode.ReplacementChar
	}, s)
}

// Callers returns, in one line, the function that a stack is in, and the first of those that have
// called it.
func Callers(stack []string) string {
	const most, long = 5, 200
	var list []string
	for _, name := range stack[:min(len(stack), most)] {
		list = append(list, Clean(name, long))
	}
	if len(stack) > most {
		list = append(list, "...")
	}
	return strings.Join(list, " < ")
}
