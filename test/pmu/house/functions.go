// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
)

// mostInFunction is the number of lines that a function may have without a reason.
const mostInFunction = 60

// A reason is in the function's comment, on one line so that grep finds it: "It is long
// because ...".
var reason = regexp.MustCompile(`\blong because \S`)

// longFunctions counts, by wing, the product's functions that have more than
// mostInFunction lines, from func to the closing brace. Those in other functions are
// lines of these.
func longFunctions(all []file) (section, error) {
	s := section{title: "functions above 60 lines", columns: []column{{"no reason", nil}, {"reason", nil}}}
	rows := byWing(2)
	for _, f := range all {
		if !f.goCode() {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return s, err
		}
		for _, d := range parsed.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first := fset.Position(fn.Pos())
			n := fset.Position(fn.End()).Line - first.Line + 1
			if n <= mostInFunction {
				continue
			}
			r := &rows[wingOf(f.path)]
			if hasReason(fn.Doc) {
				r.numbers[1]++
				continue
			}
			r.numbers[0]++
			r.details = append(r.details, fmt.Sprintf("%s:%d: %s has %d lines", first.Filename, first.Line, fn.Name.Name, n))
		}
	}
	for _, r := range rows {
		if r.numbers[0]+r.numbers[1] > 0 {
			s.rows = append(s.rows, r)
		}
	}
	s.addSum()
	return s, nil
}

func hasReason(doc *ast.CommentGroup) bool {
	if doc != nil {
		for _, c := range doc.List {
			if reason.MatchString(c.Text) {
				return true
			}
		}
	}
	return false
}
